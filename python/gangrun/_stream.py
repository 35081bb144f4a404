"""A command of `gangrun` that tells what happens, one JSON object a line, and the thread that reads it."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from typing import Any, Callable, Mapping, Optional, Sequence

from gangrun import _program, errors

Event = dict[str, Any]
# An error is a line; what is beyond this of its standard error is somebody's mistake.
MAX_STDERR_BYTES = 65536
# A line that comes in pieces is put together up to about this many characters.
MAX_LINE = 64 * 1024 * 1024


class Stream:
    """The events of one command, handed to `on_event` by a thread of its own, in order.

    `ended` is set after the last of them. The process is in a session of its own: a Ctrl-C at the terminal reaches it
    only by `interrupt`.
    """

    def __init__(self, words: Sequence[str], env: Mapping[str, str], on_event: Callable[[Event], None],
                 folder: Optional[str] = None) -> None:
        self.ended = threading.Event()
        self.exit_status: Optional[int] = None
        self.failure: Optional[BaseException] = None  # what a callback raised
        self._words, self._env, self._on_event, self._folder = words, env, on_event, folder
        self._program = _program.find()
        self._pieces: dict[tuple[str, str], str] = {}  # by task and stream
        self._stderr = tempfile.TemporaryFile()
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._started: queue.Queue[Optional[OSError]] = queue.Queue()
        threading.Thread(target=self._read, name=f"gangrun {words[0]}", daemon=True).start()
        error = self._started.get()
        if error is not None:
            raise errors.CommandFailed(f"{self._program}: {error}") from error

    def _read(self) -> None:
        # The process is told when its parent ends, which for the kernel is the thread that started it: so it is this one.
        parent = {"GANGRUN_PARENT": str(os.getpid())}
        try:
            process = subprocess.Popen([self._program, *self._words], env=_program.environment({**self._env, **parent}),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._stderr,
                                       start_new_session=True, cwd=self._folder)
        except OSError as error:
            self._started.put(error)
            return
        self._process = process
        self._started.put(None)
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                if self.failure is None:
                    self._handle(line)
        self.exit_status = process.wait()
        self.ended.set()

    def _handle(self, line: bytes) -> None:
        try:
            event = self._whole(json.loads(line))
            if event is not None:
                self._on_event(event)
        except BaseException as error:  # a callback's: it is raised again by whoever waits
            self.failure = error
            self.interrupt()

    def _whole(self, event: Event) -> Optional[Event]:
        """The event, with all of its line; nothing while there is more to come of it."""
        if event.get("event") != "line":
            return event
        source = event["task"], event["stream"]
        text = self._pieces.pop(source, "") + event["line"]
        if event.pop("partial", False) and len(text) < MAX_LINE:
            self._pieces[source] = text
            return None
        return {**event, "line": text}

    def interrupt(self, number: int = signal.SIGINT) -> None:
        """As Ctrl-C would; twice ends the job at once."""
        if self._process is not None:
            self._process.send_signal(number)

    @property
    def running(self) -> bool:
        return not self.ended.is_set()

    def said(self) -> str:
        """What the command wrote to standard error, which with --json is the error that ended it."""
        self._stderr.seek(0)
        return _program.sentence(self._stderr.read(MAX_STDERR_BYTES))
