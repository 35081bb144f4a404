"""Rows as NumPy arrays, a column each."""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional, Sequence

import numpy

from gangrun.spark._feed import ArrowPiece, Piece

Array = Any  # numpy.ndarray, or for a struct a dict of such
SINGLE = "value"  # the only column of rows that are no records


def columns(pieces: Sequence[Piece], mapping: Optional[Mapping[str, str]] = None) -> dict[str, Array]:
    parts = [of_arrow(piece) if isinstance(piece, ArrowPiece) else of_rows(piece.rows) for piece in pieces]
    joined = {name: _join([part[name] for part in parts]) for name in parts[0]}
    return joined if mapping is None else _renamed(joined, mapping)


def _renamed(found: dict[str, Array], mapping: Mapping[str, str]) -> dict[str, Array]:
    """As `next_batch`: by name where the columns have names, else by place."""
    if all(column in found for column in mapping):
        return {tensor: found[column] for column, tensor in mapping.items()}
    if list(found) == [SINGLE] and found[SINGLE].ndim > 1:
        return {tensor: found[SINGLE][:, place] for place, tensor in enumerate(mapping.values())}
    if len(found) < len(mapping):
        raise ValueError(f"input_mapping: {', '.join(mapping)}; the rows have {', '.join(found)}")
    return dict(zip(mapping.values(), found.values()))


def _join(parts: list[Array]) -> Array:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], dict):
        return {name: _join([part[name] for part in parts]) for name in parts[0]}
    if len({part.shape[1:] for part in parts}) == 1 and all((part.dtype == object) == (parts[0].dtype == object) for part in parts):
        return numpy.concatenate(parts)
    return _as_objects([value for part in parts for value in part])


def _as_objects(values: Sequence[Any]) -> Array:
    """One entry for each value, whatever it is; numpy.array would look into lists."""
    made = numpy.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        made[place] = value
    return made


# --- from Arrow

def of_arrow(piece: ArrowPiece) -> dict[str, Array]:
    vectors = _vector_columns(piece.schema)
    return {name: (_vectors if name in vectors else _array)(column)
            for name, column in zip(piece.batch.schema.names, piece.batch.columns)}


def _vector_columns(schema: Optional[str]) -> frozenset[str]:
    """Columns of Spark's ML vectors: structs in Arrow."""
    if schema is None or "VectorUDT" not in schema:
        return frozenset()
    return frozenset(field["name"] for field in json.loads(schema)["fields"]
                     if isinstance(field["type"], dict) and str(field["type"].get("class", "")).endswith("VectorUDT"))


def _array(column: Any) -> Array:
    import pyarrow
    kind = column.type
    types = pyarrow.types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _lists(column)
    if types.is_struct(kind) and column.null_count == 0:
        return {kind.field(place).name: _array(child) for place, child in enumerate(column.flatten())}
    return column.to_numpy(zero_copy_only=False)  # copied only where it must be; with nulls numbers become floats, times NaT


def _lists(column: Any) -> Array:
    """Lists of one length are a matrix over the same memory."""
    if column.null_count:
        return _as_objects([None if value is None else numpy.asarray(value) for value in column.to_pylist()])
    inner = _array(column.flatten())
    lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    if len(lengths) and not isinstance(inner, dict) and (lengths == lengths[0]).all():
        return inner.reshape(len(lengths), int(lengths[0]), *inner.shape[1:])
    if isinstance(inner, dict):
        return _as_objects(column.to_pylist())
    ends = numpy.cumsum(lengths)
    return _as_objects([inner[start:end] for start, end in zip(ends - lengths, ends)])


def _vectors(column: Any) -> Array:
    """Dense ones of one size are a matrix over the same memory; sparse ones are written out."""
    if column.null_count:
        return _as_objects([None if value is None else _vector(value) for value in column.to_pylist()])
    children = {column.type.field(place).name: child for place, child in enumerate(column.flatten())}
    kinds = children["type"].to_numpy(zero_copy_only=False)
    if len(kinds) and (kinds == 1).all():
        return _lists(children["values"])
    made = [_vector(value) for value in column.to_pylist()]
    return numpy.stack(made) if len({vector.shape for vector in made}) == 1 else _as_objects(made)


def _vector(value: Mapping[str, Any]) -> Array:
    if value["type"] == 1:
        return numpy.asarray(value["values"], dtype=numpy.float64)
    written = numpy.zeros(value["size"])
    written[value["indices"]] = value["values"]
    return written


# --- from objects

def of_rows(rows: Sequence[Any]) -> dict[str, Array]:
    first = rows[0]
    if isinstance(first, dict):
        return {str(name): stack([row[name] for row in rows]) for name in first}
    if isinstance(first, tuple):
        names = getattr(first, "__fields__", None) or getattr(first, "_fields", None) or map(str, range(len(first)))
        return {name: stack(list(values)) for name, values in zip(names, zip(*rows))}
    return {SINGLE: stack(rows)}


def stack(values: Sequence[Any]) -> Array:
    """Numbers, arrays and lists of one shape become one array; everything else an array of objects."""
    first = values[0]
    if isinstance(first, (str, bytes, bytearray)):
        return _as_objects(values)  # NumPy's own texts lose zeros at their end
    if hasattr(first, "toArray"):  # a vector of Spark
        values = [vector.toArray() if hasattr(vector, "toArray") else vector for vector in values]
    try:
        made = numpy.asarray(values)
    except ValueError:  # of several shapes
        return _as_objects(values)
    if made.dtype == object and made.ndim == 1 and all(value is None or isinstance(value, (int, float)) for value in values):
        return numpy.array([numpy.nan if value is None else value for value in values], dtype=numpy.float64)
    return made if made.dtype.kind not in "OSU" else _as_objects(values)
