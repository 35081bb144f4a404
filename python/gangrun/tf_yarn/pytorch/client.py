"""`run_on_yarn` for PyTorch."""

from __future__ import annotations

from typing import Any

from gangrun.tf_yarn import client, task_modules, topologies
from gangrun.tf_yarn.metrics import Metrics


def no_default() -> topologies.TaskSpecs:
    """Raise TypeError: task_specs has no default here."""
    raise TypeError("run_on_yarn: task_specs is missing; as {'worker': TaskSpec(memory='2 GiB', vcores=1, instances=2)}")


def run_on_yarn(*args: Any, **kwargs: Any) -> Metrics:
    """Run a PyTorch job and wait until it ends: `run_on_yarn([pyenv_zip_path,] experiment_fn, task_specs, ...)`.

    Same as `gangrun.tf_yarn.run_on_yarn`, but `experiment_fn` returns a `PytorchExperiment`, `task_specs` is required, and
    no chief is needed.
    """
    return client.run_with(client.Arguments.of(args, kwargs, no_default), task_modules.PYTORCH)
