"""Spark ML pipeline stages: `TFEstimator` trains on a DataFrame, `TFModel` applies a saved model to one.

A model is a SavedModel, a Keras model (`.keras`) or a PyTorch model (docs/spark.md, Pipelines).
"""

from __future__ import annotations

import logging
from typing import Any, Callable, Optional, Union

from pyspark.ml.base import Estimator, Model

from gangrun.errors import InvalidJob
from gangrun.spark import _checks, _models, _transform
from gangrun.tensorflowonspark import TFCluster, TFParallel
from gangrun.tensorflowonspark._params import (HasBatchSize, HasClusterSize, HasEpochs, HasExportDir, HasFeedTimeout, HasGraceSecs,
                                               HasInputMapping, HasInputMode, HasMasterNode, HasModelDir, HasNumPS, HasOutputMapping,
                                               HasProtocol, HasReaders, HasReservationTimeout, HasSignatureDefKey, HasSteps, HasTagSet,
                                               HasTensorboard, HasTFRecordDir, Namespace, TFParams, TFTypeConverters, words_or)

__all__ = ["HasBatchSize", "HasClusterSize", "HasEpochs", "HasExportDir", "HasFeedTimeout", "HasGraceSecs", "HasInputMapping",
           "HasInputMode", "HasMasterNode", "HasModelDir", "HasNumPS", "HasOutputMapping", "HasProtocol", "HasReaders",
           "HasReservationTimeout", "HasSignatureDefKey", "HasSteps", "HasTagSet", "HasTensorboard", "HasTFRecordDir", "Namespace",
           "TFEstimator", "TFModel", "TFParams", "TFTypeConverters"]

logger = logging.getLogger("gangrun.spark")


def _check_columns(dataset: Any, mapping: dict[str, str]) -> None:
    if not mapping:
        raise InvalidJob(f"input_mapping: empty; allowed: column → tensor, of the columns {', '.join(dataset.columns)}")
    missing = sorted(set(mapping) - set(dataset.columns))
    if missing:
        raise InvalidJob(f"input_mapping: the DataFrame has no column {missing[0]!r}; it has {', '.join(dataset.columns)}")


def _has_pyarrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


class TFEstimator(Estimator, TFParams, HasInputMapping, HasClusterSize, HasNumPS, HasInputMode,  # type: ignore[misc]
                  HasMasterNode, HasProtocol, HasGraceSecs, HasTensorboard, HasModelDir, HasExportDir,  # type: ignore[misc]
                  HasTFRecordDir, HasBatchSize, HasEpochs, HasReaders, HasSteps, HasFeedTimeout,  # type: ignore[misc]
                  HasReservationTimeout):  # type: ignore[misc]
    """Trains a model: `fit(dataframe)` starts `cluster_size` nodes, calls `train_fn(args, ctx)` in each, and returns a TFModel.

    The nodes are fed with the columns of `input_mapping`, in the order of the column names.

    train_fn       its `args` are `tf_args` with all params as attributes; if `tf_args` is a list of words, that list
    tf_args        a dict, an argparse.Namespace, or a list of words
    export_fn      called once with `args` after the training, in a Spark task; needs `export_dir`
    model_factory  for the TFModel: returns the PyTorch module whose state_dict was saved
    """

    def __init__(self, train_fn: Callable[..., Any], tf_args: Any, export_fn: Optional[Callable[..., Any]] = None,
                 model_factory: Optional[Callable[[], Any]] = None) -> None:
        super().__init__()
        self.train_fn, self.export_fn, self.model_factory = train_fn, export_fn, model_factory
        self.args = Namespace(tf_args)
        self._setDefault(input_mapping={}, cluster_size=1, num_ps=0, driver_ps_nodes=False, input_mode=TFCluster.InputMode.SPARK,
                         master_node="chief", protocol="grpc", tensorboard=False, model_dir=None, export_dir=None, tfrecord_dir=None,
                         batch_size=100, epochs=1, readers=1, steps=1000, grace_secs=30, feed_timeout=600.0, reservation_timeout=600.0)

    def _fit(self, dataset: Any) -> TFModel:
        """A TFModel with the same arguments and params. Raises what a node has failed with."""
        sc = _checks.context_of(dataset.sparkSession)
        merged = self.merge_args_params()
        words = words_or(self.args, merged)
        _check_columns(dataset, merged.input_mapping)
        if merged.epochs < 1:
            raise InvalidJob(f"epochs: {merged.epochs}; allowed: 1 and more")
        if self.export_fn is not None and not merged.export_dir:
            raise InvalidJob("export_dir: not set, and export_fn needs it")
        data = dataset.select(sorted(merged.input_mapping))
        if not data.take(1):
            raise InvalidJob("dataset: the DataFrame has no rows; allowed: one and more to train on")
        cluster = TFCluster.run(sc, self.train_fn, words, merged.cluster_size, merged.num_ps, merged.tensorboard,
                                TFCluster.InputMode.SPARK, log_dir=merged.model_dir, driver_ps_nodes=merged.driver_ps_nodes,
                                master_node=merged.master_node, reservation_timeout=merged.reservation_timeout)
        try:
            cluster.train(data if _has_pyarrow() else data.rdd, merged.epochs, merged.feed_timeout)
            cluster.shutdown(grace_secs=merged.grace_secs)
        except BaseException:
            cluster.cluster.stop()
            raise
        if self.export_fn is not None:
            TFParallel.run(sc, _Export(self.export_fn), words, 1, use_barrier=False)
        model: TFModel = self._copyValues(TFModel(self.args, self.model_factory))
        return model


class _Export:
    """An export_fn as TFParallel calls functions."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, args: Any, ctx: Any) -> None:
        del ctx
        self.function(args)


class TFModel(Model, TFParams, HasInputMapping, HasOutputMapping, HasBatchSize, HasModelDir,  # type: ignore[misc]
              HasExportDir, HasSignatureDefKey, HasTagSet):  # type: ignore[misc]
    """Applies the model at `export_dir`: `transform(dataframe)` returns one row of predictions for each row.

    The inputs are the columns of `input_mapping`. The result has the columns of `output_mapping`, in the order of the tensor
    names.

    tf_args        as in TFEstimator; its `num_gpus` (default 1) is the most GPUs that a Python worker of Spark uses
    model_factory  returns the PyTorch module whose state_dict is at `export_dir`
    """

    def __init__(self, tf_args: Any, model_factory: Optional[Callable[[], Any]] = None) -> None:
        super().__init__()
        self.args, self.model_factory = Namespace(tf_args), model_factory
        self._setDefault(input_mapping={}, output_mapping={}, batch_size=100, model_dir=None, export_dir=None, signature_def_key=None,
                         tag_set=None)

    def _transform(self, dataset: Any) -> Any:
        sc = _checks.context_of(dataset.sparkSession)
        merged = self.merge_args_params()
        _check_columns(dataset, merged.input_mapping)
        if not merged.export_dir:
            raise InvalidJob("export_dir: not set; allowed: the folder of a SavedModel, or a file of Keras or PyTorch")
        wanted = _models.Wanted(path=_transform.absolute(merged.export_dir), signature=merged.signature_def_key, tags=merged.tag_set,
                                factory=_transform.factory_bytes(sc, self.model_factory))
        gpus: Union[int, Any] = merged.num_gpus if hasattr(merged, "num_gpus") else 1
        work = _transform.Work(wanted=wanted, inputs=tuple(sorted(merged.input_mapping.items())),
                               outputs=tuple(sorted(merged.output_mapping.items())), batch_size=merged.batch_size,
                               schema=dataset.select(sorted(merged.input_mapping)).schema.json(), num_gpus=gpus,
                               argv=tuple(self.args.argv or ()))
        return _transform.apply(sc, dataset, work)
