"""Spark on YARN: the nodes live in the containers of the executors, and with the driver in one too."""

import json
import pathlib
import subprocess

import pytest
from clusters.spark.fixtures import OPTIONS, ROOT, spark_home_of, spark_python
from living import processes_of
from waiting import wait_until

LIMIT_S = 170
ALL = 2 * sum(range(1000))
PROGRAMS = ROOT / "tests/spark/programs"
TWO = {"spark.executor.instances": "2", "spark.executor.cores": "1", "spark.executor.memory": "512m", "spark.yarn.am.memory": "384m",
       "spark.driver.memory": "512m", "spark.yarn.maxAppAttempts": "1"}


def files_of(hadoop):
    """What of gangrun lies on the nodes; jobs on YARN itself have left there what YARN keeps for the next one."""
    return {str(path) for path in (hadoop.folder / "data").glob("nm*/**/*gangrun*")}


def nothing_left(hadoop, job, before):
    """Neither processes, wherever they are, nor files on a node but those of `before`."""
    wait_until(lambda: not processes_of(job), "the end of the nodes")
    hadoop.wait_until(lambda: files_of(hadoop) <= before, "the end of files on the nodes")


def check(found):
    nodes = found["nodes"]
    assert sorted(nodes) == ["chief-0", "worker-0"] and sum(node["total"] for node in nodes.values()) == ALL
    assert len({node["container"] for node in nodes.values()}) == 2 and None not in {node["container"] for node in nodes.values()}


def test_nodes_in_containers_and_the_driver_beside_its_user(hadoop, spark_driver, tmp_path):
    home, before = spark_home_of("3.5", tmp_path), files_of(hadoop)
    driver = spark_driver("places.py", "yarn", TWO | {"spark.yarn.jars": f"local:{home}/jars/*"}, variables=hadoop.exports)
    found = driver.run("whole", str(tmp_path), 2, timeout=LIMIT_S)
    check(found)
    assert driver.close() == 0
    nothing_left(hadoop, found["id"], before)


@pytest.fixture
def submit(hadoop, agent, tmp_path):
    """submit(*words): spark-submit in cluster mode, as from a machine that has nothing of the job's. Of the newest Spark, whose modules
    lie in an archive there, and have two names each."""
    home, python = spark_home_of("4", tmp_path), spark_python("4")
    environment = {name: value for name, value in hadoop.environment.items() if not name.startswith(("SPARK_", "PYSPARK_", "GANGRUN_"))}
    environment |= {"SPARK_HOME": str(home), "PYSPARK_PYTHON": str(python)}
    settings = {name: value for name, value in OPTIONS.items() if name not in ("spark.driver.host", "spark.executor.memory")} | TWO
    settings |= {"spark.yarn.jars": f"local:{home}/jars/*"}
    for name, value in {"PYTHONPATH": ROOT / "python", "GANGRUN_BIN": agent.parent, "PYSPARK_PYTHON": python}.items():
        settings[f"spark.yarn.appMasterEnv.{name}"] = str(value)
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]

    def run(*words):
        return subprocess.run([home / "bin/spark-submit", "--master", "yarn", "--deploy-mode", "cluster", *options, "--py-files",
                               PROGRAMS / "serving.py", PROGRAMS / "places.py", *map(str, words)], cwd=tmp_path, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    return run


def test_the_driver_in_a_container_leaves_nothing_on_its_node(hadoop, submit, tmp_path):
    before = files_of(hadoop)
    done = submit(tmp_path, 2)
    assert done.returncode == 0, done.stderr[-6000:]
    found = json.loads((tmp_path / "found.json").read_text())
    check(found)
    assert found["driver"]["container"] and found["driver"]["container"] not in {node["container"] for node in found["nodes"].values()}
    nothing_left(hadoop, found["id"], before)
    assert not pathlib.Path("/home/.gangrun/jobs", found["id"]).exists()  # what YARN takes for everybody's home
