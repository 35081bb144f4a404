"""tf-yarn's API for PyTorch: `run_on_yarn(experiment_fn, task_specs)` with a `PytorchExperiment`.

Every process of every task is one rank of DistributedDataParallel: `TaskSpec(..., instances=2, nb_proc_per_worker=2)`
makes four. PyTorch is not imported before it is used.
"""

from __future__ import annotations

import importlib
import typing
from typing import List

if typing.TYPE_CHECKING:
    from gangrun.tf_yarn import Metrics, NodeLabel, RunFailed, TaskSpec, get_safe_experiment_fn
    from gangrun.tf_yarn.pytorch import model_ckpt
    from gangrun.tf_yarn.pytorch.client import run_on_yarn
    from gangrun.tf_yarn.pytorch.experiment import DataLoaderArgs, DistributedDataParallelArgs, PytorchExperiment
    from gangrun.tf_yarn.pytorch.parquet_dataset import ParquetDataset

__all__ = [
    "DataLoaderArgs", "DistributedDataParallelArgs", "Metrics", "NodeLabel", "ParquetDataset", "PytorchExperiment",
    "RunFailed", "TaskSpec", "get_safe_experiment_fn", "model_ckpt", "run_on_yarn",
]

HOMES = {
    "DataLoaderArgs": "gangrun.tf_yarn.pytorch.experiment",
    "DistributedDataParallelArgs": "gangrun.tf_yarn.pytorch.experiment",
    "PytorchExperiment": "gangrun.tf_yarn.pytorch.experiment",
    "ParquetDataset": "gangrun.tf_yarn.pytorch.parquet_dataset",
    "run_on_yarn": "gangrun.tf_yarn.pytorch.client",
}
OF_TF_YARN = ("Metrics", "NodeLabel", "RunFailed", "TaskSpec", "get_safe_experiment_fn")


def __getattr__(name: str) -> object:
    if name in HOMES:
        return getattr(importlib.import_module(HOMES[name]), name)
    if name in OF_TF_YARN:
        return getattr(importlib.import_module("gangrun.tf_yarn"), name)
    if name == "model_ckpt":
        return importlib.import_module("gangrun.tf_yarn.pytorch.model_ckpt")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted(__all__)
