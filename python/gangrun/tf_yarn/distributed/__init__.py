"""Run your own function in each process of a job: `run_on_yarn(fn, task_specs)` calls `fn(local_rank)`."""

from __future__ import annotations

import importlib
import typing
from typing import List

if typing.TYPE_CHECKING:
    from gangrun.tf_yarn.distributed.client import run_on_yarn
    from gangrun.tf_yarn.distributed.task import TaskParameters, get_task

__all__ = ["TaskParameters", "get_task", "run_on_yarn"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "client" if name == "run_on_yarn" else "task"
    return getattr(importlib.import_module(f"gangrun.tf_yarn.distributed.{home}"), name)


def __dir__() -> List[str]:
    return sorted(__all__)
