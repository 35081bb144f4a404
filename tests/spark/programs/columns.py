"""What a node sees of its rows as columns: run by the Python of Spark, without Spark: a feeder of this process stands for its
workers.  columns.py CHECK  prints JSON."""

import datetime
import json
import pathlib
import pickle
import secrets
import sys
import threading

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))

from gangrun import _native  # noqa: E402
from gangrun.spark import _feed, _feeding, _frames  # noqa: E402
from gangrun.spark._data_feed import DataFeed  # noqa: E402

CORE = _native.core()
KEY = secrets.token_bytes(32)


def feed_of(batches, schema=None, **options):
    """A DataFeed of these: Arrow's batches of a DataFrame, or lists of rows."""
    name = f"columns-{secrets.token_hex(8)}"
    feed = _feed.open_feed(name, KEY, 64)

    def run():
        feeder = CORE.Feeder.connect(name, KEY, 60, 60)
        feeder.write(_frames.HEAD, _frames.Head(False, 60, schema).encode())
        for batch in batches:
            frames = (_feeding._arrow_frames([batch]) if hasattr(batch, "schema")
                      else [(_frames.ROWS, 0, pickle.dumps(batch))])
            for frame in frames:
                _feeding._send(feeder, *frame)
        feeder.end()
        feed.end()

    threading.Thread(target=run, daemon=True).start()
    return DataFeed(feed, **options)


def shown(columns):
    return {name: shown(column) if isinstance(column, dict) else [str(column.dtype), list(column.shape), column.tolist()]
            for name, column in columns.items()}


def plain(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def arrow():
    import pyarrow
    when = datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
    return pyarrow.table({
        "f": pyarrow.array([0.5, 1.5, 2.5]), "i": pyarrow.array([1, None, 3], pyarrow.int32()), "s": ["a", None, "c"],
        "b": pyarrow.array([b"x\0", b"", b"z"]), "o": [True, False, True], "t": pyarrow.array([when] * 3, pyarrow.timestamp("us", "UTC")),
        "m": pyarrow.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), "r": pyarrow.array([[1], [2, 3], []], pyarrow.list_(pyarrow.int64())),
        "q": pyarrow.array([[[1, 2], [3, 4]]] * 3, pyarrow.list_(pyarrow.list_(pyarrow.int64()))),
        "st": pyarrow.array([{"p": 1, "v": [0.0, 1.0]}] * 3)}).to_batches()[0]


def from_arrow():
    return shown(next(feed_of([arrow()]).batches()))


def in_numbers():
    """So many rows at once, whatever the batches are."""
    import pyarrow
    batches = [pyarrow.record_batch({"x": list(range(start, start + 4))}) for start in (0, 4, 8)]
    return [columns["x"].tolist() for columns in feed_of(batches).batches(5)]


def without_a_copy():
    """Columns lie in the feed's memory: which of them own theirs, and which may be written to."""
    columns = next(feed_of([arrow()]).batches())
    return {name: [bool(owner(columns[name])), bool(columns[name].flags.writeable)] for name in ("f", "m")}


def owner(array):
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    return array.flags.owndata


def from_rows():
    from pyspark.ml.linalg import Vectors
    from pyspark.sql import Row
    cases = {"lists": [[1.0, 2.0], [3.0, 4.0]], "scalars": [1, 2], "tuples": [(1, "a"), (2, None)], "dicts": [{"x": [1]}, {"x": [2]}],
             "rows": [Row(u=1.5, v=b"\0"), Row(u=None, v=b"b\0")], "ragged": [[1], [2, 3]],
             "vectors": [Vectors.dense([1.0, 0.0]), Vectors.sparse(2, {1: 2.0})]}
    return {name: json.loads(json.dumps(shown(next(feed_of([rows]).batches())), default=plain)) for name, rows in cases.items()}


def by_tensor():
    rows = [(1, 10.0), (2, 20.0)]
    mapped = shown(next(feed_of([rows], input_mapping={"b": "second", "a": "first"}).batches()))
    named = feed_of([arrow()], input_mapping={"i": "whole", "f": "half"})
    return [mapped, named.next_batch(2), shown(next(feed_of([arrow()], input_mapping={"f": "half"}).batches()))]


def tensorflow():
    import tensorflow as tf
    import pyarrow
    batch = pyarrow.record_batch({"x": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "y": [1, 2, 3], "s": ["a", "b", "c"]})
    dataset = feed_of([batch, batch]).dataset(4)
    spec = {name: str(part) for name, part in dataset.element_spec.items()}
    sums = [[float(tf.reduce_sum(part["x"])), int(tf.reduce_sum(part["y"])), part["s"].numpy()[0].decode()] for part in dataset]
    rows = feed_of([[([1.0, 2.0], 0), ([3.0, 4.0], 1)]]).dataset().map(lambda part: (part["0"], part["1"]))
    return [spec, sums, [[features.numpy().tolist(), label.numpy().tolist()] for features, label in rows]]


def torch():
    import torch as pytorch
    feed = feed_of([[([1.0, 2.0], 0, "a"), ([3.0, 4.0], 1, "b"), ([5.0, 6.0], 2, "c")]])
    parts = list(pytorch.utils.data.DataLoader(feed.torch(2), batch_size=None))
    parts[0]["0"].add_(1)
    return [[part["0"].tolist(), part["1"].tolist(), part["2"]] for part in parts]


def jax():
    rows = [[([1.0, 2.0], 0), ([3.0, 4.0], 1)]]
    return [[type(part["0"]).__module__.split(".")[0], part["0"].tolist(), part["1"].tolist()] for part in feed_of(rows).jax()]


def kept():
    """Columns that are held while more than the ring is fed stay what they were."""
    import pyarrow
    batches = [pyarrow.record_batch({"x": numpy.full(500_000, float(number))}) for number in range(40)]
    held = [columns["x"] for columns in feed_of(batches).batches()]
    return [len(held), sorted({float(part[0]) for part in held} | {float(part[-1]) for part in held})]


if __name__ == "__main__":
    print("\n" + json.dumps(globals()[sys.argv[1]](), default=plain))
