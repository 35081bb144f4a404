"""What goes between a feeder in Spark's Python worker and the node of its executor; docs/protocols/feed.md has the bytes around it."""

from __future__ import annotations

import dataclasses
import json
import pickle
import struct
from typing import Any, Iterator, Optional

# Kinds of frames. 1 to 5 and 8 go to the node, 6, 7 and 9 come from it; what the channel itself says has kinds of its own.
SPARK_ROWS = 1  # a batch of rows as Spark has pickled it: an iterable, mostly a list
ROWS = 2  # a list of rows that the feeder has pickled
HEAD = 3  # JSON: what the feeder feeds; the first frame of each
ARROW = 4  # a stream of Arrow's IPC format with one record batch
END_OF_PARTITION = 5  # of inference: the feeder now waits for the remaining results
RESULTS = 6  # a pickled list of results
RESULTS_END = 7  # all results of the partition were given; their number
LOOK_BACK = 8  # of a stream, the last frame of a feeder: it waits until the node's function is done with its rows
DONE = 9  # and that it is: it has come back for more

# The beginning of a refusal, for feeders: whether rows are left on purpose.
SKIP = "skip: "
FAIL = "fail: "

# A key of the job: whoever puts it asks that its streams end.
STOP_KEY = "stream/stop"

_COUNT = struct.Struct("<Q")


@dataclasses.dataclass(frozen=True)
class Head:
    """What a feeder says of itself before its first row."""

    inference: bool
    feed_timeout: float
    schema: Optional[str] = None  # Spark's schema of a DataFrame, as JSON
    stream: bool = False  # LOOK_BACK is to come

    def encode(self) -> bytes:
        return json.dumps(dataclasses.asdict(self)).encode()

    @staticmethod
    def decode(content: bytes) -> Head:
        return Head(**json.loads(content))


def encode_count(count: int) -> bytes:
    return _COUNT.pack(count)


def load_rows(data: Any) -> list[Any]:
    """The rows of a frame SPARK_ROWS or ROWS. What the JVM has pickled has texts of Python 2 in it, hence the encoding."""
    rows = pickle.loads(data, encoding="bytes")
    return rows if isinstance(rows, list) else list(rows)


def dump_rows(rows: list[Any]) -> bytes:
    """As Spark pickles them: what the driver's script has defined goes by value."""
    return bytes(_cloudpickle().dumps(rows, pickle.DEFAULT_PROTOCOL))


def _cloudpickle() -> Any:
    """Either of both: where there is no pyspark, there is ours."""
    global _found
    if _found is None:
        try:
            from pyspark import cloudpickle as found
        except ImportError:
            import cloudpickle as found
        _found = found
    return _found


_found: Any = None


def halves(results: list[Any], most: int) -> Iterator[bytes]:
    """Pickled lists of at most that many bytes where they can be divided."""
    content = dump_rows(results)
    if len(content) <= most or len(results) < 2:
        yield content
        return
    middle = len(results) // 2
    yield from halves(results[:middle], most)
    yield from halves(results[middle:], most)
