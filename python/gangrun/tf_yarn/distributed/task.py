"""A process of a distributed job: `get_task` and `TaskParameters`."""

from __future__ import annotations

import inspect
import os
from typing import Any, Callable, NamedTuple, Optional


class TaskParameters(NamedTuple):
    """The place of a process in its job.

    task_id      rank among all processes of the job, of all task types
    world_size   number of all processes
    master_address, master_port   where rank 0 may listen for the others; the port is reserved for it
    n_workers_per_executor   processes in this task
    """

    task_type: str
    task_id: int
    world_size: int
    master_address: str
    master_port: int
    n_workers_per_executor: int = 1


def get_task(local_rank: Optional[int] = None) -> TaskParameters:
    """Return the TaskParameters of this process. `local_rank` is not needed and only checked.

    Raises RuntimeError in a process without a rank, and ValueError if `local_rank` is not this process's.
    """
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
    """Call `experiment_fn(local_rank)`, or `experiment_fn()` if it takes no argument, and return its result.

    A task without ranks, such as an evaluator, has one process with local rank 0.
    """
    local_rank = int(os.environ.get("LOCAL_RANK", os.environ.get("GANGRUN_PROCESS", "0")))
    try:
        inspect.signature(experiment_fn).bind(local_rank)
    except TypeError:
        return experiment_fn()
    except ValueError:  # it does not tell its parameters
        pass
    return experiment_fn(local_rank)
