"""The end of jobs of which a host does not answer any more: its processes are stopped, or its link is cut."""

import json
import signal

import pytest

from ssh_job import LIMIT_S, wait_for_nothing
from waiting import wait_until

# Far longer than any of these tests may take: what is told in time is not told because it is over. With its lease, what
# a frozen host has of the job ends some seconds after it goes on.
PATIENT = ("--timeout", "stop=1h,master_lost=5s", "--restarts", "0")
# Ends as it is told to: a file "end.INDEX" has its status.
ENDED_BY_A_FILE = ('while ! test -e end.$GANGRUN_TASK_INDEX; do echo "$GANGRUN_GENERATION" >> tick.$GANGRUN_TASK_INDEX; sleep 0.05; done; '
                   "exit $(cat end.$GANGRUN_TASK_INDEX)")


def lose(sshds, name, fault):
    sshds.freeze(name) if fault == "frozen" else sshds.hosts.cut(name)


def find_again(sshds, name, fault):
    sshds.thaw(name) if fault == "frozen" else sshds.hosts.mend(name)
    wait_for_nothing(sshds)


def not_confirmed(name, *tasks):
    return f"could not confirm that the tasks on host {name} ended ({', '.join(tasks)}): it does not answer"


@pytest.mark.parametrize("fault", ["frozen", "cut"])
def test_ctrl_c_does_not_wait_for_a_host_that_does_not_answer(sshds, start, fault):
    """It took 51 s: the tasks' time to stop, twice what a kill may take, and the removal of folders."""
    job = start(sshds, 2, "-r", "worker:6", *PATIENT)
    for index in range(6):
        job.wait_for_ticks(index)
    name = sshds.hosts.names[1]
    lose(sshds, name, fault)
    job.process.send_signal(signal.SIGINT)
    assert job.wait() == 130, job.said()
    assert not_confirmed(name, "worker:2", "worker:3") in job.said() and "stopped by Ctrl-C" in job.said(), job.said()
    find_again(sshds, name, fault)


def test_a_second_ctrl_c_does_not_wait_either(sshds, start):
    # It ends only when it is killed: on the hosts that answer, at once.
    job = start(sshds, 1, "-r", "worker:3", *PATIENT, command="trap '' TERM; " + ENDED_BY_A_FILE)
    for index in range(3):
        job.wait_for_ticks(index)
    name = sshds.hosts.names[2]
    sshds.freeze(name)
    for times in range(2):
        job.process.send_signal(signal.SIGINT)
        wait_until(lambda: job.said().count("Ctrl-C") > times, lambda: job.said(), LIMIT_S)
    assert job.wait() == 130, job.said()
    assert not_confirmed(name, "worker:2") in job.said(), job.said()
    find_again(sshds, name, "frozen")


def test_a_detached_job_is_killed_though_a_host_does_not_answer(sshds, start, run_gangrun):
    job = start(sshds, 1, "-d", "-r", "worker:3", *PATIENT)
    assert job.wait() == 0, job.said()
    for index in range(3):
        job.wait_for_ticks(index)
    name = sshds.hosts.names[0]
    sshds.freeze(name)
    assert run_gangrun("kill", "last").status == 0
    assert run_gangrun("wait", "last", timeout=LIMIT_S).status == 5
    status = json.loads(run_gangrun("status", "last", "--json").stdout)
    assert {task["task"]: task["state"] for task in status["tasks"]}["worker:0"] == "lost", status
    (log,) = job.home.glob("jobs/*/master.log")
    assert not_confirmed(name, "worker:0") in log.read_text()
    find_again(sshds, name, "frozen")


def test_a_job_fails_at_once_though_another_host_does_not_answer(sshds, start):
    job = start(sshds, 1, "-r", "worker:3", *PATIENT, command=ENDED_BY_A_FILE)
    for index in range(3):
        job.wait_for_ticks(index)
    name = sshds.hosts.names[1]
    sshds.freeze(name)
    (job.folder / "end.0").write_text("3")
    assert job.wait() == 1, job.said()
    assert not_confirmed(name, "worker:1") in job.said() and "worker:0" in job.said() and "exited with status 3" in job.said(), job.said()
    find_again(sshds, name, "frozen")


def test_a_job_succeeds_though_the_host_of_a_task_that_has_ended_does_not_answer(sshds, start, run_gangrun):
    job = start(sshds, 1, "-r", "worker:3", *PATIENT, command=ENDED_BY_A_FILE)
    for index in range(3):
        job.wait_for_ticks(index)
    (job.folder / "end.2").write_text("0")

    def has_succeeded():
        status = json.loads(run_gangrun("status", "last", "--json").stdout)
        return {task["task"]: task["state"] for task in status["tasks"]}["worker:2"] == "succeeded"

    wait_until(has_succeeded, "the end of worker:2", LIMIT_S)
    name = sshds.hosts.names[2]
    sshds.freeze(name)
    for index in range(2):
        (job.folder / f"end.{index}").write_text("0")
    assert job.wait() == 0, job.said()
    assert not_confirmed(name, "worker:2") in job.said(), job.said()
    find_again(sshds, name, "frozen")
