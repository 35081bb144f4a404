"""Gangs under the real Horovod with gloo: they meet through agents and master, and train."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gangrun"
PATH = f"{CACHE / 'horovod/bin'}:{os.environ['PATH']}"
LIMIT_S = 280
TRAIN = ["python", "train.py", "--data", "../wine/winequality-white.csv", "--out", "out"]
# For process sets, of which there is always one, Horovod 0.28.1 forgets the interface and takes the address of the
# host's own name. Network namespaces share the machine's name, so each process gets one that is its host's address.
AS_A_HOST_OF_ITS_OWN = ["unshare", "--uts", "sh", "-c", 'hostname "$GANGRUN_HOST" && exec "$@"', "sh"]

# A process set has a rendezvous of its own; after shutdown() the same scopes are used again.
TWICE = """
import horovod.torch as hvd, torch
even = hvd.ProcessSet([0, 2])
hvd.init(process_sets=[even])
found = [hvd.allreduce(torch.tensor([1.0 + hvd.rank()]), op=hvd.Sum, name="a").item()]
if hvd.rank() in (0, 2):
    found.append(hvd.allreduce(torch.tensor([1.0 + hvd.rank()]), op=hvd.Sum, name="b", process_set=even).item())
hvd.barrier()  # who shuts down does it for all
for name in ("c", "d"):
    hvd.shutdown()
    hvd.init()
    found.append(hvd.allreduce(torch.tensor([1.0 + hvd.rank()]), op=hvd.Sum, name=name).item())
print("sums", found, flush=True)
"""


@pytest.fixture
def example(tmp_path):
    """A copy of an example's folder beside the data that it reads."""

    def copy(name):
        shutil.copytree(ROOT / "examples/wine", tmp_path / "wine")
        return Path(shutil.copytree(ROOT / "examples" / name, tmp_path / name))

    return copy


def check_training(found, ranks):
    """The ranks summed up what they should, their losses fell, and all have the same weights."""
    assert found["ranks"] == ranks and found["sum_of_ranks"] == sum(range(ranks)), found
    assert found["losses"][-1] < found["losses"][0] - 0.05, found
    assert len(found["weights"]) == ranks and len(set(found["weights"])) == 1, found
    assert found["accuracy"] > found["baseline_accuracy"] + 0.04, found


def places(done):
    """What each rank said of its place, in the order of the ranks."""
    words = re.findall(r"rank (\d) of (\d), (\d) of (\d) on its host, (\d) of (\d) hosts", done.stdout)
    return [tuple(map(int, place)) for place in sorted(words)]


@pytest.mark.parametrize("name, ranks, per_task", [("horovod-keras", 2, 1), ("horovod-torch", 4, 2)])
def test_an_example_trains_on_one_host(example, run_gangrun, survivors, name, ranks, per_task):
    folder = example(name)
    done = run_gangrun("run", "job.yaml", cwd=folder, env={"PATH": PATH, "MARK": str(folder)}, timeout=LIMIT_S)
    assert done.status == 0, done
    assert places(done) == [(rank, ranks, rank, ranks, 0, 1) for rank in range(ranks)]
    check_training(json.loads((folder / "out/evaluation.json").read_text()), ranks)
    assert survivors(f"MARK={folder}") == []


@pytest.mark.parametrize("name, ranks, per_task", [("horovod-keras", 2, 1), ("horovod-torch", 4, 2)])
def test_an_example_trains_over_two_hosts(example, run_gangrun, survivors, hosts, name, ranks, per_task):
    folder = example(name)
    done = run_gangrun("run", "job.yaml", "--hosts", ",".join(hosts.names), "--", *AS_A_HOST_OF_ITS_OWN, *TRAIN,
                       cwd=folder, env={"PATH": PATH, "MARK": str(folder)}, timeout=LIMIT_S)
    assert done.status == 0, done
    assert places(done) == [(rank, ranks, rank % per_task, per_task, rank // per_task, 2) for rank in range(ranks)]
    check_training(json.loads((folder / "out/evaluation.json").read_text()), ranks)
    assert survivors(f"MARK={folder}") == []


def test_a_gang_meets_again_after_shutdown_and_in_process_sets(run_gangrun, hosts, tmp_path):
    done = run_gangrun("run", "--framework", "horovod", "--hosts", ",".join(hosts.names), "-r", "worker:3",
                       "-e", "OMP_NUM_THREADS=1", "--", *AS_A_HOST_OF_ITS_OWN, "python", "-c", TWICE, cwd=tmp_path,
                       env={"PATH": PATH}, timeout=LIMIT_S)
    assert done.status == 0, done
    sums = dict(re.findall(r"^(worker:\d)\s+\| sums (.*)$", done.stdout, re.M))
    assert sums == {"worker:0": "[6.0, 4.0, 6.0, 6.0]", "worker:1": "[6.0, 6.0, 6.0]", "worker:2": "[6.0, 4.0, 6.0, 6.0]"}


def run_and_kill(gangrun, home, folder, *flags):
    """Runs the job and kills worker:1 once it trains: (exit status, the job's status, what was said)."""
    environment = os.environ | {"GANGRUN_HOME": str(home), "PATH": PATH, "MARK": str(folder)}
    process = subprocess.Popen([gangrun, "run", *flags, "job.yaml"], cwd=folder, env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    killed = False
    for line in process.stdout:
        if not killed and re.search(r"\| \[0\] epoch 2,", line):
            status = json.loads(subprocess.run([gangrun, "status", "--json", "last"], env=environment,
                                               capture_output=True, text=True, check=True).stdout)
            os.kill(next(task["pid"] for task in status["tasks"] if task["task"] == "worker:1"), 9)
            killed = True
    _, errors = process.communicate(timeout=LIMIT_S)
    assert killed
    status = json.loads(subprocess.run([gangrun, "status", "--json", "last"], env=environment,
                                       capture_output=True, text=True, check=True).stdout)
    return process.returncode, status, errors


def test_the_death_of_a_rank_ends_the_job_with_that_cause(example, gangrun, home, survivors):
    folder = example("horovod-torch")
    job = folder / "job.yaml"
    job.write_text(job.read_text().replace("--out out", "--out out --epochs 100000"))
    returned, status, errors = run_and_kill(gangrun, home, folder, "--restarts", "0")
    assert returned == 1 and status["state"] == "failed", errors
    assert status["cause"]["task"] == "worker:1" and "killed by signal 9" in status["cause"]["sentence"], status
    assert survivors(f"MARK={folder}") == []


def test_a_gang_whose_rank_died_meets_again(example, gangrun, home):
    folder = example("horovod-torch")
    job = folder / "job.yaml"
    job.write_text(job.read_text().replace("--out out", "--out out --epochs 12"))
    returned, status, errors = run_and_kill(gangrun, home, folder)
    assert returned == 0 and (status["generation"], status["restarts_used"]) == (2, 1), errors
    check_training(json.loads((folder / "out/evaluation.json").read_text()), 4)
