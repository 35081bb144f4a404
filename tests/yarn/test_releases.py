"""Whole jobs on another release than the newest; HADOOP_RELEASE names another one for a run by hand."""

import os

import pytest

from clusters.hadoop.fixtures import Hadoop
from waiting import wait_until
from yarn.jobs import Jobs, Waiting
from yarn.processes import end_under_another_master
from yarn.test_hadoop_wire import CLIENT, MASTER, talk

RELEASE = os.environ.get("HADOOP_RELEASE", "3.4.2")
SHOW = """
import json, os
config = json.loads(os.environ["TF_CONFIG"])
print("task", config["task"]["type"], config["task"]["index"], "of", sorted(config["cluster"]))
"""


@pytest.fixture(scope="module")
def old_hadoop(tmp_path_factory):
    cluster = Hadoop(tmp_path_factory.mktemp("hadoop"), nodes=2, hadoop_version=RELEASE)
    yield cluster
    cluster.down()


@pytest.fixture
def old_jobs(old_hadoop, gangrun, agent, home, tmp_path):
    jobs = Jobs(gangrun, old_hadoop, tmp_path, home)
    yield jobs
    jobs.end_all()


def test_client_and_master(old_hadoop, tmp_path):
    tells_paths = not RELEASE.startswith("3.3.")
    client = CLIENT | ({} if tells_paths else {"queue.default": ""})
    master = MASTER | ({} if tells_paths else {"queue": "default"})
    talk(old_hadoop, tmp_path, client_says=client, master_says=master)


def test_a_gang_and_its_logs_after_the_end(old_jobs, old_hadoop):
    old_jobs.write("show.py", SHOW)
    job = old_jobs.submit("-r", "chief:1,worker:2", "-m", "128m", "--", "python3", "show.py")
    old_jobs.wait_for_state(job, "succeeded")
    assert old_hadoop.wait_for_application(job)["finalStatus"] == "SUCCEEDED"
    expected = [f"task {task} of ['chief', 'worker']" for task in ("chief 0", "worker 0", "worker 1")]

    def aggregated():
        done = old_jobs.order("logs", job)
        return done.returncode == 0 and all(line in done.stdout for line in expected)

    assert wait_until(aggregated, "the aggregated logs", pause_s=0.5)


def test_no_task_notices_that_the_master_is_killed(old_jobs, old_hadoop):
    job = Waiting(old_jobs, "-r", "chief:1,worker:2")
    job.starts(3)
    end_under_another_master(job, old_hadoop)
