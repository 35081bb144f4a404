"""Every example as a user runs it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gangrun"
WAIT_S = 200


@pytest.fixture
def example(tmp_path):
    """A copy of an example's folder, so that what it writes is nobody else's."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(EXAMPLES / name, tmp_path / name))

    return copy


@pytest.mark.gate
def test_every_example_is_tested():
    folders = Path(__file__).parent, ROOT / "tests/yarn", ROOT / "tests/python", ROOT / "tests/spark", ROOT / "tests/kubernetes"
    text = "".join(path.read_text() for folder in folders for path in folder.glob("test_*.py"))
    for folder in EXAMPLES.iterdir():
        if folder.is_dir():
            assert f'{folder.name}"' in text, f"examples/{folder.name} is run by no test"


@pytest.mark.gate
def test_hello(example, run_gangrun):
    done = run_gangrun("run", "job.yaml", cwd=example("hello"))
    assert done.status == 0, done.stderr
    told = re.findall(r"^(\w+:\d)\s+\| I am (\w+:\d) of job hello-\S+$", done.stdout, re.M)
    assert sorted(task for task, _ in told) == ["leader:0", "worker:0", "worker:1", "worker:2"]
    assert all(task == own for task, own in told)
    addresses = re.findall(r"\| My address: (\S+:\d+)$", done.stdout, re.M)
    specs = set(re.findall(r"We are all here: (\{.*\})$", done.stdout, re.M))
    assert len(specs) == 1
    cluster = json.loads(specs.pop())
    assert sorted(cluster["leader"] + cluster["worker"]) == sorted(addresses)


@pytest.mark.gate
def test_wine_learns_in_few_steps(example, run_gangrun):
    """The smallest gang in which each kind of task trains with the others; whole: test_wine_trains_as_one_gang."""
    folder = example("wine")
    spec = yaml.safe_load((folder / "job.yaml").read_text())
    del spec["tasks"]["tensorboard"]
    spec["tasks"]["worker"]["instances"] = 1
    (folder / "few.yaml").write_text(yaml.safe_dump(spec))
    path = f"{CACHE / 'tensorflow-2.15/bin'}:{os.environ['PATH']}"
    done = run_gangrun("run", "--json", "few.yaml", "--", "python", "train.py", "--out", "out", "--max-steps", "800", cwd=folder,
                       env={"PATH": path}, timeout=280)
    assert done.status == 0, done.stderr
    status = json.loads(done.stdout.splitlines()[-1])["status"]
    assert {task["task"]: task["state"] for task in status["tasks"]} == {
        "chief:0": "succeeded", "worker:0": "succeeded", "ps:0": "stopped", "evaluator:0": "succeeded"}
    found = json.loads((folder / "out/evaluation.json").read_text())
    assert found["accuracy"] > found["baseline_accuracy"] + 0.04
    assert found["global_step"] >= 800
    assert list((folder / "out/model").glob("model.ckpt-*.index"))


def test_wine_trains_as_one_gang(example, run_gangrun):
    folder = example("wine")
    path = f"{CACHE / 'tensorflow-2.15/bin'}:{os.environ['PATH']}"
    done = run_gangrun("run", "--json", "job.yaml", cwd=folder, env={"PATH": path}, timeout=280)
    assert done.status == 0, done.stderr
    status = json.loads(done.stdout.splitlines()[-1])["status"]
    states = {task["task"]: task["state"] for task in status["tasks"]}
    # TensorBoard obeys SIGTERM with status 0.
    assert states == {"chief:0": "succeeded", "worker:0": "succeeded", "worker:1": "succeeded",
                      "ps:0": "stopped", "evaluator:0": "succeeded", "tensorboard:0": "succeeded"}
    board = next(task for task in status["tasks"] if task["task"] == "tensorboard:0")
    port = board["address"].split(":")[1]
    assert f"http://127.0.0.1:{port}/" in Path(board["log_path"] + ".err").read_text()
    found = json.loads((folder / "out/evaluation.json").read_text())
    assert found["accuracy"] > found["baseline_accuracy"] + 0.04
    assert found["global_step"] >= 5000
    assert list((folder / "out/model").glob("model.ckpt-*.index"))


def test_wine_survives_the_death_of_a_worker(example, gangrun, home):
    """Kills a training process in the middle: it comes back at its old address and the job succeeds."""
    folder = example("wine")
    environment = os.environ | {"GANGRUN_HOME": str(home),
                                "PATH": f"{CACHE / 'tensorflow-2.15/bin'}:{os.environ['PATH']}"}
    process = subprocess.Popen([gangrun, "run", "job.yaml"], cwd=folder, env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    killed = False
    for line in process.stdout:
        if not killed and re.match(r"worker:1\s+\| step \d+", line):
            status = json.loads(subprocess.run([gangrun, "status", "--json", "last"], env=environment,
                                               capture_output=True, text=True, check=True).stdout)
            pid = next(task["pid"] for task in status["tasks"] if task["task"] == "worker:1")
            os.kill(pid, 9)
            killed = True
    _, errors = process.communicate(timeout=280)
    assert killed
    assert process.returncode == 0, errors
    assert "worker:1" in errors and "killed by signal 9" in errors and "restart 1 of 3" in errors
    found = json.loads((folder / "out/evaluation.json").read_text())
    assert found["accuracy"] > found["baseline_accuracy"] + 0.04


def steps_of(run_gangrun, job, task):
    """[(step, loss)] as the task has printed them."""
    lines = run_gangrun("logs", job, task).stdout
    return [(int(step), float(loss)) for step, loss in re.findall(r"^step (\d+), loss ([\d.]+)$", lines, re.M)]


def test_wine_does_not_notice_the_death_of_its_master(example, run_gangrun):
    """Kills the master of the detached job in the middle: same processes, and the loss keeps falling."""
    folder = example("wine")
    path = f"{CACHE / 'tensorflow-2.15/bin'}:{os.environ['PATH']}"
    job = run_gangrun("run", "--detach", "job.yaml", cwd=folder, env={"PATH": path}).stdout.strip()

    def pids():
        status = json.loads(run_gangrun("status", "--json", job).stdout)
        return {task["task"]: task["pid"] for task in status["tasks"] if task["state"] == "running"}

    wait_until(lambda: len(steps_of(run_gangrun, job, "chief:0")) >= 2, "the training to begin", WAIT_S)
    before = wait_until(lambda: len(p := pids()) == 6 and p, "all tasks", WAIT_S)
    steps_before = steps_of(run_gangrun, job, "chief:0")
    masters = subprocess.run(["pgrep", "-f", f"gangrun master .*{job}"], capture_output=True, text=True).stdout.split()
    os.kill(min(map(int, masters)), 9)
    wait_until(lambda: pids() == before, "news of the same processes", WAIT_S)
    wait_until(lambda: len(steps_of(run_gangrun, job, "chief:0")) > len(steps_before), "the training to go on", WAIT_S)
    assert run_gangrun("wait", job, timeout=280).status == 0
    status = json.loads(run_gangrun("status", "--json", job).stdout)
    assert (status["restarts_used"], status["generation"]) == (0, 1)
    steps = steps_of(run_gangrun, job, "chief:0")
    assert [step for step, _ in steps] == sorted({step for step, _ in steps}), "no step was made twice"
    losses = [loss for _, loss in steps]
    assert sum(losses[-3:]) / 3 < losses[0], "the loss has fallen"
    found = json.loads((folder / "out/evaluation.json").read_text())
    assert found["accuracy"] > found["baseline_accuracy"] + 0.04
