"""A saved model over a DataFrame: Arrow's batches in, Arrow's batches out, no row becomes a Python object.

The upper half runs in the driver, the lower one in the Python workers of executors, which keep the model.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import sys
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional

from gangrun.errors import InvalidJob, NotInstalled
from gangrun.spark import _models

logger = logging.getLogger("gangrun.spark")

# The names of a tensor's numbers in Spark, by NumPy's kind: as Python's own are, of whatever width they were.
TYPES = {"f": "double", "i": "bigint", "u": "bigint", "b": "boolean", "O": "binary", "S": "binary", "U": "binary"}


@dataclasses.dataclass(frozen=True)
class Work:
    """It travels in the closures of Spark's tasks."""

    wanted: _models.Wanted
    inputs: tuple[tuple[str, str], ...]  # column, tensor: in the order of the columns' names
    outputs: tuple[tuple[str, str], ...]  # tensor, column: in the order of the tensors' names; none: all by their own names
    batch_size: int
    schema: str = dataclasses.field(repr=False)  # Spark's, of the columns
    num_gpus: int = 1
    argv: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise InvalidJob(f"batch_size: {self.batch_size}; allowed: 1 and more")
        for name, values in (("input_mapping", [tensor for _, tensor in self.inputs]),
                             ("output_mapping", [column for _, column in self.outputs])):
            twice = sorted({value for value in values if values.count(value) > 1})
            if twice:
                raise InvalidJob(f"{name}: {twice[0]!r} is there more than once")


# --- in the driver

def absolute(path: str) -> str:
    """A relative path is one of the driver's folder; of a URL of this machine's files the path."""
    if path.startswith("file://"):
        path = path[len("file://"):]
    return path if "://" in path else os.path.abspath(path)


def factory_bytes(sc: Any, factory: Optional[Callable[[], Any]]) -> Optional[bytes]:
    from gangrun.spark import _payload

    return None if factory is None else _payload.function_of(sc, factory)


def apply(sc: Any, frame: Any, work: Work) -> Any:
    """The DataFrame of the outputs. One task tells what a model gives; all else happens when somebody wants the rows."""
    from gangrun.spark import _runtime

    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise NotInstalled("transform brings rows to the model by Arrow: pyarrow has to be installed for the Python of the driver and "
                           "of the executors") from None
    _runtime.ship(sc)
    columns = frame.select([column for column, _ in work.inputs])
    told = _described(columns, work)
    schema = ", ".join(f"`{column}` {kind}" for column, kind in told)
    return columns.mapInArrow(Apply(dataclasses.replace(work, outputs=work.outputs or tuple((name, name) for name, _ in told))), schema)


def _described(columns: Any, work: Work) -> list[tuple[str, str]]:
    """Column and type of each output, as the model says; where it does not, from what it makes of one row."""
    session = columns.sparkSession
    told = _ask(session.range(0, 1, 1, 1), Describe(work, False))
    if told is None:
        rows = columns.take(1)
        if not rows:
            raise InvalidJob(f"dataset: the DataFrame has no rows, and {work.wanted.path} does not say what it gives before it has had one")
        told = _ask(session.createDataFrame(rows, columns.schema).coalesce(1), Describe(work, True))
    assert told is not None
    return [(column, kind) for column, kind in told]


def _ask(frame: Any, describe: Describe) -> Any:
    """By the way that `transform` takes, so that it is the same Python worker which has the model then. It is read to its end:
    where Spark stops earlier, as first() does, it ends the Python worker."""
    (row,) = frame.mapInArrow(describe, "told string").collect()
    answer = json.loads(row[0])
    if "error" in answer:
        raise InvalidJob(answer["error"])
    return answer["outputs"]


# --- in a Python worker of an executor

def _prepared(work: Work) -> _models.Model:
    """The model, with the mappings looked at."""
    from gangrun.tensorflowonspark import util

    if work.argv:
        sys.argv = list(work.argv)
    util.single_node_env(work.num_gpus)
    model = _models.kept(work.wanted)
    mapped = {tensor: column for column, tensor in work.inputs}
    for tensor, column in mapped.items():
        if tensor not in model.inputs:
            raise InvalidJob(f"input_mapping: {column!r} goes to {tensor!r}, which {model.what} does not have; its inputs are "
                             f"{', '.join(sorted(model.inputs))}")
    unfed = sorted(name for name, tensor in model.inputs.items() if tensor.is_needed and name not in mapped)
    if unfed:
        raise InvalidJob(f"input_mapping: no column goes to {unfed[0]!r} of {model.what}; its inputs are "
                         f"{', '.join(sorted(model.inputs))}")
    if model.outputs is not None:
        _check_outputs(work, model, model.outputs)
    return model


def _check_outputs(work: Work, model: _models.Model, found: Mapping[str, Any]) -> None:
    for tensor, column in work.outputs:
        if tensor not in found:
            raise InvalidJob(f"output_mapping: {column!r} comes of {tensor!r}, which {model.what} does not have; its outputs are "
                             f"{', '.join(sorted(found))}")


@dataclasses.dataclass(frozen=True)
class Describe:
    """One row of JSON: the columns and types of the outputs, null where that takes a row of input, or what is wrong."""

    work: Work
    with_row: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        given = [batch for batch in batches if batch.num_rows]
        try:
            answer: dict[str, Any] = {"outputs": self._outputs(given)}
        except InvalidJob as error:
            answer = {"error": str(error)}
        yield pyarrow.RecordBatch.from_pydict({"told": [json.dumps(answer)]})

    def _outputs(self, batches: list[Any]) -> Optional[list[tuple[str, str]]]:
        model = _prepared(self.work)
        if self.with_row:
            found = {name: _models.Tensor(str(array.dtype), array.shape) for name, array in _run(model, self.work, batches[0]).items()}
        elif model.outputs is None:
            return None
        else:
            found = dict(model.outputs)
        names = self.work.outputs or tuple((name, name) for name in sorted(found))
        if any(found[name].shape is None for name, _ in names):
            return None
        return [(column, _type_of(name, found[name])) for name, column in names]


def _type_of(name: str, tensor: _models.Tensor) -> str:
    import numpy

    kind = numpy.dtype(tensor.dtype).kind
    if kind not in TYPES:
        raise InvalidJob(f"output_mapping: {name!r} is a tensor of {tensor.dtype}, which Spark has no type for; allowed: numbers, texts, "
                         "truth values")
    made = TYPES[kind]
    for _ in range(len(tensor.shape or ()) - 1):
        made = f"array<{made}>"
    return made


@dataclasses.dataclass(frozen=True)
class Apply:
    """Arrow's batches of the columns to those of the outputs, one for one."""

    work: Work

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        model = _prepared(self.work)
        for batch in batches:
            if batch.num_rows:
                found = _run(model, self.work, batch)
                yield pyarrow.RecordBatch.from_arrays([_arrow(found[tensor]) for tensor, _ in self.work.outputs],
                                                      names=[column for _, column in self.work.outputs])


def _run(model: _models.Model, work: Work, batch: Any) -> dict[str, Any]:
    """What the model makes of an Arrow batch, in portions of `batch_size` rows."""
    import numpy

    from gangrun.spark import _arrays
    from gangrun.spark._feed import ArrowPiece

    columns = _arrays.of_arrow(ArrowPiece(batch, work.schema))
    given = {tensor: _fitted(columns[column], column, tensor, model.inputs[tensor]) for column, tensor in work.inputs}
    portions: dict[str, list[Any]] = {}
    for start in range(0, batch.num_rows, work.batch_size):
        part = {name: array[start:start + work.batch_size] for name, array in given.items()}
        count = min(work.batch_size, batch.num_rows - start)
        found = model.call(part)
        _check_outputs(work, model, found)
        for name in [tensor for tensor, _ in work.outputs] or list(found):
            array = numpy.asarray(found[name])
            if array.ndim == 0 or len(array) != count:
                raise RuntimeError(f"{model.what}: its output {name!r} has the shape {array.shape} for {count} rows; allowed: one entry "
                                   "for each row")
            portions.setdefault(name, []).append(array)
    return {name: parts[0] if len(parts) == 1 else numpy.concatenate(parts) for name, parts in portions.items()}


def _fitted(array: Any, column: str, name: str, tensor: _models.Tensor) -> Any:
    """A column as the model takes it: of its type, and of its shape, since Spark has flat lists only."""
    import numpy

    what = f"input_mapping: the column {column!r} and the tensor {name!r}"
    if isinstance(array, dict):
        raise InvalidJob(f"{what}: a struct is not a tensor; allowed: a column for each of its fields ({', '.join(array)})")
    if array.dtype.kind in "mM":
        array = array.astype("int64")
    if tensor.dtype:
        wanted = numpy.dtype(tensor.dtype)
        if array.dtype.kind == "f" and wanted.kind in "iub" and numpy.isnan(array).any():
            raise InvalidJob(f"{what}: there are nulls in it, and {wanted} has none")
        if array.dtype.kind == "O" and any(value is None for value in array):
            raise InvalidJob(f"{what}: there are nulls in it, and a tensor has none")
        if array.dtype != wanted:
            array = _converted(array, wanted, what)
    elif array.dtype.kind == "O":
        array = _converted(array, numpy.dtype("float64"), what)
    return _shaped(array, tensor.shape, what)


def _converted(array: Any, wanted: Any, what: str) -> Any:
    import numpy

    try:
        if array.dtype.kind == "O":
            return numpy.asarray(array.tolist(), dtype=wanted)
        if wanted.kind == "O":
            raise TypeError(f"numbers ({array.dtype}) are no texts")
        return array.astype(wanted)
    except (TypeError, ValueError) as error:
        raise InvalidJob(f"{what}: its rows do not make a tensor of {wanted}: {error}") from error


def _shaped(array: Any, shape: _models.Shape, what: str) -> Any:
    import math

    if shape is None or len(shape) == 0:
        return array
    inner = [-1 if size is None else size for size in shape[1:]]
    if inner.count(-1) > 1 or (array.ndim == len(shape) and all(size in (-1, own) for size, own in zip(inner, array.shape[1:]))):
        return array
    have, known = math.prod(array.shape[1:]), math.prod(size for size in inner if size != -1)
    if (have != known and -1 not in inner) or (known and have % known):
        raise InvalidJob(f"{what}: a row of it has the shape {list(array.shape[1:])}, the tensor {list(shape[1:])}")
    return array.reshape(len(array), *inner)


def _arrow(array: Any) -> Any:
    """The array of Spark's types above; each further dimension is a list."""
    import numpy
    import pyarrow

    if array.ndim > 1:
        inner = _arrow(array.reshape(-1, *array.shape[2:]))
        offsets = numpy.arange(len(array) + 1, dtype=numpy.int64) * array.shape[1]
        return pyarrow.ListArray.from_arrays(pyarrow.array(offsets, pyarrow.int32()), inner)
    kind = array.dtype.kind
    if kind in "OSU":
        return pyarrow.array([value.encode() if isinstance(value, str) else value for value in array.tolist()], pyarrow.binary())
    return pyarrow.array(array.astype({"f": "float64", "b": "bool"}.get(kind, "int64"), copy=False))
