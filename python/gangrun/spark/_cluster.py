"""The driver's side of a cluster of nodes on a Spark application: `start`, `run` and `Cluster`."""

from __future__ import annotations

import atexit
import dataclasses
import logging
import os
import re
import secrets
import sys
import threading
import time
import weakref
from typing import Any, Callable, Mapping, Optional, Sequence

from gangrun import _arguments, _program, _staging, _texts, errors
from gangrun.spark import _checks, _nodes, _payload, _process, _runtime, _start, _streams, _told
from gangrun.spark._master import Join, Master

logger = logging.getLogger("gangrun.spark")

RESERVATION_TIMEOUT_S = 600
MEMORY_MIB = 256
# Seconds between two checks whether a running node has reported its start.
LOOK_S = 0.03
# Seconds until the start tasks, which check four times a second, must have seen that the nodes have ended.
SETTLE_S = 10
# Seconds to wait for the master's report of a node's failure after Spark has reported an error.
CAUSE_S = 2
# Seconds that nodes get to stop when the driver exits without shutdown().
EXIT_LIMIT_S = 30

_left: weakref.WeakSet[Cluster] = weakref.WeakSet()


@atexit.register
def _end_with_the_interpreter() -> None:
    clusters = [cluster for cluster in list(_left) if not cluster.master.ended.is_set()]
    for cluster in clusters:
        cluster.master.stop()
    limit = time.monotonic() + EXIT_LIMIT_S
    for cluster in clusters:
        cluster.master.ended.wait(max(0.0, limit - time.monotonic()))


@dataclasses.dataclass(frozen=True)
class Request:
    """The settings of a cluster, from the arguments of `start`, `run` or TFCluster.run."""

    function: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    template: Mapping[str, list[int]]
    name: str
    entry: Optional[str] = None
    meta: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    feed: bool = False
    busy: bool = False  # keep the executors of all nodes busy until the nodes end
    on_driver: Sequence[int] = ()  # the nodes that run beside the driver
    reservation_timeout: float = RESERVATION_TIMEOUT_S
    memory_mib: int = MEMORY_MIB
    keys: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # of the job file
    board: Optional[Mapping[str, Any]] = None  # TensorBoard: command, environment
    ports: str = ""  # ports for the master: "" (any), "4711", "4711-4720"
    host: str = ""  # the master's host name or address for the executors


def name_for(function: Any) -> str:
    """Return a job name made from the function's name."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", str(getattr(function, "__name__", type(function).__name__))).strip("-._")[:40]
    return f"spark-{name or 'job'}"


class Cluster:
    """A running cluster of nodes, returned by `start`.

    The nodes run until `shutdown`, until this process exits, or until one of them fails; then all of them are stopped.
    """

    def __init__(self, sc: Any, request: Request) -> None:
        self.sc, self.request = sc, request
        self.nodes = _nodes.nodes_of(dict(request.template))
        self._telling: Optional[_told.Telling] = None  # there once the master is
        self._failure: Optional[BaseException] = None
        self._start_error: Optional[BaseException] = None
        self._start_ended, self._start_jobs = threading.Event(), 0
        self._keys = 0  # of the feed that have been told
        self._is_fed = False  # "end" is one of them
        self._ending = False
        self._early_end = ""  # why a node should not have succeeded
        self._staging: Optional[_staging.Staging] = None
        self._local_agents: list[threading.Thread] = []
        self._streams: Optional[_streams.Streams] = None
        conf = _checks.conf_of(sc)
        self._local = _checks.is_local(sc.master)
        remote = len(self.nodes) - len(request.on_driver)
        _checks.check(conf, remote, *_slots(sc), fed=request.feed, held=sum(not node.takes_rows for node in self.nodes))
        function = _payload.function_of(sc, request.function, request.args, request.kwargs)
        self._key = secrets.token_bytes(32)
        _find_home(sc)
        runtime = _runtime.ship(sc)
        self._host = request.host or conf.get("spark.driver.host") or "127.0.0.1"
        self.master = self._start_master()
        self.group = f"gangrun-{id(self)}"
        try:
            join = self.master.wait_for_join()
            self.group = f"gangrun-{self.master.id}"
            self.plan = self._plan(join, function)
            self._telling = _told.Telling(self)
            _left.add(self)
            self._start_nodes(runtime)
            self._await_start()
        except BaseException:
            self._give_up()
            raise

    # How it starts.

    def _start_master(self) -> Master:
        request = self.request
        self._staging = _staging.Staging()
        # The real command comes with each agent that joins.
        tasks: dict[str, Any] = {name: {"instances": len(indexes), "command": [sys.executable]}
                                 for name, indexes in request.template.items()}
        if request.board is not None:
            tasks["tensorboard"] = {"command": [sys.executable]}
        seconds = max(1, int(request.reservation_timeout))
        job = {"name": request.name, "on": "spark", "tasks": tasks, **request.keys,
               "timeouts": {"allocation": seconds, "roll_call": seconds, **request.keys.get("timeouts", {})}}
        path = self._staging.write_json("job.json", job)
        words = ["--host", self._host, *(["--port", request.ports] if request.ports else []), path]
        return Master(words, self._on_failure, self._look)

    def _plan(self, join: Join, function: bytes) -> _start.Plan:
        request = self.request
        board = request.board
        if board is not None:
            board = {**board, "beside": _nodes.beside_tensorboard(self.nodes).index}
        return _start.Plan(job_id=self.master.id, host=join.host, port=join.port, fingerprint=join.fingerprint, secret=join.secret,
                           key=self._key, nodes=tuple(self.nodes), function=function, entry=request.entry, meta=request.meta,
                           feed=request.feed, memory_mib=request.memory_mib, to_the_end=request.busy, shared_executor=self._local,
                           limit_s=float(request.reservation_timeout), tensorboard=board)

    def _start_nodes(self, runtime: _runtime.Runtime) -> None:
        del runtime  # the executors find it by themselves
        for index in self.request.on_driver:
            self._start_on_driver(self.nodes[index])
        remote = [node for node in self.nodes if node.index not in self.request.on_driver]
        self.node_rdd = self.sc.parallelize([node.index for node in remote], len(remote))
        # Spark speculates with copies of start tasks that last where others of the same stage end.
        lasting = [node.index for node in remote if not node.takes_rows or not self.request.feed]
        groups = [group for group in (lasting, [node.index for node in remote if node.index not in lasting]) if group]
        self._start_jobs = len(groups)
        for group in groups:
            threading.Thread(target=self._run_start_job, args=(group,), name="gangrun spark start", daemon=True).start()

    def _run_start_job(self, indexes: list[int]) -> None:
        try:
            self.sc.setJobGroup(self.group, f"the nodes of {self.master.id}", interruptOnCancel=True)
            self.sc.parallelize(indexes, len(indexes)).foreachPartition(_start.Task(self.plan))
        except Exception as error:  # whatever Spark raises
            # Spark may hear of an executor's death before the master does, who knows what died with it.
            if not self.master.wait_until(lambda: self._ending or self.master.has_failed, CAUSE_S):
                self._failed_to_start(error)
        finally:
            with self.master.changed:
                self._start_jobs -= 1
                if not self._start_jobs:
                    self._start_ended.set()

    def _failed_to_start(self, error: BaseException) -> None:
        self._start_error = error
        with self.master.changed:
            self.master.changed.notify_all()
        self._on_failure()

    def _start_on_driver(self, node: _nodes.Node) -> None:
        pid = os.getpid()
        agent = _program.find("gangrun-agent")
        runtime = _runtime.Runtime("", agent, None)
        base = os.path.join(self.sc._temp_dir, "gangrun")
        starter = _start.Starter(self.plan, node, runtime, pid, _process.start_ticks(pid), base=base)
        starter.plan = dataclasses.replace(self.plan, shared_executor=True, to_the_end=True)

        def serve() -> None:
            try:
                starter.run()
            except Exception as error:  # told as those of Spark's tasks are
                self._failed_to_start(error)

        thread = threading.Thread(target=serve, name=f"gangrun {node.task}", daemon=True)
        thread.start()
        self._local_agents.append(thread)

    def _await_start(self) -> None:
        """Until every node is about to call its function."""
        limit = time.monotonic() + self.request.reservation_timeout + _start.SLACK_S
        missing = list(self.nodes)
        while missing:
            # No key can be there before the tasks have started; from then on it is a matter of moments.
            are_running = self.master.state == "running"
            missing = [node for node in missing if not are_running or self.master.get(f"started/{node.task}") is None]
            self.check()
            if not missing:
                return
            if self.master.ended.is_set():
                if self.master.state == "succeeded":  # functions that are done already
                    return
                raise errors.JobFailed(f"{self.master.id} ended before {missing[0].task} had started", self.master.status)
            if time.monotonic() > limit:
                raise errors.JobTimeout(f"{self.master.id}: {', '.join(node.task for node in missing)} did not start within "
                                        f"{self.request.reservation_timeout:.0f} s", self.master.status)
            if self._telling is not None:
                self._telling.while_starting()
            state = self.master.state
            self.master.wait_until(lambda: self.has_failed or self.master.state != state or self.master.ended.is_set(),
                                   LOOK_S if are_running else 1)

    # Its failures.

    def _on_failure(self) -> None:
        """By whatever thread hears of it first: ends what Spark does for this cluster, and the nodes."""
        if self._telling is None or self._ending:  # whoever waits for the start or the end raises it
            return
        failure = self._find_failure()
        if failure is None:
            return
        self._telling.failed(failure)
        if not self.master.has_failed:
            self.master.kill()
        try:
            self.sc.cancelJobGroup(self.group)
            if self._streams is not None:
                self._streams.cancel()
        except Exception as error:  # the application has ended, and its jobs with it
            logger.debug("the jobs of %s could not be cancelled: %s", self.group, error)

    def _look(self) -> None:
        """With each status: a node that takes rows stays until their end has been told, whatever its function does."""
        if self._telling is None or not self.request.feed or self._is_fed or self._ending or self._early_end:
            return
        rows = {node.task for node in self.nodes if node.takes_rows}
        ended = [task["task"] for task in self.master.status.get("tasks", ()) if task["task"] in rows and task["state"] == "succeeded"]
        if ended:
            self._early_end = f"{ended[0]} has ended with status 0 before the end of the rows, and not by its function's return"
            self._on_failure()

    def _check_returns(self) -> None:
        """After the end of all: a node whose process ended by itself may have left rows unread."""
        results = os.path.join(str(self.master.status["folder"]), "results")
        lost = [node.task for node in self.nodes
                if node.takes_rows and not os.path.exists(os.path.join(results, f"{node.type}-{node.number}"))]
        if self.request.feed and lost:
            self._early_end = f"{lost[0]} has ended with status 0, but not by its function's return: rows may be lost"
            self.check()

    def _find_failure(self) -> Optional[BaseException]:
        if self._failure is None:
            self._failure = self.master.failure()
        if self._failure is None and self._early_end:
            self._failure = errors.JobFailed(f"{self.master.id}: {self._early_end}", self.master.status)
        if self._failure is None and self._start_error is not None:
            said = _texts.theirs(_told.said_by(self._start_error), _told.MAX_SAID)
            self._failure = errors.JobFailed(f"{self.master.id}: the nodes could not be started: {said}", self.master.status)
            self._failure.__cause__ = self._start_error
        return self._failure

    def check(self) -> None:
        """Raise the error of the first node that failed, if any."""
        failure = self._find_failure()
        if failure is not None:
            raise failure

    @property
    def has_failed(self) -> bool:
        """Whether a node, or the Spark job that runs the nodes, has failed."""
        return self._find_failure() is not None

    def _give_up(self) -> None:
        self._ending = True
        if not self.master.ended.is_set():
            self.master.kill(EXIT_LIMIT_S)
        self._clean()

    def _clean(self) -> None:
        if not self._start_ended.wait(0):
            try:
                self.sc.cancelJobGroup(self.group)
            except Exception as error:  # likewise
                logger.debug("the jobs of %s could not be cancelled: %s", self.group, error)
        if self._telling is not None:
            self._telling.close()
        if self._staging is not None:
            self._staging.remove()
        _left.discard(self)

    # Its uses.

    def _feed_plan(self, feed_timeout: float, qname: str, stream: bool = False) -> Any:
        from gangrun.spark import _feeding

        if not self.request.feed:
            raise errors.InvalidJob("this cluster does not take rows: gangrun.spark.start makes one that does")
        nodes = [node.task for node in self.nodes if node.takes_rows]
        return _feeding.Plan(job_id=self.master.id, key=self._key, nodes=nodes, feed_timeout=feed_timeout, qname=qname,
                             stream=stream)

    def train(self, data: Any, epochs: int = 1, feed_timeout: float = 600, qname: str = "input") -> None:
        """Feed the rows of an RDD or DataFrame to the nodes, `epochs` times. The last batch of a node may be smaller.

        For a DStream, call this before the stream starts: each batch is fed once, when it arrives. `feed_timeout` is the time in
        seconds that a node may go without taking any row. Raises the error of a node that failed.
        """
        from gangrun.spark import _feeding

        self.check()
        if self._is_fed:
            raise errors.InvalidJob(f"{self.id}: the end of the rows has been told to its nodes")
        if _streams.is_dstream(data):
            if epochs != 1:
                raise ValueError(f"epochs: {epochs!r} of a DStream; allowed: 1: its batches come once")
            self.streams.take_dstream(data, feed_timeout, qname)
            return
        plan = self._feed_plan(feed_timeout, qname)
        with _told.job_group(self.sc, self.group, f"rows for {self.master.id}"):
            try:
                _feeding.train(self.sc, data, epochs, plan)
            except Exception as error:
                self._raise_cause(error)
        self.check()
        self._tell(b"flush")

    def inference(self, data: Any, feed_timeout: float = 600, qname: str = "input") -> Any:
        """Return an RDD of the nodes' results, one for each row of `data`. It is computed lazily, when Spark needs it."""
        from gangrun.spark import _feeding

        self.check()
        return _feeding.inference(data, self._feed_plan(feed_timeout, qname))

    def _raise_cause(self, error: BaseException) -> None:
        """The first cause where a node is behind an error of Spark's job, which may be heard of a little earlier."""
        self.master.wait_until(lambda: self.has_failed or self.master.ended.is_set(), CAUSE_S)
        failure = self._find_failure()
        if failure is None:
            if said := _told.not_fed(error):
                raise errors.JobFailed(f"{self.master.id}: {_texts.sentence(said)}", self.master.status) from error
            raise error
        raise failure from (failure.__cause__ or error)

    def _tell(self, value: bytes) -> None:
        self._keys += 1
        self.master.put(f"feed/{self._keys}", value)

    def shutdown(self, timeout: Optional[float] = None, stream: Any = None) -> None:
        """End the feed, wait for the nodes to finish, and raise the error of a node that failed.

        `stream` is a StreamingContext or StreamingQuery: wait first until it ends, or until `request_stop` is called.
        If the nodes have not finished after `timeout` seconds, kill them and raise JobTimeout (a TimeoutError).
        """
        limit = _arguments.time_limit("timeout", timeout)
        try:
            if stream is not None:
                self.streams.await_end(stream)
            self.check()
            self.end_feed()
            if not self.master.wait_until(lambda: self.master.ended.is_set() or self.has_failed, limit):
                self._ending = True
                self.master.kill(EXIT_LIMIT_S)
                raise errors.JobTimeout(f"{self.master.id}: the nodes did not end within {limit:.0f} s of shutdown()",
                                        self.master.status)
            self.check()
            self._check_returns()
            self._start_ended.wait(SETTLE_S)
        except BaseException:
            self._give_up()
            raise
        self._ending = True
        self._clean()

    def end_feed(self) -> None:
        """Tell the nodes that no more rows will come. Their feeds end after the rows that are already there."""
        if self.request.feed and not self._is_fed and not self._ending:
            self._is_fed = True
            self._tell(b"end")

    def stop(self) -> None:
        """Stop the nodes at once."""
        self._give_up()

    # Its parts.

    @property
    def streams(self) -> _streams.Streams:
        """The streams that feed this cluster."""
        if self._streams is None:
            self._streams = _streams.Streams(self)
        return self._streams

    @property
    def has_streams(self) -> bool:
        """Whether `streams` was used, so that a stream may feed this cluster."""
        return self._streams is not None

    @property
    def id(self) -> str:
        """The id of the cluster's job, for `gangrun status` and `request_stop`."""
        return self.master.id

    def status(self) -> Mapping[str, Any]:
        """Return the last status, a dict as `gangrun status --json` prints it."""
        return self.master.status

    def results(self) -> list[Any]:
        """Return the function's return value of each node, in node order; None if it has none. Call it after `shutdown`."""
        from gangrun._run import attach

        job = attach(self.id)
        found = job.results
        return [found.get(node.task) for node in self.nodes]

    def records(self) -> list[dict[str, Any]]:
        """Return one dict for each node: its number, type, index, host and port, and TensorBoard's pid and port."""
        return _told.records(self)


def _find_home(sc: Any) -> None:
    """A driver on a node of a cluster leaves nothing there, and may have no home to write to: what is kept of its jobs ends with the
    application then."""
    if "GANGRUN_HOME" in os.environ:
        return
    is_on_node = sc.getConf().get("spark.submit.deployMode", "client") == "cluster"
    folder = "" if is_on_node else os.path.expanduser("~/.gangrun")
    try:
        if os.path.isabs(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        folder = ""
    if not os.path.isabs(folder) or not os.access(folder, os.W_OK):
        os.environ["GANGRUN_HOME"] = os.path.join(sc._temp_dir, "gangrun", "home")
        os.makedirs(os.environ["GANGRUN_HOME"], mode=0o700, exist_ok=True)


def _slots(sc: Any) -> tuple[Optional[int], int]:
    """(how many tasks run at once now, on how many executors); (None, 0) where no executor has come yet."""
    if _checks.is_local(sc.master):
        return int(sc.defaultParallelism), 1
    # Cores and executors counted elsewhere in Spark do not come at the same moment; here each executor has its own.
    listed = sc._jsc.sc().statusStore().executorList(True)
    found = [listed.apply(number) for number in range(int(listed.size()))]
    slots = [int(one.maxTasks()) for one in found if one.id() != "driver"]
    return (sum(slots) if slots else None), len(slots)


def _number_of_executors(sc: Any) -> int:
    found = _checks.expected(_checks.conf_of(sc)) or _slots(sc)[1]
    if not found:
        raise errors.InvalidJob("num_executors: not given, and no executor has come yet; allowed: a number, or spark.executor.instances")
    return found


def start(sc: Any, function: Callable[..., Any], args: Sequence[Any] = (), num_executors: Optional[int] = None, *,
          kwargs: Optional[Mapping[str, Any]] = None, num_ps: int = 0, master_node: Optional[str] = None, name: Optional[str] = None,
          feed: bool = True, memory_mib: int = MEMORY_MIB, reservation_timeout: float = RESERVATION_TIMEOUT_S,
          job: Optional[Mapping[str, Any]] = None) -> Cluster:
    """Start `function(*args, **kwargs)` in one process (a node) beside each of `num_executors` executors, all together.

    sc           a SparkContext or SparkSession
    num_executors  number of nodes; None: one for each executor that the application has requested, or has now
    num_ps, master_node   how many nodes are parameter servers; the type of the first worker, such as "chief"
    feed         True: nodes are fed by `Cluster.train`, and the function gets the rows from gangrun.spark.feed()
    memory_mib   MiB of rows that may be buffered for a node
    reservation_timeout   seconds until all nodes must have started
    job          more keys of a job file (docs/job.md)

    Returns when all nodes are about to call the function. Raises InvalidJob before anything is started.
    """
    context = _checks.context_of(sc)
    _arguments.count("memory_mib", memory_mib, 1)
    _arguments.seconds("reservation_timeout", reservation_timeout, 0)
    count = num_executors if num_executors is not None else _number_of_executors(context)
    template = _nodes.template(count, num_ps, master_node)
    request = Request(function=function, args=args, kwargs=kwargs or {}, template=template, name=name or name_for(function), feed=feed,
                      busy=not feed, memory_mib=memory_mib, reservation_timeout=reservation_timeout, keys=dict(job or {}))
    return Cluster(context, request)


def run(sc: Any, function: Callable[..., Any], args: Sequence[Any] = (), num_executors: Optional[int] = None, *,
        kwargs: Optional[Mapping[str, Any]] = None, timeout: Optional[float] = None, **keys: Any) -> list[Any]:
    """Run `function` once beside each executor, all together, and return the list of return values in node order.

    Other arguments are those of `start`. Raises the first error of a node, with its traceback.
    """
    limit = _arguments.time_limit("timeout", timeout)  # before anything starts
    cluster = start(sc, function, args, num_executors, kwargs=kwargs, feed=False, **keys)
    cluster.shutdown(limit)
    return cluster.results()
