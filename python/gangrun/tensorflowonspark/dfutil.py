"""Convert between TFRecord files and DataFrames, without a jar. docs/spark.md lists how types are mapped."""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterable, MutableMapping, Sequence

from gangrun import _native
from gangrun.errors import NotInstalled
from gangrun.spark import _record_tasks, _record_types, _records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.types import StructType

# DataFrame → the folder that it was loaded from.
loadedDF: MutableMapping[Any, str] = weakref.WeakKeyDictionary()


def isLoadedDF(df: Any) -> bool:
    """Return whether this DataFrame object was returned by loadTFRecords()."""
    return df in loadedDF


def saveAsTFRecords(df: DataFrame, output_dir: str) -> None:
    """Write a DataFrame as TFRecord files into a new folder, one file for each partition."""
    _records.write_tfrecords(df, output_dir)


def loadTFRecords(sc: Any, input_dir: str, binary_features: Sequence[str] = ()) -> DataFrame:
    """Read the TFRecord files of a folder as a DataFrame. The schema is inferred from a sample of the files.

    Float features become doubles. Bytes features become strings, those in `binary_features` become binary. `sc` is a
    SparkContext or SparkSession.
    """
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate() if hasattr(sc, "parallelize") else sc
    made = _records.load(spark, input_dir, None, binary_features, _records.SAMPLE_FILES, "double")
    loadedDF[made] = input_dir
    return made


def toTFExample(dtypes: Sequence[tuple[str, str]]) -> Callable[[Iterable[Any]], list[tuple[bytearray, None]]]:
    """Return a function for RDD.mapPartitions that converts rows to pairs (serialized tf.train.Example, None).

    `dtypes` is the DataFrame's `dtypes`.
    """
    from pyspark.sql.types import StructType, _parse_datatype_string

    schema = StructType()
    for name, kind in dtypes:
        schema = schema.add(name, _parse_datatype_string(kind))
    return _ToExamples(tuple(_record_types.columns_of(schema)))


class _ToExamples:
    def __init__(self, columns: tuple[_record_types.Column, ...]) -> None:
        self.columns = columns

    def __call__(self, rows: Iterable[Any]) -> list[tuple[bytearray, None]]:
        import pyarrow

        given = list(rows)
        if not given:
            return []
        arrays = [pyarrow.array([_plain(row[column.name]) for row in given]) for column in self.columns]
        batch = pyarrow.RecordBatch.from_arrays([_filled(array, column) for array, column in zip(arrays, self.columns)],
                                                [column.name for column in self.columns])
        fields = [column.field for column in self.columns]
        made = _core().encode_examples(fields, _record_tasks.column_buffers(self.columns, batch), 0, len(given))
        return [(bytearray(example), None) for example in made]


def _plain(value: Any) -> Any:
    if isinstance(value, bytearray):
        return bytes(value)
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def _filled(array: Any, column: _record_types.Column) -> Any:
    """A column of nulls, or of empty lists, has no type by its values."""
    import pyarrow

    kind = {"int64": pyarrow.int64(), "float": pyarrow.float64()}.get(column.field[1], pyarrow.binary())
    wanted = pyarrow.list_(kind) if column.is_list else kind
    return array.cast(wanted)


def _core() -> Any:
    """In a worker of Spark, what the driver has sent, else what is installed."""
    from pyspark import TaskContext

    if TaskContext.get() is not None:
        with contextlib.suppress(NotInstalled):  # nothing was sent
            return _record_tasks.worker_core()
    return _native.core()


def infer_schema(example: Any, binary_features: Sequence[str] = ()) -> StructType:
    """Return the schema of one tf.train.Example, given as a message or serialized."""
    sample = _record_types.Sample()
    sample.add(_core().example_features(_bytes_of(example)), "the example")
    return _record_types.schema_of(sample.columns(binary_features, "double"))


def _bytes_of(example: Any) -> bytes:
    return bytes(example.SerializeToString() if hasattr(example, "SerializeToString") else example)


def fromTFExample(iter: Iterable[Any], binary_features: Sequence[str] = ()) -> list[Row]:  # its name is the peer's
    """Convert pairs (serialized tf.train.Example, anything) to rows. For RDD.mapPartitions.

    A row has the features of its record: one value, a list if there are several, None if there are none. Bytes are decoded
    as UTF-8, those in `binary_features` become bytearrays.
    """
    from pyspark.sql import Row

    core = _core()

    def value(name: str, kind: Any, values: list[Any]) -> Any:
        if kind == "bytes":
            values = [bytearray(one) if name in binary_features else one.decode() for one in values]
        return values if len(values) > 1 else values[0] if values else None

    return [Row(**{name: value(name, *found) for name, found in sorted(core.example_features(bytes(record[0])).items())})
            for record in iter]
