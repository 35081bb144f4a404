"""What bench/spark_transform.py measures, in one Spark application with one executor: run by the Python of Spark, prints JSON.

    transform.py ROWS
"""

import json
import os
import sys
import time

FLOATS = 10
BATCH = 100
PEER_SHARE = 20
TURNS = 2


def save_model(path):
    """Two small layers: the rows are what is measured."""
    import tensorflow as tf
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu", input_shape=(FLOATS,)), tf.keras.layers.Dense(2, name="told")])
    model.save(path, save_format="tf")
    loaded = tf.saved_model.load(path)
    ((tensor, _),) = loaded.signatures["serving_default"].structured_input_signature[1].items()
    return loaded.signatures["serving_default"], tensor


def alone(function, tensor):
    """Rows per second of the model itself, in batches of the same size."""
    import tensorflow as tf
    batch = tf.ones((BATCH, FLOATS))
    function(**{tensor: batch})
    began, count = time.perf_counter(), 1000
    for _ in range(count):
        function(**{tensor: batch})
    return BATCH * count / (time.perf_counter() - began)


def frame_of(session, rows):
    frame = session.range(0, rows, 1, 1).selectExpr(f"array_repeat(cast(id % 251 as double), {FLOATS}) as image").cache()
    frame.count()
    return frame


def model_of(library, path, tensor):
    return (library.TFModel({}).setInputMapping({"image": tensor}).setOutputMapping({"told": "told"}).setExportDir(path).setBatchSize(BATCH)
            .setSignatureDefKey("serving_default").setTagSet("serve"))


def consumed(batches):
    for _ in batches:
        pass
    return iter(())


def rate(make, rows):
    """From the call of transform to the last row, with what each library does beforehand."""
    began = time.perf_counter()
    make().write.format("noop").mode("overwrite").save()
    return rows / (time.perf_counter() - began)


def main():
    rows = int(sys.argv[1])
    path = os.path.abspath("model")
    function, tensor = save_model(path)
    told = {"batch_size": BATCH, "alone": alone(function, tensor), "rates": {}}
    from pyspark.sql import SparkSession
    options = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1",
               "spark.scheduler.minRegisteredResourcesRatio": "1.0"}
    builder = SparkSession.builder.master("local-cluster[1,1,2048]")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    from gangrun.tensorflowonspark import pipeline as ours
    from tensorflowonspark import pipeline as peer
    many, few = frame_of(session, rows), frame_of(session, rows // PEER_SHARE)
    ways = {"floor": (lambda: many.mapInArrow(consumed, "nothing binary"), rows), "ours": (lambda: model_of(ours, path, tensor).transform(many), rows),
            "peer": (lambda: model_of(peer, path, tensor).transform(few), rows // PEER_SHARE)}
    for way in ways.values():  # the model is loaded
        rate(*way)
    for _ in range(TURNS):
        for name, way in ways.items():
            told["rates"].setdefault(name, []).append(rate(*way))
    print("\n" + json.dumps(told), flush=True)
    session.stop()


if __name__ == "__main__":
    main()
