"""Training with Horovod over gloo, under tf-yarn's name for it; chief and workers are the ranks."""

from __future__ import annotations

import importlib
from typing import Any, Callable

from gangrun.tf_yarn import horovod, keras, task_modules


def run(experiment_fn: Callable[[], Any]) -> None:
    """Train as a Horovod rank, or evaluate in the evaluator."""
    if keras.task_type() == "evaluator":
        importlib.import_module(task_modules.EVALUATOR).run(experiment_fn)
    else:
        horovod.run(experiment_fn)
