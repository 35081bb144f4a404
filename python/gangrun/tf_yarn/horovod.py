"""Run one Horovod rank over gloo.

The agents connect the ranks; nothing has to be set here. The job's only framework is `horovod`, so an Estimator finds no
TF_CONFIG and trains as if it were alone. The user's DistributedOptimizer connects the ranks.
"""

from __future__ import annotations

import os
import tempfile
import time
from typing import Any, Callable

from gangrun import task
from gangrun.tf_yarn import keras
from gangrun.tf_yarn.experiment import Experiment, checked


def run(experiment_fn: Callable[[], Any]) -> None:
    """Train as one rank. Raises RuntimeError in a task without a rank, such as a ps."""
    if "HOROVOD_RANK" not in os.environ:
        raise RuntimeError(f"task_specs: a task of the type {keras.task_type()} has no rank under Horovod; allowed: chief, "
                           "worker, evaluator, tensorboard")
    hvd = import_horovod()
    hvd.init()
    experiment = checked(experiment_fn(), Experiment, keras.KerasExperiment)
    task.report(train_eval_start_time=time.time())
    if isinstance(experiment, keras.KerasExperiment):
        train_keras(experiment, hvd.rank())
    else:
        train_estimator(experiment, hvd.rank())
    task.report(train_eval_stop_time=time.time())


def import_horovod() -> Any:
    """Return the module horovod.tensorflow. Raises ImportError with build options if it is missing."""
    try:
        import horovod.tensorflow as hvd
    except ImportError as error:
        raise ImportError(f"the environment of the tasks has no Horovod for TensorFlow ({error}); it is built with "
                          "HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITH_GLOO=1 HOROVOD_WITHOUT_MPI=1") from error
    return hvd


def train_keras(experiment: keras.KerasExperiment, rank: int) -> None:
    """Train a Keras model. Only rank 0 writes checkpoints; the weights are the same in all ranks."""
    import tensorflow as tf

    if rank:
        callbacks = experiment.train_params.get("callbacks") or []
        kept = [callback for callback in callbacks if not isinstance(callback, tf.keras.callbacks.ModelCheckpoint)]
        experiment = experiment._replace(train_params={**experiment.train_params, "callbacks": kept, "verbose": 0})
    keras.train(experiment, chief=rank == 0, several=False)


def train_estimator(experiment: Any, rank: int) -> None:
    """Train an Estimator. Only rank 0 writes checkpoints and summaries to the model's folder."""
    estimator, spec = experiment.estimator, experiment.train_spec
    with tempfile.TemporaryDirectory() as own:
        if rank:
            estimator._config = estimator.config.replace(model_dir=own, save_summary_steps=None, save_checkpoints_steps=None,
                                                         save_checkpoints_secs=None, log_step_count_steps=None)
            estimator._model_dir = own
        else:
            keras.mark(estimator.model_dir, None)
        estimator.train(spec.input_fn, hooks=list(spec.hooks or ()), max_steps=spec.max_steps)
        if not rank:
            keras.mark(estimator.model_dir, os.environ.get("GANGRUN_JOB_ID", "here"))
