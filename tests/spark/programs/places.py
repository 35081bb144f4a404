"""Functions for tests/spark/test_spark_places.py; as a program of its own (places.py FOLDER) what a user submits to a cluster."""

import json
import os
import pathlib
import socket
import sys

from serving import serve


def adds(args, ctx):
    """Adds up its rows and tells where it was."""
    feed = ctx.get_data_feed()
    total = 0
    while not feed.should_stop():
        total += sum(feed.next_batch(50))
    told = {"total": total, "pid": os.getpid(), "container": os.environ.get("CONTAINER_ID"), "host": socket.gethostname(),
            "shm": os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK), "tmp": sorted(os.listdir("/tmp"))[:20],
            "namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in ("mnt", "net", "pid")}}
    pathlib.Path(args["folder"], f"{ctx.job_name}-{ctx.task_index}.json").write_text(json.dumps(told))


def whole(sc, folder, nodes):
    """TFCluster.run, train, shutdown; what the nodes told."""
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, adds, {"folder": folder}, nodes, 0, input_mode=TFCluster.InputMode.SPARK, master_node="chief")
    cluster.train(sc.parallelize(range(1000), 6), 2)
    cluster.shutdown(timeout=60)
    told = {path.stem: json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*-*.json")}
    return {"id": cluster.cluster.id, "nodes": told, "hosts": [node["host"] for node in cluster.cluster_info]}


def main():
    from pyspark.sql import SparkSession
    sc = SparkSession.builder.getOrCreate().sparkContext
    folder = pathlib.Path(sys.argv[1])
    found = whole(sc, str(folder), int(sys.argv[2]))
    found["driver"] = {"container": os.environ.get("CONTAINER_ID"), "cwd": os.getcwd()}
    (folder / "found.json").write_text(json.dumps(found))
    sc.stop()


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else serve(globals())
