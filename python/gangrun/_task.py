"""A task of a job as its status shows it: `Task`."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Union


@dataclasses.dataclass(frozen=True)
class Task:
    """A snapshot of one task, taken from the job's status.

    `task` is the name, such as "worker:0", and `address` is "host:port". `attempt` starts at 1 and grows with each restart.
    `exit` says how its last run ended, and `exit_reason` in one word why it failed or was stopped (`gangrun explain` lists them).
    `memory_bytes` and `cpu_seconds` are the task's resource usage, `figures` are the values passed to `gangrun.task.report`.
    Values that are not known yet are empty or 0.
    """

    task: str
    state: str
    policy: str
    host: str
    address: str
    exit: str
    attempt: int
    pid: int
    memory_bytes: int
    cpu_seconds: float
    last_line: str
    figures: Mapping[str, Union[int, float, str]]
    exit_reason: str = ""

    @property
    def type(self) -> str:
        """The task type, such as "worker"."""
        return self.task.rpartition(":")[0]

    @property
    def index(self) -> int:
        """The index of the task within its type, starting at 0."""
        return int(self.task.rpartition(":")[2])

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> Task:
        """Build a Task from an entry of `status()["tasks"]`."""
        address = shown.get("address", "")
        host = shown.get("host") or address.rpartition(":")[0].strip("[]")
        return cls(task=shown["task"], state=shown["state"], policy=shown.get("policy", ""), host=host, address=address,
                   exit=shown.get("exit", ""), attempt=shown.get("attempt", 1), pid=shown.get("pid", 0),
                   memory_bytes=shown.get("memory_bytes", 0), cpu_seconds=shown.get("cpu_seconds", 0.0),
                   last_line=shown.get("last_line", ""), figures=shown.get("figures") or {}, exit_reason=shown.get("exit_reason", ""))
