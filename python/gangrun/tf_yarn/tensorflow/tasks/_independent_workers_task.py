"""The default task module: trains an Estimator (chief, worker, ps) or a Keras model, and evaluates it in the evaluator."""

from __future__ import annotations

import logging
import os
import time
from typing import Any, Callable

from gangrun import task
from gangrun.tf_yarn import keras
from gangrun.tf_yarn.experiment import Experiment, checked
from gangrun.tf_yarn.tasks import evaluation

logger = logging.getLogger(__name__)


def run(experiment_fn: Callable[[], Any]) -> None:
    place = task.current()
    experiment = checked(keras.make_experiment(experiment_fn), Experiment, keras.KerasExperiment)
    logger.info("%s begins", place.task)
    if is_keras(experiment):
        task.report(train_eval_start_time=time.time())
        keras.run(experiment, task.report)
    elif place.type == "evaluator":
        evaluation.beside_training(experiment)
    else:
        train(experiment, place.type)
    task.report(train_eval_stop_time=time.time())


def is_keras(experiment: Any) -> bool:
    return isinstance(experiment, keras.KerasExperiment)


def train(experiment: Any, task_type: str) -> None:
    """Until the training has ended; a ps serves until it is stopped."""
    import tensorflow as tf

    estimator, train_spec, eval_spec = experiment
    writes = task_type == "chief"
    if writes:
        keras.mark(estimator.model_dir, None)
    if task_type != "ps":
        train_spec = with_figures(estimator, train_spec, steps_per_second=writes)
    task.report(train_eval_start_time=time.time())
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    if writes:
        keras.mark(estimator.model_dir, os.environ.get("GANGRUN_JOB_ID", "here"))


def with_figures(estimator: Any, train_spec: Any, steps_per_second: bool) -> Any:
    """The chief tells how fast the training is, as often as the Estimator itself logs it."""
    every = estimator.config.log_step_count_steps
    if not steps_per_second or not every:
        return train_spec
    from gangrun.tf_yarn.tasks import hooks

    return train_spec._replace(hooks=[*train_spec.hooks, hooks.StepsPerSecond(every, task.report)])
