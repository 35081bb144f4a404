"""Functions for a custom task module, under tf-yarn's names.

Their `client` argument was skein's; it is ignored here.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from typing import Any, Iterator, Optional

from gangrun import task
from gangrun.tf_yarn.tasks import order


def setup_logging() -> None:
    """Set the log level to INFO. The launcher already sends log messages to the task's log."""
    logging.getLogger().setLevel(logging.INFO)


def _get_experiment(client: Any = None) -> Any:
    """What the experiment_fn of run_on_yarn returns, here."""
    return order.current().experiment_fn()


def get_task(client: Any = None) -> str:
    """Return the name of this task, such as "worker:0"."""
    return task.current().task


def get_task_description(client: Any = None) -> tuple[str, int]:
    """Return (task type, index) of this task."""
    place = task.current()
    return place.type, place.index


def get_task_type(name: Optional[str] = None) -> str:
    """Return the task type of a task name; by default, of this task."""
    return (name or get_task()).partition(":")[0]


def get_task_id(name: Optional[str] = None) -> int:
    """Return the index of a task name; by default, of this task."""
    return int((name or get_task()).partition(":")[2])


def is_chief(task_type: Optional[str] = None) -> bool:
    """Return whether this task type, by default this task's, is "chief"."""
    return (task_type or get_task_type()) == "chief"


def is_worker(task_type: Optional[str] = None) -> bool:
    """Return whether this task type, by default this task's, is "worker"."""
    return (task_type or get_task_type()) == "worker"


def is_evaluator(task_type: Optional[str] = None) -> bool:
    """Return whether this task type, by default this task's, is "evaluator"."""
    return (task_type or get_task_type()) == "evaluator"


def n_try() -> int:
    """Return the number of earlier tries of run_on_yarn; 0 in the first."""
    return int(os.environ.get("TF_YARN_N_TRY", "0"))


@contextlib.contextmanager
def catchtime(name: str = "") -> Iterator[None]:
    """Log how many seconds the `with` block took."""
    begun = time.monotonic()
    try:
        yield
    finally:
        logging.getLogger(__name__).info("%s took %.1f s", name or "it", time.monotonic() - begun)
