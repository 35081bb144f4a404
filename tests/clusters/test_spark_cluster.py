"""The real Spark clusters that other tests stand on: they come up, run jobs, take blows, and leave nothing behind."""

import os
import pathlib
import signal
import subprocess

import pytest
from clusters.hadoop.hadoop_cluster import processes
from clusters.spark.fixtures import PROGRAM, DriverError, Spark, spark_python
from waiting import wait_until

LIMIT_S = 60
FRAMEWORKS = {"3.5": ("3.5.9", "2.15.1", "1."), "4": ("4.3.0", "2.21.0", "2.")}


def living(folder):
    """The processes that have this folder in their command or their environment."""
    found = {}
    for pid in processes.all_pids():
        try:
            entry = pathlib.Path("/proc") / str(pid)
            command = (entry / "cmdline").read_bytes()
            if os.fsencode(folder) in command or os.fsencode(folder) in (entry / "environ").read_bytes():
                found[pid] = command
        except OSError:
            continue  # it ended while it was looked at
    return found


@pytest.fixture(scope="module", params=FRAMEWORKS)
def driver(request, spark_cluster, spark_driver):
    cluster = spark_cluster(release=request.param)
    driver = spark_driver("cluster_check.py", cluster)
    driver.cluster = cluster
    return driver


def test_jobs_run_on_three_hosts(driver):
    assert sorted(driver.run("where", 3)) == ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
    assert driver.run("arrow", 1000) == 999000


def test_the_versions_are_those_that_belong_together(driver):
    spark, tensorflow, numpy = FRAMEWORKS[driver.cluster.release]
    found = driver.run("versions")
    assert (found["pyspark"], found["tensorflow"]) == (spark, tensorflow)
    assert found["numpy"].startswith(numpy) and found["pyarrow"] == "25.0.0"


def test_what_a_function_raises_is_told_and_the_next_one_runs(driver):
    with pytest.raises(DriverError) as caught:
        driver.run("fails")
    assert caught.value.kind == "KeyError" and "as it should" in caught.value.text and "cluster_check.py" in caught.value.trace
    assert driver.run("total", 10, 2) == 90


def test_an_executor_that_is_killed_is_replaced(driver):
    driver.run("where", 3)
    before = driver.cluster.executors()
    pid, host = before.popitem()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: host in {at for other, at in driver.cluster.executors().items() if other != pid}, "another one", LIMIT_S)
    assert len(driver.run("where", 3)) == 3


def test_pytorch_is_there_beside_spark_3_5(spark_driver):
    assert spark_driver("cluster_check.py", "local[1]").run("pytorch") == 3


def test_a_cluster_in_the_drivers_own_process(spark_driver):
    assert len(set(spark_driver("cluster_check.py", "local-cluster[3,1,1024]").run("where", 3))) == 1


@pytest.mark.parametrize("end", ["down", "until", "killed"])
def test_nothing_is_left(tmp_path, end):
    holder = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    cluster = Spark(tmp_path / "c", workers=1, until=holder.pid)
    assert len(cluster.state["daemons"]) == 2 and set(cluster.state["daemons"].values()) < set(living(tmp_path))
    if end == "down":
        cluster.down()
    elif end == "killed":
        os.kill(cluster.state["keeper"][0], signal.SIGKILL)
    holder.stdin.close()
    assert holder.wait(LIMIT_S) == 0
    wait_until(lambda: not living(tmp_path), f"the end of {living(tmp_path)}", LIMIT_S)


def test_a_port_that_is_taken_is_told(tmp_path):
    cluster = Spark(tmp_path / "a", workers=1)
    port = cluster.master.rsplit(":", 1)[1]
    done = subprocess.run([PROGRAM, "up", "--dir", tmp_path / "b", "--workers", "1", "--port-base", port], capture_output=True,
                          text=True, timeout=4 * LIMIT_S)
    cluster.down()
    assert done.returncode == 1 and f"spark-cluster: error: port {port} of 127.0.0.1: Address already in use" in done.stderr
    assert not living(tmp_path)


def test_its_environment_is_one_for_a_shell(tmp_path, spark_cluster):
    cluster = spark_cluster(release="3.5")
    said = cluster.order("env")
    done = subprocess.run(["bash", "-c", f"{said}\n\"$SPARK_HOME/bin/spark-submit\" --version && echo $PYSPARK_PYTHON"],
                          capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0 and "3.5.9" in done.stderr and done.stdout.strip() == str(spark_python("3.5"))
