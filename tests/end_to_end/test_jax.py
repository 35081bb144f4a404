"""JAX, and Keras 3 on it, find the gang without arguments."""

import json
import os
import re
import shutil
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gangrun"
# A gang that met too late (below) starts anew only when JAX has ended its processes, which took 200 s.
LIMIT_S = 280

# Only the command line says what is different; what JAX finds is what the example finds.
NAMED_BY_HAND = """
import os, jax
jax.distributed.initialize(num_processes=int(os.environ["JAX_NUM_PROCESSES"]), process_id=int(os.environ["JAX_PROCESS_ID"]))
print(f"process {jax.process_index()} of {jax.process_count()}, {jax.device_count()} devices", flush=True)
"""


@pytest.fixture
def environment(survivors):
    """What the jobs of a test are run with; no process with it may be left at the end."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    yield {"PATH": f"{CACHE / 'jax-0.10/bin'}:{os.environ['PATH']}", "TEST_MARK": mark}
    assert survivors(f"TEST_MARK={mark}") == []


def copy_of(name, tmp_path):
    (tmp_path / "wine").mkdir()
    shutil.copy(EXAMPLES / "wine/winequality-white.csv", tmp_path / "wine")
    return Path(shutil.copytree(EXAMPLES / name, tmp_path / name))


@pytest.mark.parametrize("tasks, processes", [(3, 1), (2, 2)])
def test_jax_finds_the_gang_without_arguments(run_gangrun, environment, tmp_path, tasks, processes):
    done = run_gangrun("run", "-r", f"worker:{tasks}", "--processes", processes, "job.yaml", env=environment,
                       cwd=copy_of("jax", tmp_path), timeout=LIMIT_S)
    assert done.status == 0, done.stderr
    size = tasks * processes
    joined = re.findall(r"process (\d) of (\d): 1 device here, (\d) together", done.stdout)
    # Processes that come to their first collective more than 30 s apart are given up by gloo: on a busy machine the job needs
    # the restart that its file allows.
    assert len(joined) == size or "Gloo context initialization failed" in done.stderr, done
    assert sorted(joined[-size:]) == [(str(rank), str(size), str(size)) for rank in range(size)]
    sums = re.findall(r"sum of all process numbers (\d+)$", done.stdout, re.M)
    assert sums == [str(sum(range(size)))] * size
    losses = [float(loss) for loss in re.findall(r"step \d+, loss ([\d.]+)$", done.stdout, re.M)]
    assert len(losses) == 4 and losses[-1] < losses[0] / 100
    found = re.findall(r"found: (\{.*\})$", done.stdout, re.M)
    assert len(found) == size and len(set(found)) == 1, "all processes have the same line"
    line = json.loads(found[0])
    assert abs(line["slope"] - 3) < 0.1 and abs(line["offset"] + 1) < 0.1


def test_a_job_that_names_no_framework_tells_jax_its_numbers(run_gangrun, environment, tmp_path):
    (tmp_path / "named.py").write_text(NAMED_BY_HAND)
    done = run_gangrun("run", "-r", "chief,worker", "--", "python", "named.py", cwd=tmp_path, env=environment, timeout=LIMIT_S)
    assert done.status == 0, done.stderr
    assert sorted(re.findall(r"process (\d) of 2, 2 devices", done.stdout)) == ["0", "1"]


def test_keras_3_fits_on_two_processes(run_gangrun, environment, tmp_path):
    folder = copy_of("keras3", tmp_path)
    done = run_gangrun("run", "job.yaml", cwd=folder, env=environment, timeout=LIMIT_S)
    assert done.status == 0, done.stderr
    assert sorted(re.findall(r"process (\d) of 2 with Keras 3\S* on jax", done.stdout)) == ["0", "1"]
    for task in ["worker:0", "worker:1"]:
        losses = re.findall(rf"^{task} \| epoch \d, loss ([\d.]+)$", done.stdout, re.M)
        assert len(losses) == 5 and float(losses[-1]) < float(losses[0]) - 0.05
    sums = re.findall(r"sum of all weights (\S+)$", done.stdout, re.M)
    assert len(sums) == 2 and len(set(sums)) == 1, "both processes have the same weights"
    found = json.loads((folder / "out/evaluation.json").read_text())
    assert found["processes"] == 2
    assert found["accuracy"] > found["baseline_accuracy"] + 0.05
