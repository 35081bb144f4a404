"""`run_on_yarn` for functions that do all by themselves."""

from __future__ import annotations

from typing import Any

from gangrun.tf_yarn import client, task_modules
from gangrun.tf_yarn.metrics import Metrics
from gangrun.tf_yarn.pytorch.client import no_default


def run_on_yarn(*args: Any, **kwargs: Any) -> Metrics:
    """`run_on_yarn([pyenv_zip_path,] fn, task_specs, ...)`: as `gangrun.tf_yarn.run_on_yarn`, but `fn(local_rank)` itself
    is the program of each process; `get_task()` tells it its place. A chief is not needed."""
    return client.run_with(client.Arguments.of(args, kwargs, no_default), task_modules.DISTRIBUTED)
