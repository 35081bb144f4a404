"""A program as one is written for TensorFlowOnSpark: it knows nothing of gangrun."""

import argparse
import os
import threading

from pyspark import SparkConf, SparkContext
from tensorflowonspark import TFCluster


def main_fun(args, ctx):
    from tensorflowonspark import TFNode
    if ctx.job_name == "ps":
        threading.Event().wait()
    if args.bad_row is None:
        assert TFNode.hdfs_path(ctx, "/model") == "file:///model"
    feed = TFNode.DataFeed(ctx.mgr, train_mode=True, input_mapping={"number": "x"})
    total = 0
    while not feed.should_stop():
        for number in feed.next_batch(50)["x"]:
            if number == args.bad_row:
                raise ValueError(f"cannot train on {number}")
            total += number
    with open(os.path.join(args.output, f"{ctx.job_name}-{ctx.task_index}"), "w") as file:
        file.write(str(total))


def train(sc, args):
    cluster = TFCluster.run(sc, main_fun, args, args.cluster_size, 1, False, TFCluster.InputMode.SPARK)
    cluster.train(sc.parallelize([(number,) for number in range(1000)], 4), args.epochs)
    cluster.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cluster_size", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--output", required=True)
    parser.add_argument("--bad_row", type=int)
    given = parser.parse_args()
    context = SparkContext(conf=SparkConf().setMaster("local[3]").set("spark.ui.enabled", "false").set("spark.driver.host", "127.0.0.1"))
    train(context, given)
    given.bad_row = 17
    train(context, given)
