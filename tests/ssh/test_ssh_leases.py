"""Clients that are stopped, and links that are cut, for longer than a task may live without its master (timeouts.master_lost)."""

import os
import signal

import pytest

from waiting import wait_until

LIMIT_S = 60
LEASE = ("--timeout", "master_lost=3s")


def wait_for_no_agent(sshds):
    """Each has ended by itself."""
    for name in sshds.hosts.names:
        wait_until(lambda name=name: not sshds.commands(name, "--words-fd "), lambda name=name: f"the end of the agents on {name}", LIMIT_S)


def kill_keepers(sshds):
    for name in sshds.hosts.names:
        for pid in sshds.commands(name, " host --folder "):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("status", [0, 3])
@pytest.mark.parametrize("is_keeper_killed", [False, True])
def test_a_task_that_ended_in_its_lease_is_what_it_was(sshds, start, status, is_keeper_killed):
    """It was told as lost: its agent knew how it had ended, had nobody to tell it, and ended with its lease."""
    job = start(sshds, 1, "-r", "worker:2", *LEASE, command=f"while ! test -e go; do sleep 0.05; done; echo done; exit {status}")
    wait_until(lambda: "running" in job.said(), lambda: f"the tasks to run: {job.said()}", LIMIT_S)
    job.process.send_signal(signal.SIGSTOP)
    if is_keeper_killed:
        kill_keepers(sshds)
    (job.folder / "go").touch()
    wait_for_no_agent(sshds)
    job.process.send_signal(signal.SIGCONT)
    assert job.wait() == (1 if status else 0), job.said()[-3000:]
    assert "agent" not in job.said() and ("exited with status 3" in job.said()) == bool(status), job.said()[-3000:]


def test_a_task_that_outlived_its_lease_starts_again_uncounted(sshds, start):
    """Nobody's fault, as where its host is not reached for longer; it was the task's."""
    job = start(sshds, 1, "-r", "worker:2", *LEASE, command="while ! test -e go; do sleep 0.05; done; echo done")
    wait_until(lambda: "running" in job.said(), lambda: f"the tasks to run: {job.said()}", LIMIT_S)
    job.process.send_signal(signal.SIGSTOP)
    wait_for_no_agent(sshds)
    job.process.send_signal(signal.SIGCONT)
    wait_until(lambda: "restarted, not counted" in job.said(), lambda: f"the restart: {job.said()}", LIMIT_S)
    assert 'lost its master: "no answer from the master for 3.0 s' in job.said()
    (job.folder / "go").touch()
    assert job.wait() == 0, job.said()[-3000:]
