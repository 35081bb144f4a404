"""Processes as /proc shows them, waits for their end, and free ports."""

import contextlib
import os
import random
import select
import socket

from .basics import Failure

PORT_TRIES = 200


def start_time(pid):
    """When a process started, in clock ticks, or None: together with the number it names one process for good."""
    try:
        with open(f"/proc/{pid}/stat") as source:
            fields = source.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def resident_kilobytes(pid):
    try:
        with open(f"/proc/{pid}/status") as source:
            return next((int(line.split()[1]) for line in source if line.startswith("VmRSS:")), 0)
    except OSError:
        return 0


def environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as source:
            items = source.read().split(b"\0")
    except OSError:
        return {}
    return dict(item.decode("utf-8", "replace").split("=", 1) for item in items if b"=" in item)


def working_folder(pid):
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def all_pids():
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def wait_for_an_end(pids, seconds):
    """Returns when one of the processes has ended, at the latest after so many seconds."""
    poller, held = select.poll(), []
    try:
        for pid in pids:
            try:
                held.append(os.pidfd_open(pid))
            except ProcessLookupError:
                return
            poller.register(held[-1], select.POLLIN)
        poller.poll(max(0, seconds) * 1000)
    finally:
        for descriptor in held:
            os.close(descriptor)


def reap(pid):
    """A daemon that this very process started is a zombie until it is asked for."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def free_ports(count, hosts):
    """The first of a block of ports, below the usual ephemeral range, that is free on all hosts."""
    for _ in range(PORT_TRIES):
        base = random.randrange(15000, 31000 - count)
        with contextlib.ExitStack() as stack:
            try:
                for port in range(base, base + count):
                    for host in hosts:
                        stack.enter_context(socket.socket()).bind((host, port))
                return base
            except OSError:
                continue
    raise Failure(f"found no free block of {count} ports")
