"""Spark's end of the feed as far as it goes without Spark: what becomes a frame, and what is said where nothing does."""

import io
import pickle
import struct

import pytest
from gangrun.spark import _feeding, _frames


def stream_of(*batches, end=_feeding.END_OF_DATA):
    """As Spark writes it to its Python worker."""
    content = b"".join(struct.pack("!i", len(batch)) + batch for batch in batches)
    return io.BytesIO(content + struct.pack("!i", end) + b"what comes after")


def written(frames):
    """(kind, content) of each; what is written into the ring is written here."""
    found = []
    for kind, size, content in frames:
        if callable(content):
            content, write = bytearray(size), content
            write(memoryview(content))
        found.append((kind, bytes(content)))
    return found


def test_what_spark_has_pickled_goes_on_unopened():
    stream = stream_of(b"one", b"", b"three")
    frames = _feeding._row_frames(_feeding._Unopened().load_stream(stream))
    assert written(frames) == [(_frames.SPARK_ROWS, batch) for batch in (b"one", b"", b"three")]
    assert stream.read() == b"what comes after"


def test_a_batch_larger_than_what_is_reserved_goes_by_a_buffer(monkeypatch):
    monkeypatch.setattr(_feeding, "RESERVED_BYTES", 4)
    (kind, size, content), = _feeding._row_frames(_feeding._Unopened().load_stream(stream_of(b"large")))
    assert (kind, size, content) == (_frames.SPARK_ROWS, 5, b"large")


def test_batches_are_also_an_iterator_of_bytes():
    """Spark 4 may read ahead in a thread of its own."""
    assert list(_feeding._Unopened().load_stream(stream_of(b"one", b"two"))) == [b"one", b"two"]


@pytest.mark.parametrize("stream, error", [
    (io.BytesIO(struct.pack("!i", 8) + b"half"), EOFError),
    (stream_of(end=_feeding.NO_VALUE), ValueError),
])
def test_a_stream_that_is_none(stream, error):
    with pytest.raises(error):
        written(_feeding._row_frames(_feeding._Unopened().load_stream(stream)))


def test_rows_that_were_just_made_are_gathered():
    """More in a frame where they are small, one where they are large; all of them, in order."""
    small = [pickle.loads(content) for kind, content in written(_feeding._row_frames(range(50_000)))]
    assert [row for rows in small for row in rows] == list(range(50_000))
    assert len(small) < 20
    large = written(_feeding._row_frames(bytes(3 << 20) for _ in range(5)))
    assert [kind for kind, _ in large] == [_frames.ROWS] * 5


def test_rows_that_come_slowly_are_not_held_back(monkeypatch):
    monkeypatch.setattr(_feeding, "GATHER_S", -1.0)
    assert len(written(_feeding._row_frames(range(5)))) == 5


@pytest.mark.parametrize("arguments, part", [
    ({"qname": "mine"}, "qname: 'mine'; allowed: 'input'"),
    ({"feed_timeout": 0}, "feed_timeout: 0; allowed: seconds, more than 0"),
])
def test_a_plan_that_cannot_be(arguments, part):
    with pytest.raises(ValueError, match=part):
        _feeding.Plan("job", bytes(32), ["worker:0"], **arguments)


def test_a_plan_does_not_show_its_key():
    assert "secret" not in repr(_feeding.Plan("job", b"secret" * 8, ["worker:0"]))


def test_pyarrow_that_is_missing_is_told_in_one_sentence():
    said = Exception("PythonException: ... ModuleNotFoundError: No module named 'pyarrow'\n")
    assert "pyarrow is not installed" in str(_feeding._explained(said))
    other = Exception("PythonException: ... ModuleNotFoundError: No module named 'mine'")
    assert _feeding._explained(other) is other


@pytest.mark.parametrize("said, on_purpose, shown", [
    (f"{_frames.SKIP}it has called terminate()", True, "worker:1 takes no more rows: it has called terminate()"),
    (f"{_frames.FAIL}KeyError: 'x'", False, "worker:1 takes no more rows: KeyError: 'x'"),
])
def test_why_a_node_takes_no_rows(said, on_purpose, shown):
    declined = _feeding._Declined("worker:1", said)
    assert (declined.on_purpose, str(declined)) == (on_purpose, shown)


@pytest.mark.parametrize("value, most, parts", [([1, 2, 3, 4], 1 << 20, 1), ([bytes([number]) * 100 for number in range(4)], 250, 2), ([bytes(100)], 1, 1)])
def test_results_are_divided_where_they_can_be(value, most, parts):
    pieces = [pickle.loads(content) for content in _frames.halves(value, most)]
    assert len(pieces) == parts and sum(pieces, []) == value
