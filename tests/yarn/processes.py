"""The processes of jobs whose nodes are all on this machine."""

import os


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
