"""The processes of jobs whose nodes are all on this machine."""

import os
import signal

from waiting import wait_until


def processes(word):
    """The numbers of the processes whose command line has this word."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as line:
                if word.encode() in line.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:
            continue
    return found


def agent_of(job, task):
    """The processes of a task's agent and its guardian."""
    return processes(f"{job.id}.{task.replace(':', '.')}")


def master_of(job):
    """The process of the job's master."""
    def environment(pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as variables:
                return variables.read()
        except OSError:
            return b""

    found = [pid for pid in processes("./gangrun-agent") if pid in processes("master")
             and job.removeprefix("application_").encode() in environment(pid)]
    return found[0] if found else None


def pids_of(job):
    """The processes of a job's tasks as this machine numbers them, whatever they call themselves."""
    return set(processes(str(job.file)))


def end_under_another_master(job, hadoop):
    """Kills the master of a job that waits; no task notices, and the job ends well under the next one."""
    before, killed = pids_of(job), master_of(job.id)
    hadoop.wait_until_seen_running(job.id, len(before) + 1)
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: master_of(job.id) not in (None, killed), "the next master", pause_s=0.1)
    job.jobs.wait_for_state(job.id, "running")
    after = pids_of(job)
    assert after == before, (before, after, job.status())
    ended = job.end()
    assert (ended["restarts_used"], ended["generation"]) == (0, 1), ended
    # The end is recorded, and seen by status, before the ResourceManager is told.
    assert hadoop.wait_for_application(job.id)["finalStatus"] == "SUCCEEDED"
