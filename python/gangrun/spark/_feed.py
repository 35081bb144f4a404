"""The node's end of the feed: frames in, rows out in the pieces that are wanted; results back.

One `Feed` belongs to a node's process. Whoever reads holds its lock; a thread of it listens to what the driver says
("flush", "end"), another one tells figures and watches that the node goes on.
"""

from __future__ import annotations

import atexit
import threading
from typing import Any, Optional, Union

from gangrun.spark import _frames, _watch

READ_S = 0.1  # how soon a reader that waits sees what the driver has said
MAX_RESULTS_BYTES = 64 << 20
MAX_REASON_BYTES = 1000
DEFAULT_FEED_TIMEOUT_S = 600.0


class RowPiece:
    """Rows that are Python objects; `columns` knows them by name, if they have names."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, start: int, stop: int) -> RowPiece:
        return self if start == 0 and stop == len(self.rows) else RowPiece(self.rows[start:stop])


class ArrowPiece:
    """Rows of a DataFrame where they lie in the ring: nothing is copied, and the room is given back with the last of them."""

    def __init__(self, batch: Any, schema: Optional[str]) -> None:
        self.batch = batch  # pyarrow.RecordBatch
        self.schema = schema  # Spark's, as JSON

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def part(self, start: int, stop: int) -> ArrowPiece:
        return ArrowPiece(self.batch.slice(start, stop - start), self.schema)


Piece = Union[RowPiece, ArrowPiece]


class Partition:
    """A partition of inference(): as many results as rows have to go back to the feeder that waits for them."""

    def __init__(self, turn: int) -> None:
        self.turn = turn  # of its feeder
        self.delivered = 0
        self.given = 0
        self.is_read = False  # its last row is here
        self.is_gone = False  # nobody waits for its results any more


def open_feed(name: str, key: bytes, memory_mib: int = 256) -> Feed:
    """The socket is there when this returns, so feeders that come later find it."""
    from gangrun import _native
    core = _native.core()
    feed = Feed(core.Listener(name, key, memory_mib), core)
    atexit.register(feed.close)  # a thread that still reads must be back before the interpreter goes
    return feed


class Feed:
    """What `ctx.mgr` is. `listener` is a `_core.Listener`, or what does the same. Reading, giving results and ending may be
    done by three threads: one that waits for rows is in nobody's way."""

    def __init__(self, listener: Any, core: Any) -> None:
        self._listener, self._core = listener, core
        self._reading = threading.Lock()  # of: _piece, _position, _head
        self._counting = threading.RLock()  # of: _partition, _orphans, and the results on their way
        self._said = threading.Condition()  # of: _flushes, _is_ended
        self._flushes = self._flushed = 0
        self._is_ended = False
        self._is_done = False  # no row comes out any more
        self._is_terminated = False
        self._piece: Optional[Piece] = None
        self._position = 0
        self._head = _frames.Head(inference=False, feed_timeout=DEFAULT_FEED_TIMEOUT_S)
        self._partition: Optional[Partition] = None
        self._orphans = 0  # rows that are with the user, of feeders that are gone
        self._awaited: Optional[int] = None  # the turn of a stream's feeder that waits until the function is done with its rows
        self._values: dict[str, Any] = {}
        self.rows_in = self.rows_out = 0
        self.is_giving = False  # results wait for Spark to take them
        self.watch = _watch.Watch(self)

    # --- what the driver says, and what it is told

    def flush(self) -> None:
        """What is here is to be delivered when the ring is empty, also if it is less than a batch."""
        with self._said:
            self._flushes += 1

    def end(self) -> None:
        """No more feeders come: what is in the ring is the rest."""
        with self._said:
            self._is_ended = True
            self._said.notify_all()

    def failed(self, text: str) -> None:
        """The node's function has raised this, which whoever feeds it is told."""
        self._listener.refuse(f"{_frames.FAIL}{_shortened(text)}")
        self._is_done = True  # and not before: who sees it may rely on what feeders are told

    def returned(self) -> None:
        """The node's function has returned. Feeders that still come are answered until the driver says the end: after
        terminate() they skip their rows, else they fail. RuntimeError where rows are left that nobody has declined."""
        left = not self._is_done and self._has_rows()
        if not self._is_done:
            self.failed("its function has returned while rows were being fed; feed.terminate() says that no more are wanted")
        with self._said:
            while not self._is_ended:  # the job's end ends this process in any case
                self._said.wait(timeout=60)
        if left:
            raise RuntimeError("the function has returned and left rows unread: feed.terminate() says that no more are wanted")

    def _has_rows(self) -> bool:
        with self._reading:
            while self._piece is None:
                frame = self._listener.read(0.0)
                if frame is None:
                    return False
                self._on_frame(frame)
        return True

    def close(self) -> None:
        self.watch.close()
        self._listener.close()

    # --- the part of a manager of TensorFlowOnSpark that programs use

    def get(self, name: str) -> Any:
        if name == "state":
            return "terminating" if self._is_terminated else "running"
        return self._values.get(name)

    def set(self, name: str, value: Any) -> None:
        if name == "state" and value == "terminating":
            self.terminate()
        self._values[name] = value

    # --- rows

    @property
    def is_done(self) -> bool:
        return self._is_done

    @property
    def owed(self) -> int:
        """So many rows of inference have no result yet."""
        partition = self._partition
        return 0 if partition is None else partition.delivered - partition.given

    def take(self, count: Optional[int]) -> list[Piece]:
        """The next rows in order: so many, or as many as came together. Fewer where a partition of inference ends, where
        the driver has said flush, and at the end; none only at the end."""
        pieces: list[Piece] = []
        have = 0
        with self._reading:
            self._look_back()  # who asks is done with what it had
            while count is None or have < count:
                if self._piece is None and not self._advance(have):
                    break
                piece = self._piece
                if self._is_done or piece is None or (pieces and type(piece) is not type(pieces[0])):
                    break
                stop = len(piece) if count is None else min(len(piece), self._position + count - have)
                pieces.append(piece.part(self._position, stop))
                self._count(stop - self._position)
                have += stop - self._position
                self._piece, self._position = (None, 0) if stop == len(piece) else (piece, stop)
                if count is None:
                    break
        return pieces

    def _count(self, rows: int) -> None:
        with self._counting:
            self.rows_in += rows
            if self._partition is not None:
                self._partition.delivered += rows

    def _advance(self, have: int) -> bool:
        """Reads until there is a piece; False where what is there has to be delivered first, or nothing comes any more."""
        while not self._is_done:
            with self._said:
                ended, flushes = self._is_ended, self._flushes
            urgent = ended or flushes != self._flushed
            try:
                frame = self._listener.read(0.0 if urgent else READ_S)
            except self._core.Refused:  # closed
                self._is_done = True
                return False
            if frame is not None:
                goes_on = self._on_frame(frame)
                if self._piece is not None:
                    return True
                if not goes_on and have:
                    return False
                self._look_back()
            elif ended:
                self._stop("the cluster has been shut down")
            elif urgent:
                self._flushed = flushes
                if have:
                    return False
        return False

    def _on_frame(self, frame: Any) -> bool:
        """False: it ends a partition of inference, or of a stream."""
        kind = frame.kind
        if kind in (_frames.SPARK_ROWS, _frames.ROWS):
            with memoryview(frame) as data:
                self._set_piece(RowPiece(_frames.load_rows(data)))
        elif kind == _frames.ARROW:
            self._set_piece(_arrow_piece(frame, self._head.schema))
        elif kind == _frames.HEAD:
            with memoryview(frame) as data:
                self._head = _frames.Head.decode(bytes(data))
            self.watch.limit_s = self._head.feed_timeout
            with self._counting:
                self._abandon()
                self._partition = Partition(frame.feeder) if self._head.inference else None
        elif kind == _frames.END_OF_PARTITION and self._partition is not None:
            with self._counting:
                self._partition.is_read = True
                self._settle()
            return False
        elif kind == _frames.LOOK_BACK:
            self._awaited = frame.feeder
            return False
        elif kind == self._core.BROKEN:
            with self._counting:
                was_inference = self._partition is not None
                self._abandon()
            return not was_inference
        else:
            raise RuntimeError(f"a frame of the kind {kind} came from Spark's side; a node knows {_frames.SPARK_ROWS} to "
                               f"{_frames.LOOK_BACK}: are both of the same version of gangrun?")
        return True

    def _set_piece(self, piece: Piece) -> None:
        if len(piece) and not (self._partition is not None and self._partition.is_gone):
            self._piece, self._position = piece, 0

    def _stop(self, reason: str) -> None:
        """By any thread; one that reads lets go of what it has."""
        self._listener.refuse(f"{_frames.SKIP}{reason}")
        self._is_done = True

    def terminate(self) -> None:
        """No more rows: whoever feeds stops at once, and whoever comes is told so. A stream is asked to end."""
        if not self._is_done:
            self._is_terminated = True
            try:
                if self._head.stream:  # before a batch is let go that is not read to its end: then no other one is begun
                    from gangrun.spark import _node
                    _node.put(_frames.STOP_KEY, b"terminate")
            finally:
                self._stop("it has called terminate()")

    @property
    def is_awaited(self) -> bool:
        """A stream's feeder waits until the function asks for more."""
        return self._awaited is not None

    def _look_back(self) -> None:
        """Tells the feeder of a stream whose rows were all given out that they are done with: the function asks for others."""
        turn, self._awaited = self._awaited, None
        if turn is not None:
            try:
                self._listener.write(_frames.DONE, b"", self._head.feed_timeout, turn)
            except (self._core.PeerGone, self._core.Refused):  # Spark has given its task up and will feed them again, or all is over
                pass

    # --- results

    def results(self, results: list[Any]) -> None:
        with self._counting:
            swallowed = min(self._orphans, len(results))
            self._orphans -= swallowed
            results = results[swallowed:]
            if not results:
                return
            partition = self._partition
            if partition is None:
                raise ValueError(f"batch_results: {len(results)} results, and nothing waits for them; allowed: one for each row "
                                 "that came by inference()")
            if partition.given + len(results) > partition.delivered:
                raise ValueError(f"batch_results: {partition.given + len(results)} results for {partition.delivered} rows of "
                                 "this partition; allowed: one for each row")
            for content in _frames.halves(results, MAX_RESULTS_BYTES):
                self._give(partition, _frames.RESULTS, content)
            partition.given += len(results)
            self.rows_out += len(results)
            self._settle()
        self._look_for_the_end(partition)

    def _give(self, partition: Partition, kind: int, content: bytes) -> None:
        """Only while somebody waits for it: after take(5) Spark has what it wanted, and ends its feeder."""
        if partition.is_gone:
            return
        self.is_giving = True
        try:
            self._listener.write(kind, content, self._head.feed_timeout, partition.turn)
        except self._core.PeerGone:
            partition.is_gone = True
        finally:
            self.is_giving = False

    def _settle(self) -> None:
        """The end of the results is told when the last row of the partition has one."""
        partition = self._partition
        if partition is not None and partition.is_read and partition.given == partition.delivered:
            self._partition = None
            self._give(partition, _frames.RESULTS_END, _frames.encode_count(partition.given))

    def _look_for_the_end(self, partition: Partition) -> None:
        """It may be in the ring already: then its feeder need not wait until somebody wants the next batch."""
        if self._partition is partition and partition.given == partition.delivered and self._reading.acquire(blocking=False):
            try:
                if self._piece is None and not self._is_done:
                    frame = self._listener.read(0.0)
                    if frame is not None:
                        self._on_frame(frame)
            finally:
                self._reading.release()

    def _abandon(self) -> None:
        """The feeder of this partition is gone: results for what was delivered of it have nobody to go to."""
        if self._partition is not None:
            self._orphans += self._partition.delivered - self._partition.given
            self._partition = None

    # --- figures

    def stats(self) -> dict[str, Any]:
        found: dict[str, Any] = self._listener.stats
        return found

    def touch(self) -> None:
        self._listener.touch()


def _shortened(text: str) -> str:
    """The beginning, and the end, where a traceback says what it was; more than MAX_REASON_BYTES is not carried to a feeder."""
    content = text.encode()
    if len(content) <= MAX_REASON_BYTES:
        return text
    head, tail = content[:MAX_REASON_BYTES // 4], content[-MAX_REASON_BYTES * 3 // 4 + 8:]
    return f"{head.decode(errors='ignore')} … {tail.decode(errors='ignore')}"


def _arrow_piece(frame: Any, schema: Optional[str]) -> ArrowPiece:
    try:
        import pyarrow
    except ImportError:
        raise ImportError("rows of a DataFrame came, and pyarrow is not installed for the Python of the node; install it, or "
                          "feed DataFrame.rdd") from None
    with pyarrow.ipc.open_stream(pyarrow.py_buffer(frame)) as reader:
        return ArrowPiece(reader.read_next_batch(), schema)

