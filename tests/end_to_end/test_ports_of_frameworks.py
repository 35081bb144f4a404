"""The servers of real frameworks on the ports that are held for them, by IPv4 and IPv6, and with the hold let go of."""

import json
import os
import subprocess
import urllib.request
from pathlib import Path

import pytest

from waiting import wait_until

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gangrun"
TENSORFLOW = f"{CACHE / 'tensorflow-2.15/bin'}:{os.environ['PATH']}"
JAX = f"{CACHE / 'jax-0.10/bin'}:{os.environ['PATH']}"
LIMIT_S = 240

# Runs an operation on the other one's server, which so has to listen at its published port.
SERVER = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"
import tensorflow as tf
config = json.loads(os.environ["TF_CONFIG"])
own = config["task"]["index"]
server = tf.distribute.Server(config["cluster"], job_name="worker", task_index=own)
with tf.compat.v1.Graph().as_default():
    with tf.device(f"/job:worker/task:{1 - own}"):
        both = tf.constant(20) + 22
    with tf.compat.v1.Session(server.target) as session:
        print("worker", own, "had", session.run(both), flush=True)
# Stays until the other one has had its answer.
open(f"done.{own}", "w").close()
while not os.path.exists(f"done.{1 - own}"): os.sched_yield()
"""

STORE = """
import os
from datetime import timedelta
import torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=120))
import torch
sum = torch.ones(1) * dist.get_rank()
dist.all_reduce(sum)
print("rank", dist.get_rank(), "of", dist.get_world_size(), "has", int(sum), flush=True)
"""

# Process 0 serves the coordinator at its task's port; without it nobody would know of the others.
COORDINATOR = """
import jax
from jax.experimental import multihost_utils
jax.distributed.initialize()
numbers = multihost_utils.process_allgather(jax.numpy.array([jax.process_index()]))
print("process", jax.process_index(), "of", jax.process_count(), "has", int(numbers.sum()), flush=True)
"""

FLAGS = {"ipv4": [], "ipv6": ["--interface", "::1"], "until-exec": ["--hold", "until-exec"]}


def ways(*names):
    return pytest.mark.parametrize("flags", [FLAGS[name] for name in names], ids=names)


def run(run_gangrun, folder, path, *words):
    done = run_gangrun("run", "--json", "--logs", *words, cwd=folder, env={"PATH": path}, timeout=LIMIT_S)
    assert done.stdout, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    lines = [event["line"] for event in events if event["event"] == "line"]
    assert done.status == 0, "\n".join(lines)
    status = events[-1]["status"]
    assert (status["generation"], status["restarts_used"]) == (1, 0), lines
    return lines


@ways("ipv4", "ipv6")
def test_tensorflows_server(run_gangrun, tmp_path, flags):
    lines = run(run_gangrun, tmp_path, TENSORFLOW, "-r", "worker:2", *flags, "--", "python", "-c", SERVER)
    assert {"worker 0 had 42", "worker 1 had 42"} <= set(lines)


@ways("ipv4", "ipv6", "until-exec")
def test_pytorchs_store(run_gangrun, tmp_path, flags):
    # Debian's PyTorch belongs to Debian's Python.
    lines = run(run_gangrun, tmp_path, f"/usr/bin:{os.environ['PATH']}", "-r", "worker:3", *flags, "--", "python3",
                "-c", STORE)
    assert sorted(line for line in lines if line.startswith("rank")) == [f"rank {rank} of 3 has 3" for rank in range(3)]


@ways("ipv4", "ipv6", "until-exec")
def test_jaxs_coordinator(run_gangrun, tmp_path, flags):
    lines = run(run_gangrun, tmp_path, JAX, "-r", "worker:3", "--framework", "jax", *flags, "--", "python", "-c", COORDINATOR)
    assert sorted(line for line in lines if line.startswith("process")) == [
        f"process {number} of 3 has 3" for number in range(3)]


@ways("ipv4", "until-exec")
def test_tensorboard(gangrun, home, tmp_path, flags):
    """It answers at the port that is held for it; the only task waits for that and ends the job."""
    (tmp_path / "logs").mkdir()
    os.mkfifo(tmp_path / "seen")
    environment = os.environ | {"GANGRUN_HOME": str(home), "PATH": TENSORFLOW}
    process = subprocess.Popen(
        [gangrun, "run", "--json", "--tensorboard", "logs", *flags, "--", "sh", "-c", "read line < seen"],
        cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    board = {}
    while not board.get("address"):
        event = json.loads(process.stdout.readline())
        board = event.get("status", {"tasks": [{}]})["tasks"][-1]
    log, port = Path(board["log_path"] + ".err"), board["ports"][0]["port"]
    wait_until(lambda: log.exists() and f"http://127.0.0.1:{port}/" in log.read_text(), "TensorBoard", LIMIT_S)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/data/plugins_listing", timeout=60) as answer:
        assert "scalars" in json.load(answer)
    (tmp_path / "seen").write_text("yes\n")
    events = [json.loads(line) for line in process.stdout]
    assert process.wait(LIMIT_S) == 0, events[-1]
    assert (events[-1]["status"]["generation"], events[-1]["status"]["restarts_used"]) == (1, 0)
