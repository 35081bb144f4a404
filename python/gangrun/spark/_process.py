"""The processes of an executor, as one of its Python workers sees them."""

from __future__ import annotations

import functools
import hashlib
import os


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name, which may have blanks and brackets in it: the first is the state."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().decode(errors="replace").rpartition(")")[2].split()


def start_ticks(pid: int) -> int:
    """When a process was started; with its number it names a process for good."""
    return int(_stat(pid)[19])


def _is_jvm(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            if file.read().strip() == "java":
                return True
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "java"
    except PermissionError:  # of another user, who is not the one that runs Spark for us
        return False


@functools.lru_cache(maxsize=1)
def executor_process() -> tuple[int, int]:
    """(number, start ticks) of the executor: the nearest ancestor of this Python worker that is a JVM."""
    pid = os.getppid()
    seen = [os.getpid()]
    while pid > 1 and not _is_jvm(pid):
        seen.append(pid)
        pid = int(_stat(pid)[1])
    if pid > 1 or (pid == 1 and _is_jvm(1)):  # in a container the executor is its first process
        return pid, start_ticks(pid)
    raise RuntimeError(f"none of the ancestors of this process ({', '.join(map(str, seen))}) is a JVM: this runs in no "
                       "executor of Spark")


def feed_name(job_id: str, pid: int, ticks: int, task: str) -> str:
    """The name of the abstract socket on which a node takes the rows of its executor: short enough for one, and of this node only."""
    what = f"{job_id} {pid}.{ticks} {task}"
    return f"gangrun-feed-{hashlib.sha256(what.encode()).hexdigest()[:32]}"
