"""What a task module of the user's own asks tf-yarn in a task, by the names that it has there.

The client that those functions took was skein's; here it is left out, or anything.
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
    """What libraries say at INFO is part of the task's log; the launcher has seen to that."""
    logging.getLogger().setLevel(logging.INFO)


def _get_experiment(client: Any = None) -> Any:
    """What the experiment_fn of run_on_yarn returns, here."""
    return order.current().experiment_fn()


def get_task(client: Any = None) -> str:
    """"worker:0"."""
    return task.current().task


def get_task_description(client: Any = None) -> tuple[str, int]:
    place = task.current()
    return place.type, place.index


def get_task_type(name: Optional[str] = None) -> str:
    return (name or get_task()).partition(":")[0]


def get_task_id(name: Optional[str] = None) -> int:
    return int((name or get_task()).partition(":")[2])


def is_chief(task_type: Optional[str] = None) -> bool:
    return (task_type or get_task_type()) == "chief"


def is_worker(task_type: Optional[str] = None) -> bool:
    return (task_type or get_task_type()) == "worker"


def is_evaluator(task_type: Optional[str] = None) -> bool:
    return (task_type or get_task_type()) == "evaluator"


def n_try() -> int:
    """How often run_on_yarn has tried before."""
    return int(os.environ.get("TF_YARN_N_TRY", "0"))


@contextlib.contextmanager
def catchtime(name: str = "") -> Iterator[None]:
    """Logs how long what is inside took; programs use it around what they do on the client."""
    begun = time.monotonic()
    try:
        yield
    finally:
        logging.getLogger(__name__).info("%s took %.1f s", name or "it", time.monotonic() - begun)
