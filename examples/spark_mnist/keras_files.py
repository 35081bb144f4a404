"""Keras on the executors of a Spark application; each node gets its data by itself, and TensorBoard shows what it makes of them.

    spark-submit --py-files digits.py,training.py keras_files.py --nodes 2 --out OUT

OUT is a folder that all executors see.
"""

import argparse

from pyspark.sql import SparkSession

from gangrun.tensorflowonspark import TFCluster

IMAGES = 4000


def train(arguments, ctx):
    """In each node: the chief and the workers have every n-th image."""
    import tensorflow as tf

    import digits
    import training
    number = 0 if ctx.job_name == "chief" else 1 + ctx.task_index

    def make_data():
        images = digits.arrays(range(number, IMAGES, ctx.num_workers))
        return tf.data.Dataset.from_tensor_slices(images).shuffle(IMAGES, seed=1).repeat()

    model = training.train(make_data, arguments)
    if ctx.job_name == "chief":
        training.evaluate(model, arguments.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=120)
    arguments = parser.parse_args()
    sc = SparkSession.builder.appName("digits").getOrCreate().sparkContext
    cluster = TFCluster.run(sc, train, arguments, arguments.nodes, num_ps=0, master_node="chief",
                            input_mode=TFCluster.InputMode.TENSORFLOW)
    cluster.shutdown()


if __name__ == "__main__":
    main()
