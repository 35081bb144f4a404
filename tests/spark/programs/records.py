"""Functions for tests/spark/test_records.py: DataFrames to and from TFRecord files, ours and TensorFlow's."""

import glob
import gzip
import os
import pathlib
import signal
import time

from serving import serve

from gangrun import spark
from gangrun.tensorflowonspark import dfutil

DDL = ("b boolean, bb array<boolean>, bin binary, d double, dd array<double>, f float, ff array<float>, i int, ii array<int>, k smallint, "
       "n bigint, s string, ss array<string>, y tinyint")
ROWS = [
    (True, [True, False], b"\0\xff", 0.5, [0.25, -1.0], 1.5, [1.0, 2.0], 7, [1, -1], 300, 2 ** 40, "ä", ["x", ""], -3),
    (None,) * 14,
    (False, [], b"", -2.0, [], 0.0, [], -7, [], -300, -2 ** 40, "", [], 3),
]


def session(sc):
    from pyspark.sql import SparkSession
    return SparkSession(sc)


def plain(value):
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def rows_of(frame):
    return sorted((plain(row) for row in frame.collect()), key=str)


def parts(folder):
    return sorted(path for path in glob.glob(f"{folder}/part-*"))


def examples(path, compression=""):
    import tensorflow as tf
    return [tf.train.Example.FromString(one.numpy()) for one in tf.data.TFRecordDataset(path, compression)]


def write(path, records, compression=""):
    """By TensorFlow: {name: list} each, of int, float, str or bytes; None is a feature without values."""
    import tensorflow as tf

    def feature(values):
        if values is None:
            return tf.train.Feature()
        if isinstance(values[0], int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        if isinstance(values[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))
        values = [value.encode() if isinstance(value, str) else value for value in values]
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))

    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            found = {name: feature(values) for name, values in record.items()}
            writer.write(tf.train.Example(features=tf.train.Features(feature=found)).SerializeToString())


# --- what the test asks for

def all_types(sc, folder):
    """Written by us; read by TensorFlow, and by us with the same schema."""
    frame = session(sc).createDataFrame(ROWS, DDL)
    spark.write_tfrecords(frame.coalesce(1), folder)
    seen = [{name: plain(list(getattr(value, value.WhichOneof("kind")).value)) if value.WhichOneof("kind") else None
             for name, value in example.features.feature.items()} for path in parts(folder) for example in examples(path)]
    back = spark.read_tfrecords(session(sc), folder, schema=DDL)
    return {"seen": seen, "same": rows_of(back) == rows_of(frame), "types": dict(back.dtypes) == dict(frame.dtypes)}


def many_rows(sc, folder, compression, count, partitions):
    """TensorFlow's parsers of single examples and of batches find every row, whatever the last record of a file is."""
    import tensorflow as tf
    frame = session(sc).range(0, count, 1, partitions).selectExpr("id", "transform(sequence(1, 20), x -> cast(x * id as float)) as x")
    session(sc).conf.set("spark.sql.files.maxRecordsPerFile", 1)  # counts lines of Spark's writer, which are no records
    spark.write_tfrecords(frame, folder, compression)
    session(sc).conf.unset("spark.sql.files.maxRecordsPerFile")
    kinds = {"gzip": "GZIP", "deflate": "ZLIB", None: ""}
    wanted = {"id": tf.io.FixedLenFeature([], tf.int64), "x": tf.io.FixedLenFeature([20], tf.float32)}
    files = tf.data.TFRecordDataset(parts(folder), kinds[compression])
    single = [int(tf.io.parse_single_example(one, wanted)["id"]) for one in files]
    several = [int(one) for batch in files.batch(64) for one in tf.io.parse_example(batch, wanted)["id"]]
    back = spark.read_tfrecords(session(sc), folder)
    total = back.selectExpr("sum(id)", "sum(aggregate(x, 0D, (a, b) -> a + b))").first()
    return {"files": len(parts(folder)), "names": sorted({"".join(pathlib.Path(path).suffixes) for path in parts(folder)}),
            "single": single == list(range(count)), "several": several == list(range(count)),
            "sums": list(total), "done": os.path.exists(f"{folder}/_SUCCESS")}


def large_records(sc, folder, compression, mib):
    """Of several times what is read at a time; packed, they are much smaller than the sample that is taken of them."""
    frame = session(sc).range(0, 2, 1, 1).selectExpr("id", f"cast(concat(repeat('\\0', {mib} * 1024 * 1024), id) as binary) as x")
    spark.write_tfrecords(frame, folder, compression)
    back = spark.read_tfrecords(session(sc), folder, binary_features=["x"])
    return rows_of(back.selectExpr("id", "length(x)", "cast(substring(x, -1, 1) as string)"))


def no_rows(sc, folder):
    spark.write_tfrecords(session(sc).createDataFrame([], "n int"), folder, "gzip")
    back = spark.read_tfrecords(session(sc), folder, schema="n int")
    return [rows_of(back), back.columns]


def no_schema(sc, folder):
    spark.read_tfrecords(session(sc), folder)


def of_tensorflow(sc, folder):
    """Files of TensorFlow, of three kinds of packing, the first of whose records lacks what others have."""
    write(f"{folder}/a", [{"i": [1]}, {"i": [2], "ii": [1, 2], "f": [0.5], "s": ["ä"], "raw": [b"\0\xff"], "none": None}])
    write(f"{folder}/b.gz", [{"i": [3], "ii": [3], "raw": [b"x"], "ss": ["p", "q"]}], "GZIP")
    write(f"{folder}/c", [{"i": [4]}] * 2, "ZLIB")
    with open(f"{folder}/d", "wb") as two:  # parts of gzip behind each other
        for _ in range(2):
            two.write(gzip.compress(pathlib.Path(folder, "a").read_bytes()))
    frame = dfutil.loadTFRecords(sc, folder, binary_features=["raw"])
    ours = spark.read_tfrecords(session(sc), [f"{folder}/[ab]*"], "i int, f float")
    return {"types": frame.dtypes, "rows": rows_of(frame), "loaded": [dfutil.isLoadedDF(frame), dfutil.isLoadedDF(frame.limit(1))],
            "some": rows_of(ours)}


def through_spark(sc, folder):
    """As files come that are not of this machine: by Spark's reader of binary files."""
    from gangrun.spark import _records
    write(f"{folder}/a", [{"i": [number]} for number in range(5)])
    write(f"{folder}/b", [{"i": [number]} for number in range(5, 8)], "GZIP")
    kept, _records._local_path = _records._local_path, lambda name: None
    try:
        return rows_of(spark.read_tfrecords(session(sc), folder))
    finally:
        _records._local_path = kept


def by_url(sc, folder, compression, count):
    """Written and read where this process has no other way to."""
    frame = session(sc).range(0, count, 1, 3).selectExpr("id", "array(concat('x', id), '') as x")
    spark.write_tfrecords(frame, folder, compression)
    again = None
    try:
        spark.write_tfrecords(frame, folder, compression)
    except Exception as error:
        again = str(error)
    back = dfutil.loadTFRecords(sc, folder)
    files = session(sc).read.format("binaryFile").load(folder).select("path").collect()
    return {"types": back.dtypes, "sums": list(back.selectExpr("count(id)", "sum(id)").first()), "files": [row.path for row in files],
            "again": again}


def functions_for_rdds(sc, folder):
    frame = session(sc).createDataFrame(ROWS[:2], DDL).select("n", "dd", "s", "bin")
    pairs = frame.rdd.mapPartitions(dfutil.toTFExample(frame.dtypes)).collect()
    import tensorflow as tf
    example = tf.train.Example.FromString(bytes(pairs[0][0]))
    rows = sc.parallelize(pairs, 2).mapPartitions(lambda part: dfutil.fromTFExample(part, ["bin"])).collect()
    return {"seconds": [pair[1] for pair in pairs], "dd": list(example.features.feature["dd"].float_list.value),
            "schema": dfutil.infer_schema(example, ["bin"]).simpleString(), "rows": [plain(list(row)) for row in rows],
            "names": rows[0].__fields__}


def saved_and_loaded(sc, folder):
    frame = session(sc).createDataFrame([(1, [0.5, 1.5], "a"), (2, [2.5, 3.5], "b")], "n int, x array<double>, s string")
    dfutil.saveAsTFRecords(frame, folder)
    back = dfutil.loadTFRecords(sc, folder)
    return back.dtypes, rows_of(back)


def refused(sc, folder, what):
    frame = session(sc).range(1)
    if what == "exists":
        pathlib.Path(folder).mkdir()
    expressions = {"nested": "array(array(id)) as x", "map": "map(id, id) as x", "decimal": "cast(id as decimal(5)) as x",
                   "time": "current_timestamp() as x", "null": "array(id, null) as x"}
    if what in expressions:
        frame = frame.selectExpr(expressions[what])
    dfutil.saveAsTFRecords(frame, folder)


def damaged(sc, folder, what):
    """Reads a file that is not what it should be; the sample of the schema has the first record only."""
    path = pathlib.Path(folder, "part-7")
    other = {"type": {"i": [0.5]}, "count": {"i": [1, 2]}, "more": {"i": [1], "j": [1]}, "text": {"i": [1], "s": [b"\xff"]}}
    first = {"i": [1], "s": ["x"]} if what == "text" else {"i": [1]}
    write(path, [first] * 100 + [other.get(what, first)], "GZIP" if what == "packed" else "")
    content = bytearray(path.read_bytes())
    if what == "cut":
        del content[-3:]
    elif what == "data":
        content[-6] ^= 1
    elif what == "length":
        content[100 * len(content) // 101 + 1] ^= 1
    elif what == "packed":
        del content[-20:]
    elif what == "none":
        content[:] = b"no record at all"
    elif what == "empty":
        content[:] = b""
    path.write_bytes(content)
    schema = "i bigint" if what in ("packed", "cut at once") else None
    return spark.read_tfrecords(session(sc), folder, schema).count()


def conflict(sc, folder):
    write(f"{folder}/a", [{"x": [1]}])
    write(f"{folder}/b", [{"y": [1]}, {"x": [0.5]}])
    spark.read_tfrecords(session(sc), folder)


def killed(sc, folder, times):
    """Writes while the Python worker of the first tries of a partition is killed in the middle of it."""
    marks = pathlib.Path(f"{folder}-marks")
    marks.mkdir()

    def rows(number, batches):
        for count, batch in enumerate(batches):
            if number == 1 and count == 3 and len(list(marks.iterdir())) < times:
                (marks / str(time.monotonic_ns())).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    def breaking(batches):
        from pyspark import TaskContext
        return rows(TaskContext.get().partitionId(), batches)

    one = session(sc).range(0, 30_000, 1, 3).selectExpr("id", "transform(sequence(1, 50), x -> x + id) as x")
    frame = one.mapInArrow(breaking, one.schema)
    session(sc).conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1000)
    error = None
    try:
        spark.write_tfrecords(frame, folder)
    except Exception as caught:
        error = type(caught).__name__
    finally:
        session(sc).conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    left = [str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if not path.name.startswith(".")] \
        if os.path.isdir(folder) else []
    sums = spark.read_tfrecords(session(sc), folder).selectExpr("count(id)", "sum(id)").first() if error is None else None
    return {"error": error, "tries": len(list(marks.iterdir())), "left": sorted(left), "sums": sums and list(sums)}


if __name__ == "__main__":
    serve({function.__name__: function for function in (all_types, many_rows, large_records, no_rows, no_schema, of_tensorflow, through_spark, by_url,
                                                        functions_for_rdds, saved_and_loaded, refused, damaged, conflict, killed)})
