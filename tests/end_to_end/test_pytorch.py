"""DistributedDataParallel as gangs: ranks in one and several processes, beside torchrun, and in awkward orders."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WINES = EXAMPLES / "wine/winequality-white.csv"
# Debian's PyTorch belongs to Debian's Python.
ENVIRONMENT = {"PATH": f"/usr/bin:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
# Debian's torchrun 1.13 runs on Python 3.11 only with its output redirected.
TORCHRUN = ["torchrun", "--standalone", "-r", "1", "-t", "1", "--monitor_interval", "0.2", "--nproc_per_node", "4"]
LIMIT_S = 120

# What a script finds of the launcher, with the places where the two must differ left out.
SHOW = """
import json, os, sys
prefixes = ("MASTER_", "RANK", "WORLD_", "LOCAL_", "GROUP_", "ROLE_", "TORCHELASTIC_", "OMP_")
seen = {name: value for name, value in os.environ.items() if name.startswith(prefixes)}
print("found:", json.dumps(seen), flush=True)
"""

# Rank 0 leaves after the last collective; the others wait for the end of its process and work on.
RANK_0_LEAVES = """
import fcntl, torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
held = open("rank-0", "a")
if rank == 0:
    fcntl.flock(held, fcntl.LOCK_EX)  # until its process is gone
total = torch.tensor([float(2 ** rank)])
dist.all_reduce(total)
print(f"sum {total.item():.0f}", flush=True)
if rank > 0:
    fcntl.flock(held, fcntl.LOCK_SH)
    print(f"rank {rank} of {size} works on after the end of rank 0", flush=True)
"""


@pytest.fixture
def example(tmp_path):
    """A copy of an example's folder, with the data beside it as its job file has it."""

    def copy(name):
        (tmp_path / "wine").mkdir()
        shutil.copy(WINES, tmp_path / "wine")
        return Path(shutil.copytree(EXAMPLES / name, tmp_path / name))

    return copy


@pytest.fixture
def nothing_is_left(survivors):
    """Checked at the end: no process has this test's mark in its environment."""
    mark = f"TEST_MARK={os.getpid()}-{time.monotonic_ns()}"
    yield mark
    assert survivors(mark) == []


def marked(mark):
    name, value = mark.split("=")
    return ENVIRONMENT | {name: value}


def train_command(folder, *words):
    return ["python3", "train.py", "--data", WINES, "--out", folder / "out", *words]


def losses(text):
    return [float(loss) for loss in re.findall(r"epoch \d+, loss ([\d.]+)$", text, re.M)]


def check_training(folder, text, ranks):
    joined = sorted(re.findall(r"rank (\d+) of (\d+) has joined", text))
    assert joined == [(str(rank), str(ranks)) for rank in range(ranks)]
    assert len(losses(text)) == 10
    assert losses(text)[-1] < losses(text)[0] - 0.1
    found = json.loads((folder / "out/evaluation.json").read_text())
    assert found["world_size"] == ranks
    assert found["accuracy"] > found["baseline_accuracy"] + 0.05


def test_a_script_for_torchrun_trains_alike(example, run_gangrun, nothing_is_left, tmp_path):
    """As its job file has it (two tasks of two processes), as four tasks, and under torchrun: the same numbers."""
    beside = example("pytorch")
    for number in range(3):  # PyTorch 1.13 now and then aborts in the exit of a process under torchrun
        peer = subprocess.run([*TORCHRUN, "--log_dir", tmp_path / f"logs-{number}", *map(str, train_command(beside)[1:])],
                              cwd=beside, env=os.environ | ENVIRONMENT, capture_output=True, text=True, timeout=LIMIT_S)
        if "terminate called without an active exception" not in peer.stderr:
            break
    assert peer.returncode == 0, peer.stderr
    check_training(beside, peer.stdout, 4)
    for tasks, processes, flags in [(2, 2, []), (4, 1, ["-r", "worker:4", "--processes", "1"])]:
        folder = Path(shutil.copytree(EXAMPLES / "pytorch", tmp_path / f"{tasks}x{processes}"))
        done = run_gangrun("run", *flags, "job.yaml", cwd=folder, env=marked(nothing_is_left), timeout=LIMIT_S)
        assert done.status == 0, done.stderr
        check_training(folder, done.stdout, 4)
        assert losses(done.stdout) == losses(peer.stdout)
        locals_ = re.findall(r"^(worker:\d)\s+\| (?:\[\d\] )?process (\d) of (\d) here", done.stdout, re.M)
        assert sorted(locals_) == [(f"worker:{task}", str(process), str(processes))
                                   for task in range(tasks) for process in range(processes)]


def test_a_script_finds_what_torchrun_sets(run_gangrun, monkeypatch, tmp_path):
    (tmp_path / "show.py").write_text(SHOW)
    # Nobody has set the number of threads, so that both launchers do.
    free = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"} | {"PATH": ENVIRONMENT["PATH"]}
    peer = subprocess.run([*TORCHRUN, "--max_restarts", "2", "--log_dir", tmp_path / "logs", "show.py"],
                          cwd=tmp_path, env=free, capture_output=True, text=True, timeout=LIMIT_S)
    assert peer.returncode == 0, peer.stderr
    job = ["run", "-r", "worker:1", "--processes", "4", "--framework", "pytorch", "--restarts", "2:gang"]
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    done = run_gangrun(*job, "--", "python3", "show.py", cwd=tmp_path, env={"PATH": free["PATH"]})
    assert done.status == 0, done.stderr

    def found(text):
        ranks = [json.loads(line) for line in re.findall(r"found: (\{.*\})$", text, re.M)]
        return sorted(ranks, key=lambda rank: int(rank["RANK"]))

    ours, theirs = found(done.stdout), found(peer.stdout)
    assert len(ours) == len(theirs) == 4
    own = {"MASTER_ADDR", "MASTER_PORT", "ROLE_NAME", "TORCHELASTIC_RUN_ID"}
    # The file in which torchrun's agent looks for a traceback; gangrun shows the output itself.
    unset = {"TORCHELASTIC_ERROR_FILE"}
    for here, there in zip(ours, theirs):
        assert set(here) == set(there) - unset
        assert {name: here[name] for name in set(here) - own} == {name: there[name] for name in set(here) - own}


def test_rank_0_may_start_last(example, gangrun, home, nothing_is_left):
    """The others are connecting before the process exists that serves the store."""
    folder = example("pytorch")
    os.mkfifo(folder / "begin")
    command = ('[ "$RANK" -gt 0 ] || read -r line < begin; '
               f"exec python3 train.py --data {WINES} --out {folder / 'out'} --epochs 3")
    process = subprocess.Popen([gangrun, "run", "-r", "worker:3", "--processes", "1", "job.yaml", "--", "sh", "-c", command],
                               cwd=folder, env=os.environ | marked(nothing_is_left) | {"GANGRUN_HOME": str(home)}, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if sum("joins the others" in seen for seen in lines) == 2 and "joins the others" in line:
            assert not any("has joined" in seen for seen in lines)
            (folder / "begin").write_text("now\n")
    _, errors = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, errors
    text = "".join(lines)
    assert sorted(re.findall(r"rank (\d) of 3 has joined", text)) == ["0", "1", "2"]
    assert len(losses(text)) == 3


def test_rank_0_may_end_first(run_gangrun, nothing_is_left, tmp_path):
    """Its process serves the store; those that have what they need go on to their own end."""
    (tmp_path / "leave.py").write_text(RANK_0_LEAVES)
    done = run_gangrun("run", "-r", "chief,worker:3", "--framework", "pytorch", "--", "python3", "leave.py",
                       cwd=tmp_path, env=marked(nothing_is_left), timeout=LIMIT_S)
    assert done.status == 0, done.stderr
    assert len(re.findall(r"sum 15$", done.stdout, re.M)) == 4
    assert sorted(re.findall(r"rank (\d) of 4 works on", done.stdout)) == ["1", "2", "3"]
    status = json.loads(run_gangrun("status", "--json", "last").stdout)
    assert {task["exit"] for task in status["tasks"]} == {"exited with status 0"}


def test_a_killed_rank_brings_the_gang_back_from_its_checkpoint(example, gangrun, home, nothing_is_left):
    """One of the two processes of a task dies: all four ranks come back in the next generation."""
    folder = example("elastic")
    environment = os.environ | marked(nothing_is_left) | {"GANGRUN_HOME": str(home)}
    command = [gangrun, "run", "-r", "worker:2", "--processes", "2", "--min-instances", "worker:2", "job.yaml", "--",
               *train_command(folder, "--epochs", "60")]
    process = subprocess.Popen(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    killed, lines = False, []
    for line in process.stdout:
        lines.append(line)
        if not killed and " epoch 20," in line:
            status = json.loads(subprocess.run([gangrun, "status", "--json", "last"], env=environment,
                                               capture_output=True, text=True, check=True).stdout)
            os.kill(next(task["pid"] for task in status["tasks"] if task["task"] == "worker:1"), signal.SIGKILL)
            killed = True
    _, errors = process.communicate(timeout=LIMIT_S)
    assert killed and process.returncode == 0, errors
    assert "killed by signal 9" in errors and "restart 1 of 10" in errors
    text = "".join(lines)
    went_on = re.findall(r"rank (\d) of 4 goes on after epoch (\d+)", text)
    assert sorted(went_on[:4]) == [(str(rank), "0") for rank in range(4)]
    assert sorted(rank for rank, _ in went_on[4:]) == ["0", "1", "2", "3"]
    assert {int(epoch) >= 19 for _, epoch in went_on[4:]} == {True}
    found = json.loads((folder / "out/evaluation.json").read_text())
    assert found["ranks"] == [4] * 60
    assert found["accuracy"] > found["baseline_accuracy"] + 0.05
