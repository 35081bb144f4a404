"""The data plane between two processes of one machine: docs/protocols/feed.md; and TFRecord files: docs/protocols/tfrecord.md.
`gangrun._native.core()` loads it.

Calls that wait let other threads run, and notice signals within 0.1 s. Time limits are seconds.
"""

from typing import Any, Optional, Sequence, TypedDict

# Any object with bytes in one piece: bytes, bytearray, memoryview, pyarrow.Buffer, NumPy's arrays.
Buffer = Any

# The kind of the frame that is put after what a feeder has written which ended without end(); its bytes say why.
BROKEN: int

class NotThere(ConnectionError):
    """Nobody listens under that name."""

class PeerGone(ConnectionError):
    """The other process has ended, has closed the feed, or broke its rules."""

class Refused(Exception):
    """The node wants no more; the text is that of refuse(). From a Listener: it has been closed."""

class Stats(TypedDict):
    frames: int  # that were read
    bytes: int
    queued_bytes: int  # that were written and not read
    feeders_waiting: int  # beside the one whose turn it is
    node_waits_s: float  # of read(), for frames
    feeder_waits_s: float  # of all feeders, for room

class Frame:
    """Its bytes, read-only, where they lie: `memoryview(frame)`. Their room is given back when the last view is gone.

    A caller may keep as many as it likes: what holds up the ring is moved out of it, under the same addresses.
    """

    @property
    def kind(self) -> int: ...
    @property
    def feeder(self) -> int: ...  # counts turns, from 1
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class Listener:
    """The node's side. One thread reads and one writes; the other calls come from any. Not for a child that was forked."""

    def __init__(self, name: str, key: bytes, memory_mib: float = 256) -> None: ...
    def read(self, timeout: float) -> Optional[Frame]:
        """The next frame of whoever's turn it is; None: nothing in that time. Feeders come one after the other.

        After one that ended without end() comes a frame of kind BROKEN, behind all that it has written whole.
        """
    def write(self, kind: int, data: Buffer, timeout: float, feeder: int = 0) -> None:
        """A result, to the feeder of that turn, or of the frame that was read last. PeerGone: its turn is over.

        TimeoutError: no room in that time. Of a frame larger than a quarter of the ring a part has gone then, and
        the feeder is told that the node has gone.
        """
    def refuse(self, reason: str) -> None:
        """Present and coming feeders get Refused at once."""
    def touch(self) -> None:
        """The node makes progress. Each read() and write() says it too."""
    def close(self) -> None: ...
    @property
    def stats(self) -> Stats: ...

class Feeder:
    """The side of who has the rows. One thread uses it. Without end() the node finds the partition broken."""

    @staticmethod
    def connect(name: str, key: bytes, timeout: float, no_progress: float) -> Feeder:
        """Waits for its turn. `timeout` is for the node's answer; NotThere at once where nobody listens.

        `no_progress`: TimeoutError when something of the node is awaited and it has done nothing for so long.
        """
    def write(self, kind: int, data: Buffer) -> None:
        """Waits for room. Kinds are 1 to 65535."""
    def try_write(self, kind: int, data: Buffer, timeout: float) -> bool:
        """False: nothing was written, as there was no room in that time, or as results can be read first."""
    def reserve(self, size: int) -> memoryview:
        """Where the bytes of the next frame may be put together: in the ring itself up to a quarter of it."""
    def commit(self, kind: int, size: Optional[int] = None) -> None:
        """Sends what was reserved, or its first `size` bytes. The view must not be written to afterwards."""
    def read(self, timeout: float) -> Optional[Frame]:
        """The next result; None: nothing in that time."""
    def end(self) -> None:
        """All is written. Nothing else may be called afterwards."""

# A column: its feature's name; "int64", "float", "bytes" or "text" (bytes that are UTF-8); whether a row is a list of them.
Field = tuple[str, str, bool]

class BadRecord(ValueError):
    """Bytes that are no records, or records that do not go with the columns, or rows that do not go into records."""

class RecordDecoder:
    """From the bytes of a file to columns as Arrow has them. After an error it is of no more use."""

    def __init__(self, fields: Sequence[Field], file: str, ignores_others: bool, max_rows: int, max_bytes: int) -> None: ...
    def take(self, data: Buffer) -> int:
        """Reads whole records until the bytes end or the batch is full; how many bytes those were."""
    def end(self, data: Buffer) -> None:
        """The file has ended, with these bytes left: BadRecord where there are any."""
    def take_batch(self) -> list[tuple[int, Buffer, Optional[Buffer], int, Buffer, Optional[Buffer]]]:
        """For each field: (nulls, validity, offsets of lists, number of items, values, offsets of bytes). The memory is not copied."""
    @property
    def rows(self) -> int: ...
    @property
    def wanted(self) -> int: ...  # bytes of the record at which take() has ended, as far as can be told
    @property
    def is_full(self) -> bool: ...

# The buffers of a column: (validity, offsets of lists, validity of items, values, offsets of bytes, number of the first row in them,
# of the first item); None where there is none.
Columns = Sequence[tuple[Optional[Buffer], Optional[Buffer], Optional[Buffer], Optional[Buffer], Optional[Buffer], int, int]]

class RecordLines:
    """A file of records for a writer that puts a zero byte behind each line."""

    def __init__(self, fields: Sequence[Field]) -> None: ...
    def add(self, columns: Columns, begin: int, end: int, line_bytes: int) -> tuple[Buffer, list[tuple[int, int]]]:
        """Bytes, and where in them the lines are that these rows complete."""
    def end(self, line_bytes: int) -> tuple[Buffer, list[tuple[int, int]]]: ...

def encode_examples(fields: Sequence[Field], columns: Columns, begin: int, end: int) -> list[bytes]:
    """A message Example for each of these rows."""

def example_features(example: Buffer) -> dict[str, tuple[Optional[str], list[Any]]]:
    """name → ("int64", "float", "bytes" or None, the values) of a message Example."""

def record_places(data: Buffer, most: int) -> tuple[list[tuple[int, int]], int, int]:
    """Where the data of at most so many whole records lies that these bytes begin with; where the next record begins, and how many bytes it
    takes, as far as can be told."""

def begins_with_a_record(data: Buffer) -> bool: ...
