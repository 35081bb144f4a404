"""What bench/spark_start.py runs as a driver: nodes started and ended by both libraries in one application, in turns.

    ... FOLDER NODES RUNS    prints a JSON object: what → the seconds of each run
"""

import json
import logging
import os
import pathlib
import sys
import tempfile
import threading
import time

from pyspark import SparkContext

LIBRARIES = ("gangrun.tensorflowonspark", "tensorflowonspark")


def node(folder, ctx):
    """Tells when it runs, and takes rows until there are no more."""
    pathlib.Path(folder, f"{ctx.job_name}-{ctx.task_index}").write_text(str(time.time()))
    feed = ctx.get_data_feed()
    while not feed.should_stop():
        feed.next_batch(100)


def failing_node(folder, ctx):
    if ctx.task_index == 1:
        pathlib.Path(folder, "failed").write_text(str(time.time()))
        raise ValueError("no such digit")
    threading.Event().wait()


def launch(sc, nodes):
    """Spark's own job of so many tasks, which do nothing."""
    began = time.time()
    sc.parallelize(range(nodes), nodes).foreachPartition(lambda _: None)
    return time.time() - began


def start(sc, library, folder, nodes):
    """(from run() until the last node is in map_fun, from shutdown() until it returns)"""
    module = __import__(f"{library}.TFCluster", fromlist=["run"])
    with tempfile.TemporaryDirectory(dir=folder) as told:
        began = time.time()
        cluster = module.run(sc, node, told, nodes, 0, input_mode=module.InputMode.SPARK)
        cluster.train(sc.parallelize(range(nodes * 10), nodes), 1)
        running = [float(path.read_text()) for path in pathlib.Path(told).iterdir()]
        assert len(running) == nodes, running
        ending = time.time()
        cluster.shutdown()
        return max(running) - began, time.time() - ending


def failure(sc, folder, nodes):
    """From the error in a node until the driver has it."""
    from gangrun.tensorflowonspark import TFCluster
    with tempfile.TemporaryDirectory(dir=folder) as told:
        try:
            TFCluster.run(sc, failing_node, told, nodes, 0).shutdown()
        except Exception as error:
            late = time.time() - float(pathlib.Path(told, "failed").read_text())
            assert "no such digit" in f"{error}{error.__cause__}", error
            return late
    raise AssertionError("the driver was told nothing")


def main():
    folder, nodes, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    logging.disable(logging.INFO)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sc = SparkContext(os.environ["SPARK_MASTER_URL"], "start")
    found = {name: [] for name in ("launch", "failure", *(f"{part} {library}" for part in ("start", "shutdown") for library in LIBRARIES))}
    launch(sc, nodes)
    for _ in range(runs + 1):  # the first of each is cold
        for library in LIBRARIES:
            started, ended = start(sc, library, folder, nodes)
            found[f"start {library}"].append(started)
            found[f"shutdown {library}"].append(ended)
        found["launch"].append(launch(sc, nodes))
        found["failure"].append(failure(sc, folder, nodes))
    sc.stop()
    answers.write(json.dumps(found))
    answers.close()


main()
