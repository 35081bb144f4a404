"""Keras experiments: what is decided before TensorFlow is there, and the real one in processes of their own."""

import functools
import json
import os
import pathlib
import subprocess

import pytest

from gangrun.tf_yarn import get_safe_experiment_fn, keras
from gangrun.tf_yarn.keras import KerasExperiment

PYTHON = pathlib.Path(keras.__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "gangrun"
CLUSTER = {"chief": ["h:1"], "worker": ["h:2", "h:3"]}
LIMIT_S = 280

# Two epochs with a checkpoint each; then an evaluator, as a task of the same job and of another one.
TRAIN_AND_EVALUATE = """
import json, os, pathlib, sys, numpy, tensorflow as tf
from gangrun.tf_yarn import keras
keras.UNREADABLE_S = 0.1
def experiment_fn(folder, ending):
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile(loss="mse", optimizer="sgd", metrics=["mae"])
    x = numpy.arange(20, dtype="float32").reshape(10, 2) / 20
    save = tf.keras.callbacks.ModelCheckpoint(folder + "/checkpoint-{epoch}" + ending, save_weights_only="weights" in ending or ending == ".ckpt")
    return keras.KerasExperiment(model, folder, {"epochs": 2, "verbose": 0, "callbacks": [save]}, lambda: x, lambda: x.sum(axis=1),
                                 lambda: tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1))).batch(5))
def check(folder, ending):
    os.environ.update(GANGRUN_CLUSTER_SPEC='{"chief": ["h:1"], "evaluator": ["h:2"]}', GANGRUN_JOB_ID="this")
    make = lambda: experiment_fn(folder, ending)
    keras.mark(folder, "an earlier job")
    before, told = keras.has_ended(folder), []
    keras.train(make(), chief=True, several=False)
    damaged = pathlib.Path(folder, "checkpoint-9.h5")
    damaged.write_text("half of one")
    try:
        keras.evaluate(make(), lambda **figures: told.append(figures))
    except OSError:
        damaged.unlink()
    results = keras.evaluate(make(), lambda **figures: None)
    os.environ.update(GANGRUN_CLUSTER_SPEC='{"evaluator": ["h:2"]}', GANGRUN_JOB_ID="another")
    return {"before": before, "after": keras.has_ended(folder), "told": told[:2], "results": results,
            "names": [pathlib.Path(path).name for path in keras.checkpoints(folder)]}
def to_estimator(kind):
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"chief": ["h:1"], "worker": ["h:2"]}, "task": {"type": kind, "index": 0}})
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile(loss="mse", optimizer="sgd")
    try:
        return type(keras.model_to_estimator(model, model_dir="estimated")).__name__
    except (TimeoutError, RuntimeError) as error:
        return str(error)
keras.FIRST_CHECKPOINT_S = 0.2
try:
    refused = keras.train(experiment_fn("refused", ".weights.h5"), chief=False, several=True)
except RuntimeError as error:
    refused = str(error)
found = {ending: check(f"model-{number}", ending) for number, ending in enumerate(sys.argv[1:])}
print(json.dumps([[to_estimator(kind) for kind in ("worker", "chief", "worker")], found, refused]))
"""


def clear(monkeypatch, **values):
    for name in ("TF_CONFIG", "GANGRUN_CLUSTER_SPEC", "GANGRUN_CLUSTER_SPEC_FILE", "GANGRUN_TASK_TYPE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def tf_config(kind, index=0, **more):
    return json.dumps({"cluster": {**CLUSTER, **more}, "task": {"type": kind, "index": index}})


def test_those_that_train_are_counted(monkeypatch):
    clear(monkeypatch)
    assert keras.trainers() == 1 and not keras.has_parameter_servers() and keras.is_chief()
    clear(monkeypatch, TF_CONFIG=tf_config("worker", ps=["h:4"]))
    assert keras.trainers() == 3 and keras.has_parameter_servers() and not keras.is_chief()
    clear(monkeypatch, TF_CONFIG=tf_config("chief"))
    assert keras.is_chief()
    clear(monkeypatch, TF_CONFIG=json.dumps({"cluster": {"worker": ["h:2", "h:3"]}, "task": {"type": "worker", "index": 0}}))
    assert keras.is_chief() and keras.trainers() == 2


def annotated() -> KerasExperiment:
    return json.loads("null")


def by_name():
    return KerasExperiment(None, "", {})


def through_another():
    return by_name()


def with_arguments(folder):
    return KerasExperiment(None, folder, {})


def of_estimators():
    return json.dumps({})


def enclosing():
    function = by_name
    return lambda: function()


@pytest.mark.parametrize("function, speaks", [
    (annotated, True), (by_name, True), (through_another, True), (functools.partial(with_arguments, "x"), True),
    (enclosing(), True), (get_safe_experiment_fn(f"{__name__}.with_arguments", "x"), True), (lambda: by_name(), True), (of_estimators, False), (len, False)])
def test_a_function_tells_that_it_makes_a_keras_experiment(function, speaks):
    assert keras.speaks_of_keras(function) == speaks


def test_one_trainer_needs_no_strategy(monkeypatch):
    clear(monkeypatch, TF_CONFIG=json.dumps({"cluster": {"chief": ["h:1"]}, "task": {"type": "chief", "index": 0}}))
    assert keras.make_experiment(lambda: "as it is") == "as it is"


def test_keras_on_parameter_servers_is_refused(monkeypatch):
    clear(monkeypatch, TF_CONFIG=tf_config("worker", ps=["h:4"]), GANGRUN_TASK_TYPE="worker")
    with pytest.raises(ValueError, match="task_specs: a KerasExperiment trains in step .* no use for the parameter servers"):
        keras.make_experiment(by_name)


def test_an_evaluator_needs_data():
    with pytest.raises(ValueError, match="validation_data_fn: None, but the job has an evaluator"):
        keras.Evaluation(by_name())


@pytest.mark.frameworks
@pytest.mark.parametrize("version, endings", [("2.15", ["", ".ckpt"]), ("2.21", [".keras"])])
def test_every_kind_of_checkpoint_is_evaluated(version, endings, tmp_path):
    done = subprocess.run([CACHE / f"tensorflow-{version}/bin/python", "-c", TRAIN_AND_EVALUATE, *endings], cwd=tmp_path,
                          capture_output=True, text=True, timeout=LIMIT_S,
                          env={**os.environ, "PYTHONPATH": str(PYTHON), "TF_CPP_MIN_LOG_LEVEL": "3"})
    assert done.returncode == 0, done.stderr
    estimators, found_by_ending, refused = json.loads(done.stdout.splitlines()[-1])
    if version == "2.15":
        # The first checkpoint is the chief's: the others wait for it.
        assert "no first checkpoint into estimated/keras" in estimators[0] and estimators[1:] == ["EstimatorV2"] * 2
        assert refused is None
    else:
        assert refused.startswith("Keras 3 has no fit on several workers")
        assert all("TensorFlow 2.21.0 has no Estimators any more" in said for said in estimators)
    for ending, found in found_by_ending.items():
        assert found["names"] == [f"checkpoint-1{ending}", f"checkpoint-2{ending}"]
        # What an earlier job has left counts for an evaluator that runs alone only.
        assert (found["before"], found["after"]) == (False, True)
        losses = [result["loss"] for result in found["results"]]
        assert len(losses) == 2 and losses[1] < losses[0]
        assert found["told"] == [{"nb_eval_steps": number + 1, **result} for number, result in enumerate(found["results"])]
