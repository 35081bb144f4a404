"""TFRecord files where Spark's own writer and reader are the only way: on HDFS."""


def test_records_are_written_to_hdfs_and_read_from_it(hadoop, spark_driver, tmp_path):
    driver = spark_driver("records.py", "local[2]", variables=hadoop.exports)
    count = 5000
    for compression, name in (None, ".tfrecord"), ("gzip", ".tfrecord.gz"):
        found = driver.run("by_url", f"{hadoop.hdfs_url}/tmp/{tmp_path.name}/{compression}", compression, count)
        assert found["sums"] == [count, sum(range(count))] and found["types"] == [["id", "bigint"], ["x", "array<string>"]], found
        assert len(found["files"]) == 3 and all(file.startswith("hdfs://") and file.endswith(name) for file in found["files"]), found
        assert found["again"] and "already exists" in found["again"]
