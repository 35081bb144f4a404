"""Functions for tests/spark/test_pipelines.py: what a user's driver does with stages of Spark's ML."""

import json
import os
import pathlib
import signal
import sys
import threading
import time

import numpy
from serving import serve

LIMIT_S = 60
WEIGHTS = [3.14, 1.618]


def session_of(sc):
    from pyspark.sql import SparkSession
    return SparkSession(sc)


def points(sc, rows, partitions=4):
    """Rows x (two numbers), y: their weighted sum, which a model of one layer learns exactly."""
    random = numpy.random.default_rng(1)
    made = random.uniform(-1, 1, (rows, 2))
    return session_of(sc).createDataFrame([([float(a), float(b)], float(a * WEIGHTS[0] + b * WEIGHTS[1])) for a, b in made],
                                          "x array<double>, y double").repartition(partitions)


# --- what nodes do

def train(args, ctx):
    """The weights by least squares of this node's rows; the chief saves them, and models for the tests that follow."""
    from gangrun.tensorflowonspark import TFNode
    told = {name: value for name, value in vars(args).items() if name != "input_mapping"}
    pathlib.Path(args.folder, f"{ctx.job_name}-{ctx.task_index}").write_text(json.dumps({"args": told, "mapping": args.input_mapping}))
    feed = TFNode.DataFeed(ctx.mgr, input_mapping=args.input_mapping)
    rows, results = [], []
    while not feed.should_stop():
        batch = feed.next_batch(args.batch_size)
        rows += batch["x_in"]
        results += batch["y_in"]
    pathlib.Path(args.folder, f"rows-{ctx.job_name}").write_text(str(len(rows)))
    if ctx.job_name == "chief":
        weights, *_ = numpy.linalg.lstsq(numpy.array(rows), numpy.array(results), rcond=None)
        save_models(args, weights)


def save_models(args, weights):
    import tensorflow as tf

    from gangrun.tensorflowonspark import compat
    model = tf.keras.Sequential([tf.keras.layers.Input((2,), name="given"), tf.keras.layers.Dense(1, use_bias=False)])
    model.set_weights([weights.reshape(2, 1).astype("float32")])
    compat.export_saved_model(model, args.export_dir, True)

    class Scale(tf.Module):
        def __init__(self, factor):
            super().__init__()
            self.factor = tf.Variable(factor)

        @tf.function(input_signature=[tf.TensorSpec((None, 2), tf.float32, "x")])
        def __call__(self, x):
            return {"by": x * self.factor, "sum": tf.reduce_sum(x, 1) * self.factor}

    for factor in (2.0, 4.0):
        tf.saved_model.save(made := Scale(factor), os.path.join(args.folder, f"scaled-{factor}"), {"serving_default": made.__call__})


def exported(args):
    pathlib.Path(args.export_dir, "exported").write_text(str(args.batch_size))


def takes_rows_slowly(args, ctx):
    feed = ctx.get_data_feed()
    while not feed.should_stop():
        if feed.next_batch(10):
            pathlib.Path(args.folder, "fed").touch()


# --- what the tests ask for

def fitted(sc, folder):
    """The estimator's whole way, and what the model tells of the points that it has learnt."""
    from gangrun.tensorflowonspark.pipeline import TFEstimator
    from pyspark.ml import Pipeline
    data = points(sc, 2000)
    estimator = (TFEstimator(train, {"folder": folder, "own": 7, "num_gpus": 0}, exported)
                 .setInputMapping({"y": "y_in", "x": "x_in"}).setClusterSize(2).setBatchSize(50).setEpochs(3)
                 .setExportDir(os.path.join(folder, "saved")))
    model = Pipeline(stages=[estimator]).fit(data).stages[0]
    model.setInputMapping({"x": "given"}).setSignatureDefKey("serving_default").setTagSet("serve")
    return {"told": json.loads(pathlib.Path(folder, "chief-0").read_text()), "rows": sum(int(path.read_text()) for path in pathlib.Path(folder).glob("rows-*")),
            "exported": pathlib.Path(folder, "saved/exported").read_text(), "kept": model.args.own,
            "z": transformed(sc, model, [[1.0, 1.0], [2.0, 0.0]])}


def transformed(sc, model, rows, schema="x array<double>"):
    found = model.transform(session_of(sc).createDataFrame([(row,) for row in rows], schema).coalesce(1))
    return [found.schema.simpleString(), [[bytes(value).decode() if isinstance(value, bytearray) else value for value in row]
                                          for row in found.collect()]]


def model_of(path, inputs, outputs=None, factory=None, **params):
    from gangrun.tensorflowonspark.pipeline import TFModel
    # A Python worker that takes no GPU: those are for the tests of instances, and an idle worker keeps what it has.
    model = TFModel({"num_gpus": 0}, factory).setInputMapping(inputs).setExportDir(str(path)).setOutputMapping(outputs or {})
    for name, value in params.items():
        getattr(model, f"set{name}")(value)
    return model


def scaled(folder):
    """A SavedModel that doubles."""
    return os.path.join(folder, "scaled-2.0")


def applied(sc, folder):
    """Rows come out in the order of their partition whatever the batches, vectors of ML are matrices, no row is no error."""
    model = model_of(scaled(folder), {"x": "x"}, {"sum": "s", "by": "b"}, BatchSize=7)
    from pyspark.ml.linalg import Vectors
    vectors = session_of(sc).createDataFrame([(Vectors.dense([1.0, 2.0]),), (Vectors.sparse(2, {1: 3.0}),)], ["x"])
    told = transformed(sc, model, [[float(number), 1.0] for number in range(1000)])
    return {"types": told[0], "order": told[1] == [[[2.0 * number, 2.0], 2 * (number + 1.0)] for number in range(1000)],
            "vectors": [row.s for row in model.transform(vectors.coalesce(1)).collect()], "empty": transformed(sc, model, [])}


def kept(sc, folder):
    """Of every Python worker that has the model whether it is the one it had before: after two uses, and after it was written again."""
    import shutil
    path = os.path.join(folder, "kept")
    shutil.copytree(scaled(folder), path)
    model, frame = model_of(path, {"x": "x"}, {"sum": "s"}), points(sc, 100).select("x").cache()

    def look(batches):
        import pyarrow
        from gangrun.spark import _models
        for _ in batches:
            pass
        found = _models._kept
        if found is not None:
            had, found[1].call.seen = hasattr(found[1].call, "seen"), True
            yield pyarrow.RecordBatch.from_pydict({"pid": [os.getpid()], "had": [had]})

    def use():
        total = model.transform(frame).groupBy().sum().first()[0]
        seen = frame.mapInArrow(look, "pid long, had boolean").collect()
        return round(total, 3), sorted({row.pid for row in seen}), [row.had for row in seen]
    first, again = use(), use()
    shutil.rmtree(path)
    shutil.copytree(os.path.join(folder, "scaled-4.0"), path)
    return [first, again, use()]


def refusal(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


def refused(sc, folder):
    """What mistakes of a user's are told as, before anything starts."""
    from gangrun.tensorflowonspark.pipeline import TFEstimator, TFModel
    frame, path = points(sc, 10, 1), scaled(folder)

    def use(inputs, outputs=None, **params):
        return refusal(lambda: model_of(path, inputs, outputs or {"sum": "s"}, **params).transform(frame))

    def fit(data=frame, export_fn=None, **params):
        estimator = TFEstimator(takes_rows_slowly, {"folder": folder}, export_fn).setInputMapping({"x": "x"}).setClusterSize(2)
        for name, value in params.items():
            getattr(estimator, f"set{name}")(value)
        return refusal(lambda: estimator.fit(data))

    return {"no tensor": use({"x": "z"}), "not in the frame": use({"q": "x"}), "no signature": use({"x": "x"}, SignatureDefKey="mine"),
            "nothing mapped": use({}), "no export_dir": refusal(lambda: TFModel({}).setInputMapping({"x": "x"}).transform(frame)),
            "batch": use({"x": "x"}, BatchSize=0), "row": refusal(lambda: model_of(path, {"y": "x"}).transform(frame).collect()),
            "too many nodes": fit(ClusterSize=9), "no rows": fit(frame.filter("y > 1000")), "fit mapping": fit(InputMapping={"q": "x"}),
            "no epochs": fit(Epochs=0), "nowhere to export": fit(export_fn=exported), "jobs": list(sc.statusTracker().getActiveJobsIds())}


def endless(_):
    while True:
        yield [1.0, 2.0]


def fitting(sc, folder):
    """Fits with rows without end, until somebody breaks something."""
    from gangrun.tensorflowonspark.pipeline import TFEstimator
    from pyspark.sql import Row
    data = session_of(sc).createDataFrame(sc.parallelize(range(2), 2).flatMap(endless).map(lambda x: Row(x=x)), "x array<double>")
    estimator = TFEstimator(takes_rows_slowly, {"folder": folder, "num_gpus": 0}).setInputMapping({"x": "x"}).setClusterSize(2)
    return refusal(lambda: estimator.fit(data))


def slowly_transformed(sc, path, folder, rows):
    """All rows once, whatever happens on the way: each partition waits until the test has done its worst."""
    path = scaled(path)

    def wait(part):
        pathlib.Path(folder, "running").touch()
        limit = time.monotonic() + LIMIT_S
        while not os.path.exists(os.path.join(folder, "go")) and time.monotonic() < limit:
            threading.Event().wait(0.02)
        return part
    data = sc.parallelize([[float(number), 0.0] for number in range(rows)], 4).mapPartitions(wait).map(lambda x: (x,))
    model = model_of(path, {"x": "x"}, {"sum": "s"})
    frame = session_of(sc).createDataFrame(data, "x array<double>")
    return sorted(row.s for row in model.transform(frame).collect()) == [2.0 * number for number in range(rows)]


def instance(args, ctx):
    """One of several that know nothing of each other; each waits until as many as were asked for have run at once."""
    import argparse
    from tensorflowonspark import TFNode
    assert isinstance(args, argparse.Namespace)
    limit = time.monotonic() + LIMIT_S
    pathlib.Path(args.folder, f"there-{ctx.worker_num}").write_text(str(os.getpid()))
    while len(list(pathlib.Path(args.folder).glob("there-*"))) < args.together:
        assert time.monotonic() < limit, "the others did not come"
        threading.Event().wait(0.02)
    if args.bad == ctx.worker_num and args.way == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if args.bad == ctx.worker_num and args.way == "exit":
        sys.exit("instance has had enough")
    if args.bad == ctx.worker_num:
        raise ValueError(f"instance {ctx.worker_num} is bad")
    pathlib.Path(args.folder, f"told-{ctx.worker_num}").write_text(json.dumps(
        {"executor_id": ctx.executor_id, "num_workers": ctx.num_workers, "path": TFNode.hdfs_path(ctx, "/x"), "pid": os.getpid(),
         "gpus": os.environ["CUDA_VISIBLE_DEVICES"]}))


def parallel(sc, folder, count, use_barrier, together=1, bad=None, way="error"):
    """What each instance has told, or what was raised."""
    import argparse

    from gangrun import compat
    from gangrun.tensorflowonspark import TFParallel
    compat.answer_imports()  # as `python -m gangrun.compat` has done; the tasks have to do it too
    args = argparse.Namespace(folder=folder, together=together, bad=bad, way=way)
    said = refusal(lambda: TFParallel.run(sc, instance, args, count, use_barrier))
    return {"said": said, "told": {path.name[-1]: json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("told-*"))}}


if __name__ == "__main__":
    serve(globals())
