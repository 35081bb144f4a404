"""What a job of tf_yarn is made of: its task types and what each of them gets."""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from typing import Mapping, Optional, Union

TASK_TYPES = ("chief", "worker", "ps", "evaluator", "tensorboard")
# What the topologies below give each task where nothing is said.
DEFAULT_MEMORY = "48 GiB"
DEFAULT_VCORES = 48
# Of TensorBoard, after the others have ended.
DEFAULT_TERMINATION_S = 30
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)
_MIB = 2**20
_UNITS = {"": _MIB, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
          "kib": 2**10, "mib": _MIB, "gib": 2**30, "tib": 2**40}


class NodeLabel(enum.Enum):
    """The nodes that a task type runs on: those without a label, or those with the label "gpu"."""

    CPU = ""
    GPU = "gpu"


def mebibytes(memory: Union[int, str]) -> int:
    """An amount of memory as a TaskSpec takes it, in MiB: a bare number already is."""
    match = _AMOUNT.fullmatch(str(memory))
    unit = _UNITS.get(match.group(2).lower()) if match else None
    if match is None or unit is None or isinstance(memory, bool):
        raise ValueError(f"memory: {memory!r} is not an amount of memory; allowed: a number of MiB, or a text like '2 GiB'")
    amount = math.ceil(float(match.group(1)) * unit / _MIB)
    if amount < 1:
        raise ValueError(f"memory: {memory!r} is nothing; allowed: 1 MiB and more")
    return amount


@dataclasses.dataclass
class TaskSpec:
    """The tasks of one type. `memory` is an amount of MiB, or a text like "2 GiB", and is kept in MiB."""

    memory: Union[int, str]
    vcores: int
    instances: int = 1
    nb_proc_per_worker: int = 1
    label: NodeLabel = NodeLabel.CPU
    tb_termination_timeout_seconds: int = -1
    tb_model_dir: Optional[str] = None
    tb_extra_args: Optional[str] = None

    def __post_init__(self) -> None:
        self.check("TaskSpec")

    def check(self, where: str) -> None:
        """Also of one that was changed since it was made; `where` begins the error."""
        try:
            self.memory = mebibytes(self.memory)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        for name, least in (("vcores", 1), ("instances", 0), ("nb_proc_per_worker", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{where}: {name}: {value!r} is not allowed; allowed: {least} and more")
        if not isinstance(self.label, NodeLabel):
            raise ValueError(f"{where}: label: {self.label!r} is not a label; allowed: NodeLabel.CPU, NodeLabel.GPU")

    @property
    def termination_timeout_seconds(self) -> int:
        """How long TensorBoard is left after the others have ended."""
        return self.tb_termination_timeout_seconds if self.tb_termination_timeout_seconds >= 0 else DEFAULT_TERMINATION_S


TaskSpecs = Mapping[str, TaskSpec]


def single_server_topology(memory: Union[int, str] = DEFAULT_MEMORY, vcores: int = DEFAULT_VCORES) -> dict[str, TaskSpec]:
    """One task that trains, one that evaluates, and TensorBoard."""
    return {task: TaskSpec(memory=memory, vcores=vcores) for task in ("chief", "evaluator", "tensorboard")}


def ps_strategy_topology(nb_workers: int = 2, nb_ps: int = 1, memory: Union[int, str] = DEFAULT_MEMORY,
                         vcores: int = DEFAULT_VCORES) -> dict[str, TaskSpec]:
    """Training on several workers whose model parameter servers hold, with evaluation and TensorBoard."""
    counts = {"chief": 1, "evaluator": 1, "worker": nb_workers, "ps": nb_ps, "tensorboard": 1}
    specs = {task: TaskSpec(memory=memory, vcores=vcores, instances=count) for task, count in counts.items()}
    if nb_ps < 1:
        raise ValueError(f"nb_ps: {nb_ps} is not allowed; allowed: 1 and more, as the workers have no model without one")
    return specs


def present(task_specs: TaskSpecs) -> dict[str, TaskSpec]:
    """The types that have tasks, each checked: what is wrong with any front door."""
    if not isinstance(task_specs, Mapping) or not task_specs:
        raise ValueError(f"task_specs: {task_specs!r} names no tasks; allowed: a dict like {{'chief': TaskSpec(...)}}")
    for task, spec in task_specs.items():
        if task not in TASK_TYPES:
            raise ValueError(f"task_specs: {task!r} is not a task type; allowed: {', '.join(TASK_TYPES)}")
        if not isinstance(spec, TaskSpec):
            raise ValueError(f"task_specs[{task!r}]: {spec!r} is not a TaskSpec")
        spec.check(f"task_specs[{task!r}]")
        if task in ("chief", "evaluator", "tensorboard") and spec.instances > 1:
            raise ValueError(f"task_specs[{task!r}]: instances: {spec.instances} is not allowed; allowed: 1")
    chosen = {task: spec for task, spec in task_specs.items() if spec.instances}
    if not set(chosen) - {"tensorboard"}:
        raise ValueError(f"task_specs: {', '.join(task_specs)}: there is no task to run; allowed: at least one of "
                         f"{', '.join(TASK_TYPES[:-1])}")
    return chosen


def check_training(task_specs: TaskSpecs) -> None:
    """What the training of an Estimator needs: somebody who writes the checkpoints, and one process at each address."""
    for task, spec in task_specs.items():
        if spec.nb_proc_per_worker > 1:
            raise ValueError(f"task_specs[{task!r}]: nb_proc_per_worker: {spec.nb_proc_per_worker} is not allowed; allowed: 1, as "
                             "TF_CONFIG has one address for each task; several processes are for Horovod, PyTorch and distributed")
    if "chief" in task_specs:
        return
    hint = "; to evaluate only, say custom_task_module=\"tf_yarn.tasks.evaluator_task\"" if "evaluator" in task_specs else ""
    raise ValueError(f"task_specs: {', '.join(task_specs)}: there is no chief, which writes the checkpoints; add "
                     f"\"chief\": TaskSpec(...){hint}")
