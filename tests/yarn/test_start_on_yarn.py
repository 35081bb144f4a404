"""The page docs/start/yarn.md, followed on a real cluster."""

import os
import subprocess

import pages
import pytest

OWN_CLUSTER = "With a cluster of your own"
TEST_CLUSTER = ["Without one: start a test cluster", "Stop the test cluster"]
SCRIPT = "tests/clusters/hadoop/hadoop-cluster"


def write_files(folder):
    for name in ("start/this-machine", "start/yarn"):
        pages.write_files(name, folder)


def test_a_model_is_trained_on_yarn(jobs):
    write_files(jobs.folder)
    configuration = jobs.environment["HADOOP_CONF_DIR"]
    path = f"{jobs.gangrun.parent}:{jobs.environment['PATH']}"
    pages.follow(pages.fences("start/yarn", without=TEST_CLUSTER), jobs.folder, jobs.environment | {"PATH": path},
                 {"/etc/hadoop/conf": configuration})


@pytest.fixture
def reader(gangrun, agent, home, tmp_path):
    """What somebody has in their environment who has built gangrun and has no Hadoop."""
    folder = tmp_path / "cluster"
    own = {name: value for name, value in pages.with_programs(gangrun, home).items() if not name.startswith(("HADOOP_", "YARN_"))}
    own |= {name: value for name, value in os.environ.items() if name == "HADOOP_CLUSTER_CACHE"}
    yield own | {"HADOOP_CLUSTER_DIR": str(folder)}
    if (folder / "cluster.json").exists():  # the page did not get to its end
        subprocess.run([pages.ROOT / SCRIPT, "down", "--purge", "--dir", folder], check=True, timeout=60)


def test_the_page_starts_and_stops_a_cluster(reader, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    write_files(folder)
    pages.follow(pages.fences("start/yarn", without=[OWN_CLUSTER]), folder, reader,
                 {"tools/install-deps": f"{pages.ROOT}/tools/install-deps", SCRIPT: f"{pages.ROOT}/{SCRIPT}",
                  "hadoop-cluster up": f"hadoop-cluster up --until {os.getpid()}"})
    assert not os.path.exists(reader["HADOOP_CLUSTER_DIR"])
