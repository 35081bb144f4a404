"""The living processes of this machine, by what every process of a job or a cluster finds in its environment."""

import contextlib
import os
import pathlib


def processes_with(setting):
    """{pid: words of the command line} of those that have this ("NAME=value") in their environment."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # A dead process whose parent has not asked yet has an empty environment.
            if setting.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it ended while it was looked at
    return found


def processes_of(job):
    """Those that belong to a job, or did, whatever namespace they are in."""
    return processes_with(f"GANGRUN_JOB_ID={job}")


def state_of(pid):
    """The letter of /proc/PID/stat, X of one that is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
