"""Functions for tests/spark/test_streams.py: streams of Spark into nodes, whose functions write down the ids that they had."""

import os
import pathlib
import pickle
import subprocess
import sys
import threading

from serving import leave, serve, wait_for

from gangrun import spark

LIMIT_S = 60
INTERVAL_S = 0.3


def notes(args, ctx=None):
    """Writes each row of a batch down when it is done with it, which a test may hold up; then it asks for more."""
    feed = ctx.get_data_feed() if ctx is not None else spark.feed()
    me = ctx.task_index if ctx is not None else int(os.environ["GANGRUN_TASK_INDEX"])
    count = 0
    with open(pathlib.Path(args["folder"], f"had-{me}"), "a", buffering=1) as file:
        while not feed.should_stop():
            rows = [row if isinstance(row, int) else row["value"] for row in feed.next_batch(args.get("size", 7))]
            hold = args.get("hold")
            if hold in rows:
                pathlib.Path(args["folder"], "holding").touch()
                wait_for(lambda: not os.path.exists(os.path.join(args["folder"], "hold")), "the test to go on")
            file.write("".join(f"{row}\n" for row in rows))
            if args.get("bad") in rows:
                raise ValueError(f"this row is bad: {args['bad']}")
            count += len(rows)
            if args.get("enough") and count >= args["enough"]:
                feed.terminate()
    return count


def had(folder):
    return sorted(int(line) for path in pathlib.Path(folder).glob("had-*") for line in path.read_text().split())


def ask(*words):
    """A process of somebody outside, who has the driver's user and machine: (status, what it said)."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=LIMIT_S)
    return done.returncode, done.stderr


def ask_by_address(host, port):
    """As programs for TensorFlowOnSpark do."""
    return ask("-c", "import sys; from gangrun.tensorflowonspark import reservation; "
               "reservation.Client((sys.argv[1], int(sys.argv[2]))).request_stop()", host, str(port))


def dstream(sc, folder, batches, rows, asks, args=None):
    """A queue of RDDs as a DStream; its end is asked for when the first batch has come."""
    from pyspark.streaming import StreamingContext

    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, notes, {"folder": folder, **(args or {})}, 2, 0, input_mode=TFCluster.InputMode.SPARK)
    ssc = StreamingContext(sc, INTERVAL_S)
    queue = [sc.parallelize(range(number * rows, (number + 1) * rows), 3) for number in range(batches)]
    cluster.train(ssc.queueStream(queue).filter(lambda row: row >= 0))
    told = []

    def come_and_ask():
        wait_for(lambda: len(had(folder)) >= rows, "the first batch")
        host, port = cluster.cluster_meta["server_addr"]
        told.extend([ask_by_address(host, 1), ask_by_address(host, port)])

    asking = threading.Thread(target=come_and_ask if asks else told.clear)
    asking.start()
    ssc.start()
    cluster.shutdown(ssc, timeout=LIMIT_S)
    asking.join()
    return {"had": had(folder), "told": told, "done": cluster.server.done,
            "states": [task["state"] for task in cluster.cluster.status()["tasks"]]}


def restored(sc):
    """What a StreamingContext of another run's checkpoint would call."""
    from gangrun.spark import _streams
    return pickle.loads(pickle.dumps(_streams._Batch("spark-gone", None)))(sc.parallelize([1]))


def source(session, folder):
    """Files of numbers, one a batch, in the order of their names."""
    return session.readStream.schema("value long").option("maxFilesPerTrigger", 1).json(os.path.join(folder, "in"))


def query(sc, folder, options, stop_after=None):
    """A streaming query over the files in folder/in, from its checkpoint."""
    from pyspark.sql import SparkSession
    session = SparkSession(sc)
    cluster = spark.start(sc, notes, ({"folder": folder, **options},), 2)
    writer = source(session, folder).writeStream.option("checkpointLocation", os.path.join(folder, "checkpoint"))
    running = spark.train_stream(writer, cluster)
    leave(folder, "cluster", {"id": cluster.id})
    if stop_after is not None:
        wait_for(lambda: len(had(folder)) >= stop_after, "enough rows")
        assert ask("-m", "gangrun.spark", "stop", cluster.id) == (0, "")
    cluster.shutdown(stream=running)
    return {"had": had(folder), "batches": (running.lastProgress or {}).get("batchId"), "active": running.isActive}


def refused(sc, folder):
    """What is said to who gives no writer of a stream, and to who gives a stream where none is taken."""
    from pyspark.sql import SparkSession
    session = SparkSession(sc)
    cluster = spark.start(sc, notes, ({"folder": folder},), 2)
    told = []
    for call in (lambda: spark.train_stream(session.range(3), cluster), lambda: cluster.train(session.readStream.format("rate").load())):
        try:
            call()
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    cluster.shutdown(timeout=LIMIT_S)
    return told


if __name__ == "__main__":
    serve(globals())
