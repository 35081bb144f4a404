"""What bench/spark_records.py measures in one Spark application: run by the Python of Spark and the peer, prints JSON.

    records.py ROWS PEER_ROWS

A row is an image of 784 floats and a label. The rows are kept in Spark's memory, so that making them costs none of the writers anything.
"""

import functools
import json
import pathlib
import shutil
import sys
import tempfile
import time

# Of the peer; tools/install-deps puts it beside the environment.
JAR = pathlib.Path(sys.prefix).with_name("tensorflow-hadoop-1.15.0.jar")
KEPT_ROWS = 20_000
ROWS_OF_A_FILE = 50_000
CORES = 2
TURNS = 2
MANY_ROWS = 200_000  # take so long that one turn says enough


def frame_of(spark, rows):
    """The kept rows, as often as it takes."""
    kept = spark.range(0, min(rows, KEPT_ROWS), 1, CORES).selectExpr(
        "cast(id % 10 as int) as label", "transform(sequence(1, 784), x -> cast((id * x) % 256 as float) / 255) as image")
    kept = kept.selectExpr("label", "cast(image as array<float>) as image").persist()
    kept.count()
    times = max(1, rows // KEPT_ROWS)
    return functools.reduce(lambda one, other: one.union(other), [kept] * times).coalesce(max(CORES, rows // ROWS_OF_A_FILE))


def consumed(frame):
    frame.write.format("noop").mode("overwrite").save()


class Ours:
    def __init__(self, spark):
        from gangrun import spark as library
        self.spark, self.library = spark, library

    def write(self, frame, folder):
        self.library.write_tfrecords(frame, folder)

    def read(self, folder):
        return self.library.read_tfrecords(self.spark, folder)


class Peer:
    def __init__(self, spark):
        from tensorflowonspark import dfutil
        self.sc, self.library = spark.sparkContext, dfutil

    def write(self, frame, folder):
        self.library.saveAsTFRecords(frame, folder)

    def read(self, folder):
        return self.library.loadTFRecords(self.sc, folder)


class Parquet:
    def __init__(self, spark):
        self.spark = spark

    def write(self, frame, folder):
        frame.write.parquet(folder)

    def read(self, folder):
        return self.spark.read.parquet(folder)


def main():
    rows, peer_rows = int(sys.argv[1]), int(sys.argv[2])
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master(f"local[{CORES}]").config("spark.jars", str(JAR)).config("spark.ui.enabled", "false")
             .config("spark.driver.memory", "2g").config("spark.ui.showConsoleProgress", "false")
             .config("spark.sql.inMemoryColumnarStorage.compressed", "false").getOrCreate())
    many = frame_of(spark, rows)
    frames = {"ours": many, "parquet": many, "peer": frame_of(spark, peer_rows)}
    counts = {"ours": rows, "parquet": rows, "peer": peer_rows}
    makers = {"ours": Ours, "peer": Peer, "parquet": Parquet}
    told = {name: {"write": [], "read": [], "bytes": 0.0} for name in makers}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(TURNS if rows < MANY_ROWS else 1):
            for name, maker in makers.items():
                folder, side = f"{home}/{name}", maker(spark)
                shutil.rmtree(folder, ignore_errors=True)
                began = time.monotonic()
                side.write(frames[name], folder)
                written = time.monotonic()
                consumed(side.read(folder))
                told[name]["write"].append(counts[name] / (written - began))
                told[name]["read"].append(counts[name] / (time.monotonic() - written))
                size = sum(path.stat().st_size for path in pathlib.Path(folder).glob("part-*"))
                told[name]["bytes"] = size / counts[name]
        # Each side's rows are those that were written, and ours are the peer's.
        for name, maker in makers.items():
            assert maker(spark).read(f"{home}/{name}").count() == counts[name], name
        ours = makers["ours"](spark).read(f"{home}/peer").selectExpr("sum(label)", "sum(aggregate(image, 0D, (a, b) -> a + b))").first()
        made = frames["peer"].selectExpr("sum(label)", "sum(aggregate(image, 0D, (a, b) -> a + b))").first()
        assert ours[0] == made[0] and abs(ours[1] - made[1]) < 1e-6 * made[1], (ours, made)
    print("\n" + json.dumps(told), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
