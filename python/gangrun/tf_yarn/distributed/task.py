"""One process of a job whose function does all by itself, and what it may ask."""

from __future__ import annotations

import inspect
import os
from typing import Any, Callable, NamedTuple, Optional


class TaskParameters(NamedTuple):
    """`task_id` is the rank among all processes of the job, whatever their task type, and `world_size` counts them all.
    At `master_address` and `master_port` rank 0 may serve what the others connect to: the port is held for it."""

    task_type: str
    task_id: int
    world_size: int
    master_address: str
    master_port: int
    n_workers_per_executor: int = 1


def get_task(local_rank: Optional[int] = None) -> TaskParameters:
    """The place of the process that asks. `local_rank` is what it was called with, and tells nothing new."""
    try:
        own = int(os.environ["LOCAL_RANK"])
        found = TaskParameters(os.environ["GANGRUN_TASK_TYPE"], int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]),
                               os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]),
                               int(os.environ["LOCAL_WORLD_SIZE"]))
    except KeyError as error:
        raise RuntimeError(f"get_task() is for the processes of a job whose tasks have ranks; {error.args[0]} is not set") \
            from None
    if local_rank is not None and local_rank != own:
        raise ValueError(f"get_task(): the local rank of this process is {own}, not {local_rank}")
    return found


def run(experiment_fn: Callable[..., Any]) -> Any:
    """Calls `experiment_fn(local_rank)`, or `experiment_fn()` where it has no place for it. A task without a rank, as an
    evaluator, has one process, whose local rank is 0."""
    local_rank = int(os.environ.get("LOCAL_RANK", os.environ.get("GANGRUN_PROCESS", "0")))
    try:
        inspect.signature(experiment_fn).bind(local_rank)
    except TypeError:
        return experiment_fn()
    except ValueError:  # it does not tell its parameters
        pass
    return experiment_fn(local_rank)
