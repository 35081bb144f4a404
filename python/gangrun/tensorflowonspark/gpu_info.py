"""Choose the GPUs of a task: those that Spark assigned to it, else free GPUs of its host.

A GPU is reserved by a lock (flock) on a file in LOCKS, named after the GPU's UUID. The kernel releases the lock when the
process ends in any way. `gangrun run` uses the same locks (src/local/gpu_locks.h).
"""

from __future__ import annotations

import fcntl
import logging
import os
import stat
import subprocess
import threading
import time
from typing import Optional, Union

logger = logging.getLogger("gangrun.spark")

AS_STRING = "string"
AS_LIST = "list"
# One folder for all tasks of a host. TMPDIR would not do: each YARN container has its own.
LOCKS = os.environ.get("GANGRUN_GPU_LOCKS", "/tmp/gangrun-gpus")
NVIDIA_SMI_LIMIT_S = 20
# Seconds to wait until other tasks free enough GPUs.
WAIT_S = 180
LOOK_S = 1.0

_taken: dict[str, tuple[int, int]] = {}  # index of a GPU → (descriptor with its lock, the process that locked it)


def is_gpu_available() -> bool:
    """Return whether nvidia-smi lists a GPU on this host."""
    return bool(_listed())


def get_gpus(num_gpu: int = 1, worker_index: int = -1, format: str = AS_STRING) -> Union[str, list[str]]:
    """Reserve `num_gpu` GPUs for this process until it ends, and return their indexes.

    They come from Spark's resource assignment if there is one, else from the host's free GPUs. Raises RuntimeError if the
    host or Spark has too few, or if not enough become free within WAIT_S (180) seconds.

    worker_index  the task's index; tasks with different indexes prefer different GPUs
    format        AS_STRING: a comma-separated text; AS_LIST: a list of texts
    """
    if format not in (AS_STRING, AS_LIST):
        raise ValueError(f"format: {format!r}; allowed: {AS_STRING!r}, {AS_LIST!r}")
    given = of_spark()
    if given is None:
        found = _take(num_gpu, worker_index)
    elif len(given) < num_gpu:
        raise RuntimeError(f"num_gpu: {num_gpu}, and Spark has given this task {len(given)} (spark.task.resource.gpu.amount)")
    else:
        found = given[:num_gpu]
    return ",".join(found) if format == AS_STRING else found


def of_this_process(num_gpus: int, rank: int = -1) -> list[str]:
    """Return at most `num_gpus` GPU indexes for this process: from Spark's assignment, else free GPUs of the host.

    Empty on a host without GPUs. Free GPUs stay reserved until this process ends; see get_gpus for errors.
    """
    if num_gpus < 1:
        return []
    given = of_spark()
    if given is not None:
        return given[:num_gpus]
    if "SPARK_EXECUTOR_POD_IP" in os.environ:
        return []  # in a pod those of other pods are seen as well: only Kubernetes and Spark know whose they are
    return _take(num_gpus, rank) if len(_own()) >= num_gpus or is_gpu_available() else []


def of_spark() -> Optional[list[str]]:
    """Return the GPU addresses that Spark assigned to the current task; None if Spark assigns no GPUs."""
    try:
        from pyspark import TaskContext
    except ImportError:
        return None
    context = TaskContext.get()
    found = context.resources().get("gpu") if context is not None else None
    return None if found is None else [str(address) for address in found.addresses]


def _ask(*words: str) -> list[list[str]]:
    """The fields of nvidia-smi's lines; none where it is not there, or does not answer."""
    try:
        done = subprocess.run(["nvidia-smi", *words, "--format=csv,noheader,nounits"], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=NVIDIA_SMI_LIMIT_S, check=False)
    except FileNotFoundError:
        return []
    except (OSError, subprocess.TimeoutExpired) as error:
        logger.warning("nvidia-smi: %s; this host is taken for one without GPUs", error)
        return []
    if done.returncode != 0:
        logger.warning("nvidia-smi ended with status %d: %s; this host is taken for one without GPUs", done.returncode,
                       (done.stderr or done.stdout).strip()[:500])
        return []
    return [[field.strip() for field in line.split(",")] for line in done.stdout.splitlines() if line.strip()]


def _listed() -> list[tuple[str, str]]:
    """(number, UUID) of each GPU of this host."""
    return [(fields[0], fields[1]) for fields in _ask("--query-gpu=index,uuid") if len(fields) == 2]


def _busy() -> set[str]:
    """UUIDs of GPUs that any process computes on."""
    return {fields[0] for fields in _ask("--query-compute-apps=gpu_uuid")}


def _own() -> list[str]:
    for index in [index for index, (_, pid) in _taken.items() if pid != os.getpid()]:
        del _taken[index]  # a parent's: the child has not asked for any
    return list(_taken)


def _take(count: int, rank: int) -> list[str]:
    found = _own()[:count]
    limit, told = time.monotonic() + WAIT_S, False
    while len(found) < count:
        listed = _listed()
        if len(listed) < count:
            raise RuntimeError(f"num_gpus: {count}, and this host has {len(listed)} (nvidia-smi)")
        found = _take_free(listed, count, rank)
        if len(found) < count:
            if time.monotonic() > limit:
                _give_back()
                raise RuntimeError(f"num_gpus: {count}, and of the {len(listed)} GPUs of this host {len(found)} became free within "
                                   f"{WAIT_S} s: the others have locks of other tasks in {LOCKS}, or processes (nvidia-smi)")
            if not told:
                logger.warning("waits for %d GPUs of this host, of which %d are free (at most %d s)", count, len(found), WAIT_S)
            # Those of less than all are given back, or two tasks may wait for each other.
            _give_back()
            told = True
            threading.Event().wait(LOOK_S)
    return found


def _take_free(listed: list[tuple[str, str]], count: int, rank: int) -> list[str]:
    start = rank * count % len(listed) if rank >= 0 else 0
    busy = _busy()
    for index, uuid in listed[start:] + listed[:start]:
        if len(_own()) < count and index not in _taken and uuid not in busy:
            descriptor = _locked(uuid)
            if descriptor is not None:
                _taken[index] = descriptor, os.getpid()
    return _own()


def _give_back() -> None:
    for index in _own():
        os.close(_taken.pop(index)[0])


def _locked(uuid: str) -> Optional[int]:
    """A descriptor with the lock, or None where another process has it."""
    if "/" in uuid:
        raise RuntimeError(f"nvidia-smi: {uuid!r} is not a UUID of a GPU")
    _make_folder()
    path = os.path.join(LOCKS, uuid)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        # Read by all, since the tasks of another user take the same lock; there is nothing in it.
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _make_folder() -> None:
    try:
        os.mkdir(LOCKS)
        os.chmod(LOCKS, 0o1777)
    except FileExistsError:
        found = os.lstat(LOCKS)
        if not stat.S_ISDIR(found.st_mode):
            raise RuntimeError(f"{LOCKS} is not a folder, and must be one: it holds the locks of GPUs") from None
