"""tf-skein's API: run an Estimator's experiment on YARN, or with `on="local"` on this machine.

    YARNCluster(task_specs={"chief": TaskSpec(memory=2048, vcores=4), "evaluator": TaskSpec(memory=1024, vcores=1)}) \\
        .run(experiment_fn, files={"winequality.py": winequality.__file__}, queue="ml-gpu")
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import logging
import typing
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

if typing.TYPE_CHECKING:
    from gangrun.tf_yarn import Experiment, RunFailed
    from gangrun.tf_yarn.metrics import Metrics

__all__ = ["Experiment", "RunFailed", "TaskFlavor", "TaskSpec", "YARNCluster", "run_on_yarn"]

TASK_TYPES = ("chief", "worker", "ps", "evaluator", "tensorboard")

_logger = logging.getLogger(__name__)


class TaskFlavor(enum.Enum):
    """The nodes that a task runs on: CPU: nodes without a label; GPU: nodes with the label "gpu"."""

    CPU = ""
    GPU = "gpu"


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """The number and the resources of the tasks of one type. `memory`, in MiB, and `vcores` are per task."""

    memory: Union[int, str]
    vcores: int
    instances: int = 1
    flavor: TaskFlavor = TaskFlavor.CPU


class YARNCluster:
    """Default settings for jobs: resources by task type, files, variables and the Python environment.

    Each `run` starts a job of its own with these settings.
    """

    def __init__(self, task_specs: Optional[Mapping[str, TaskSpec]] = None, *, files: Optional[Mapping[str, str]] = None,
                 env_vars: Optional[Mapping[str, str]] = None, pyenv_zip_path: Any = None) -> None:
        if task_specs is not None:
            check(task_specs)
        self.task_specs = task_specs
        self.files = dict(files or {})
        self.env_vars = dict(env_vars or {})
        self.pyenv_zip_path = pyenv_zip_path

    def __repr__(self) -> str:
        return f"YARNCluster(task_specs={self.task_specs!r})"

    def run(self, experiment_fn: Callable[[], Any], *, task_specs: Optional[Mapping[str, TaskSpec]] = None,
            files: Optional[Mapping[str, str]] = None, queue: str = "default", env: Optional[Mapping[str, str]] = None,
            on: Optional[str] = None, **options: Any) -> "Metrics":
        """Train and evaluate, wait until the job ends, and return its Metrics.

        task_specs  replaces the cluster's
        files       name in the tasks' working folder → local file or folder; tasks can import modules and packages among them
        options     other arguments of `gangrun.tf_yarn.run_on_yarn`

        `files` and `env` are added to those of the cluster. Raises RunFailed if the job fails, and ValueError for wrong
        task_specs.
        """
        wanted = task_specs if task_specs is not None else self.task_specs
        if wanted is None:
            raise ValueError("task_specs: not given, neither to YARNCluster nor to run")
        check(wanted)
        if "evaluator" not in wanted:
            _logger.warning("there is no evaluator among task_specs: the model is not evaluated during training")
        client = importlib.import_module("gangrun.tf_yarn.client")
        result: Metrics = client.run_on_yarn(
            experiment_fn, of_tf_yarn(wanted), files={**self.files, **(files or {})}, queue=queue,
            env={**self.env_vars, **(env or {})}, on=on,
            **{"pyenv_zip_path": self.pyenv_zip_path, **options})
        return result


def run_on_yarn(experiment_fn: Callable[[], Any], task_specs: Mapping[str, TaskSpec], **options: Any) -> "Metrics":
    """Run an experiment in one call, as later releases do; same as `YARNCluster(task_specs).run(experiment_fn, **options)`."""
    return YARNCluster(task_specs).run(experiment_fn, **options)


def check(task_specs: Mapping[str, TaskSpec]) -> None:
    """Raise ValueError if these task types and numbers cannot train an Estimator."""
    problems: List[str] = []
    for name, spec in task_specs.items():
        if name not in TASK_TYPES:
            problems.append(f"{name!r} is not a task type; allowed: {', '.join(TASK_TYPES)}")
        elif not isinstance(spec, TaskSpec):
            problems.append(f"{name} is a {type(spec).__name__}, a tf_skein.TaskSpec is needed")
    count = {name: getattr(spec, "instances", 0) for name, spec in task_specs.items()}
    if count.get("chief", 0) != 1:
        problems.append(f"{count.get('chief', 0)} tasks of the type chief; exactly one is needed, it leads the training and "
                        "writes the checkpoints")
    if count.get("evaluator", 0) > 1:
        problems.append(f"{count['evaluator']} tasks of the type evaluator; at most one is allowed")
    if count.get("worker", 0) and not count.get("ps", 0):
        problems.append("a worker needs at least one ps, where the chief's and the workers' variables are")
    if problems:
        raise ValueError(f"task_specs: {'; '.join(problems)}")


def of_tf_yarn(task_specs: Mapping[str, TaskSpec]) -> Dict[str, Any]:
    """Return the same task specs in the types of gangrun.tf_yarn."""
    topologies = importlib.import_module("gangrun.tf_yarn.topologies")
    return {name: topologies.TaskSpec(memory=spec.memory, vcores=spec.vcores, instances=spec.instances,
                                      label=topologies.NodeLabel(spec.flavor.value))
            for name, spec in task_specs.items() if spec.instances}


def __getattr__(name: str) -> object:
    if name in ("Experiment", "RunFailed"):
        return getattr(importlib.import_module("gangrun.tf_yarn"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
