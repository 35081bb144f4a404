"""What bench/spark_feed.py measures of one library in a Spark application: run by the Python of Spark, prints JSON.

    rows.py NODES long|short gangrun.tensorflowonspark|tensorflowonspark
"""

import argparse
import functools
import importlib
import json
import os
import pathlib
import sys
import tempfile
import threading
import time

MARK = "SPARK_ROWS_BENCH"
TICKS = os.sysconf("SC_CLK_TCK")
LIMIT_S = 300
BATCH = 100
# (rows of a node for ours and the floor, for the peer); how often the former are fed
SHAPES = {
    "784 floats + label": {"short": (12_000, 6_000), "long": (24_000, 12_000), "epochs": 12},
    "10 floats": {"short": (400_000, 16_000), "long": (800_000, 32_000), "epochs": 8},
    "10 KB": {"short": (12_000, 12_000), "long": (20_000, 20_000), "epochs": 16},
}


def make_row(shape, number):
    if shape == "10 KB":
        return number.to_bytes(8, "little") * 1280
    return [float(number % 251)] * (785 if shape.startswith("784") else 10)


def consume(args, ctx):
    """The nodes' function, of both libraries: writes down when it has had how many rows."""
    feed = ctx.get_data_feed(train_mode=args.mode != "inference")
    path = pathlib.Path(args.folder, f"{ctx.job_name}-{ctx.task_index}")
    if args.mode == "idle":
        wait_for(pathlib.Path(args.folder, "go").exists)
    count = 0
    with open(path, "wb", buffering=0) as told:
        if args.mode == "batches":
            for columns in feed.batches():
                count += len(columns["label"])
                told.write(f"{time.time()} {count}\n".encode())
            return
        while not feed.should_stop():
            batch = feed.next_batch(args.batch)
            if len(batch) > 0:
                count += len(batch)
                if args.mode == "inference":
                    feed.batch_results([1] * len(batch))
                told.write(f"{time.time()} {count}\n".encode())


def wait_for(condition, limit_s=LIMIT_S):
    limit, nothing = time.monotonic() + limit_s, threading.Event()
    while not condition():
        if time.monotonic() > limit:
            raise SystemExit(f"{condition} did not come in {limit_s} s")
        nothing.wait(0.02)


def processes():
    """{pid: (CPU seconds with those of its dead children, resident MiB)} of all that this program has started."""
    found = {}
    mark = f"{MARK}={os.environ[MARK]}".encode()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in pathlib.Path("/proc", entry, "environ").read_bytes().split(b"\0"):
                fields = pathlib.Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
                found[entry] = (sum(map(int, fields[11:15])) / TICKS, int(fields[21]) / 256)
        except OSError:
            continue
    return found


class Cpu:
    """CPU seconds of this application between here and `used`."""

    def __init__(self):
        self.before = processes()

    def used(self):
        return sum(seconds - self.before.get(pid, (0.0, 0))[0] for pid, (seconds, _) in processes().items())


class Nodes:
    """A running cluster of one of the libraries; what it tells are rates over what its nodes have had."""

    def __init__(self, library, sc, nodes, mode="rows"):
        self.folder = tempfile.mkdtemp()
        self.mode, self.had = mode, 0
        args = argparse.Namespace(folder=self.folder, batch=BATCH, mode=mode)
        self.cluster = library.run(sc, consume, args, nodes, 0, input_mode=library.InputMode.SPARK)

    def last(self):
        """(when, rows) of what all nodes have had."""
        lines = [path.read_text().splitlines()[-1:] for path in pathlib.Path(self.folder).glob("*-*")]
        told = [line[0].split() for line in lines if line and len(line[0].split()) == 2]
        return max((float(when) for when, _ in told), default=0.0), sum(int(count) for _, count in told)

    def _measured(self, rows, act):
        cpu, began = Cpu(), time.time()
        act()
        wait_for(lambda: self.last()[1] >= self.had + rows)
        when, self.had = self.last()
        return {"rate": rows / (when - began), "cpu": cpu.used() / rows * 1e6}

    def feed(self, data, rows, epochs):
        return self._measured(rows * epochs, lambda: self.cluster.train(data, epochs))

    def infer(self, data, rows):
        def act():
            count = self.cluster.inference(data).count()
            assert count == rows, f"{count} results for {rows} rows"
        return self._measured(rows, act)

    def close(self):
        self.cluster.shutdown()


def only_consume(rows):
    for _ in rows:
        pass


def consume_arrow(batches):
    for _ in batches:
        pass
    return iter(())


def floor(sc, data, rows, epochs):
    """Spark to Python, and nothing done with it."""
    many = sc.union([data] * epochs)
    cpu, began = Cpu(), time.time()
    many.foreachPartition(only_consume)
    return {"rate": rows * epochs / (time.time() - began), "cpu": cpu.used() / (rows * epochs) * 1e6}


def arrow_floor(frame, rows, times):
    made = frame.mapInArrow(consume_arrow, "nothing binary")
    cpu, began = Cpu(), time.time()
    for _ in range(times):
        made.write.format("noop").mode("overwrite").save()
    return {"rate": rows * times / (time.time() - began), "cpu": cpu.used() / (rows * times) * 1e6}


def cached(sc, shape, rows, partitions):
    made = sc.parallelize(range(rows), partitions).map(functools.partial(make_row, shape)).cache()
    made.count()
    return made


def cached_frame(session, rows, partitions):
    frame = session.range(0, rows, 1, partitions).selectExpr(
        "array_repeat(cast(id as double), 784) as image", "cast(id % 10 as double) as label").cache()
    frame.count()
    return frame


def rows_of(library, sc, nodes, size, turns, is_ours):
    """The floor is Spark's, which both libraries stand on: it is measured beside ours."""
    running, found = Nodes(library, sc, nodes), {}
    for shape, plan in SHAPES.items():
        rows = plan[size][0 if is_ours else 1] // BATCH // nodes * BATCH * nodes
        data, count, taken = cached(sc, shape, rows * nodes, nodes), rows * nodes, {}
        running.feed(data, count, 1)
        for _ in range(turns):
            if is_ours:
                taken.setdefault("floor", []).append(floor(sc, data, count, plan["epochs"]))
            taken.setdefault("fed", []).append(running.feed(data, count, plan["epochs"] if is_ours else 1))
        data.unpersist()
        found[shape] = taken
    if is_ours:
        found["10 floats, just mapped"] = mapped_of(running, sc, nodes)
    running.close()
    return found


def mapped_of(ours, sc, nodes):
    """An RDD that a Python function has just made: beside making the rows and nothing else."""
    rows = 200_000 * nodes
    data = sc.parallelize(range(rows), nodes).map(functools.partial(make_row, "10 floats"))
    return {"floor": [floor(sc, data, rows, 1)], "fed": [ours.feed(data, rows, 1)]}


def frames_of(library, sc, nodes, turns):
    from pyspark.sql import SparkSession
    session = SparkSession(sc)
    rows, epochs = 12_000 * nodes, 3
    frame = cached_frame(session, rows, nodes)
    ours, taken = Nodes(library, sc, nodes, "batches"), {"floor": [], "fed": []}
    arrow_floor(frame, rows, 1)
    ours.feed(frame, rows, 1)
    for _ in range(turns):
        taken["floor"].append(arrow_floor(frame, rows, epochs))
        taken["fed"].append(ours.feed(frame, rows, epochs))
    ours.close()
    frame.unpersist()
    return taken


def inference_of(library, sc, nodes, size, is_ours):
    rows = (200_000 if is_ours else 4_000 if size == "short" else 20_000) * nodes
    data = cached(sc, "10 floats", rows, nodes)
    running = Nodes(library, sc, nodes, "inference")
    taken = [running.infer(data, rows)]
    running.close()
    data.unpersist()
    return taken


def idle_of(library, sc):
    """A node that reads nothing while 400 MB are fed: what its memory grows by, and all is there in the end."""
    rows = 40_000
    data = sc.parallelize(range(rows), 1).map(functools.partial(make_row, "10 KB"))
    running = Nodes(library, sc, 1, "idle")
    before = processes()
    feeding = threading.Thread(target=running.cluster.train, args=(data, 1))
    feeding.start()
    feeding.join(8)
    growth = max(resident - before.get(pid, (0, 0))[1] for pid, (_, resident) in processes().items())
    waits = feeding.is_alive()
    pathlib.Path(running.folder, "go").touch()
    feeding.join(LIMIT_S)
    wait_for(lambda: running.last()[1] == rows)
    running.close()
    return {"growth_mib": growth, "producer_waits": waits, "fed_mib": rows * 10_240 / 2**20}


def main():
    nodes, size, name = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    from pyspark import SparkConf, SparkContext
    options = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1",
               "spark.executor.memory": "2g", "spark.scheduler.minRegisteredResourcesRatio": "1.0",
               "spark.sql.inMemoryColumnarStorage.compressed": "false"}
    conf = SparkConf().setMaster(f"local-cluster[{nodes},1,2048]").setAll(list(options.items()))
    sc = SparkContext(conf=conf)
    turns = 2 if size == "short" else 3
    library, is_ours = importlib.import_module(f"{name}.TFCluster"), name.startswith("gangrun")
    told = {"rows": rows_of(library, sc, nodes, size, turns, is_ours), "inference": inference_of(library, sc, nodes, size, is_ours)}
    if is_ours:
        told["frame"] = frames_of(library, sc, nodes, turns)
        if nodes == 1:
            told["idle"] = idle_of(library, sc)
    print("\n" + json.dumps(told), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
