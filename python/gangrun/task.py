"""The API for code that runs inside a task: `current()`, `report()`, `kv` and `barrier()`.

The fields of the current Place are also attributes of this module: `gangrun.task.index`, `gangrun.task.type` and so on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import sys
import threading
from typing import Any, Mapping, Optional, Union

from gangrun import _kv

kv = _kv.kv
barrier = _kv.barrier

Figure = Union[int, float, str]
MAX_FIGURES = 64
MAX_FIGURE_BYTES = 256


@dataclasses.dataclass(frozen=True)
class Place:
    """The identity of this process within its job.

    job           the job's id
    type, index   the task, such as "worker" and 0
    generation    the number of the cluster spec, starting at 1
    process       the index of this process in its task, starting at 0
    processes     the number of processes in this task
    n_try         the number of earlier starts of this task in this job
    cluster_spec  task type → list of "host:port" addresses
    """

    job: str
    type: str
    index: int
    generation: int
    process: int
    processes: int
    n_try: int  # the number of earlier starts of this task in this job
    cluster_spec: Mapping[str, list[str]]

    @property
    def task(self) -> str:
        """The task's name, such as "worker:0"."""
        return f"{self.type}:{self.index}"

    @property
    def local_rank(self) -> int:
        """The index of this process in its task; the same as `process`."""
        return self.process


def current() -> Place:
    """Return the Place of this process. Raises RuntimeError outside of a task."""
    env = os.environ
    if "GANGRUN_TASK_TYPE" not in env:
        raise RuntimeError("this process is not in a task of gangrun: GANGRUN_TASK_TYPE is not set")
    return Place(job=env.get("GANGRUN_JOB_ID", ""), type=env["GANGRUN_TASK_TYPE"],
                 index=int(env.get("GANGRUN_TASK_INDEX", "0")), generation=int(env.get("GANGRUN_GENERATION", "1")),
                 process=int(env.get("GANGRUN_PROCESS", "0")), processes=int(env.get("GANGRUN_PROCESSES", "1")),
                 n_try=int(env.get("GANGRUN_RESTARTS", "0")), cluster_spec=_cluster_spec(env))


def file(name: str) -> str:
    """Return the path of the file with this name among the job's `files`. A function finds it on every place.

    Raises FileNotFoundError if there is none.
    """
    path = os.path.join(os.environ.get("GANGRUN_FILES") or os.getcwd(), name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{name!r} is not among the files of the job")
    return path


def _cluster_spec(env: Mapping[str, str]) -> dict[str, list[str]]:
    path = env.get("GANGRUN_CLUSTER_SPEC_FILE")
    text: Optional[str] = env.get("GANGRUN_CLUSTER_SPEC")
    if path:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    spec: dict[str, list[str]] = json.loads(text) if text else {}
    return spec


_told: dict[str, Figure] = {}
_has_warned = False
_telling = threading.Lock()  # the feed of a node tells its figures from a thread of its own


def report(**figures: Figure) -> None:
    """Publish named values of this task, such as a loss, in the job's status.

    Values are numbers or texts of at most 256 bytes; NumPy and TensorFlow scalars are converted to float. A value stays until the
    same name is reported again. A task can have at most 64 of them. Raises TypeError or ValueError for other values. If they
    cannot be published (a full disk), standard error says so once, and the task goes on.

    Outside of a job, and in every process of a task but the first, only the checks are done.
    """
    with _telling:
        _report(figures)


def _report(figures: dict[str, Figure]) -> None:
    for name, value in figures.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            value = _plain(name, value)
        if isinstance(value, float) and not math.isfinite(value):
            value = str(value)  # JSON has no number for it
        if isinstance(value, str) and len(value.encode(errors="replace")) > MAX_FIGURE_BYTES:
            raise ValueError(f"{name}: a text of {len(value.encode(errors='replace'))} bytes; allowed: {MAX_FIGURE_BYTES}")
        _told[name] = value
    if len(_told) > MAX_FIGURES:
        for name in figures:
            _told.pop(name, None)
        raise ValueError(f"more than {MAX_FIGURES} figures; the last were {', '.join(figures)}")
    path = os.environ.get("GANGRUN_FIGURES_FILE")
    if path and os.environ.get("GANGRUN_PROCESS", "0") == "0":
        _publish(path)


def _publish(path: str) -> None:
    """A training is not worth losing for a figure."""
    global _has_warned
    beside = f"{path}.{os.getpid()}"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(_told, file, allow_nan=False)
        os.replace(beside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        if not _has_warned:
            print(f"gangrun: figures cannot be published: {error}", file=sys.stderr, flush=True)
        _has_warned = True


def _plain(name: str, value: Any) -> Figure:
    """A number that is no Python number, as NumPy's and TensorFlow's are."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {value!r} is a {type(value).__name__}; allowed: numbers and texts") from None


def __getattr__(name: str) -> Any:
    if name in Place.__dataclass_fields__ or name in ("task", "local_rank"):
        return getattr(current(), name)
    raise AttributeError(f"module 'gangrun.task' has no attribute '{name}'")
