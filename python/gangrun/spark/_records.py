"""Read and write TFRecord files as DataFrames, on every file system that Spark supports, without a jar.

See docs/spark.md and docs/protocols/tfrecord.md.
"""

from __future__ import annotations

import logging
import zlib
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from gangrun import _native
from gangrun.errors import InvalidJob
from gangrun.spark import _checks, _record_tasks, _record_types, _runtime, _told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

logger = logging.getLogger("gangrun.spark")

SAMPLE_FILES = 10
SAMPLE_RECORDS = 100  # of each file
SAMPLE_BYTES = 1 << 20  # of each file, and more where a record is longer
# The largest file that is not local, in bytes: Spark passes its content as one value of a row.
MOST_OF_A_VALUE = 1 << 30
COMPRESSIONS = ("none", "gzip", "deflate")
MODES = ("error", "errorifexists", "overwrite")
# Schemes of file systems that rename a file without copying it.
RENAMING = ("file", "hdfs", "viewfs", "abfs", "abfss")

Paths = Union[str, Sequence[str]]


def write_tfrecords(frame: DataFrame, path: str, compression: Optional[str] = None, mode: str = "error") -> None:
    """Write a DataFrame as TFRecord files into a new folder, one file for each partition.

    compression  'gzip' or 'deflate' (ZLIB in TensorFlow); None: no compression
    mode         'error': fail if the folder exists; 'overwrite': remove its content first

    A null becomes a feature without values. As with Spark's own formats, output of failed or repeated tasks is discarded.
    """
    if (compression or "none") not in COMPRESSIONS:
        raise InvalidJob(f"compression: {compression!r}; allowed: {', '.join(COMPRESSIONS)}")
    if mode not in MODES:
        raise InvalidJob(f"mode: {mode!r}; allowed: {', '.join(MODES)}")
    columns = tuple(_record_types.columns_of(frame.schema))
    sc = _checks.context_of(frame.sparkSession)
    _runtime.ship(sc)
    lines = frame.mapInArrow(_record_tasks.WriteTask(columns), "value string")
    try:
        # The number of lines is not one of records: no setting of the session may cut the files by it.
        lines.write.mode(mode).options(lineSep="\0", compression=compression or "none", maxRecordsPerFile=0).text(path)
    except Exception as error:
        said = _told.said_by(error)
        if said.startswith("ValueError: "):
            raise ValueError(said[len("ValueError: "):]) from error
        raise
    _name_files(sc, path)


def _name_files(sc: Any, path: str) -> None:
    """They are no texts. Under the name that Spark has given them they are as good, so what goes wrong here is no failure."""
    folder = sc._jvm.org.apache.hadoop.fs.Path(path)
    system = folder.getFileSystem(sc._jsc.hadoopConfiguration())
    if system.getUri().getScheme() not in RENAMING:
        return
    for status in system.listStatus(folder):
        name = str(status.getPath().getName())
        if not name.startswith("part-") or ".txt" not in name:
            continue
        better = sc._jvm.org.apache.hadoop.fs.Path(folder, name.replace(".txt", ".tfrecord"))
        if not system.rename(status.getPath(), better):
            logger.warning("%s keeps its name: it could not be renamed to %s", status.getPath(), better.getName())


def read_tfrecords(spark: SparkSession, path: Paths, schema: Union[None, str, StructType] = None,
                   binary_features: Sequence[str] = (), sample_files: int = SAMPLE_FILES) -> DataFrame:
    """Read TFRecord files as a DataFrame. `path` is a path, a glob pattern, or a list of them; files may be compressed.

    schema           the columns to read; other features are ignored. None: infer the columns from a sample of `sample_files`
                     files; a record with another feature, or with another type, is then an error
    binary_features  names of bytes features to read as binary instead of string
    """
    return load(spark, path, schema, binary_features, sample_files, "float")


def load(spark: Any, path: Paths, schema: Union[None, str, StructType], binary_features: Sequence[str], sample_files: int,
         float_type: str) -> DataFrame:
    """Read TFRecord files; float features become columns of `float_type`, "float" or "double"."""
    sc = _checks.context_of(spark)
    source = spark.read.format("binaryFile").load([path] if isinstance(path, str) else list(path))
    files = sorted((row.path, row.length) for row in source.select("path", "length").collect() if row.length > 0)
    if schema is None:
        columns = _sampled(sc, files, sample_files).columns(binary_features, float_type)
        if not columns:
            raise InvalidJob(f"{path}: {_no_records(files)}, so the columns are not known; pass a schema")
        wanted = _record_types.schema_of(columns, null_items=False)
    else:
        wanted = spark.createDataFrame([], schema).schema if isinstance(schema, str) else schema
        columns = _record_types.columns_of(wanted)
    _runtime.ship(sc)
    local = [_local_path(name) for name, _ in files]
    if None not in local:
        bundles = _bundles(spark, files)
        task = _record_tasks.ReadTask(tuple(columns), schema is not None, bundles)
        return spark.range(0, len(bundles), 1, max(1, len(bundles))).mapInArrow(task, wanted)
    for name, length in files:
        if length > MOST_OF_A_VALUE:
            raise InvalidJob(f"{name}: {length} bytes, and what is not a file of this machine comes as one value; allowed: at most "
                             f"{MOST_OF_A_VALUE} bytes; write more and smaller files")
    task = _record_tasks.ReadTask(tuple(columns), schema is not None, None)
    return source.where("length > 0").select("path", "content").mapInArrow(task, wanted)


def _no_records(files: Sequence[Any]) -> str:
    return "no record has a feature" if files else "no records"


def _local_path(name: str) -> Optional[str]:
    """The path of a file of the executor's own machine, which Spark names so (file:/x, file:///x)."""
    if not name.startswith("file:"):
        return None
    rest = name[len("file:"):]
    return rest[2:] if rest.startswith("//") else rest


def _bundles(spark: Any, files: Sequence[tuple[str, int]]) -> tuple[tuple[str, ...], ...]:
    """The files of each partition, in their order: about as much in each as Spark itself would give it."""
    total = sum(length for _, length in files)
    share = total // max(1, spark.sparkContext.defaultParallelism)
    most = max(1, min(share, int(spark._jsparkSession.sessionState().conf().filesMaxPartitionBytes())))
    made: list[list[str]] = []
    size = most
    for name, length in files:
        if size + length // 2 >= most:
            made.append([])
            size = 0
        made[-1].append(_local_path(name) or name)
        size += length
    return tuple(map(tuple, made))


def _sampled(sc: Any, files: Sequence[tuple[str, int]], most: int) -> _record_types.Sample:
    """The first records of files from the whole list, the first and the last among them."""
    if most < 1:
        raise InvalidJob(f"sample_files: {most}; allowed: 1 and more")
    core, sample = _native.core(), _record_types.Sample()
    count = min(most, len(files))
    for number in sorted({index * (len(files) - 1) // max(1, count - 1) for index in range(count)}):
        name, length = files[number]
        content, places = _first_records(core, sc, name, length)
        for record, (begin, end) in enumerate(places):
            try:
                features = core.example_features(content[begin:end])
            except core.BadRecord as error:
                raise ValueError(f"{name}: record {record}: {error}") from None
            sample.add(features, f"record {record} of {name}")
    return sample


def _first_records(core: Any, sc: Any, name: str, length: int) -> tuple[bytes, list[tuple[int, int]]]:
    size = SAMPLE_BYTES  # of the file, and of what is packed in that
    while True:
        content, is_whole = _beginning(sc, name, min(size, length)), size >= length
        if _record_tasks.is_packed(core, content[:_record_tasks.HEAD_BYTES]):
            content, is_all = _unpacked(content, size, name)
            is_whole = is_whole and is_all
        try:
            places, begin, wanted = core.record_places(content, SAMPLE_RECORDS)
        except core.BadRecord as error:
            raise ValueError(f"{name}: {error}") from None
        if places or (is_whole and not content):  # what is packed may be nothing
            return content, places
        if is_whole:
            raise ValueError(f"{name}: record 0, at byte 0: the file is truncated: {len(content) - begin} of {wanted} bytes are there")
        size = max(2 * size, wanted)


def _unpacked(packed: bytes, most: int, name: str) -> tuple[bytes, bool]:
    """At most so many bytes, and whether it was all."""
    unpacker = zlib.decompressobj(_record_tasks.GZIP_OR_ZLIB)
    try:
        return unpacker.decompress(packed, most), not unpacker.unconsumed_tail
    except zlib.error as error:
        raise ValueError(f"{name}: the file cannot be unpacked: {error}") from None


def _beginning(sc: Any, name: str, size: int) -> bytes:
    """By the JVM's file systems, so of whatever Spark reads."""
    jvm = sc._jvm
    path = jvm.org.apache.hadoop.fs.Path(name)
    stream = path.getFileSystem(sc._jsc.hadoopConfiguration()).open(path)
    try:
        return bytes(jvm.org.apache.commons.io.IOUtils.toByteArray(stream, size))
    finally:
        stream.close()
