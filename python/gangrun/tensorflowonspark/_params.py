"""The params of `pipeline`, and the arguments that they are merged with."""

from __future__ import annotations

import argparse
import copy
from typing import Any, Callable, Iterator, Mapping, Union

from pyspark.ml.param import Param, Params, TypeConverters

from gangrun.tensorflowonspark.TFCluster import InputMode


class TFTypeConverters:
    """Type converters that Spark's TypeConverters lacks."""

    @staticmethod
    def toDict(value: Any) -> dict[str, str]:
        """Return the value if it is a dict; otherwise raise TypeError."""
        if not isinstance(value, dict):
            raise TypeError(f"{value!r} is a {type(value).__name__}; allowed: a dict of texts to texts")
        return value


def _setter(name: str) -> Callable[[Any, Any], Any]:
    def set_param(self: Any, value: Any) -> Any:
        return self._set(**{name: value})
    return set_param


def _getter(name: str) -> Callable[[Any], Any]:
    def get_param(self: Any) -> Any:
        return self.getOrDefault(getattr(self, name))
    return get_param


def _mixin(class_name: str, suffixes: Mapping[str, str], docs: Mapping[str, tuple[str, Callable[[Any], Any]]]) -> Any:
    """A class with these params: `suffixes` has what follows `set` and `get` for each."""
    members: dict[str, Any] = {"__module__": __name__, "__doc__": "; ".join(f"`{name}`: {doc}" for name, (doc, _) in docs.items())}
    for name, (doc, converter) in docs.items():
        members[name] = Param(Params._dummy(), name, doc, typeConverter=converter)
        members[f"set{suffixes[name]}"], members[f"get{suffixes[name]}"] = _setter(name), _getter(name)
    return type(class_name, (Params,), members)


def _single(class_name: str, name: str, doc: str, converter: Callable[[Any], Any]) -> Any:
    return _mixin(class_name, {name: class_name[len("Has"):]}, {name: (doc, converter)})


_INT, _TEXT, _BOOL, _DICT = TypeConverters.toInt, TypeConverters.toString, TypeConverters.toBoolean, TFTypeConverters.toDict

HasBatchSize: Any = _single("HasBatchSize", "batch_size", "how many rows are a batch", _INT)
HasClusterSize: Any = _single("HasClusterSize", "cluster_size", "how many nodes train", _INT)
HasEpochs: Any = _single("HasEpochs", "epochs", "how many times the rows are fed", _INT)
HasFeedTimeout: Any = _single("HasFeedTimeout", "feed_timeout", "seconds that a node may take nothing at all", TypeConverters.toFloat)
HasGraceSecs: Any = _single("HasGraceSecs", "grace_secs", "is not waited for: nodes have the time until their own end", _INT)
HasInputMapping: Any = _single("HasInputMapping", "input_mapping", "column of the DataFrame to tensor", _DICT)
HasMasterNode: Any = _single("HasMasterNode", "master_node", "the type of the first worker: chief or master", _TEXT)
HasModelDir: Any = _single("HasModelDir", "model_dir", "where checkpoints are", _TEXT)
HasNumPS: Any = _mixin("HasNumPS", {"num_ps": "NumPS", "driver_ps_nodes": "DriverPSNodes"}, {
    "num_ps": ("how many nodes are parameter servers", _INT),
    "driver_ps_nodes": ("whether parameter servers run beside the driver", _BOOL)})
HasOutputMapping: Any = _single("HasOutputMapping", "output_mapping", "tensor to column of the result", _DICT)
HasProtocol: Any = _single("HasProtocol", "protocol", "how TensorFlow's servers talk: grpc", _TEXT)
HasReaders: Any = _single("HasReaders", "readers", "how many threads read, for train_fn to use", _INT)
HasReservationTimeout: Any = _single("HasReservationTimeout", "reservation_timeout", "seconds until all nodes have started",
                                     TypeConverters.toFloat)
HasSteps: Any = _single("HasSteps", "steps", "how many steps at most, for train_fn to use", _INT)
HasTensorboard: Any = _single("HasTensorboard", "tensorboard", "whether TensorBoard runs beside a node, on model_dir", _BOOL)
HasTFRecordDir: Any = _single("HasTFRecordDir", "tfrecord_dir", "where TFRecords are put, for train_fn to use", _TEXT)
HasExportDir: Any = _single("HasExportDir", "export_dir", "where the saved model is", _TEXT)
HasSignatureDefKey: Any = _single("HasSignatureDefKey", "signature_def_key", "which signature of a SavedModel", _TEXT)
HasTagSet: Any = _single("HasTagSet", "tag_set", "tags of the graph in a SavedModel, with commas", _TEXT)


class HasInputMode(Params):  # type: ignore[misc]
    """`input_mode`: only InputMode.SPARK is allowed, because Spark feeds the DataFrame of a pipeline."""

    input_mode = Param(Params._dummy(), "input_mode", "InputMode.SPARK", typeConverter=TypeConverters.toInt)

    def setInputMode(self, value: int) -> Any:
        if value != InputMode.SPARK:
            raise Exception(f"input_mode: {value!r}; allowed: InputMode.SPARK ({InputMode.SPARK}): a pipeline's DataFrame is fed by Spark")
        return self._set(input_mode=value)

    def getInputMode(self) -> Any:
        return self.getOrDefault(self.input_mode)


class Namespace:
    """The user's arguments as attributes, from a dict, an argparse.Namespace or another Namespace.

    From a list of words, only the attribute `argv` is set.
    """

    argv: Any = None

    def __init__(self, d: Any) -> None:
        if isinstance(d, list):
            self.argv = d
        elif isinstance(d, Mapping):
            self.__dict__.update(d)
        elif isinstance(d, (argparse.Namespace, Namespace)):
            self.__dict__.update(vars(d))
        else:
            raise Exception(f"tf_args: {d!r} is a {type(d).__name__}; allowed: a dict, a Namespace, or a list of words")

    def __iter__(self) -> Iterator[str]:
        return iter(self.argv if self.argv else vars(self))

    def __repr__(self) -> str:
        if self.argv:
            return str(self.argv)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in sorted(vars(self).items()))})"

    def __eq__(self, other: Any) -> bool:
        if self.argv:
            return bool(self.argv == (other.argv if isinstance(other, Namespace) else other))
        return hasattr(other, "__dict__") and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class TFParams(Params):  # type: ignore[misc]
    """Base class that holds the user's arguments (`args`) in addition to the params."""

    args: Any = None

    def merge_args_params(self) -> Any:
        """Return a copy of the arguments with all params as attributes. A param overrides an argument of the same name."""
        merged = copy.copy(self.args)
        for param in self.params:
            setattr(merged, param.name, self.getOrDefault(param))
        return merged


def words_or(args: Namespace, merged: Any) -> Union[list[str], Any]:
    """Return what the user's function is called with: the list of words if there is one, else the merged arguments."""
    return args.argv if args.argv else merged
