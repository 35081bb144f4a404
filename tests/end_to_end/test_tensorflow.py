"""TensorFlow's strategies as gangs, with the last version that has Estimator and with the newest (wine is test_examples)."""

import json
import os
import re
import shutil
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gangrun"
LIMIT_S = 280
# Keras 2 in the newest TensorFlow (tf-keras).
LEGACY = ["-e", "TF_USE_LEGACY_KERAS=1"]


@pytest.fixture
def environment(survivors):
    """environment(version) is what jobs are run with; no process with it may be left at the end."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    yield lambda version: {"PATH": f"{CACHE / f'tensorflow-{version}/bin'}:{os.environ['PATH']}", "TEST_MARK": mark}
    assert survivors(f"TEST_MARK={mark}") == []


@pytest.fixture
def example(tmp_path):
    """A copy of an example's folder, with the data beside it as its job file has it."""

    def copy(name):
        (tmp_path / "wine").mkdir()
        shutil.copy(EXAMPLES / "wine/winequality-white.csv", tmp_path / "wine")
        return Path(shutil.copytree(EXAMPLES / name, tmp_path / name))

    return copy


def command(*words):
    return ["--", "python", "train.py", "--data", "../wine/winequality-white.csv", "--out", "out", *words]


def losses(text, task):
    return [float(loss) for loss in re.findall(rf"^{task}\s+\| epoch \d+, loss ([\d.]+)$", text, re.M)]


def check_result(folder, version):
    found = json.loads((folder / "out/evaluation.json").read_text())
    assert found["tensorflow"].startswith(version)
    assert found["accuracy"] > found["baseline_accuracy"] + 0.04
    return found


@pytest.mark.parametrize("version, flags, words", [
    ("2.21", LEGACY, []),
    ("2.21", [], ["--loop", "custom"]),
], ids=["fit by Keras 2", "own loop with Keras 3"])
def test_keras_on_several_workers(run_gangrun, environment, example, version, flags, words):
    folder = example("keras")
    done = run_gangrun("run", *flags, "job.yaml", *command(*words), cwd=folder, env=environment(version), timeout=LIMIT_S)
    assert done.status == 0, done.stderr
    check_workers(folder, done.stdout, version)


def check_workers(folder, text, version):
    assert sorted(re.findall(r"(\w+) 0 is one of 2$", text, re.M)) == ["chief", "worker"]
    chief, worker = losses(text, "chief:0"), losses(text, "worker:0")
    assert len(chief) == 5 and chief[-1] < chief[0] - 0.1
    assert chief == worker, "they train in step"
    sums = re.findall(r"sum of all weights (\S+)$", text, re.M)
    assert len(sums) == 2 and len(set(sums)) == 1, "both have the same weights"
    assert check_result(folder, version)["replicas"] == 2


def test_an_evaluator_alone_beside_the_training(run_gangrun, environment, example):
    """A job of one observer, started first, follows the checkpoints of another job to the last."""
    folder = example("keras")
    evaluator = run_gangrun("run", "--detach", "evaluator.yaml", cwd=folder, env=environment("2.15")).stdout.strip()
    done = run_gangrun("run", "job.yaml", cwd=folder, env=environment("2.15"), timeout=LIMIT_S)
    assert done.status == 0, done.stderr
    check_workers(folder, done.stdout, "2.15")
    waited = run_gangrun("wait", evaluator, timeout=LIMIT_S)
    assert waited.status == 0, waited.stderr
    told = [json.loads(line) for line in re.findall(r"evaluated: (\{.*\})$", run_gangrun("logs", evaluator).stdout, re.M)]
    assert [each["epoch"] for each in told] == sorted({each["epoch"] for each in told})
    assert told[-1]["epoch"] == 5
    # The same weights on the same wines.
    assert told[-1]["accuracy"] == check_result(folder, "2.15")["accuracy"]


@pytest.mark.parametrize("version, flags, words", [
    ("2.15", [], []),
    ("2.15", [], ["--loop", "fit"]),
    ("2.21", [], []),
    ("2.21", LEGACY, ["--loop", "fit"]),
], ids=["2.15", "2.15 fit", "Keras 3", "newest, fit by Keras 2"])
def test_parameter_servers(run_gangrun, environment, example, version, flags, words):
    folder = example("parameter_server")
    done = run_gangrun("run", *flags, "job.yaml", *command(*words), cwd=folder, env=environment(version), timeout=LIMIT_S)
    assert done.status == 0, done.stderr
    chief = losses(done.stdout, "chief:0")
    assert len(chief) == 5 and chief[-1] < chief[0] - 0.05
    variables = check_result(folder, version)["variables_on"]
    assert [re.search(r"/job:(\w+)/.*task:(\d)", device).groups() for device in variables] == [("ps", "0"), ("ps", "1")]
    status = json.loads(run_gangrun("status", "--json", "last").stdout)
    assert {task["task"]: task["state"] for task in status["tasks"]} == {
        "chief:0": "succeeded", "worker:0": "stopped", "worker:1": "stopped", "ps:0": "stopped", "ps:1": "stopped"}


def test_fit_of_keras_3_on_several_workers_of_tensorflow_fails(run_gangrun, environment, example):
    """Known, and told in docs/frameworks.md. When this fails, Keras can do it: say so there."""
    done = run_gangrun("run", "--restarts", "0", "job.yaml", cwd=example("keras"), env=environment("2.21"), timeout=LIMIT_S)
    assert done.status == 1
    assert "PerReplica" in done.stderr
