"""Keras training for tf-yarn: an `experiment_fn` that returns a `KerasExperiment`.

A single training task calls `fit`. Several tasks train synchronously with MultiWorkerMirroredStrategy, which must exist
before the model is made. TensorFlow is imported only inside of functions, so the client does not need it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import os
import sys
import threading
import time
import types
import zipfile
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set

from gangrun.tf_yarn.experiment import SafeFunction

ENDED = "gangrun-training-ended"  # a file in model_dir that marks the end of the training
LOOK_S = 1.0  # seconds between two searches for checkpoints
PATIENCE_S = 1200.0  # seconds without a new checkpoint until the evaluation ends
FIRST_CHECKPOINT_S = 120.0  # seconds to wait for the chief's first checkpoint
UNREADABLE_S = 30.0  # seconds that a checkpoint may take to be written
OWN_FIT = ("Keras 3 has no fit on several workers: it hands what the strategy gives to each replica on as one tensor. Ways "
           "out: Keras 2 (tf-keras in the environment, and tf.keras in the code, not the package keras), one training task, "
           'or Horovod (custom_task_module="tf_yarn.tensorflow.tasks.gloo_allred_task")')

_logger = logging.getLogger(__name__)


class KerasExperiment(NamedTuple):
    """A compiled Keras model with its training and validation data.

    model_dir            folder of the checkpoints; an evaluator evaluates each checkpoint that appears there
    train_params         keyword arguments of `fit`
    input_data_fn, target_data_fn   return the `x` and `y` of `fit`
    validation_data_fn   returns the data that an evaluator evaluates on; required if the job has one
    """

    model: Any
    model_dir: str
    train_params: Dict[str, Any]
    input_data_fn: Optional[Callable[[], Any]] = None
    target_data_fn: Optional[Callable[[], Any]] = None
    validation_data_fn: Optional[Callable[[], Any]] = None


def trainers(tf_config: Optional[str] = None) -> int:
    """Return the number of training tasks in TF_CONFIG; 1 without TF_CONFIG."""
    config = json.loads((os.environ.get("TF_CONFIG") if tf_config is None else tf_config) or "{}")
    return max(1, sum(len(config.get("cluster", {}).get(kind, ())) for kind in ("chief", "master", "worker")))


def has_parameter_servers(tf_config: Optional[str] = None) -> bool:
    """Return whether TF_CONFIG has parameter servers."""
    config = json.loads((os.environ.get("TF_CONFIG") if tf_config is None else tf_config) or "{}")
    return bool(config.get("cluster", {}).get("ps"))


def cluster_spec() -> Dict[str, List[str]]:
    """Return the job's cluster spec as this task sees it; empty outside of a job."""
    path = os.environ.get("GANGRUN_CLUSTER_SPEC_FILE")
    if path is None:
        found = json.loads(os.environ.get("GANGRUN_CLUSTER_SPEC") or "{}")
    else:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    return dict(found)


def task_type() -> str:
    """Return the type of this task; "chief" outside of a job."""
    return os.environ.get("GANGRUN_TASK_TYPE", "chief")


def is_chief() -> bool:
    """Return whether this task is the one that writes checkpoints: chief, or worker:0 if there is no chief."""
    task = json.loads(os.environ.get("TF_CONFIG") or "{}")
    own = task.get("task", {})
    first = next((kind for kind in ("chief", "master", "worker") if task.get("cluster", {}).get(kind)), own.get("type"))
    return bool(own.get("type") == first and own.get("index", 0) == 0)


def speaks_of_keras(function: Any, depth: int = 3) -> bool:
    """Return whether a function makes a KerasExperiment, by its annotation and the names in its code.

    It also looks at functions that it calls or encloses, to this `depth`. The function is not called, because the strategy
    must exist before the model.
    """
    if depth == 0:
        return False
    function = getattr(function, "func", function)  # functools.partial
    if isinstance(function, SafeFunction):
        function = getattr(importlib.import_module(function.module), function.function)
    returns = getattr(function, "__annotations__", {}).get("return")
    if "KerasExperiment" in (returns if isinstance(returns, str) else getattr(returns, "__name__", "")):
        return True
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    names = set(_names(code))
    if "KerasExperiment" in names:
        return True
    inner: List[Any] = [cell.cell_contents for cell in (function.__closure__ or ()) if not _is_empty(cell)]
    inner += [function.__globals__[name] for name in sorted(names) if name in function.__globals__]
    return any(callable(value) and not isinstance(value, type) and speaks_of_keras(value, depth - 1) for value in inner)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _is_empty(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return True
    return False


def make_experiment(experiment_fn: Callable[[], Any], in_step: bool = True) -> Any:
    """Call `experiment_fn` and return its result. If several tasks train a Keras model, do so in the strategy's scope.

    Raises ValueError if the scope would be needed but cannot be used.
    """
    if not in_step or trainers() == 1:
        return experiment_fn()
    prefer_keras_2()
    if task_type() == "evaluator":
        return experiment_fn()
    if has_parameter_servers() or not (speaks_of_keras(experiment_fn) or not has_estimators()):
        experiment = experiment_fn()
        if isinstance(experiment, KerasExperiment):
            raise ValueError(_why_not_in_step())
        return experiment
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        return experiment_fn()


def _why_not_in_step() -> str:
    if has_parameter_servers():
        return ("task_specs: a KerasExperiment trains in step on chief and workers, and has no use for the parameter servers "
                "of the type ps")
    return ("experiment_fn: it returns a KerasExperiment, which could not be seen before it was called, and several tasks "
            "need the strategy before the model: annotate it, def experiment_fn() -> KerasExperiment")


def has_estimators() -> bool:
    """Return whether this TensorFlow still has Estimators (before 2.16)."""
    import tensorflow as tf

    version = tuple(int(part) for part in tf.__version__.split(".")[:2])
    return version < (2, 16)


def prefer_keras_2() -> None:
    """Use Keras 2 (tf-keras) as tf.keras if it is installed, because Keras 3 cannot `fit` on several workers."""
    if "TF_USE_LEGACY_KERAS" not in os.environ and importlib.util.find_spec("tf_keras") is not None:
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        _logger.info("tf.keras is Keras 2 (tf-keras) here: Keras 3 has no fit on several workers")


def train(experiment: KerasExperiment, chief: bool, several: bool) -> None:
    """Call the model's `fit`, with all callbacks in every task. The chief marks the begin and the end in `model_dir`.

    Raises RuntimeError for Keras 3 on several workers.
    """
    if several and is_keras_3(experiment.model):
        raise RuntimeError(OWN_FIT)
    if chief:
        mark(experiment.model_dir, None)
    experiment.model.fit(**fit_arguments(experiment))
    if chief:
        mark(experiment.model_dir, os.environ.get("GANGRUN_JOB_ID", "here"))


def fit_arguments(experiment: KerasExperiment) -> Dict[str, Any]:
    """Return the keyword arguments of `fit`."""
    arguments = dict(experiment.train_params)
    for name, function in (("x", experiment.input_data_fn), ("y", experiment.target_data_fn)):
        if function is not None:
            arguments[name] = function()
    return arguments


def is_keras_3(model: Any) -> bool:
    """Return whether the model is a Keras 3 model."""
    return any(kind.__module__.startswith("keras.src.models") for kind in type(model).__mro__) and \
        str(getattr(sys.modules.get("keras"), "__version__", "2")).split(".")[0] == "3"


def mark(model_dir: str, job: Optional[str]) -> None:
    """Write into `model_dir` that this job's training has ended; with `job=None`, remove that mark."""
    import tensorflow as tf

    path = f"{model_dir.rstrip('/')}/{ENDED}"
    if job is None:
        if tf.io.gfile.exists(path):
            tf.io.gfile.remove(path)
        return
    tf.io.gfile.makedirs(model_dir)
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(job)


def has_ended(model_dir: str) -> bool:
    """Return whether the training has ended, by the mark in `model_dir`.

    In a job with chief or workers only this job's own mark counts; an evaluator that runs alone accepts any.
    """
    import tensorflow as tf

    try:
        with tf.io.gfile.GFile(f"{model_dir.rstrip('/')}/{ENDED}", "r") as file:
            job = file.read()
    except tf.errors.NotFoundError:
        return False
    return job == os.environ.get("GANGRUN_JOB_ID", "here") or not set(cluster_spec()) & {"chief", "master", "worker"}


def checkpoints(model_dir: str) -> List[str]:
    """Return the complete checkpoints, oldest first: whole models (SavedModel, .keras, .h5) and weights."""
    import tensorflow as tf

    gfile, found = tf.io.gfile, {}
    for name in gfile.listdir(model_dir) if gfile.isdir(model_dir) else ():
        path = f"{model_dir.rstrip('/')}/{name.rstrip('/')}"
        if path.endswith(".index"):
            found[path[:-len(".index")]] = path
        elif path.endswith((".keras", ".h5")):
            found[path] = path
        elif gfile.exists(f"{path}/keras_metadata.pb"):  # what Keras 2 writes last
            found[path] = f"{path}/keras_metadata.pb"
    times = {path: gfile.stat(file).mtime_nsec for path, file in found.items()}
    return sorted(times, key=lambda path: (times[path], path))


def load_weights(model: Any, path: str) -> None:
    """Load the weights of a checkpoint into the compiled model. The state of a saved optimizer is ignored."""
    import tensorflow as tf

    if path.endswith((".weights.h5", ".ckpt")) or tf.io.gfile.exists(f"{path}.index"):
        status = model.load_weights(path)
        if hasattr(status, "expect_partial"):
            status.expect_partial()
        return
    model.set_weights(tf.keras.models.load_model(path, compile=False).get_weights())


class Evaluation:
    """The evaluation results of the checkpoints in one `model_dir`."""

    def __init__(self, experiment: KerasExperiment) -> None:
        if experiment.validation_data_fn is None:
            raise ValueError("validation_data_fn: None, but the job has an evaluator, which needs it")
        self.model, self.data_fn = experiment.model, experiment.validation_data_fn
        self.done: Set[str] = set()
        self.results: List[Dict[str, float]] = []
        self.unreadable: Dict[str, float] = {}  # since when

    def one(self, path: str) -> bool:
        """Evaluate one checkpoint. Returns False if it cannot be read yet; after 30 seconds of that, the read error is raised."""
        try:
            load_weights(self.model, path)
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            if time.monotonic() - self.unreadable.setdefault(path, time.monotonic()) > UNREADABLE_S:
                raise
            return False
        figures = self.model.evaluate(self.data_fn(), return_dict=True, verbose=0)
        self.results.append({name: float(value) for name, value in figures.items()})
        self.done.add(path)
        print(f"evaluated: {json.dumps({'checkpoint': path.rpartition('/')[2], **self.results[-1]})}", flush=True)
        return True


def evaluate(experiment: KerasExperiment, report: Callable[..., None], patience: float = PATIENCE_S) -> List[Dict[str, float]]:
    """Evaluate each checkpoint and return the results.

    Ends when the training has ended and all checkpoints are evaluated, or when none appeared for `patience` seconds.
    """
    evaluation = Evaluation(experiment)
    last = time.monotonic()
    while True:
        ended = has_ended(experiment.model_dir)  # before the look: what was written until then is seen by it
        fresh = [path for path in checkpoints(experiment.model_dir) if path not in evaluation.done]
        for path in fresh:
            if evaluation.one(path):
                report(nb_eval_steps=len(evaluation.done), **evaluation.results[-1])
                last = time.monotonic()
        if not fresh and (ended or time.monotonic() - last > patience):
            return evaluation.results
        if not fresh or evaluation.unreadable:
            threading.Event().wait(LOOK_S)


def model_to_estimator(*positional: Any, **options: Any) -> Any:
    """Call `tf.keras.estimator.model_to_estimator`; only the chief writes the first checkpoint, and others wait for it.

    Raises RuntimeError if TensorFlow has no Estimators, and TimeoutError if there is no checkpoint after 120 seconds.
    """
    import tensorflow as tf

    if not has_estimators():
        raise RuntimeError(f"model_to_estimator: TensorFlow {tf.__version__} has no Estimators any more (2.15 was the last "
                           "with them); return a KerasExperiment instead")
    model_dir = options.get("model_dir") or getattr(options.get("config"), "model_dir", None)
    if model_dir and (task_type() == "evaluator" or not is_chief()):
        _wait_for_first_checkpoint(f"{model_dir}/keras")
    return tf.keras.estimator.model_to_estimator(*positional, **options)


def _wait_for_first_checkpoint(folder: str) -> None:
    import tensorflow as tf

    deadline = time.monotonic() + FIRST_CHECKPOINT_S
    while not tf.io.gfile.exists(f"{folder}/checkpoint"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"the chief has written no first checkpoint into {folder} for {FIRST_CHECKPOINT_S:.0f} s")
        threading.Event().wait(0.1)


def run(experiment: KerasExperiment, report: Callable[..., None]) -> None:
    """Run one task of a Keras job without Horovod; `make_experiment` made the experiment."""
    if task_type() == "evaluator":
        evaluate(experiment, report)
    else:
        train(experiment, is_chief(), trainers() > 1)
