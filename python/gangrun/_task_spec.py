"""TaskSpec, made from the table of a task type's fields: src/jobfile/task_fields.cc."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional, Sequence, Union

from gangrun._task_keys import TaskKeys


@dataclasses.dataclass(frozen=True)
class TaskSpec(TaskKeys):
    """The resources and settings of all tasks of one type.

    The fields are the keys of a task type in docs/job.md, where their defaults are described. None means the default.

    instances      number of tasks
    memory         memory of each task; a bare number is in MiB
    vcores         processor cores of each task
    gpus           GPUs of each task
    processes      processes (ranks) in each task
    label          node label to run on, on a cluster
    env            environment variables of these tasks, in addition to those of the job
    command        what these tasks run: a list of words, or a line for the shell
    policy         what the type means for the end of the job: "tracked", "service", "observer", "sidecar"
    grace          how long an observer may be idle, or a sidecar may keep running, after the other tasks; a bare number
                   is in seconds
    logdir         folder that TensorBoard shows
    image          container image that these tasks run in; "" means none
    resources      other resources of each task, by the cluster's names and in its units
    one_per_node   at most one task of a type on each node of a cluster
    min_instances  minimum number of tasks of a type needed to keep the job running
    spares         idle tasks of a type that replace lost ones at once
    ports          how many ports each task gets, and how long they are held
    pod            a pod, or a part of one, as Kubernetes writes it
    outputs        files and folders of these tasks to keep, relative to their working folder
    expose         who can reach TensorBoard: its own host only, or everyone who can reach that host: "loopback", "host"
    environment    the Python environment of these tasks instead of the job's (gangrun.environments)
    """

    instances: int = 1
    memory: Union[None, int, str] = None
    vcores: Optional[int] = None
    gpus: Optional[int] = None
    processes: int = 1
    label: Optional[str] = None
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    command: Union[None, str, Sequence[str]] = None
    policy: Optional[str] = None
    grace: Union[None, int, str] = None
    logdir: Optional[str] = None
    image: Optional[str] = None
    resources: Mapping[str, int] = dataclasses.field(default_factory=dict)
    one_per_node: bool = False
    min_instances: Optional[int] = None
    spares: Optional[int] = None
    ports: Optional[Mapping[str, Any]] = None
    pod: Optional[Mapping[str, Any]] = None
    outputs: Optional[Sequence[str]] = None
    expose: Optional[str] = None
    environment: Any = None
