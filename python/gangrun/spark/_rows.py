"""Rows as Python objects, also those that came as Arrow: they arrive as DataFrame.rdd would have brought them (binary as
bytes, which it is there since Spark 4)."""

from __future__ import annotations

import functools
import itertools
from typing import Any, Callable, Mapping, Optional, Sequence

from gangrun.spark._feed import ArrowPiece, Piece

Convert = Callable[[Any], Any]


def objects(piece: Piece) -> list[Any]:
    """The rows of a piece; with Spark's schema they are its Rows."""
    if not isinstance(piece, ArrowPiece):
        return piece.rows
    columns = [_values(column) for column in piece.batch.columns]
    if piece.schema is None:
        return list(zip(*columns))
    row, converters = _reader(piece.schema)
    converted = [values if convert is None else [None if value is None else convert(value) for value in values]
                 for values, convert in zip(columns, converters)]
    return [row(*values) for values in zip(*converted)]


def by_tensor(rows: Sequence[Any], mapping: Mapping[str, str]) -> dict[str, list[Any]]:
    """Columns by the names of tensors. Rows that know their columns are asked by name; else the places in a row are those of
    the columns in the order of their names."""
    named = bool(rows) and _has_fields(rows[0], mapping)
    tensors: dict[str, list[Any]] = {}
    for place, (column, tensor) in enumerate(mapping.items()):
        key: Any = column if named else place
        tensors[tensor] = [row[key] for row in rows]
    return tensors


def _has_fields(row: Any, names: Mapping[str, str]) -> bool:
    fields = row.keys() if isinstance(row, dict) else getattr(row, "__fields__", ())
    return all(name in fields for name in names)


def _values(column: Any) -> list[Any]:
    """As column.to_pylist(), which takes each number of a list by itself."""
    import pyarrow
    kind = column.type
    if (pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)) and column.null_count == 0:
        inner = column.flatten()
        if inner.null_count == 0 and (pyarrow.types.is_floating(inner.type) or pyarrow.types.is_integer(inner.type)):
            values = inner.to_numpy(zero_copy_only=False).tolist()
            ends = list(itertools.accumulate(column.value_lengths().to_pylist()))
            return [values[start:end] for start, end in zip([0, *ends], ends)]
    elif column.null_count == 0 and (pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)):
        numbers: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
        return numbers
    found: list[Any] = column.to_pylist()
    return found


@functools.lru_cache(maxsize=16)
def _reader(schema: str) -> tuple[Callable[..., Any], list[Optional[Convert]]]:
    import json

    from pyspark.sql import types
    structure = types.StructType.fromJson(json.loads(schema))
    return types.Row(*structure.names), [_converter(field.dataType) for field in structure.fields]


def _converter(kind: Any) -> Optional[Convert]:
    """The way from pyarrow's value of a type of Spark to Spark's; None where it is the same."""
    from pyspark.sql import types
    if isinstance(kind, types.UserDefinedType):
        inner = kind.sqlType()
        names = inner.names if isinstance(inner, types.StructType) else None
        return lambda value: kind.deserialize(tuple(value[name] for name in names) if names else value)
    if isinstance(kind, types.TimestampType):
        return lambda value: value.astimezone().replace(tzinfo=None)
    if isinstance(kind, types.ArrayType):
        element = _converter(kind.elementType)
        return None if element is None else lambda value: [_maybe(element, one) for one in value]
    if isinstance(kind, types.MapType):
        key, content = _converter(kind.keyType), _converter(kind.valueType)
        return lambda value: {_maybe(key, one): _maybe(content, other) for one, other in value}
    if isinstance(kind, types.StructType):
        row = types.Row(*kind.names)
        parts = [(name, _converter(field.dataType)) for name, field in zip(kind.names, kind.fields)]
        return lambda value: row(*(_maybe(convert, value[name]) for name, convert in parts))
    return None


def _maybe(convert: Optional[Convert], value: Any) -> Any:
    return value if convert is None or value is None else convert(value)
