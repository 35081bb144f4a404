"""What bench/spark_stream.py measures in one Spark application: run by the Python of Spark, prints JSON."""

import json
import pathlib
import tempfile
import threading
import time

BATCHES, UNCOUNTED = 22, 2  # the first ones start Python's workers
ROWS = 1000
LIMIT_S = 60


def wait_for(condition, what):
    limit, nothing = time.monotonic() + LIMIT_S, threading.Event()
    while not condition():
        if time.monotonic() > limit:
            raise SystemExit(f"{what} did not come in {LIMIT_S} s")
        nothing.wait(0.005)


def note(folder, number):
    """When the last row of a batch was there, in a file that appears whole."""
    told = time.time()
    path = pathlib.Path(folder, f"had-{number}")
    path.with_suffix(".new").write_text(str(told))
    path.with_suffix(".new").rename(path)


def node(folder):
    from gangrun import spark
    had = {}
    for columns in spark.feed().batches():
        for number in columns["batch"]:
            had[number] = had.get(number, 0) + 1
            if had[number] == ROWS:
                note(folder, number)


def consume(folder):
    """For mapInArrow: the rows are there, and that is all."""
    def take(batches):
        for batch in batches:
            if batch.num_rows:
                note(folder, batch.column(0)[0].as_py())
        return iter(())
    return take


class Source:
    """A stream of files in a folder, one a batch."""

    def __init__(self, session):
        self.folder = tempfile.mkdtemp()
        pathlib.Path(self.folder, "in").mkdir()
        frame = session.readStream.schema("batch long, value double").option("maxFilesPerTrigger", 1).json(f"{self.folder}/in")
        self.writer = frame.writeStream.option("checkpointLocation", f"{self.folder}/checkpoint")

    def latency_ms(self, number):
        new = pathlib.Path(self.folder, "new")
        new.write_text("".join(json.dumps({"batch": number, "value": row}) + "\n" for row in range(ROWS)))
        arrived = time.time()
        new.rename(pathlib.Path(self.folder, "in", f"{number}.json"))
        told, done = pathlib.Path(self.folder, f"had-{number}"), pathlib.Path(self.folder, "checkpoint/commits", str(number))
        wait_for(lambda: told.exists() and done.exists(), f"batch {number}")
        return (float(told.read_text()) - arrived) * 1000


def main():
    from pyspark.sql import SparkSession

    from gangrun import spark
    session = (SparkSession.builder.master("local-cluster[1,1,1024]").config("spark.ui.enabled", "false").config("spark.cores.max", "1")
               .config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "1").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    sources = {"spark": Source(session), "ours": Source(session)}
    cluster = spark.start(session, node, (sources["ours"].folder,), 1)
    only_consume = consume(sources["spark"].folder)
    plain = sources["spark"].writer.foreachBatch(
        lambda frame, _: frame.mapInArrow(only_consume, frame.schema).write.format("noop").mode("append").save()).start()
    ours = spark.train_stream(sources["ours"].writer, cluster)
    taken = {who: [] for who in sources}
    for number in range(BATCHES):
        for who, source in sources.items():
            took = source.latency_ms(number)
            if number >= UNCOUNTED:
                taken[who].append(took)
    plain.stop()
    spark.request_stop(cluster.id)
    cluster.shutdown(stream=ours)
    session.stop()
    print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    main()
