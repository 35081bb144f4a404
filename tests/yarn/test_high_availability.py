"""Both masters of the cluster fail over while a job runs."""

import os
import signal

from waiting import wait_until
from yarn.jobs import Jobs, Waiting
from yarn.processes import agent_of, pids_of


def test_no_task_notices_that_both_masters_fail_over(hadoop_pair, gangrun, agent, home, tmp_path):
    jobs = Jobs(gangrun, hadoop_pair, tmp_path, home)
    job = Waiting(jobs, "-r", "chief:1,worker:2", "--restarts", "1:task")
    job.starts(3)
    before = pids_of(job)
    # Killed, not asked to hand over: the worst of the two ways.
    for daemon in ("nn", "rm"):
        hadoop_pair.kill(daemon, 1)
        hadoop_pair.transition(daemon, 2)
    assert wait_until(lambda: job.status()["state"] == "running", "the job to be seen again", 120, pause_s=0.5)
    assert pids_of(job) == before
    status = job.status()
    assert (status["restarts_used"], status["generation"]) == (0, 1)
    # A container is asked for from the second ResourceManager, and what it is for recorded with the second NameNode.
    for pid in agent_of(job, "worker:0"):
        os.kill(pid, signal.SIGKILL)
    # Perhaps on another node, which makes another address and so a generation: then all start anew.
    job.starts(4)
    wait_until(lambda: len(pids_of(job)) == 3, "all tasks to run again", 90, pause_s=0.1)
    assert job.end()["restarts_used"] == 1
    assert hadoop_pair.wait_for_application(job.id)["finalStatus"] == "SUCCEEDED"
    assert jobs.status(job.id)["state"] == "succeeded"
    for daemon in ("nn", "rm"):
        hadoop_pair.start(daemon, 1)
