"""TensorFlowOnSpark's API on top of gangrun.spark: `from gangrun.tensorflowonspark import TFCluster, TFNode`.

To run a program that says `import tensorflowonspark` unchanged, start it with `python -m gangrun.compat`, or call
gangrun.compat.answer_imports() first. docs/spark.md lists the differences.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # stands in for typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from typing import Any

    from gangrun.tensorflowonspark import (TFCluster, TFNode, TFParallel, TFSparkNode, compat, dfutil, gpu_info, pipeline,
                                           reservation, util)

__all__ = ["TFCluster", "TFNode", "TFParallel", "TFSparkNode", "compat", "dfutil", "gpu_info", "pipeline", "reservation", "util"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'gangrun.tensorflowonspark' has no attribute '{name}'")
    return importlib.import_module(f"gangrun.tensorflowonspark.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
