"""What a job on Spark may leave on the machine, and the waits until all of it is gone."""

import os
import pathlib
import socket

from clusters.spark.fixtures import scratch_of
from living import processes_of
from waiting import wait_until

LIMIT_S = 60
TCP_LISTEN = 10  # of the kernel's tcp_states.h


def left_of(job):
    """What the machine still has of a job: processes, memory that is shared, sockets by name."""
    found = [f"process {pid}: {' '.join(words)[:200]}" for pid, words in processes_of(job).items()]
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            if b"gangrun" in command.split(b"\0")[0] and job.encode() in command:
                found.append(f"process {entry.name}: {command[:200]}")
        except OSError:
            continue  # it ended while it was looked at
    with open("/proc/net/unix") as sockets:
        found += [line.split()[-1] for line in sockets if job in line and "@" in line]
    return found


def memory_files(pids=None):
    """Who has memory of the feed's, of all processes or of these: {process: its command line and names}."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            asked = entry.name.isdigit() and (pids is None or int(entry.name) in pids)
            names = [os.readlink(link) for link in (entry / "fd").iterdir()] if asked else []
            if names := [name for name in names if name.startswith("/memfd:gangrun-feed")]:
                found[entry.name] = [(entry / "cmdline").read_bytes(), *names]
        except OSError:
            continue  # likewise
    return found


def until_gone(find):
    """Waits until `find` finds nothing; the failure tells what it still finds."""
    wait_until(lambda: not find(), lambda: f"the end of {find()}", LIMIT_S)


def nothing_left(job, *folders):
    until_gone(lambda: left_of(job))
    until_gone(lambda: [path for folder in folders for path in scratch_of(folder)])


def ports_in_state(accepted):
    """The ports of this machine's TCP sockets in such a state."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if accepted(int(state, 16)):
                found.add(int(local.rpartition(":")[2], 16))
    return found


def held(port):
    """Whether somebody listens at the port or has only bound it, which no table tells.

    Once it is free, the kernel may give it to a connection of anybody's, whose end keeps it for a minute.
    """
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
            return False
        except OSError:
            return port in ports_in_state(lambda state: state == TCP_LISTEN) or port not in ports_in_state(lambda state: True)
