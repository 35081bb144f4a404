"""A network that learns from a stream of Spark until it is good enough, and goes on where it was when it is started again.

    spark-submit --py-files digits.py,training.py stream_fed.py --out OUT

OUT is a folder that the driver and all executors see: images come to OUT/images as files; OUT/checkpoint is the stream's,
OUT/weights.npz the network's.
"""

import argparse
import json
import os
import pathlib
import threading

from pyspark.sql import SparkSession

import digits
import gangrun

SCHEMA = "image array<float>, label long"
IMAGES = 500  # in each file, and so in each batch of the stream
MANY = 40  # files, where it does not end before
ENOUGH = 0.9


def train(arguments):
    """In the node: it comes back for more when it is done with a batch, and only then Spark takes that one for done."""
    import numpy as np
    import tensorflow as tf

    import training
    out = pathlib.Path(arguments.out)
    model = training.make_model()
    model.compile(optimizer=tf.keras.optimizers.Adam(training.LEARNING_RATE),
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    if (out / "weights.npz").exists():
        with np.load(out / "weights.npz") as weights:
            model.set_weights([weights[name] for name in weights.files])
    images, labels = digits.arrays(training.HELD_OUT)
    feed = gangrun.spark.feed()
    seen = 0
    for columns in feed.batches(training.BATCH):
        model.train_on_batch(columns["image"], columns["label"])
        before, seen = seen, seen + len(columns["label"])
        if seen // IMAGES > before // IMAGES:
            np.savez(out / "new.npz", *model.get_weights())
            os.replace(out / "new.npz", out / "weights.npz")
            accuracy = float((model(images).numpy().argmax(axis=1) == labels).mean())
            print(f"{seen} images: {accuracy:.3f} of those held out are right", flush=True)
            if accuracy > ENOUGH:
                (out / "evaluation.json").write_text(json.dumps({"accuracy": accuracy, "images": seen}))
                feed.terminate()  # which ends the stream


def bring(session, folder, over):
    """What in earnest somebody else does: images come, as long as somebody wants them."""
    for number in range(MANY):
        if over.is_set():
            return
        rows = [digits.row(number * IMAGES + place) for place in range(IMAGES)]
        session.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("append").parquet(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    session = SparkSession.builder.appName("stream of digits").getOrCreate()
    images, over = os.path.join(arguments.out, "images"), threading.Event()
    os.makedirs(images, exist_ok=True)
    source = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(images)

    cluster = gangrun.spark.start(session, train, (arguments,), num_executors=1)
    query = gangrun.spark.train_stream(source.writeStream.option("checkpointLocation", os.path.join(arguments.out, "checkpoint")), cluster)
    bringing = threading.Thread(target=bring, args=(session, images, over))
    bringing.start()
    try:
        cluster.shutdown(stream=query)
    finally:
        over.set()
        bringing.join()
    print(f"learnt from {query.lastProgress['batchId'] + 1} batches", flush=True)


if __name__ == "__main__":
    main()
