"""Horovod with gloo, by the name that tf-yarn gave it: chief and workers are its ranks."""

from __future__ import annotations

import importlib
from typing import Any, Callable

from gangrun.tf_yarn import horovod, keras, task_modules


def run(experiment_fn: Callable[[], Any]) -> None:
    if keras.task_type() == "evaluator":
        importlib.import_module(task_modules.EVALUATOR).run(experiment_fn)
    else:
        horovod.run(experiment_fn)
