"""Functions for the tests of the test's own clusters."""

import os

from serving import serve


def where(sc, tasks):
    """The address of the executor of each task; a task waits until all of them run."""
    def tell(_):
        from pyspark import BarrierTaskContext
        BarrierTaskContext.get().barrier()
        yield os.environ["SPARK_LOCAL_IP"]
    return sc.parallelize(range(tasks), tasks).barrier().mapPartitions(tell).collect()


def total(sc, count, partitions):
    return sc.parallelize(range(count), partitions).map(lambda x: 2 * x).sum()


def versions(sc):
    def tell(_):
        import numpy
        import pandas
        import pyarrow
        import pyspark
        import tensorflow
        yield {module.__name__: module.__version__ for module in (numpy, pandas, pyarrow, pyspark, tensorflow)}
    return sc.parallelize(range(1), 1).mapPartitions(tell).collect()[0]


def pytorch(sc):
    def tell(_):
        import numpy
        import torch
        yield float(torch.from_numpy(numpy.ones(3)).sum())
    return sc.parallelize(range(1), 1).mapPartitions(tell).collect()[0]


def arrow(sc, rows):
    """A DataFrame to Python and back by Arrow."""
    from pyspark.sql import SparkSession
    frame = SparkSession(sc).range(rows).selectExpr("id", "id * 2 as twice")
    return frame.mapInArrow(lambda batches: batches, frame.schema).selectExpr("sum(twice)").first()[0]


def fails(sc):
    raise KeyError("as it should")


if __name__ == "__main__":
    serve(globals())
