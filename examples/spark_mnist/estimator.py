"""An Estimator with a parameter server on three executors of a Spark application, which feeds it (TensorFlow 2.15, the last
one with Estimators).

    spark-submit --py-files digits.py estimator.py --out OUT

OUT is a folder that all executors see.
"""

import argparse
import json
import pathlib

from pyspark.sql import SparkSession

import digits
from gangrun.tensorflowonspark import TFCluster

IMAGES = 2000
EPOCHS = 16
BATCH = 32
PARTITIONS = 6


def make_estimator(out):
    import tensorflow as tf
    config = tf.estimator.RunConfig(model_dir=f"{out}/model", save_checkpoints_steps=100, save_summary_steps=100)
    return tf.estimator.DNNClassifier(
        feature_columns=[tf.feature_column.numeric_column("image", shape=(digits.SIDE ** 2,))], hidden_units=[64],
        n_classes=digits.CLASSES, optimizer=lambda: tf.keras.optimizers.legacy.Adam(learning_rate=0.01), config=config)


def own_input(numbers):
    import tensorflow as tf
    images, labels = digits.arrays(numbers)
    return tf.data.Dataset.from_tensor_slices(({"image": images}, labels))


def fed_input(ctx):
    import tensorflow as tf
    feed = ctx.get_data_feed()

    def rows():
        while not feed.should_stop():
            for image, label in feed.next_batch(BATCH):
                yield {"image": image}, label

    return tf.data.Dataset.from_generator(rows, output_signature=({"image": tf.TensorSpec((digits.SIDE ** 2,), tf.float32)},
                                                                  tf.TensorSpec((), tf.int64))).batch(BATCH)


def train(arguments, ctx):
    """In each node; its part in the cluster is in TF_CONFIG."""
    import tensorflow as tf
    estimator = make_estimator(arguments.out)
    held_out = range(1_000_000, 1_000_500)
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(lambda: fed_input(ctx), max_steps=arguments.steps),
        tf.estimator.EvalSpec(lambda: own_input(held_out).batch(100), steps=None, start_delay_secs=0, throttle_secs=1))
    if ctx.mgr is not None:
        ctx.get_data_feed().terminate()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=400)
    arguments = parser.parse_args()
    sc = SparkSession.builder.appName("digits").getOrCreate().sparkContext
    cluster = TFCluster.run(sc, train, arguments, 3, num_ps=1, input_mode=TFCluster.InputMode.SPARK, master_node="chief")
    cluster.train(sc.parallelize(range(IMAGES), PARTITIONS).map(digits.row), EPOCHS)
    cluster.shutdown()

    # What was trained is there for whoever has the folder, the driver too.
    found = make_estimator(arguments.out).evaluate(lambda: own_input(range(1_000_000, 1_001_000)).batch(100))
    pathlib.Path(arguments.out, "evaluation.json").write_text(json.dumps({name: float(value) for name, value in found.items()}))
    print("evaluated:", found, flush=True)


if __name__ == "__main__":
    main()
