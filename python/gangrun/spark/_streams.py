"""Feed nodes from Spark streams (DStreams and streaming queries), and stop the streams from another process.

Spark commits a batch only after the nodes' functions have processed its rows, that is, have asked for more. A query that
restarts from its checkpoint therefore loses nothing, and the next batch waits for the current one.
"""

from __future__ import annotations

import contextlib
import glob
import logging
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Optional

from gangrun import errors
from gangrun.spark import _feeding, _frames, _master, _told

if TYPE_CHECKING:
    from gangrun.spark._cluster import Cluster

logger = logging.getLogger("gangrun.spark")

# Seconds between two checks whether the stream was asked to stop.
LOOK_S = 0.5
# Seconds within which a query must end once it is stopped.
END_LIMIT_S = 120
ADDRESS_KEY = "stream/address"  # where the master listens, as a program for TensorFlowOnSpark knows its cluster

_known: weakref.WeakValueDictionary[str, Streams] = weakref.WeakValueDictionary()


class _TooLate(errors.InvalidJob):
    """The answer to a batch that comes after a request for the end of its stream. Spark passes only the text on."""

    def __init__(self) -> None:
        super().__init__("gangrun: the end of this stream was requested")


def is_dstream(data: Any) -> bool:
    """Return whether this is a DStream."""
    return type(data).__name__.endswith("DStream") and hasattr(data, "foreachRDD")


def is_query(stream: Any) -> bool:
    """Return whether this is a StreamingQuery."""
    return hasattr(stream, "isActive") and hasattr(stream, "lastProgress")


class Streams:
    """The streams that feed one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._feeding = threading.RLock()  # of: one batch at a time
        self._stopping = False  # no batch is begun any more
        self._asked = False
        self._groups: set[str] = set()  # of the jobs of a batch, where Spark has no tags
        self._batches: dict[Optional[str], list[_Batch]] = {}  # by the id of their query; None: of DStreams
        _known[cluster.id] = self
        host, port = cluster.plan.host, cluster.plan.port
        cluster.master.put(ADDRESS_KEY, f"{host}:{port}".encode())

    def take_dstream(self, stream: Any, feed_timeout: float, qname: str) -> None:
        """Feed each batch of a DStream once, when it arrives."""
        plan = self.cluster._feed_plan(feed_timeout, qname, stream=True)
        batch = _Batch(self.cluster.id, plan)
        self._batches.setdefault(None, []).append(batch)
        stream.foreachRDD(lambda _, rdd: batch(rdd))

    def start_query(self, writer: Any, feed_timeout: float) -> Any:
        """Start the writer's query, feed each of its batches, and return the query."""
        plan = self.cluster._feed_plan(feed_timeout, _feeding.QUEUE, stream=True)
        batch = _Batch(self.cluster.id, plan)
        query = writer.foreachBatch(lambda frame, _: batch(frame)).start()
        self._batches.setdefault(str(query.id), []).append(batch)
        return query

    def feed(self, data: Any, plan: _feeding.Plan) -> None:
        """Feed one batch. Spark calls this in a thread of the stream."""
        cluster = self.cluster
        with self._feeding:
            cluster.check()
            # Data that a query's source has kept is for its next start. A DStream's batches exist only once.
            if self._stopping or cluster._is_fed or (_feeding._is_frame(data) and self.is_asked):
                raise _TooLate
            if not _feeding._is_frame(data) and data.getNumPartitions() == 0:
                return
            with _named(cluster.sc, cluster.group, self._groups):
                try:
                    _feeding.train(cluster.sc, data, 1, plan)
                except Exception as error:
                    cluster._raise_cause(error)
            cluster.check()

    def cancel(self) -> None:
        """Cancel the Spark jobs of the current batch, after a node has failed."""
        sc = self.cluster.sc
        if hasattr(sc, "cancelJobsWithTag"):
            sc.cancelJobsWithTag(self.cluster.group)
        for group in list(self._groups):
            sc.cancelJobGroup(group)

    # The end.

    @property
    def is_asked(self) -> bool:
        """Whether the streams were asked to stop: by request_stop(), a node's terminate(), or Server.stop()."""
        if not self._asked and not self.cluster.master.ended.is_set():
            self._asked = self.cluster.master.get(_frames.STOP_KEY) is not None
        return self._asked

    def ask(self) -> None:
        """Ask the streams to stop."""
        self._asked = True

    def await_end(self, stream: Any) -> None:
        """Wait until a StreamingContext or StreamingQuery ends. If it was asked to stop, feed what has arrived and stop it.

        Raises the error of a node that failed, or else the stream's own error.
        """
        try:
            while not _has_ended(stream, LOOK_S):
                if self.cluster.has_failed or self.cluster.master.ended.is_set():
                    break
                if self.is_asked:
                    self._stop_in_order(stream)
                    return
        except Exception as error:
            if self._came_too_late(stream) and self.is_asked and not self.cluster.has_failed:
                return
            self._stop_at_once(stream)
            self.cluster._raise_cause(error)
        if self.cluster.has_failed or self.cluster.master.ended.is_set():
            self._stop_at_once(stream)
            self.cluster.check()

    def _stop_in_order(self, stream: Any) -> None:
        if not is_query(stream):
            stream.stop(stopSparkContext=False, stopGraceFully=True)
            return
        with self._feeding:
            self._stopping = True
        # A batch that was fed is committed first. The next one is answered that it is too late, and Spark keeps it for the next start.
        limit = time.monotonic() + END_LIMIT_S
        while stream.isActive and stream.status["isTriggerActive"]:
            if time.monotonic() > limit:
                raise errors.JobTimeout(f"{self.cluster.id}: the query {stream.id} did not end within {END_LIMIT_S} s",
                                        self.cluster.master.status)
            with contextlib.suppress(Exception):  # how it ended is checked below
                stream.awaitTermination(LOOK_S / 10)
        stream.stop()
        error = stream.exception()
        if error is not None and not self._came_too_late(stream):
            raise error

    def _came_too_late(self, stream: Any) -> bool:
        """Whether a batch of the stream was answered so. The stream ends with that: it has no other error then."""
        batches = self._batches.get(str(stream.id) if is_query(stream) else None, [])
        return any(batch.is_late for batch in batches)

    def _stop_at_once(self, stream: Any) -> None:
        self._stopping = True
        try:
            if is_query(stream):
                stream.stop()
            else:
                stream.stop(stopSparkContext=False, stopGraceFully=False)
        except Exception as error:  # what it, or a node, has failed with is raised, and not this
            logger.debug("the stream of %s could not be stopped: %s", self.cluster.id, error)


def _has_ended(stream: Any, seconds: float) -> bool:
    """Waits so long; raises what it ended with."""
    return bool(stream.awaitTermination(seconds) if is_query(stream) else stream.awaitTerminationOrTimeout(seconds))


@contextlib.contextmanager
def _named(sc: Any, name: str, groups: set[str]) -> Iterator[None]:
    """The jobs of this thread can be cancelled: by a tag, or by their group, which is then in `groups`.

    Spark has tags since 3.5. Before, a query's jobs stay in the group by which its stop() cancels them; others get one.
    """
    if hasattr(sc, "addJobTag"):
        sc.addJobTag(name)
        try:
            yield
        finally:
            sc.removeJobTag(name)
        return
    with contextlib.ExitStack() as stack:
        group = sc.getLocalProperty("spark.jobGroup.id")
        if not group:
            group = name
            stack.enter_context(_told.job_group(sc, name, f"a batch for {name}"))
        groups.add(group)
        stack.callback(groups.discard, group)
        yield


class _Batch:
    """What Spark calls with each batch. A checkpoint of a StreamingContext keeps it by the cluster's id only."""

    def __init__(self, job_id: str, plan: Optional[_feeding.Plan]) -> None:
        self.job_id, self.plan = job_id, plan
        self.is_late = False  # one of its calls came too late

    def __reduce__(self) -> Any:
        return _Batch, (self.job_id, None)

    def __call__(self, data: Any) -> None:
        streams = _known.get(self.job_id)
        if streams is None or self.plan is None:
            raise errors.InvalidJob(f"{self.job_id} was the cluster of another run, and ended with it: a StreamingContext that comes from a "
                                    "checkpoint has no nodes. Make the context again, or take Structured Streaming "
                                    "(gangrun.spark.train_stream), whose checkpoints go together with new nodes")
        try:
            streams.feed(data, self.plan)
        except _TooLate:
            self.is_late = True
            raise


def train_stream(writer: Any, cluster: Cluster, *, feed_timeout: float = 600) -> Any:
    """Start a streaming query that feeds each of its batches to the nodes of `cluster`, and return the query.

    `writer` is the writer of a streaming DataFrame, such as `df.writeStream.option("checkpointLocation", folder)`; a trigger
    and a query name are optional. `feed_timeout` is the time in seconds that a node may go without taking a row.

    A batch is committed when the nodes' functions have asked for more rows. After a restart from the checkpoint, with new nodes,
    no batch is lost and at most one is repeated. `cluster.shutdown(stream=query)` waits until the query ends, or ends it
    when `request_stop` is called.
    """
    if not hasattr(writer, "foreachBatch"):
        raise TypeError(f"writer: a {type(writer).__module__}.{type(writer).__qualname__}; allowed: the writeStream of a DataFrame")
    cluster.check()
    return cluster.streams.start_query(writer, feed_timeout)


def request_stop(job_id: str) -> None:
    """Ask the streams of a cluster to stop in order: pending rows are fed, then `Cluster.shutdown` continues.

    Call it on the driver's machine as the driver's user; any process will do. Raises NoSuchJob if the job is not there.
    """
    from gangrun._run import attach

    folder = attach(job_id).status().get("folder")
    if not folder:
        raise errors.NoSuchJob(f"{job_id} has no folder on this machine: only the driver's machine has it")
    _put_stop(str(folder))


def _put_stop(folder: str) -> None:
    status, said = _master.ask(folder, _master.secret_of(folder), "PUT", _frames.STOP_KEY, b"asked")
    if status not in (200, 204):
        raise errors.CommandFailed(f"{folder}: the job's master does not take that its streams are to end: {status} "
                                   f"{said[:200].decode(errors='replace')}")


def request_stop_at(host: str, port: int) -> None:
    """Same as `request_stop`, for the cluster whose master listens at this host and port."""
    home = os.environ.get("GANGRUN_HOME") or os.path.expanduser("~/.gangrun")
    for socket in glob.glob(os.path.join(glob.escape(home), "jobs/*/master.sock")):
        folder = os.path.dirname(socket)
        try:
            status, address = _master.ask(folder, _master.secret_of(folder), "GET", ADDRESS_KEY)
        except OSError:  # a job that has ended
            continue
        if status == 200 and address.decode(errors="replace") == f"{host}:{port}":
            _put_stop(folder)
            return
    raise errors.NoSuchJob(f"no cluster of this user at {host}:{port} on this machine is fed by a stream; looked in {home}/jobs. The end of a "
                           "stream is requested where its driver runs, by the same user")
