"""A job that only evaluates: custom_task_module="tf_yarn.tensorflow.tasks.evaluator_task"."""

from __future__ import annotations

import logging
import time
from typing import Any, Callable

from gangrun import task
from gangrun.tf_yarn import keras
from gangrun.tf_yarn.experiment import Experiment, checked
from gangrun.tf_yarn.tasks import evaluation

logger = logging.getLogger(__name__)


def run(experiment_fn: Callable[[], Any]) -> None:
    """Evaluate the experiment's checkpoints in the evaluator; do nothing in other tasks."""
    if task.current().type != "evaluator":
        logger.info("%s has nothing to do in a job that only evaluates", task.current().task)
        return
    evaluator_fn(checked(experiment_fn(), Experiment, keras.KerasExperiment))


def evaluator_fn(experiment: Any) -> None:
    """Evaluate the checkpoints of an Experiment or a KerasExperiment, and report the durations."""
    if isinstance(experiment, keras.KerasExperiment):
        task.report(train_eval_start_time=time.time())
        keras.evaluate(experiment, task.report)
        task.report(train_eval_stop_time=time.time())
    else:
        evaluation.alone(experiment)
