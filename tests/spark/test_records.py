"""TFRecord files of real Spark: read by TensorFlow what we write, and by us what it writes; one clear error for each that is damaged."""

import pytest
from clusters.spark.fixtures import DriverError


@pytest.fixture(scope="module")
def driver(spark_driver):
    """A task that fails is tried again, as on a cluster."""
    return spark_driver("records.py", "local[2,3]")


def error_of(driver, *request):
    with pytest.raises(DriverError) as caught:
        driver.run(*request)
    return caught.value


def test_every_type_goes_into_records_and_comes_back(driver, tmp_path):
    found = driver.run("all_types", str(tmp_path / "out"))
    assert found["same"] and found["types"], found
    by_number = {str(row["n"]): row for row in found["seen"]}
    assert by_number[str([2 ** 40])] == {
        "b": [1], "bb": [1, 0], "bin": ["00ff"], "d": [0.5], "dd": [0.25, -1.0], "f": [1.5], "ff": [1.0, 2.0], "i": [7], "ii": [1, -1],
        "k": [300], "n": [2 ** 40], "s": ["ä".encode().hex()], "ss": ["78", ""], "y": [-3]}
    assert set(map(str, by_number["None"].values())) == {"None"}
    assert by_number[str([-2 ** 40])]["bb"] == [] and by_number[str([-2 ** 40])]["s"] == [""]


@pytest.mark.parametrize("compression, name", [(None, ".tfrecord"), ("gzip", ".tfrecord.gz"), ("deflate", ".tfrecord.deflate")])
def test_tensorflow_reads_every_row_of_every_file(driver, tmp_path, compression, name):
    count = 3000
    found = driver.run("many_rows", str(tmp_path / "out"), compression, count, 5)
    total = sum(range(count))
    assert found == {"files": 5, "names": [name], "single": True, "several": True, "sums": [total, 210.0 * total], "done": True}


def test_the_newest_spark_and_tensorflow(spark_driver, tmp_path):
    found = spark_driver("records.py", "local[2]", release="4").run("many_rows", str(tmp_path / "out"), "gzip", 500, 2)
    assert found == {"files": 2, "names": [".tfrecord.gz"], "single": True, "several": True, "sums": [124_750, 210.0 * 124_750], "done": True}


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_a_record_may_be_larger_than_what_is_read_at_a_time(driver, tmp_path, compression):
    size = (9 << 20) + 1
    assert driver.run("large_records", str(tmp_path / "out"), compression, 9) == [[0, size, "0"], [1, size, "1"]]


def test_no_rows_are_files_that_have_no_schema(driver, tmp_path):
    assert driver.run("no_rows", str(tmp_path / "out")) == [[], ["n"]]
    error = error_of(driver, "no_schema", str(tmp_path / "out"))
    assert error.kind == "InvalidJob" and "no record has a feature, so the columns are not known; pass a schema" in error.text


def test_files_of_tensorflow_have_the_columns_of_all_records_of_a_sample(driver, tmp_path):
    found = driver.run("of_tensorflow", str(tmp_path / "in"))
    assert found["types"] == [["f", "double"], ["i", "bigint"], ["ii", "array<bigint>"], ["none", "string"], ["raw", "binary"],
                              ["s", "string"], ["ss", "array<string>"]]
    one, two = [None, 1, None, None, None, None, None], [0.5, 2, [1, 2], None, "00ff", "ä", None]
    three, four = [None, 3, [3], None, "78", None, ["p", "q"]], [None, 4, None, None, None, None, None]
    assert found["rows"] == sorted([one, two, three, four, four, one, two, one, two], key=str)
    assert found["loaded"] == [True, False] and found["some"] == sorted([[1, None], [2, 0.5], [3, None]], key=str)


def test_files_that_are_not_of_this_machine_come_through_spark(driver, tmp_path):
    assert driver.run("through_spark", str(tmp_path / "in")) == [[number] for number in range(8)]


def test_the_functions_for_rdds(driver, tmp_path):
    found = driver.run("functions_for_rdds", str(tmp_path))
    assert found == {"seconds": [None, None], "dd": [0.25, -1.0], "schema": "struct<bin:binary,dd:array<double>,n:bigint,s:string>",
                     "rows": [["00ff", [0.25, -1.0], 2 ** 40, "ä"], [None] * 4], "names": ["bin", "dd", "n", "s"]}


def test_what_was_saved_is_loaded(driver, tmp_path):
    types, rows = driver.run("saved_and_loaded", str(tmp_path / "out"))
    assert types == [["n", "bigint"], ["s", "string"], ["x", "array<double>"]]
    assert rows == [[1, "a", [0.5, 1.5]], [2, "b", [2.5, 3.5]]]


@pytest.mark.parametrize("what, part", [
    ("nested", "column 'x' is of the type array<array<bigint>>; allowed: boolean, "),
    ("map", "column 'x' is of the type map<bigint,bigint>; allowed: "),
    ("decimal", "column 'x' is of the type decimal(5,0); allowed: "),
    ("time", "column 'x' is of the type timestamp; allowed: "),
    ("null", "column 'x': an array has a null in it, which a record has no place for"),
    ("exists", "already exists"),
])
def test_what_has_no_place_in_records_is_refused(driver, tmp_path, what, part):
    assert part in error_of(driver, "refused", str(tmp_path / "out"), what).text
    assert not list(tmp_path.glob("out/*part-*"))


@pytest.mark.parametrize("what, part", [
    ("cut", "record 100, at byte 3000: the file is truncated: 27 of 30 bytes are there"),
    ("data", "record 100, at byte 3000: the CRC of the data is wrong"),
    ("length", "record 100, at byte 3000: the CRC of the length is wrong"),
    ("packed", "(unpacked): the file is truncated: what is packed in it does not end"),
    ("none", "record 0, at byte 0: the CRC of the length is wrong"),
    ("type", "record 100, at byte 3000: feature 'i' has float values; its column is of int64"),
    ("count", "record 100, at byte 3000: feature 'i' has 2 values; its column is of int64"),
    ("more", "record 100, at byte 3000: feature 'j' has no column"),
    ("text", "feature 's' is not UTF-8; its column is of text"),
    ("empty", "no records, so the columns are not known; pass a schema"),
])
def test_a_damaged_file_is_told_with_its_name_and_place(driver, tmp_path, what, part):
    error = error_of(driver, "damaged", str(tmp_path / "in"), what)
    assert part in error.text and (what == "empty" or "in/part-7" in error.text), error.text[-3000:]


def test_types_that_do_not_agree_are_refused_with_both_places(driver, tmp_path):
    text = error_of(driver, "conflict", str(tmp_path / "in")).text
    assert "feature 'x' has int64 values in record 0 of file:" in text and "and float values in record 1 of file:" in text


def test_a_task_whose_worker_was_killed_leaves_one_file_for_each_partition(driver, tmp_path):
    found = driver.run("killed", str(tmp_path / "out"), 1)
    assert found["tries"] == 1 and found["sums"] == [30_000, sum(range(30_000))], found
    assert len([name for name in found["left"] if name.startswith("part-")]) == 3 and len(found["left"]) == 4


def test_a_job_that_fails_leaves_no_half_of_a_file(driver, tmp_path):
    found = driver.run("killed", str(tmp_path / "out"), 3)
    assert found["error"] is not None and found["tries"] == 3 and found["left"] == [], found
