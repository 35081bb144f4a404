"""A small residual network that learns from TFRecord files: Spark writes them, each node reads its part of them by itself.

    spark-submit --py-files digits.py,training.py resnet_records.py --nodes 2 --out OUT

OUT is a folder that all executors see; the files are in OUT/records.
"""

import argparse
import pathlib

from pyspark.sql import SparkSession

from gangrun.tensorflowonspark import TFCluster, dfutil

IMAGES = 4000
FILES = 4
CHANNELS = 8


def write_records(spark, folder):
    """Images as a DataFrame would have them, from wherever."""
    import digits
    rows = spark.sparkContext.parallelize(range(IMAGES), FILES).map(digits.row)
    dfutil.saveAsTFRecords(spark.createDataFrame(rows, "image array<float>, label bigint"), folder)


def make_model():
    """Two blocks whose input goes on beside what they make of it (He et al., 2015), each at half the size. Normalized by image: what a
    BatchNormalization has averaged can be read by all nodes together only, and one alone evaluates."""
    import tensorflow as tf

    import digits
    layers = tf.keras.layers

    def convolved(found, channels, size, strides):
        found = layers.Conv2D(channels, size, strides=strides, padding="same", use_bias=False)(found)
        return layers.LayerNormalization(axis=[1, 2, 3])(found)

    images = tf.keras.Input((digits.SIDE ** 2,))
    found = layers.Reshape((digits.SIDE, digits.SIDE, 1))(images)
    found = layers.ReLU()(convolved(found, CHANNELS, 3, 2))
    for channels in (CHANNELS, 2 * CHANNELS):
        beside = convolved(found, channels, 1, 2)
        found = layers.ReLU()(convolved(found, channels, 3, 2))
        found = layers.ReLU()(layers.Add()([convolved(found, channels, 3, 1), beside]))
    return tf.keras.Model(images, layers.Dense(digits.CLASSES)(layers.GlobalAveragePooling2D()(found)))


def train(arguments, ctx):
    """In each node: the chief and the workers have every n-th file."""
    import tensorflow as tf

    import digits
    import training
    number = 0 if ctx.job_name == "chief" else 1 + ctx.task_index
    features = {"image": tf.io.FixedLenFeature([digits.SIDE ** 2], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}

    def read(record):
        found = tf.io.parse_single_example(record, features)
        return found["image"], found["label"]

    def make_data():
        files = sorted(str(path) for path in pathlib.Path(arguments.out, "records").glob("part-*"))
        return tf.data.TFRecordDataset(files[number::ctx.num_workers]).map(read).shuffle(IMAGES, seed=1).repeat()

    model = training.train(make_data, arguments, make_model)
    if ctx.job_name == "chief":
        training.evaluate(model, arguments.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=200)
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("digits").getOrCreate()
    write_records(spark, str(pathlib.Path(arguments.out, "records")))
    cluster = TFCluster.run(spark.sparkContext, train, arguments, arguments.nodes, num_ps=0, master_node="chief",
                            input_mode=TFCluster.InputMode.TENSORFLOW)
    cluster.shutdown()


if __name__ == "__main__":
    main()
