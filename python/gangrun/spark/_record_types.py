"""Columns of Spark beside the features of TFRecord files: which go into which, and what a sample of records says of their columns."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Container, Iterable, Mapping, Optional

from gangrun.errors import InvalidJob

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

# The kind of a column's values in a record; "text" is bytes that are UTF-8.
KINDS = {"boolean": "int64", "tinyint": "int64", "smallint": "int64", "int": "int64", "bigint": "int64", "float": "float",
         "double": "float", "string": "text", "binary": "bytes"}
ALLOWED = f"allowed: {', '.join(KINDS)}, and arrays of them"
TYPES = {"int64": "bigint", "bytes": "string"}  # of a column, by the kind in the records


@dataclasses.dataclass(frozen=True)
class Column:
    """A column by Spark's names; `type` is that of an item where a row is an array."""

    name: str
    type: str
    is_list: bool

    @property
    def field(self) -> tuple[str, str, bool]:
        return self.name, KINDS[self.type], self.is_list


def columns_of(schema: StructType) -> list[Column]:
    """InvalidJob names the column that records have no place for."""
    found: dict[str, Column] = {}
    for field in schema.fields:
        if field.name in found:
            raise InvalidJob(f"column '{field.name}' is there twice; the features of a record have a name each")
        is_list = field.dataType.typeName() == "array"
        item: Any = getattr(field.dataType, "elementType", field.dataType) if is_list else field.dataType
        name = item.simpleString()
        if name not in KINDS:
            hint = "; vectors of ML: pyspark.ml.functions.vector_to_array" if name == "vector" else ""
            raise InvalidJob(f"column '{field.name}' is of the type {field.dataType.simpleString()}; {ALLOWED}{hint}")
        found[field.name] = Column(field.name, name, is_list)
    if not found:
        raise InvalidJob("schema: no column; a record has at least one feature")
    return list(found.values())


@dataclasses.dataclass
class Seen:
    """A feature as the records of a sample have it."""

    kind: Optional[str] = None  # None: it had no values yet
    where: str = ""  # a record that has it so
    most: int = 0  # values in one record
    not_text: str = ""  # a record in which its bytes are no text


class Sample:
    """What records have of features, however many files they come from."""

    def __init__(self) -> None:
        self.records = 0
        self.features: dict[str, Seen] = {}

    def add(self, features: Mapping[str, tuple[Optional[str], list[Any]]], where: str) -> None:
        self.records += 1
        for name, (kind, values) in features.items():
            seen = self.features.setdefault(name, Seen())
            if not values:
                continue
            if seen.kind not in (None, kind):
                raise InvalidJob(f"feature '{name}' has {seen.kind} values in {seen.where}, and {kind} values in {where}; a column has one "
                                 "type: repair the files, or leave the feature out by a schema without it")
            if seen.kind is None:
                seen.kind, seen.where = kind, where
            seen.most = max(seen.most, len(values))
            if kind == "bytes" and not seen.not_text and not all(map(is_text, values)):
                seen.not_text = where

    def columns(self, binary_features: Container[str], float_type: str) -> list[Column]:
        """In the order of their names. A feature without values anywhere is a text, which is null."""
        return [Column(name, self._type(name, seen, binary_features, float_type), seen.most > 1)
                for name, seen in sorted(self.features.items())]

    def _type(self, name: str, seen: Seen, binary_features: Container[str], float_type: str) -> str:
        if seen.kind == "float":
            return float_type
        if seen.kind in ("bytes", None) and name in binary_features:
            return "binary"
        if seen.not_text:
            raise InvalidJob(f"feature '{name}' is not a text (UTF-8) in {seen.not_text}; name it in binary_features")
        return TYPES[seen.kind or "bytes"]


def is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def schema_of(columns: Iterable[Column], null_items: bool = True) -> StructType:
    """With `null_items`, arrays are said to have nulls, as Spark does where nobody says; records have none, and Spark is faster told so."""
    from pyspark.sql import types

    classes = {"boolean": types.BooleanType, "tinyint": types.ByteType, "smallint": types.ShortType, "int": types.IntegerType,
               "bigint": types.LongType, "float": types.FloatType, "double": types.DoubleType, "string": types.StringType,
               "binary": types.BinaryType}
    made = []
    for column in columns:
        one: Any = classes[column.type]()
        made.append(types.StructField(column.name, types.ArrayType(one, null_items) if column.is_list else one, True))
    return types.StructType(made)
