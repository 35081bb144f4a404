"""TensorFlowOnSpark's interface, over gangrun.spark: `from gangrun.tensorflowonspark import TFCluster, TFNode`.

An unchanged program says `import tensorflowonspark` and is started by `python -m gangrun.compat`, or calls
gangrun.compat.answer_imports() first. What differs is in docs/spark.md.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as typing has it, without importing that
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
