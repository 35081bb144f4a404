"""What the client tells every task."""

from __future__ import annotations

import dataclasses
from typing import Optional

from gangrun.tf_yarn.experiment import ExperimentFn


@dataclasses.dataclass(frozen=True)
class Order:
    """Pickled with the experiment_fn, so it has to stay the same class on both sides: no TensorFlow here."""

    experiment_fn: ExperimentFn
    module: str
    ours: bool  # whether `module` has our run(experiment_fn); else it is a program
    pre_script_hook: Optional[str] = None
    cuda_folder: Optional[str] = None


_current: Optional[Order] = None


def set_current(order: Order) -> None:
    global _current
    _current = order


def current() -> Order:
    """That of the task in which this process is; RuntimeError outside of one."""
    if _current is None:
        raise RuntimeError("this process is not in a task of tf_yarn: there is no experiment_fn")
    return _current
