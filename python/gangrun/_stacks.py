"""Lets `gangrun stacks` read this process's Python stacks without py-spy.

`faulthandler` writes them to a FIFO that has lost its name, when the agent sends the signal: docs/protocols/stacks.md. Nothing
here may fail a task.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal

# By default it is ignored, so that it ends no program that has no handler.
SIGNAL = signal.SIGURG
NAME = "gangrun-stacks-"  # then the number of the process; the agent looks for it among the open files


def _fifo(name: str) -> int:
    """A full one takes nothing more: nobody waits for a reader."""
    folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"gangrun-{os.urandom(8).hex()}")
    path = os.path.join(folder, name)
    os.mkdir(folder, 0o700)
    try:
        os.mkfifo(path, 0o600)
        return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.rmdir(folder)


def answer() -> None:
    """From now on this process answers, and so do those that it forks, each by a FIFO of its own."""
    if signal.getsignal(SIGNAL) == signal.SIG_DFL:  # else whoever has set it has another use for it
        _register()
        os.register_at_fork(after_in_child=_register)


def _register() -> None:
    """A parent's FIFO stays open: whoever has closed all files since may have its number for another one."""
    with contextlib.suppress(Exception):
        faulthandler.register(SIGNAL, file=_fifo(f"{NAME}{os.getpid()}"), all_threads=True, chain=False)
