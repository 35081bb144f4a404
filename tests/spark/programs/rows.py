"""Functions for tests/spark/test_rows.py: each feeds something and tells what the nodes had of it."""

import collections
import datetime
import decimal
import os
import pathlib
import resource
import tempfile
import threading
import time

import numpy
from serving import serve, wait_for_file

from gangrun import spark
from gangrun.spark import _feeding, _runtime

LIMIT_S = 60
SIZES = (0, 1, 5, 0, 100, 7)  # of partitions
Point = collections.namedtuple("Point", "x y")


class Own:
    """A class that only the driver's program has."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Own({self.value})"


# --- what nodes do

def all_rows(size):
    feed, rows = spark.feed(), []
    while not feed.should_stop():
        rows += feed.next_batch(size)
    return rows


def all_shown(size):
    return [repr(row) for row in all_rows(size)]


def all_lengths():
    return [len(row) for row in all_rows(1)]


def three_and_no_more():
    feed = spark.feed()
    rows = feed.next_batch(3)
    feed.terminate()
    return len(rows)


def late(folder):
    """Reads nothing before it is told to, and tells when half of 8 MiB wait; then (the most that has waited, the rows)."""
    feed = spark.feed()
    most = 0
    while not os.path.exists(os.path.join(folder, "go")):
        most = max(most, feed.mgr.stats()["queued_bytes"])
        if most > 4 << 20:
            pathlib.Path(folder, "half full").touch()
        threading.Event().wait(0.02)
    return [most, len(all_rows(10))]


def tells_batches(folder):
    feed = spark.feed()
    while not feed.should_stop():
        batch = feed.next_batch(1000)
        if batch:
            pathlib.Path(folder, str(len(batch))).touch()


def doubles(size, portion):
    """Inference whose results come in other portions than the rows."""
    feed = spark.feed()
    while not feed.should_stop():
        results = [2 * row if isinstance(row, int) else 2 * row["id"] for row in feed.next_batch(size)]
        for start in range(0, len(results), portion):
            feed.batch_results(results[start:start + portion])


def too_many_results():
    feed = spark.feed()
    while not feed.should_stop():
        batch = feed.next_batch(10)
        feed.batch_results(batch + batch)


def hangs():
    spark.feed().next_batch(1)
    threading.Event().wait()


def computes_between(seconds):
    """Takes a row, then none for so long, then all."""
    rows = spark.feed().next_batch(1)
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        sum(range(10_000))
    return len(rows + all_rows(10))


# --- what the tests ask for

def numbered(sc, sizes):
    """Rows (partition, place) in partitions of these sizes."""
    def rows(index, _):
        return ((index, place) for place in range(sizes[index]))
    return sc.parallelize(range(len(sizes)), len(sizes)).mapPartitionsWithIndex(rows)


def partitions(sc):
    """What each node had of an RDD that is cached (once, then three times), one that was just made (twice), a DataFrame (twice)."""
    from pyspark.sql import SparkSession
    made = numbered(sc, SIZES)
    cached = numbered(sc, SIZES).cache()
    frame = SparkSession(sc).createDataFrame(made, "part long, place long")
    cluster = spark.start(sc, all_rows, (4,), 3)
    for data, epochs in ((cached, 1), (cached, 3), (made, 2), (frame, 2)):
        cluster.train(data, epochs)
    cluster.shutdown()
    return [[list(row) for row in rows] for rows in cluster.results()]


def values():
    """Rows of many kinds."""
    from pyspark.ml.linalg import Vectors
    from pyspark.sql import Row
    return [None, 1, 2.5, "text", "\u00e4\u4e2d\0", b"\x00bytes\xff", bytearray(b"x"), [1, [2, [3, None]]], (1, "a", None), {"k": [1]},
            {1, 2}, True, 1 << 100, datetime.datetime(2020, 1, 2, 3, 4, 5, 6), datetime.date(1969, 12, 31), decimal.Decimal("-1.50"),
            numpy.arange(6.0).reshape(2, 3), numpy.float32(1.5), Vectors.dense([1.0, 2.0]), Vectors.sparse(5, {3: 4.0}),
            Row(a=1, b="z"), Point(1, 2), Own(7), [], ()]


def kinds(sc):
    """What was sent, and what arrived unopened, and pickled behind a function."""
    data = sc.parallelize(values(), 1)
    cluster = spark.start(sc, all_shown, (3,), 1)
    cluster.train(data)
    cluster.train(data.map(lambda row: row))
    cluster.shutdown()
    arrived = cluster.results()[0]
    middle = len(arrived) // 2
    return [[repr(value) for value in values()], arrived[:middle], arrived[middle:]]


def frame_of(sc):
    from pyspark.ml.linalg import Vectors
    from pyspark.sql import Row, SparkSession
    is_old = sc.version.startswith("3.3.")
    local = "timestamp" if is_old else "timestamp_ntz"
    schema = (f"i long, f float, s string, d date, t timestamp, n {local}, m decimal(10,2), a array<array<int>>, "
              "e array<struct<x:int,y:string>>, st struct<p:int,q:struct<r:timestamp>>, k map<string,array<date>>, o boolean, x int")
    when = datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
    rows = [(i, i / 2, f"s{i}", datetime.date(1960, 1, 1 + i), when, when, decimal.Decimal("1.50"), [[1, None], []], [(1, "a"), None],
             (1, (when,)), {"k": [datetime.date(2020, 1, 1)]}, bool(i), None) for i in range(5)]
    rows.append((None,) * 13)
    session = SparkSession(sc)
    if is_old:
        return session.createDataFrame(rows, schema).coalesce(1).sortWithinPartitions("i")
    vectors = session.createDataFrame([Row(i=i, v=Vectors.dense([1.0, i]) if i % 2 else Vectors.sparse(2, {1: 2.0})) for i in range(5)])
    return session.createDataFrame(rows, schema).join(vectors, "i", "left").coalesce(1).sortWithinPartitions("i")


def frame_kinds(sc):
    frame = frame_of(sc)
    cluster = spark.start(sc, all_shown, (4,), 1)
    cluster.train(frame)
    cluster.shutdown()
    return [[repr(row) for row in frame.collect()], cluster.results()[0]]


def large_row(sc, mib):
    data = sc.parallelize([mib, 1, mib], 1).map(lambda size: bytes(size << 20))
    cluster = spark.start(sc, all_lengths, (), 1, memory_mib=32)
    cluster.train(data)
    cluster.shutdown()
    return cluster.results()[0]


def terminated(sc):
    """How many of a billion rows were made before the nodes' end of interest was heard."""
    made = sc.accumulator(0)

    def endless(_):
        for number in range(10 ** 9):
            made.add(1)
            yield number

    cluster = spark.start(sc, three_and_no_more, (), 3)
    cluster.train(sc.parallelize(range(6), 6).mapPartitions(endless))
    cluster.shutdown()
    return [cluster.results(), made.value]


def backpressure(sc):
    """[the most that waited for the node, its rows, whether the producer had to wait] of 40 MB through 8 MiB."""
    folder = tempfile.mkdtemp()
    cluster = spark.start(sc, late, (folder,), 1, memory_mib=8)
    data = sc.parallelize(range(400), 1).map(lambda _: bytes(100_000))
    feeding = threading.Thread(target=cluster.train, args=(data,))
    feeding.start()
    wait_for_file(os.path.join(folder, "half full"))
    waits = feeding.is_alive()
    pathlib.Path(folder, "go").touch()
    feeding.join(LIMIT_S)
    cluster.shutdown()
    return [*cluster.results()[0], waits]


def flushed(sc):
    """Whether the rest of a batch comes before the end."""
    folder = tempfile.mkdtemp()
    cluster = spark.start(sc, tells_batches, (folder,), 1)
    cluster.train(sc.parallelize(range(10), 2))
    wait_for_file(os.path.join(folder, "10"))
    cluster.train(sc.parallelize(range(7), 1))
    wait_for_file(os.path.join(folder, "7"))
    cluster.shutdown()
    return sorted(os.listdir(folder))


def inferred(sc):
    from pyspark.sql import SparkSession
    cluster = spark.start(sc, doubles, (7, 3), 3)
    sizes = (0, 3, 50, 0, 7, 1000)
    data = numbered(sc, sizes).map(lambda row: row[0] * 10_000 + row[1])
    lazy = cluster.inference(data)
    untouched = sc.statusTracker().getJobIdsForGroup(None)
    try:
        found = {"all": lazy.collect() == [2 * row for row in data.collect()],
                 "cached": cluster.inference(data.cache()).glom().map(len).collect() == list(sizes),
                 "taken": lazy.take(5), "mapped on": lazy.map(lambda result: result + 1).sum() == 2 * data.sum() + data.count(),
                 "again": lazy.count()}
        frame = SparkSession(sc).range(0, 5000, 1, 4)
        found["frame"] = cluster.inference(frame).collect() == [2 * row for row in range(5000)]
        found["lazy"] = len(untouched) < len(sc.statusTracker().getJobIdsForGroup(None))
    finally:
        cluster.shutdown()  # it tells why nodes were not there
    return found


def inferred_wrongly(sc):
    cluster = spark.start(sc, too_many_results, (), 1)
    try:
        cluster.inference(sc.parallelize(range(5), 1)).collect()
    finally:
        cluster.shutdown()


def hung(sc):
    cluster = spark.start(sc, hangs, (), 1)
    cluster.train(sc.parallelize([bytes(100_000)] * 100, 4), feed_timeout=3)
    cluster.shutdown()


def slow(sc):
    """Rows that a node computes with for longer than feed_timeout: what its driver's `status` shows then, and how many there were."""
    cluster = spark.start(sc, computes_between, (4,), 1)
    cluster.train(sc.parallelize(range(100), 4), feed_timeout=1.5)
    limit, nothing = time.monotonic() + LIMIT_S, threading.Event()
    while (figures := cluster.status()["tasks"][0].get("figures") or {}).get("rows_in") != 100:
        assert time.monotonic() < limit, f"100 rows are not shown in {LIMIT_S} s, but {figures}"
        cluster.check()
        nothing.wait(0.05)
    cluster.shutdown()
    return figures, cluster.results()


def without_memory(sc):
    """A feeder that may map no more than a little."""
    def rows(_):
        used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), used + (64 << 20)))
        yield from range(10)

    cluster = spark.start(sc, all_rows, (3,), 1)
    try:
        cluster.train(sc.parallelize(range(1), 1).mapPartitions(rows))
    finally:
        cluster.stop()


def left(sc, declines):
    """A function that returns with rows unread."""
    cluster = spark.start(sc, three_and_no_more if declines else reads_three, (), 1)
    cluster.train(sc.parallelize(range(100), 2))
    cluster.shutdown()
    return cluster.results()


def reads_three():
    return len(spark.feed().next_batch(3))


def refused(sc, what):
    """These need no nodes: nothing is fed."""
    plan = {"job_id": "none", "key": bytes(32), "nodes": ["worker:0"]}
    if what == "queue":
        _feeding.Plan(**plan, qname="mine")
    data = [1, 2] if what == "list" else sc.parallelize([1])
    _feeding.train(sc, data, 0 if what == "epochs" else 1, _feeding.Plan(**plan))


def nobody_there(sc):
    _runtime.ship(sc)
    plan = _feeding.Plan("none", bytes(32), ["worker:0"])
    _feeding.train(sc, sc.parallelize([]), 1, plan)  # no row, no need of a node
    _feeding.train(sc, sc.parallelize([1], 1), 1, plan)


if __name__ == "__main__":
    serve(globals())
