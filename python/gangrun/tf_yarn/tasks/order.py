"""The order: what the client sends to every task."""

from __future__ import annotations

import dataclasses
from typing import Optional

from gangrun.tf_yarn.experiment import ExperimentFn


@dataclasses.dataclass(frozen=True)
class Order:
    """What a task has to run. It is pickled together with the experiment_fn.

    The class must be importable on both sides without TensorFlow.
    """

    experiment_fn: ExperimentFn
    module: str
    ours: bool  # whether `module` has our run(experiment_fn); else it is a program
    pre_script_hook: Optional[str] = None
    cuda_folder: Optional[str] = None


_current: Optional[Order] = None


def set_current(order: Order) -> None:
    """Set the order of this process."""
    global _current
    _current = order


def current() -> Order:
    """Return the order of this process. Raises RuntimeError outside of a tf_yarn task."""
    if _current is None:
        raise RuntimeError("this process is not in a task of tf_yarn: there is no experiment_fn")
    return _current
