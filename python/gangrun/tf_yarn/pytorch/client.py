"""`run_on_yarn` for PyTorch."""

from __future__ import annotations

from typing import Any

from gangrun.tf_yarn import client, task_modules, topologies
from gangrun.tf_yarn.metrics import Metrics


def no_default() -> topologies.TaskSpecs:
    raise TypeError("run_on_yarn: task_specs is missing; as {'worker': TaskSpec(memory='2 GiB', vcores=1, instances=2)}")


def run_on_yarn(*args: Any, **kwargs: Any) -> Metrics:
    """`run_on_yarn([pyenv_zip_path,] experiment_fn, task_specs, ...)`: as `gangrun.tf_yarn.run_on_yarn`, for an
    `experiment_fn` that returns a `PytorchExperiment`. A chief is not needed."""
    return client.run_with(client.Arguments.of(args, kwargs, no_default), task_modules.PYTORCH)
