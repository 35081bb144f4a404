"""PyTorch, Keras and Horovod by tf-yarn's call on a real YARN cluster: programs as their users have them, and the real wines.

Most ship the environment that runs them; a node unpacks each of the two once, for all programs here and for the example beside.
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys

import cloudpickle
import pytest

from conftest import ROOT, environment_folder  # noqa: F401: of this folder

USERS = pathlib.Path(__file__).with_name("users")
LIMIT_S = 280
BASELINE = 0.67  # of always answering that a wine is a good one


@pytest.fixture
def user(client, labelled, monkeypatch, tmp_path):
    """Runs one of the programs beside this file: what it said on standard output, and on standard error."""
    client(labelled)
    # TensorFlow's environment has nothing that pickles functions.
    (tmp_path / "own").mkdir()
    (tmp_path / "own/cloudpickle").symlink_to(pathlib.Path(cloudpickle.__file__).parent)
    monkeypatch.setenv("PYTHONPATH", f"{os.environ['PYTHONPATH']}:{tmp_path}/own")
    monkeypatch.setenv("WINES", str(ROOT / "examples/wine/winequality-white.csv"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")

    def run(python, *words):
        done = subprocess.run([python, *map(str, words)], cwd=USERS, capture_output=True, text=True, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    return run


def python_of(name):
    return environment_folder(name) / "bin/python"


def evaluations(cluster, text):
    """What Keras' evaluator has told, from its log."""
    (application,) = set(re.findall(r"application_\d+_\d+", text))
    logs = "".join(log for files in cluster.container_logs(application).values() for log in files.values())
    return [json.loads(found) for found in re.findall(r"^evaluated: (\{.*\})$", logs, re.M)]


def test_pytorch_trains_on_two_workers_of_two_ranks(user, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    user(python_of("pytorch"), "pytorch_wine.py", out)
    found = json.loads((out / "evaluation.json").read_text())
    # All ranks have the same weights in the end.
    assert found["ranks"] == 4 and len(found["weights"]) == 1, found
    assert found["losses"][-1] < 0.52 < 0.6 < found["losses"][0], found
    assert found["accuracy"] > BASELINE + 0.05, found
    assert sorted(os.listdir(out / "checkpoints")) == [f"model_{epoch}.pt" for epoch in range(8)]
    assert sorted(os.listdir(out / "board")) == [f"worker{rank}" for rank in range(4)]


@pytest.mark.parametrize("version, ending", [("2.15", ".keras"), ("2.21", ".weights.h5")])
def test_keras_trains_in_step_by_the_same_call(user, labelled, tmp_path, version, ending):
    python = python_of(f"tensorflow-{version}")
    by, environment = (python, "shipped") if version == "2.15" else (sys.executable, python)
    _, text = user(by, "keras_wine.py", tmp_path / "model", ending, environment)
    chief, worker = (list(csv.DictReader(open(tmp_path / "model" / f"{kind}.csv"))) for kind in ("chief", "worker"))
    assert chief == worker and len(chief) == 4
    assert float(chief[-1]["accuracy"]) > BASELINE + 0.05, chief
    told = evaluations(labelled, text)
    assert [one["checkpoint"] for one in told] == [f"checkpoint-{epoch}{ending}" for epoch in range(1, 5)]
    assert told[-1]["accuracy"] > BASELINE + 0.05, told


def test_an_estimator_trains_under_horovod(user, tmp_path):
    said, _ = user(python_of("horovod"), "collective_all_reduce.py", tmp_path / "model")
    assert float(said.split()[-1]) > BASELINE + 0.05
    # The second rank wrote none of its own, and the evaluator came to an end.
    assert {path.name for path in (tmp_path / "model").glob("*.index")} == {"model.ckpt-0.index", "model.ckpt-500.index"}
    assert list((tmp_path / "model/eval").glob("events.*"))


@pytest.mark.parametrize("program", ["dnn_classification.py", "shipped_environment.py"])
def test_programs_of_tf_skein_and_tf_yarn_run_unchanged(user, tensorflow, tmp_path, program):
    said, told = user(tensorflow, "-m", "gangrun.compat", program, tmp_path / "model")
    assert float(said.split()[-1]) > BASELINE + 0.05
    assert re.findall(r"(chief|evaluator):0 +SUCCEEDED", told) == ["chief", "evaluator"], told
