"""A rank of Horovod, alone: what the others do differently is said by its number."""

import json
import os
import pathlib
import subprocess

import pytest

from gangrun.tf_yarn import horovod

PYTHON = pathlib.Path(horovod.__file__).resolve().parents[2]
INTERPRETER = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "gangrun/horovod/bin/python"
LIMIT_S = 280

KERAS = """
import json, os, pathlib, numpy, tensorflow as tf
from gangrun.tf_yarn import horovod, keras
def experiment_fn(folder="model"):
    import horovod.tensorflow.keras as hvd
    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.legacy.SGD(0.1)), "mse")
    x = numpy.ones((8, 1), "float32")
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), tf.keras.callbacks.ModelCheckpoint(folder + "/c-{epoch}.keras")]
    return keras.KerasExperiment(model, folder, {"epochs": 1, "verbose": 0, "callbacks": callbacks}, lambda: x, lambda: x)
horovod.run(experiment_fn)
horovod.train_keras(experiment_fn("of rank 1"), 1)
try:
    horovod.run(lambda: 3)
except TypeError as error:
    print(json.dumps([sorted(os.listdir("model")), pathlib.Path("of rank 1").exists(), str(error)]))
"""


@pytest.mark.frameworks
def test_the_checkpoints_are_those_of_rank_0(tmp_path):
    alone = {"HOROVOD_RANK": "0", "HOROVOD_SIZE": "1", "HOROVOD_LOCAL_RANK": "0", "HOROVOD_LOCAL_SIZE": "1",
             "HOROVOD_CROSS_RANK": "0", "HOROVOD_CROSS_SIZE": "1", "HOROVOD_CONTROLLER": "gloo", "HOROVOD_CPU_OPERATIONS": "gloo"}
    done = subprocess.run([INTERPRETER, "-c", KERAS], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S,
                          env={**os.environ, "PYTHONPATH": str(PYTHON), "TF_CPP_MIN_LOG_LEVEL": "3", **alone})
    assert done.returncode == 0, done.stderr
    names, of_rank_1, said = json.loads(done.stdout.splitlines()[-1])
    assert names == ["c-1.keras", "gangrun-training-ended"] and not of_rank_1
    assert said.startswith("experiment_fn returned 3 of type int; allowed: Experiment or KerasExperiment")


def test_a_task_without_a_rank_is_refused(monkeypatch):
    monkeypatch.delenv("HOROVOD_RANK", raising=False)
    monkeypatch.setenv("GANGRUN_TASK_TYPE", "ps")
    with pytest.raises(RuntimeError, match="task_specs: a task of the type ps has no rank under Horovod; allowed: chief, worker"):
        horovod.run(lambda: None)


def test_horovod_that_is_not_installed_is_said(monkeypatch):
    monkeypatch.setenv("HOROVOD_RANK", "0")
    with pytest.raises(ImportError, match="has no Horovod for TensorFlow .* HOROVOD_WITH_GLOO=1"):
        horovod.run(lambda: None)
