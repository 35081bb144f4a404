"""Where Spark runs: executors that share no files with each other, one JVM, executors with another Python. YARN is in tests/yarn."""

import pytest
from clusters.spark.fixtures import DriverError, scratch_of
from living import processes_of
from waiting import wait_until

ALL = 2 * sum(range(1000))
# In place of another Python, which not every machine has: the executors' one says so of itself.
OTHER_PYTHON = """\
import collections, sys
sys.version_info = collections.namedtuple("version_info", "major minor micro releaselevel serial")(3, 10, 0, "final", 0)
"""


def test_executors_like_containers_without_shared_memory(spark_cluster, spark_driver):
    """A node and Spark's worker that feeds it are in one container; nothing of the feed lies in a file or in /dev/shm."""
    cluster = spark_cluster(workers=2, own_files=True)
    driver = spark_driver("places.py", cluster, {"spark.cores.max": "2"})
    folder = cluster.folder / "told"
    folder.mkdir()
    found = driver.run("whole", str(folder), 2)
    assert sorted(found["nodes"]) == ["chief-0", "worker-0"] and sum(node["total"] for node in found["nodes"].values()) == ALL
    assert not any(node["shm"] for node in found["nodes"].values()) and len(set(found["hosts"])) == 2, found
    assert len({node["namespaces"]["mnt"] for node in found["nodes"].values()}) == 2
    wait_until(lambda: not processes_of(found["id"]), "the end of the nodes")
    wait_until(lambda: not scratch_of(cluster.folder / "local"), "the end of their folders")


def test_one_jvm_has_all_nodes(spark_driver, tmp_path):
    driver = spark_driver("places.py", "local[2]")
    found = driver.run("whole", str(tmp_path), 2)
    assert sorted(found["nodes"]) == ["chief-0", "worker-0"] and sum(node["total"] for node in found["nodes"].values()) == ALL
    wait_until(lambda: not processes_of(found["id"]), "the end of the nodes")


def test_executors_with_another_python_are_told_with_both(spark_driver, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(OTHER_PYTHON)
    driver = spark_driver("places.py", "local-cluster[1,1,1024]", {"spark.cores.max": "1", "spark.executorEnv.PYTHONPATH": str(tmp_path)})
    with pytest.raises(DriverError) as caught:
        driver.run("whole", str(tmp_path), 1)
    assert "the driver has Python 3.11 and the executors have 3.10" in caught.value.text, caught.value.text
    assert "PYSPARK_PYTHON" in caught.value.text
