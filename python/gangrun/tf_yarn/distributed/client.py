"""`run_on_yarn` for functions that do not return an experiment."""

from __future__ import annotations

from typing import Any

from gangrun.tf_yarn import client, task_modules
from gangrun.tf_yarn.metrics import Metrics
from gangrun.tf_yarn.pytorch.client import no_default


def run_on_yarn(*args: Any, **kwargs: Any) -> Metrics:
    """Run `fn(local_rank)` in each process of a job and wait for its end: `run_on_yarn([pyenv_zip_path,] fn, task_specs, ...)`.

    Same as `gangrun.tf_yarn.run_on_yarn`, but `fn` itself is the program, `task_specs` is required, and no chief is needed.
    In `fn`, `get_task()` returns the process's rank and addresses.
    """
    return client.run_with(client.Arguments.of(args, kwargs, no_default), task_modules.DISTRIBUTED)
