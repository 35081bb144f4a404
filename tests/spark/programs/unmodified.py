"""A program as one is written for TensorFlowOnSpark, with all of its modules that users call: it knows nothing of gangrun."""

import argparse
import json
import os

from pyspark.sql import SparkSession
from tensorflowonspark import TFCluster, TFNode, TFParallel, TFSparkNode, compat, dfutil, gpu_info, pipeline, reservation, util


def node(args, ctx):
    from tensorflowonspark import TFNode as inner
    with open(os.path.join(args.folder, f"{ctx.job_name}-{ctx.task_index}"), "w") as file:
        file.write(inner.hdfs_path(ctx, "/x"))


def instance(args, ctx):
    import tensorflowonspark.TFNode
    with open(os.path.join(args.folder, f"instance-{ctx.worker_num}"), "w") as file:
        file.write(tensorflowonspark.TFNode.hdfs_path(ctx, "/x"))


def in_a_task(_):
    from tensorflowonspark import TFNode as inner
    return inner.DataFeed.__name__


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True)
    given = parser.parse_args()
    spark = SparkSession.builder.getOrCreate()
    sc = spark.sparkContext
    cluster = TFCluster.run(sc, node, given, 2, 0, False, TFCluster.InputMode.TENSORFLOW, master_node="chief")
    cluster.shutdown()
    TFParallel.run(sc, instance, given, 2)
    records = os.path.join(given.folder, "records")
    dfutil.saveAsTFRecords(spark.createDataFrame([(1, "a")], "n long, s string"), records)
    print("\n" + json.dumps({
        "told": {name: open(os.path.join(given.folder, name)).read() for name in os.listdir(given.folder) if "-" in name},
        "task": sc.parallelize([1], 1).map(in_a_task).collect(), "records": [list(row) for row in dfutil.loadTFRecords(sc, records).collect()],
        "there": [hasattr(TFNode, "DataFeed"), hasattr(TFSparkNode, "TFNodeContext"), hasattr(compat, "export_saved_model"),
                  hasattr(gpu_info, "get_gpus"), hasattr(reservation, "Client"), hasattr(util, "single_node_env")],
        "estimator": pipeline.TFEstimator(node, {}).setEpochs(3).getEpochs()}), flush=True)
    spark.stop()
