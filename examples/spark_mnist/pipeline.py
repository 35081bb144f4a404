"""A pipeline of Spark's ML: a stage prepares the pixels, the next trains Keras in step on the executors; the fitted pipeline tells digits.

    spark-submit --py-files digits.py,training.py pipeline.py --nodes 2 --out OUT

OUT is a folder that all executors see.
"""

import argparse
import os

from pyspark.ml import Pipeline
from pyspark.ml.feature import SQLTransformer
from pyspark.sql import SparkSession

import digits
from gangrun.tensorflowonspark.pipeline import TFEstimator

IMAGES = 2000
EPOCHS = 8  # more than is needed: a node stops its feed when it has made its steps
PARTITIONS = 8
SCHEMA = "pixels array<int>, label long"
# What images are kept as: a byte for each pixel.
WHITE = 255


def train(args, ctx):
    """In each node; `args` has the params of the stage too."""
    import tensorflow as tf

    import training
    from gangrun.tensorflowonspark import TFNode, compat
    feed = TFNode.DataFeed(ctx.mgr, input_mapping=args.input_mapping)

    def make_data():
        def rows():
            for columns in feed.batches(args.batch_size):
                yield from zip(columns["image"].astype("float32"), columns["label"])
        return tf.data.Dataset.from_generator(rows, output_signature=(tf.TensorSpec((digits.SIDE ** 2,), tf.float32),
                                                                      tf.TensorSpec((), tf.int64)))

    model = training.train(make_data, args)
    compat.export_saved_model(model, args.export_dir, ctx.job_name == "chief")
    feed.terminate()


def images(spark, first, count):
    """A DataFrame of images as they would be stored."""
    def row(number):
        image, label = digits.row(number)
        return [round(WHITE * value) for value in image], label
    return spark.createDataFrame(spark.sparkContext.parallelize(range(first, first + count), PARTITIONS).map(row), SCHEMA)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=120)
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("digits").getOrCreate()

    prepare = SQLTransformer(statement=f"SELECT transform(pixels, p -> p / {WHITE}.0D) AS image, label FROM __THIS__")
    estimator = (TFEstimator(train, arguments).setInputMapping({"image": "image", "label": "label"}).setClusterSize(arguments.nodes)
                 .setEpochs(EPOCHS).setBatchSize(32).setSteps(arguments.steps).setExportDir(os.path.join(arguments.out, "model")))
    fitted = Pipeline(stages=[prepare, estimator]).fit(images(spark, 0, IMAGES).cache())

    # The image is what the model's input is called; of its only output the name differs between releases of Keras.
    fitted.stages[-1].setBatchSize(500).setInputMapping({"image": "image"})
    unseen = images(spark, 2_000_000, 1000).cache()
    # The stage gives what the model gives, row by row, and nothing else: labels are put beside in the same order.
    scores = fitted.transform(unseen)
    told = scores.selectExpr(f"array_position({scores.columns[0]}, array_max({scores.columns[0]})) - 1 AS digit").collect()
    labels = unseen.select("label").collect()
    right = sum(row.digit == known.label for row, known in zip(told, labels)) / len(labels)
    print(f"told {len(told)} digits, {right:.3f} of them right", flush=True)


if __name__ == "__main__":
    main()
