"""The values of `custom_task_module`: the names from all releases of tf-yarn, and the modules of gangrun behind them.

A module of gangrun has `run(experiment_fn)`, which is called in each process of each task. Any other name is a module of
the user, which runs as with `python -m`.
"""

from __future__ import annotations

import dataclasses
from typing import Dict, Optional, Tuple

PACKAGE = "gangrun.tf_yarn"
INDEPENDENT_WORKERS = f"{PACKAGE}.tensorflow.tasks._independent_workers_task"
EVALUATOR = f"{PACKAGE}.tensorflow.tasks.evaluator_task"
HOROVOD_GLOO = f"{PACKAGE}.tensorflow.tasks.gloo_allred_task"
PYTORCH = f"{PACKAGE}.pytorch.tasks.worker"
DISTRIBUTED = f"{PACKAGE}.distributed.task"

# Names of tf-yarn's all-reduce over rabit, which is not supported: its package and its task module.
RABIT = ("tf_collective", "rabit_allred_task")


@dataclasses.dataclass(frozen=True)
class TaskModule:
    """A task module: its name and what its jobs need.

    frameworks   the job's key `framework`; None: the job's default, which covers everything except Horovod
    needs_chief  the job must have a chief
    ours         True: call the module's `run(experiment_fn)`; False: run the module as a program
    """

    name: str
    frameworks: Optional[Tuple[str, ...]] = None
    needs_chief: bool = False
    ours: bool = True


OURS: Dict[str, TaskModule] = {module.name: module for module in (
    TaskModule(INDEPENDENT_WORKERS, ("tensorflow",), needs_chief=True),
    TaskModule(EVALUATOR, ("tensorflow",)),
    TaskModule(HOROVOD_GLOO, ("horovod",)),
    TaskModule(PYTORCH, ("pytorch",)),
    TaskModule(DISTRIBUTED),
)}

# Names from older releases.
FORMER = {
    "tasks.evaluator_task": EVALUATOR,
    "tasks._independent_workers_task": INDEPENDENT_WORKERS,
    "tasks.gloo_allred_task": HOROVOD_GLOO,
    "tasks._gloo_allred_task": HOROVOD_GLOO,
    "tensorflow.tasks._gloo_allred_task": HOROVOD_GLOO,
    "_independent_workers_task": INDEPENDENT_WORKERS,
}


def resolve(custom_task_module: Optional[str], default: str = INDEPENDENT_WORKERS) -> TaskModule:
    """Return the task module of this name. Raises ValueError for a module of tf-yarn that is not supported."""
    name = custom_task_module or default
    if any(part in name for part in RABIT):
        raise ValueError(
            f"custom_task_module: {name!r} needs tf-collective-all-reduce, which cannot be installed with any TensorFlow "
            "that runs here (it was made for 1.12 and 1.15, and PyPI has no build of it). Horovod with gloo does the same: "
            'custom_task_module="tf_yarn.tensorflow.tasks.gloo_allred_task", with horovod.tensorflow\'s '
            "DistributedOptimizer and BroadcastGlobalVariablesHook in the place of those of tf_collective_all_reduce")
    for root in (PACKAGE, "tf_yarn"):
        if name == root or name.startswith(f"{root}."):
            return _of_tf_yarn(name, name[len(root):].lstrip("."))
    return TaskModule(name, ours=False)


def _of_tf_yarn(name: str, inner: str) -> TaskModule:
    full = FORMER.get(inner, f"{PACKAGE}.{inner}")
    if full not in OURS:
        allowed = ", ".join(sorted(known[len(PACKAGE) + 1:] for known in OURS))
        raise ValueError(f"custom_task_module: {name!r} is not a task module here; tf_yarn. may be followed by: {allowed}; "
                         "or name a module of your own")
    return OURS[full]
