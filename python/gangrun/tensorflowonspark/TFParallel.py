"""Run independent instances of a function, each in its own Spark task."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import logging
import os
import signal
import socket
import sys
import tempfile
import traceback
from typing import Any, Callable, Iterable, Iterator

from gangrun.errors import InvalidJob
from gangrun.spark import _checks, _cluster, _payload, _runtime

logger = logging.getLogger("gangrun.spark")


PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>


@dataclasses.dataclass(frozen=True)
class Instance:
    """The function that Spark calls with an instance's number.

    It runs the user's function in a child process. Spark reuses its Python workers, which would otherwise keep the GPUs of
    the instance, and a framework in them would keep using these GPUs.
    """

    function: bytes = dataclasses.field(repr=False)
    count: int
    use_barrier: bool
    default_fs: str

    def __call__(self, numbers: Iterable[int]) -> Iterator[int]:
        (number,) = numbers
        nodes: list[str] = []
        if self.use_barrier:
            from pyspark import BarrierTaskContext

            nodes = [info.address for info in BarrierTaskContext.get().getTaskInfos()]
        in_a_child(lambda: self._run(number, nodes), f"instance {number}")
        yield number

    def _run(self, number: int, nodes: list[str]) -> None:
        from gangrun import _function
        from gangrun.tensorflowonspark import TFSparkNode, util

        map_fn, (tf_args,), _ = _function.load(self.function)
        wanted = getattr(tf_args, "num_gpus", 1)
        util.single_node_env(wanted if isinstance(wanted, int) else 1, number, nodes)
        context = TFSparkNode.TFNodeContext(executor_id=number, defaultFS=self.default_fs)
        context.num_workers = self.count
        map_fn(tf_args, context)


def in_a_child(call: Callable[[], None], name: str) -> None:
    """Run `call` in a forked child process that dies with this process, and wait for it without a time limit.

    Raises RuntimeError with the child's traceback, or its exit status or signal, if the child fails.
    """
    parent = os.getpid()
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                if os.getppid() == parent:
                    call()
                    status = 0
            except SystemExit as error:
                status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
                if not isinstance(error.code, (int, type(None))):
                    said.write(f"{error.code}\n".encode(errors="replace"))
            except BaseException:
                said.write(traceback.format_exc().encode(errors="replace"))
            finally:
                for stream in (said, sys.stdout, sys.stderr):
                    with contextlib.suppress(OSError, ValueError):
                        stream.flush()
                os._exit(status)  # nothing else of this process's is the child's to end
        _, ended = os.waitpid(child, 0)
        said.seek(0)
        text = said.read().decode(errors="replace")
    if ended != 0:
        status = os.waitstatus_to_exitcode(ended)
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        raise RuntimeError(f"{name} on {socket.gethostname()} has failed:\n{text}" if text else f"{name} on {socket.gethostname()} {how}")


def run(sc: Any, map_fn: Callable[..., Any], tf_args: Any, num_executors: int, use_barrier: bool = True) -> None:
    """Run `map_fn(tf_args, ctx)` in `num_executors` Spark tasks and wait for all of them.

    Instances do not communicate. Each knows its number (`ctx.worker_num`, `ctx.executor_id`) and the number of instances
    (`ctx.num_workers`).

    sc           a SparkContext or SparkSession
    use_barrier  True: all instances run at the same time and end when the first one fails; False: they run as executors
                 become free, and Spark retries failed ones

    Raises InvalidJob if there are not enough executors for a barrier, and Spark's exception with the task's traceback if an
    instance fails.
    """
    from gangrun.tensorflowonspark import TFCluster

    context = _checks.context_of(sc)
    if not isinstance(num_executors, int) or isinstance(num_executors, bool) or num_executors < 1:
        raise InvalidJob(f"num_executors: {num_executors!r}; allowed: 1 and more")
    if use_barrier:
        _check_room(context, num_executors)
    instance = Instance(_payload.function_of(context, map_fn, (tf_args,)), num_executors, use_barrier, TFCluster._default_fs(context))
    _runtime.ship(context)
    numbers = context.parallelize(range(num_executors), num_executors)
    (numbers.barrier() if use_barrier else numbers).mapPartitions(instance).collect()


def _check_room(sc: Any, wanted: int) -> None:
    """Spark itself asks for ten minutes whether there are more executors now."""
    conf = _checks.conf_of(sc)
    if conf.get("spark.dynamicAllocation.enabled", "").lower() in _checks.TRUE:
        raise InvalidJob("spark.dynamicAllocation.enabled: 'true', and Spark runs no barrier with it; allowed: 'false', or use_barrier=False")
    slots, executors = _cluster._slots(sc)
    promised = _checks.expected(conf)
    if slots is not None and slots < wanted and (promised is None or executors >= promised):
        raise InvalidJob(f"num_executors: {wanted}, and the {executors} executors of this application run {slots} tasks at once; allowed: at "
                         "most that, or use_barrier=False")
