"""Keras on the executors of a Spark application; Spark feeds the rows, to train with and then to tell the digits of.

    spark-submit --py-files digits.py,training.py keras_fed.py --nodes 2 --out OUT

OUT is a folder that all executors see.
"""

import argparse
import os

from pyspark.sql import SparkSession

import digits
from gangrun.tensorflowonspark import TFCluster

IMAGES = 2000
EPOCHS = 8  # more than is needed: a node stops its feed when it has made its steps
PARTITIONS = 8


def train(arguments, ctx):
    """In each node."""
    import tensorflow as tf

    import training
    from gangrun.tensorflowonspark import compat
    feed = ctx.get_data_feed()

    def rows():
        while not feed.should_stop():
            for image, label in feed.next_batch(training.BATCH):
                yield image, label

    def make_data():
        return tf.data.Dataset.from_generator(rows, output_signature=(tf.TensorSpec((digits.SIDE ** 2,), tf.float32),
                                                                      tf.TensorSpec((), tf.int64)))

    model = training.train(make_data, arguments)
    is_chief = ctx.job_name == "chief"
    compat.export_saved_model(model, os.path.join(arguments.out, "model"), is_chief)
    if is_chief:
        training.evaluate(model, arguments.out)
    feed.terminate()


def tell(arguments, ctx):
    """In each node, in the second part: one answer for each row."""
    import tensorflow as tf
    model = tf.saved_model.load(os.path.join(arguments.out, "model"))
    feed = ctx.get_data_feed(train_mode=False)
    while not feed.should_stop():
        batch = feed.next_batch(100)
        if batch:
            scores = model.signatures["serving_default"](tf.constant([image for image, _ in batch], tf.float32))
            answers = next(iter(scores.values())).numpy().argmax(axis=1)
            feed.batch_results([(label, int(answer)) for (_, label), answer in zip(batch, answers)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=120)
    arguments = parser.parse_args()
    sc = SparkSession.builder.appName("digits").getOrCreate().sparkContext
    rows = sc.parallelize(range(IMAGES), PARTITIONS).map(digits.row).cache()

    cluster = TFCluster.run(sc, train, arguments, arguments.nodes, num_ps=0, input_mode=TFCluster.InputMode.SPARK,
                            master_node="chief")
    cluster.train(rows, EPOCHS)
    cluster.shutdown()

    cluster = TFCluster.run(sc, tell, arguments, arguments.nodes, num_ps=0, input_mode=TFCluster.InputMode.SPARK)
    unseen = sc.parallelize(range(2_000_000, 2_001_000), PARTITIONS).map(digits.row)
    answers = cluster.inference(unseen).collect()
    cluster.shutdown()
    right = sum(label == answer for label, answer in answers) / len(answers)
    print(f"told {len(answers)} digits, {right:.3f} of them right", flush=True)


if __name__ == "__main__":
    main()
