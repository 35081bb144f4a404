"""Launch distributed training jobs: all tasks start together, on this machine or on a cluster.

    run = gangrun.run({"worker": gangrun.TaskSpec(instances=4, memory="2 GiB")}, train, on="yarn")

Submodules are imported on first use, so `import gangrun` is cheap. The guide is docs/python.md.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # stands in for typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from typing import Any

    from gangrun import errors, task
    from gangrun._rerun import rerun
    from gangrun._run import Run, attach, run
    from gangrun._task import Task
    from gangrun._task_spec import TaskSpec

    __version__: str

__all__ = ["Run", "Task", "TaskSpec", "__version__", "attach", "errors", "rerun", "run", "task"]

_HOMES = {"Run": "_run", "Task": "_task", "TaskSpec": "_task_spec", "attach": "_run", "rerun": "_rerun", "run": "_run"}
_MODULES = ("compat", "environments", "errors", "spark", "task", "tensorflowonspark", "tf_skein", "tf_yarn")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"gangrun.{_HOMES[name]}"), name)
    elif name in _MODULES:
        return importlib.import_module(f"gangrun.{name}")
    elif name == "__version__":
        value = importlib.import_module("gangrun._program").version()
    else:
        raise AttributeError(f"module 'gangrun' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
