"""Task types of a tf_yarn job and their resources: `TaskSpec`, `NodeLabel` and ready-made topologies."""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from typing import Mapping, Optional, Union

TASK_TYPES = ("chief", "worker", "ps", "evaluator", "tensorboard")
# Default resources of each task in the topologies below.
DEFAULT_MEMORY = "48 GiB"
DEFAULT_VCORES = 48
# Seconds that TensorBoard keeps running after the other tasks have ended.
DEFAULT_TERMINATION_S = 30
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)
_MIB = 2**20
_UNITS = {"": _MIB, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
          "kib": 2**10, "mib": _MIB, "gib": 2**30, "tib": 2**40}


class NodeLabel(enum.Enum):
    """The nodes that a task type runs on: CPU: nodes without a label; GPU: nodes with the label "gpu"."""

    CPU = ""
    GPU = "gpu"


def mebibytes(memory: Union[int, str]) -> int:
    """Return an amount of memory in MiB, rounded up. A bare number is in MiB already.

    A text has a unit of base 1000 ("2 GB") or 1024 ("2 GiB"). Raises ValueError for anything else.
    """
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
    """The number and the resources of the tasks of one type.

    memory       per task: a number in MiB, or a text such as "2 GiB"; stored in MiB
    vcores       processor cores per task
    instances    number of tasks
    nb_proc_per_worker   processes per task; more than 1 only for Horovod, PyTorch and gangrun.tf_yarn.distributed
    tb_termination_timeout_seconds   how long TensorBoard runs after the other tasks; negative: 30 seconds
    tb_model_dir   folder that TensorBoard shows; None: the experiment's folder
    tb_extra_args  more arguments for TensorBoard, as on a command line

    Raises ValueError for values that are not allowed.
    """

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
        """Validate all fields again. Raises ValueError with a message that begins with `where`."""
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
        """Seconds that TensorBoard keeps running after the other tasks have ended."""
        return self.tb_termination_timeout_seconds if self.tb_termination_timeout_seconds >= 0 else DEFAULT_TERMINATION_S


TaskSpecs = Mapping[str, TaskSpec]


def single_server_topology(memory: Union[int, str] = DEFAULT_MEMORY, vcores: int = DEFAULT_VCORES) -> dict[str, TaskSpec]:
    """Return task specs for one chief that trains, one evaluator, and TensorBoard."""
    return {task: TaskSpec(memory=memory, vcores=vcores) for task in ("chief", "evaluator", "tensorboard")}


def ps_strategy_topology(nb_workers: int = 2, nb_ps: int = 1, memory: Union[int, str] = DEFAULT_MEMORY,
                         vcores: int = DEFAULT_VCORES) -> dict[str, TaskSpec]:
    """Return task specs for training with parameter servers: one chief, workers, ps, one evaluator, and TensorBoard."""
    counts = {"chief": 1, "evaluator": 1, "worker": nb_workers, "ps": nb_ps, "tensorboard": 1}
    specs = {task: TaskSpec(memory=memory, vcores=vcores, instances=count) for task, count in counts.items()}
    if nb_ps < 1:
        raise ValueError(f"nb_ps: {nb_ps} is not allowed; allowed: 1 and more, as the workers have no model without one")
    return specs


def present(task_specs: TaskSpecs) -> dict[str, TaskSpec]:
    """Validate the task specs and return those with at least one instance. Raises ValueError."""
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
    """Check the requirements of training an Estimator: a chief, which writes the checkpoints, and one process per task.

    Raises ValueError.
    """
    for task, spec in task_specs.items():
        if spec.nb_proc_per_worker > 1:
            raise ValueError(f"task_specs[{task!r}]: nb_proc_per_worker: {spec.nb_proc_per_worker} is not allowed; allowed: 1, as "
                             "TF_CONFIG has one address for each task; several processes are for Horovod, PyTorch and distributed")
    if "chief" in task_specs:
        return
    hint = "; to evaluate only, say custom_task_module=\"tf_yarn.tasks.evaluator_task\"" if "evaluator" in task_specs else ""
    raise ValueError(f"task_specs: {', '.join(task_specs)}: there is no chief, which writes the checkpoints; add "
                     f"\"chief\": TaskSpec(...){hint}")
