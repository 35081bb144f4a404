"""Spark's end of the feed: partitions of RDDs and DataFrames go to the node of the executor that has them.

The upper half runs in the driver, the lower one in the Python workers of executors. Rows that Spark has pickled already
are handed on as they are; rows that a Python function has just made are pickled where they are made; those of a
DataFrame stay Arrow. An epoch is a further run over the same partitions, in one job of Spark.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import random
import struct
import time
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional, Sequence, Union

from gangrun import _arguments
from gangrun.spark import _frames

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.sql import DataFrame

QUEUE = "input"
END_OF_DATA, NO_VALUE = -1, -5  # what Spark writes in place of a length
RESERVED_BYTES = 8 << 20  # what is read straight into the ring at once; more goes by way of a buffer
BEST_BYTES = 256 << 10  # of a list of rows that is pickled here
ARROW_BYTES = 16 << 20  # of a record batch in the ring, so that the node reads one while the next is written
GATHER_S = 0.2  # rows that come slowly are not held back for longer
NODE_FIRST_S = 30.0  # a node that hangs is to say so itself, with what it is at
LOOK_S = 1.0  # a feeder of inference that waits looks at its clock in such steps


@dataclasses.dataclass(frozen=True)
class Plan:
    """Which nodes take rows, and how their feeders find them. It travels in the closures of Spark's tasks."""

    job_id: str
    key: bytes = dataclasses.field(repr=False)
    nodes: Sequence[str]
    feed_timeout: float = 600
    qname: str = QUEUE
    stream: bool = False  # a partition is fed when the node's function has come back for more

    def __post_init__(self) -> None:
        if self.qname != QUEUE:
            raise ValueError(f"qname: {self.qname!r}; allowed: {QUEUE!r}: a node has one feed")
        if not _arguments.seconds("feed_timeout", self.feed_timeout) > 0:
            raise ValueError(f"feed_timeout: {self.feed_timeout!r}; allowed: seconds, more than 0")


# --- in the driver

def train(sc: SparkContext, data: Union[RDD[Any], DataFrame], epochs: int, plan: Plan) -> None:
    """Feeds everything so many times and returns when all of it is with the nodes, read or in their memory. Spark's job
    runs in the calling thread, in its job group."""
    epochs = _arguments.count("epochs", epochs, 1)
    with_pyarrow = _is_frame(data)
    if with_pyarrow and data.isStreaming:
        raise TypeError("data: a DataFrame of a stream; allowed: one that is not; gangrun.spark.train_stream feeds its writeStream")
    fed = _fed_frame(data, plan) if with_pyarrow else _fed_rows(data, plan)
    try:
        (fed if epochs == 1 else sc.union([fed] * epochs))._jrdd.count()  # counted in the JVM: no row comes out, and no Python is needed for that
    except Exception as error:
        raise _explained(error) if with_pyarrow else error


def inference(data: Union[RDD[Any], DataFrame], plan: Plan) -> RDD[Any]:
    """The results, one for each row, in the order of the rows of a partition. Nothing happens before Spark needs them."""
    from pyspark.rdd import RDD
    from pyspark.serializers import AutoBatchedSerializer, CPickleSerializer
    if _is_frame(data):
        results = data.mapInArrow(_ArrowInference(plan, data.schema.json()), "results binary")
        encoder = data.sparkSession._jvm.org.apache.spark.sql.Encoders.BINARY()
        made = getattr(results._jdf, "as")(encoder).javaRDD()
        sc = data.sparkSession.sparkContext
    else:
        made = _pipelined(data, _RowInference(plan))._jrdd
        sc = data.ctx
    return RDD(made, sc, AutoBatchedSerializer(CPickleSerializer()))


def _is_frame(data: Any) -> bool:
    """Else it is an RDD, or refused."""
    from pyspark.rdd import RDD
    if isinstance(data, RDD):
        return False
    if hasattr(data, "_jdf") and hasattr(data, "mapInArrow"):
        _check_types(data)
        return True
    what = type(data)
    hint = ": feed each of its RDDs, by foreachRDD" if what.__name__.endswith("DStream") else ""
    hint = ": Spark Connect has no executors of ours; take a classic session" if "connect" in what.__module__ else hint
    raise TypeError(f"data: a {what.__module__}.{what.__qualname__}{hint}; allowed: an RDD or a DataFrame")


def _check_types(frame: Any) -> None:
    """Spark makes Arrow of the types that Python has defined, as of ML vectors, since 3.4. Before, only a failed task says so."""
    if tuple(map(int, frame.sparkSession.version.split(".")[:2])) >= (3, 4):
        return
    for field in frame.schema.fields:
        if '"type":"udt"' in field.json():
            raise TypeError(f"data: the column {field.name} of type {field.dataType.simpleString()} takes Spark 3.4 or newer; allowed: "
                            "DataFrame.rdd, or pyspark.ml.functions.vector_to_array() of the column")


def _pipelined(rdd: Any, function: Any) -> Any:
    """The RDD of the frames that a function makes of each partition. It reads what Spark has pickled, where that lies ready:
    from a source, from a cache. Behind a Python function it takes that one's rows in the same process."""
    from pyspark.rdd import RDD, PipelinedRDD
    from pyspark.serializers import NoOpSerializer
    is_open = isinstance(rdd, PipelinedRDD) and rdd._is_pipelinable()
    source = RDD(rdd._jrdd, rdd.ctx, _Unopened()) if not is_open and _is_pickled(rdd._jrdd_deserializer) else rdd
    made = PipelinedRDD(source, function)
    made._jrdd_deserializer = NoOpSerializer()  # what comes out is bytes, and pickled already
    return made


def _is_pickled(serializer: Any) -> bool:
    """Each element of Spark's is a pickled batch of rows."""
    from pyspark import serializers
    pickles = tuple(kind for kind in (serializers.CPickleSerializer, getattr(serializers, "PickleSerializer", None)) if kind)
    return (type(serializer) in (serializers.BatchedSerializer, serializers.AutoBatchedSerializer)
            and type(serializer.serializer) in pickles)


def _fed_rows(rdd: Any, plan: Plan) -> Any:
    return _pipelined(rdd, _RowFeeding(plan))


def _fed_frame(frame: Any, plan: Plan) -> Any:
    """As an RDD of the JVM, which an epoch more is one run over more; a plan of SQL would grow with each."""
    from pyspark.rdd import RDD
    from pyspark.serializers import NoOpSerializer
    fed = frame.mapInArrow(_ArrowFeeding(plan, frame.schema.json()), "nothing binary")
    return RDD(fed._jdf.queryExecution().toRdd().toJavaRDD(), frame.sparkSession.sparkContext, NoOpSerializer())


def _explained(error: Exception) -> Exception:
    if "pyarrow" in str(error) and ("ModuleNotFoundError" in str(error) or "ImportError" in str(error)):
        return ImportError("a DataFrame is fed by Arrow, and pyarrow is not installed (or too old) for the Python of Spark's "
                           f"executors; install it there, or feed DataFrame.rdd. Spark said: {error}")
    return error


# --- in a Python worker of an executor

class _Unopened:
    """Reads Spark's batches as bytes; stands where a deserializer of Spark would."""

    def load_stream(self, stream: Any) -> _Batches:
        return _Batches(stream)


class _Batches:
    """The pickled batches of a partition. Who takes them by `next` gets bytes; `length` and `read_into` spare a copy."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> bytes:
        length = self.length()
        if length is None:
            raise StopIteration
        return self.read(length)

    def length(self) -> Optional[int]:
        """The length of the next batch, which must then be read."""
        head = self.stream.read(4)
        if len(head) < 4:
            return None
        length: int = struct.unpack("!i", head)[0]
        if length == NO_VALUE:
            raise ValueError("Spark gave a batch of rows that is null")
        return None if length == END_OF_DATA else length

    def read(self, length: int) -> bytes:
        content: bytes = self.stream.read(length)
        if len(content) < length:
            raise EOFError("Spark's stream of rows has ended in the middle of a batch")
        return content

    def read_into(self, view: memoryview) -> None:
        if self.stream.readinto(view) < len(view):
            raise EOFError("Spark's stream of rows has ended in the middle of a batch")


def _row_frames(rows: Iterable[Any]) -> Iterator[Any]:
    """(kind, content) of what has to be sent; content may be a function that writes that many bytes into a view."""
    if isinstance(rows, _Batches):
        batches = rows
        for length in iter(batches.length, None):
            if length <= RESERVED_BYTES:
                yield _frames.SPARK_ROWS, length, batches.read_into
            else:
                yield _frames.SPARK_ROWS, length, batches.read(length)
    else:
        for content in _pickled(iter(rows)):
            yield _frames.ROWS, len(content), content


def _pickled(rows: Iterator[Any]) -> Iterator[bytes]:
    """In lists that have neither so few bytes that a frame costs more than they, nor so many rows that somebody waits for them."""
    count = 1
    while True:
        began = time.monotonic()
        batch = list(itertools.islice(rows, count))
        if not batch:
            return
        content = _frames.dump_rows(batch)
        if time.monotonic() - began > GATHER_S or len(content) > 8 * BEST_BYTES:
            count = max(1, count // 2)
        elif len(content) < BEST_BYTES:
            count *= 2
        yield content


def _arrow_frames(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow
    for whole in batches:
        count = max(1, whole.num_rows * ARROW_BYTES // max(whole.nbytes, 1))
        for start in range(0, whole.num_rows, count):
            batch = whole.slice(start, count)
            size = _stream_bytes(batch)
            if size <= 2 * ARROW_BYTES:
                yield _frames.ARROW, size, functools.partial(_write_stream, batch)
            else:  # few rows, and large ones
                sink = pyarrow.BufferOutputStream()
                _write_batch(batch, sink)
                content = sink.getvalue()
                yield _frames.ARROW, content.size, content


def _write_batch(batch: Any, sink: Any) -> None:
    import pyarrow
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)


def _stream_bytes(batch: Any) -> int:
    import pyarrow
    sink = pyarrow.MockOutputStream()
    _write_batch(batch, sink)
    return int(sink.size())


def _write_stream(batch: Any, view: memoryview) -> None:
    import pyarrow
    _write_batch(batch, pyarrow.FixedSizeBufferWriter(pyarrow.py_buffer(view)))


@dataclasses.dataclass(frozen=True)
class _RowFeeding:
    plan: Plan

    def __call__(self, index: int, rows: Iterable[Any]) -> Iterable[bytes]:
        _feed(self.plan, _row_frames(rows), _frames.Head(False, self.plan.feed_timeout, None, self.plan.stream))
        return ()


@dataclasses.dataclass(frozen=True)
class _ArrowFeeding:
    plan: Plan
    schema: str

    def __call__(self, batches: Iterable[Any]) -> Iterable[Any]:
        _feed(self.plan, _arrow_frames(batches), _frames.Head(False, self.plan.feed_timeout, self.schema, self.plan.stream))
        return iter(())


@dataclasses.dataclass(frozen=True)
class _RowInference:
    plan: Plan

    def __call__(self, index: int, rows: Iterable[Any]) -> Iterable[bytes]:
        return _infer(self.plan, _row_frames(rows), _frames.Head(True, self.plan.feed_timeout))


@dataclasses.dataclass(frozen=True)
class _ArrowInference:
    plan: Plan
    schema: str

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow
        head = _frames.Head(True, self.plan.feed_timeout, self.schema)
        for content in _infer(self.plan, _arrow_frames(batches), head):
            yield pyarrow.record_batch([pyarrow.array([content], pyarrow.binary())], names=["results"])


class NotFed(RuntimeError):
    """Rows have nobody who takes them, though no node has failed. The driver knows it by its name (_told.py)."""


class _Declined(RuntimeError):
    """A node wants no rows."""

    def __init__(self, node: str, said: str) -> None:
        self.on_purpose = _frames.SKIP in said  # and none is missed
        reason = said.partition(_frames.SKIP if self.on_purpose else _frames.FAIL)[2] or said
        super().__init__(f"{node} takes no more rows: {reason}")


@contextlib.contextmanager
def _connected(plan: Plan) -> Iterator[Any]:
    """A feeder whose turn it is; of several nodes in one executor to any."""
    from gangrun import _native
    from gangrun.spark import _process, _runtime
    _runtime.on_executor()
    core = _native.core()
    pid, ticks = _process.executor_process()
    for node in random.sample(list(plan.nodes), len(plan.nodes)):
        with _told(core, node, plan):
            try:
                feeder = core.Feeder.connect(_process.feed_name(plan.job_id, pid, ticks, node), plan.key, _limit(plan), _limit(plan))
            except core.NotThere:
                continue
            yield feeder
            return
    raise NotFed(f"none of {', '.join(plan.nodes)} runs in this executor (its JVM is process {pid}), so its rows have no reader. "
                 "Either its node has ended, which the driver tells, or there are more executors than nodes: an executor "
                 "must have one node (spark.executor.instances, or spark.cores.max / spark.executor.cores, equal to "
                 "num_executors; spark.task.cpus equal to spark.executor.cores; no spark.dynamicAllocation.enabled)")


def _send(feeder: Any, kind: int, size: int, content: Any) -> None:
    if callable(content):
        with feeder.reserve(size) as view:
            content(view)
        feeder.commit(kind)
    else:
        feeder.write(kind, content)


def _feed(plan: Plan, frames: Iterator[Any], head: _frames.Head) -> None:
    """An empty partition needs no node. Where none is wanted any more, the rest of this one is left."""
    first = next(frames, None)
    if first is None:
        return
    try:
        with _connected(plan) as feeder:
            feeder.write(_frames.HEAD, head.encode())
            for frame in itertools.chain([first], frames):
                _send(feeder, *frame)
            if plan.stream:
                feeder.write(_frames.LOOK_BACK, b"")
                while feeder.read(LOOK_S) is None:  # it raises when the node makes no progress
                    pass
            feeder.end()
    except _Declined as error:
        if not error.on_purpose:
            raise NotFed(str(error)) from None


def _infer(plan: Plan, frames: Iterator[Any], head: _frames.Head) -> Iterator[bytes]:
    """The node's pickled lists of results, as they come. While a ring is full the other one is emptied, so neither end waits
    for the other."""
    first = next(frames, None)
    if first is None:
        return
    with _connected(plan) as feeder:
        feeder.write(_frames.HEAD, head.encode())
        for kind, size, content in itertools.chain([first], frames, [(_frames.END_OF_PARTITION, 0, b"")]):
            yield from _exchange(feeder, kind, _written(content, size), plan)
        for frame in _results(feeder, plan):
            if frame.kind == _frames.RESULTS_END:
                break
            yield bytes(frame)
        feeder.end()


def _written(content: Any, size: int) -> Any:
    if not callable(content):
        return content
    buffer = bytearray(size)
    content(memoryview(buffer))
    return buffer


def _exchange(feeder: Any, kind: int, content: Any, plan: Plan) -> Iterator[bytes]:
    """What is written is written as a whole; it is not as long as there are results to be read."""
    deadline = _Deadline(plan)
    while not feeder.try_write(kind, content, LOOK_S):
        for frame in _waiting(feeder):
            deadline.move()
            yield bytes(frame)
        deadline.check()
    if kind != _frames.END_OF_PARTITION:  # after it, what comes may be the end
        yield from map(bytes, _waiting(feeder))


def _waiting(feeder: Any) -> Iterator[Any]:
    return iter(functools.partial(feeder.read, 0.0), None)


def _results(feeder: Any, plan: Plan) -> Iterator[Any]:
    deadline = _Deadline(plan)
    while True:
        frame = feeder.read(LOOK_S)
        if frame is not None:
            deadline.move()
            yield frame
        deadline.check()


class _Deadline:
    """Without progress. The node notices it first, and says what it is at."""

    def __init__(self, plan: Plan) -> None:
        self.limit_s = _limit(plan)
        self.move()

    def move(self) -> None:
        self.at = time.monotonic() + self.limit_s

    def check(self) -> None:
        if time.monotonic() > self.at:
            raise TimeoutError(f"no result for {self.limit_s:g} s")


def _limit(plan: Plan) -> float:
    return plan.feed_timeout + NODE_FIRST_S


@contextlib.contextmanager
def _told(core: Any, node: str, plan: Plan) -> Iterator[None]:
    try:
        yield
    except core.Refused as error:
        raise _Declined(node, str(error)) from None
    except core.PeerGone as error:
        raise ConnectionError(f"{node} has gone while it was fed; the driver has its first cause: {error}") from error
    except TimeoutError as error:
        raise TimeoutError(f"{node} made no progress for {_limit(plan):g} s (feed_timeout {plan.feed_timeout:g} s): {error}") from error
