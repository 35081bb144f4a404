"""Distributed training on the executors of a Spark application: all nodes start together and are fed with Spark's rows.

    results = gangrun.spark.run(spark, train, args=(100,), num_executors=4)

    cluster = gangrun.spark.start(spark, train, num_executors=4)       # train calls gangrun.spark.feed()
    cluster.train(dataframe, epochs=3)
    cluster.shutdown()

Nothing of Spark is imported before it is used. The guide is docs/spark.md.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # stands in for typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from typing import Any

    from gangrun.spark._cluster import Cluster, run, start
    from gangrun.spark._node import feed
    from gangrun.spark._records import read_tfrecords, write_tfrecords
    from gangrun.spark._streams import request_stop, train_stream

__all__ = ["Cluster", "feed", "read_tfrecords", "request_stop", "run", "start", "train_stream", "write_tfrecords"]

_HOMES = {"Cluster": "_cluster", "run": "_cluster", "start": "_cluster", "feed": "_node", "request_stop": "_streams",
          "train_stream": "_streams", "read_tfrecords": "_records", "write_tfrecords": "_records"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gangrun.spark' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"gangrun.spark.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
