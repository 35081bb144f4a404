"""A real training that loses a host for good goes on with fewer ranks from its checkpoint, and grows back."""

import json
import os
import shutil
import signal
from pathlib import Path

from waiting import wait_until

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/elastic"
WINES = EXAMPLE.parent / "wine/winequality-white.csv"
LIMIT_S = 120
EPOCHS = 350
# Debian's PyTorch belongs to Debian's Python.
PATH = f"/usr/bin:{os.environ['PATH']}"


def train(run_gangrun, folder, *flags):
    return run_gangrun("run", "--json", *flags, "job.yaml", "--", "python3", "train.py", "--data", WINES,
                       "--out", folder / "out", "--epochs", EPOCHS, cwd=folder, env={"PATH": PATH}, timeout=250)


def ranks_of_epochs(run_gangrun, job):
    """[ranks] as rank 0 has told them, epoch by epoch; an epoch that was made anew stands twice."""
    lines = run_gangrun("logs", job).stdout.splitlines()
    return [int(line.split(",")[1].split()[0]) for line in lines if "| epoch " in line]


def test_a_gang_shrinks_to_three_and_grows_back(run_gangrun, make_hosts, tmp_path):
    hosts = make_hosts(4)
    alone = shutil.copytree(EXAMPLE, tmp_path / "alone")
    assert train(run_gangrun, alone, "-r", "worker:1", "--min-instances", "worker:1").status == 0
    expected = json.loads((alone / "out/evaluation.json").read_text())

    folder = shutil.copytree(EXAMPLE, tmp_path / "elastic")
    started = run_gangrun("run", "--detach", "--hosts", ",".join(f"{name}:1" for name in hosts.names),
                          "--timeout", "shrink=3s", "job.yaml", "--", "python3", "train.py", "--data", WINES,
                          "--out", folder / "out", "--epochs", EPOCHS, cwd=folder,
                          env={"PATH": PATH, "GLOO_SOCKET_IFNAME": "eth0"})
    assert started.status == 0, started.stderr
    job = started.stdout.strip()

    def status():
        return json.loads(run_gangrun("status", "--json", job).stdout)

    wait_until(lambda: len(ranks_of_epochs(run_gangrun, job)) > 10, "the training to begin with four", LIMIT_S)
    victim = next(task for task in status()["tasks"] if task["task"] == "worker:3")
    host = next(name for name in hosts.names if hosts.address(name) == victim["address"].split(":")[0])
    hosts.remove(host)
    os.kill(victim["pid"], signal.SIGKILL)
    wait_until(lambda: ranks_of_epochs(run_gangrun, job)[-1] == 3, "the training to go on with three", LIMIT_S)
    assert "cannot be used" in run_gangrun("why", job).stdout
    hosts.add(host)
    wait_until(lambda: ranks_of_epochs(run_gangrun, job)[-1] == 4, "the training to go on with four", LIMIT_S)
    assert run_gangrun("wait", job, timeout=LIMIT_S).status == 0, run_gangrun("status", job).stdout

    found = json.loads((folder / "out/evaluation.json").read_text())
    assert len(found["ranks"]) == EPOCHS
    assert [ranks for ranks, before in zip(found["ranks"], [0, *found["ranks"]]) if ranks != before] == [4, 3, 4]
    assert found["accuracy"] > found["baseline_accuracy"] + 0.08
    assert abs(found["accuracy"] - expected["accuracy"]) < 0.03
    assert status()["generation"] >= 3
