"""A real training that loses a host for good goes on with fewer ranks from its checkpoint, and grows back."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/elastic"
WINES = EXAMPLE.parent / "wine/winequality-white.csv"
NETWORK = "10.213.78"
LIMIT_S = 120
EPOCHS = 350
# Debian's PyTorch belongs to Debian's Python.
PATH = f"/usr/bin:{os.environ['PATH']}"


def wait_until(condition, what):
    """Polls: what is waited for happens in other processes that tell nobody."""
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit:
        if value := condition():
            return value
        os.sched_yield()
    raise AssertionError(f"waited {LIMIT_S} s for {what}")


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=30)


class Hosts:
    """Four network namespaces on a bridge."""

    def __init__(self):
        mark = os.getpid() % 100000
        self.bridge = f"geb{mark}"
        self.names = [f"ge{mark}{letter}" for letter in "abcd"]
        ip("link", "add", self.bridge, "type", "bridge")
        ip("address", "add", f"{NETWORK}.1/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        for name in self.names:
            self.add(name)

    def add(self, name):
        ip("netns", "add", name)
        ip("link", "add", f"v{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", f"v{name}", "master", self.bridge, "up")
        ip("-n", name, "address", "add", f"{NETWORK}.{11 + self.names.index(name)}/24", "dev", "eth0")
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "link", "set", "eth0", "up")

    def remove(self, name):
        subprocess.run(["ip", "link", "del", f"v{name}"], capture_output=True, check=False)
        ip("netns", "del", name)

    def remove_all(self):
        for name in set(self.names) & set(os.listdir("/run/netns")):
            self.remove(name)
        ip("link", "del", self.bridge)


@pytest.fixture
def hosts():
    made = Hosts()
    yield made
    made.remove_all()


def train(run_gangrun, folder, *flags):
    return run_gangrun("run", "--json", *flags, "job.yaml", "--", "python3", "train.py", "--data", WINES,
                       "--out", folder / "out", "--epochs", EPOCHS, cwd=folder, env={"PATH": PATH}, timeout=250)


def ranks_of_epochs(run_gangrun, job):
    """[ranks] as rank 0 has told them, epoch by epoch; an epoch that was made anew stands twice."""
    lines = run_gangrun("logs", job).stdout.splitlines()
    return [int(line.split(",")[1].split()[0]) for line in lines if "| epoch " in line]


def test_a_gang_shrinks_to_three_and_grows_back(run_gangrun, hosts, tmp_path):
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

    wait_until(lambda: len(ranks_of_epochs(run_gangrun, job)) > 10, "the training to begin with four")
    victim = next(task for task in status()["tasks"] if task["task"] == "worker:3")
    host = hosts.names[int(victim["address"].split(":")[0].split(".")[-1]) - 11]
    hosts.remove(host)
    os.kill(victim["pid"], signal.SIGKILL)
    wait_until(lambda: ranks_of_epochs(run_gangrun, job)[-1] == 3, "the training to go on with three")
    assert "cannot be used" in run_gangrun("why", job).stdout
    hosts.add(host)
    wait_until(lambda: ranks_of_epochs(run_gangrun, job)[-1] == 4, "the training to go on with four")
    assert run_gangrun("wait", job, timeout=LIMIT_S).status == 0, run_gangrun("status", job).stdout

    found = json.loads((folder / "out/evaluation.json").read_text())
    assert len(found["ranks"]) == EPOCHS
    assert [ranks for ranks, before in zip(found["ranks"], [0, *found["ranks"]]) if ranks != before] == [4, 3, 4]
    assert found["accuracy"] > found["baseline_accuracy"] + 0.08
    assert abs(found["accuracy"] - expected["accuracy"]) < 0.03
    assert status()["generation"] >= 3
