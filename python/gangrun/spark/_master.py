"""The master of the nodes: `gangrun run --on spark` beside the driver, what it tells, and what is told to it."""

from __future__ import annotations

import dataclasses
import http.client
import logging
import os
import signal
import socket
import threading
import time
from typing import Any, Callable, Mapping, Optional

from gangrun import _texts, errors
from gangrun._stream import Event, Stream

logger = logging.getLogger("gangrun.spark")

# Until the master listens; it starts nothing before.
LISTEN_LIMIT_S = 60
# The limit of one request to it.
REQUEST_TIMEOUT_S = 20
AGAIN_S = 0.1
# The limit of a traceback's last line in the text of an exception; all of it is in its cause.
MAX_LAST = 500
GONE = ("stopping", "succeeded", "failed", "killed", "lost")


@dataclasses.dataclass(frozen=True)
class Join:
    """What an agent needs to join. `secret` is not shown by repr."""

    host: str
    port: int
    fingerprint: str
    secret: str = dataclasses.field(repr=False)


class _Unix(http.client.HTTPConnection):
    """HTTP by the socket in the job's folder, whose path may be longer than an address of a socket can be."""

    def __init__(self, folder: str) -> None:
        super().__init__("localhost", timeout=REQUEST_TIMEOUT_S)
        self._folder = folder

    def connect(self) -> None:
        descriptor = os.open(self._folder, os.O_PATH | os.O_DIRECTORY)
        try:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(REQUEST_TIMEOUT_S)
            self.sock.connect(f"/proc/self/fd/{descriptor}/master.sock")
        finally:
            os.close(descriptor)


def secret_of(folder: str) -> str:
    """The secret of the job with this folder, for its user."""
    with open(os.path.join(folder, "secret"), encoding="utf-8") as file:
        return file.read().strip()


def ask(folder: str, secret: str, method: str, key: str, body: Optional[bytes] = None) -> tuple[int, bytes]:
    """A request about a key of the rendezvous to the master of the job with this folder: (status, body)."""
    connection = _Unix(folder)
    try:
        connection.request(method, f"/v1/rendezvous/{key}", body, {"Authorization": f"Bearer {secret}"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Master:
    """`changed` is notified under its lock with every event; what is read without the lock is one value each."""

    def __init__(self, words: list[str], on_failure: Callable[[], None],
                 on_status: Callable[[], None] = lambda: None) -> None:
        self.changed = threading.Condition()
        self.status: dict[str, Any] = {}
        self.join: Optional[Join] = None
        self._cause: Optional[Mapping[str, Any]] = None
        self._on_failure, self._told, self._on_status = on_failure, False, on_status
        self._stopped = False  # by us
        self._attached = threading.Event()
        self._stream = Stream(["run", "--json", "--no-logs", *words], {}, self._take)
        self._attached.set()
        threading.Thread(target=self._watch_end, name="gangrun spark master", daemon=True).start()

    # Its events.

    def _take(self, event: Event) -> None:
        self._attached.wait()  # the first event may come before this object knows whose it is
        kind = event.get("event")
        with self.changed:
            if kind in ("status", "end"):
                self.status = event["status"]
                self._cause = self.status.get("cause") or self._cause
            elif kind == "join":
                with open(event["secret_file"], encoding="utf-8") as file:
                    secret = file.read().strip()
                self.join = Join(event["host"], int(event["port"]), event["fingerprint"], secret)
            self.changed.notify_all()
        if kind == "status":
            self._on_status()
        if kind in ("warning", "notice"):
            logger.log(logging.WARNING if kind == "warning" else logging.INFO, "%s", event.get("sentence", ""))
        self._look()

    def _watch_end(self) -> None:
        self._stream.ended.wait()
        with self.changed:
            self.changed.notify_all()
        self._look()

    def _look(self) -> None:
        """Tells once that the job has failed, as soon as it is known: its tasks may take a while to stop."""
        with self.changed:
            if self._told or not self.has_failed:
                return
            self._told = True
        self._on_failure()

    @property
    def id(self) -> str:
        return str(self.status.get("id", ""))

    @property
    def state(self) -> str:
        return str(self.status.get("state", ""))

    @property
    def ended(self) -> threading.Event:
        return self._stream.ended

    @property
    def has_failed(self) -> bool:
        if self._stream.ended.is_set():
            return self.state != "succeeded" and not self._stopped
        return self.state in GONE[2:] or (self.state == "stopping" and self._cause is not None and not self._stopped)

    def failure(self) -> Optional[BaseException]:
        """What the job failed with, as an exception whose text has the traceback of the node that was first."""
        if not self.has_failed:
            return None
        if self._stream.failure is not None:
            return self._stream.failure
        cause = self._cause or {}
        sentence = _texts.sentence(cause.get("sentence") or "") or self._said() or f"the job {self.state or 'could not be started'}"
        if self.state == "killed" or (self._stream.ended.is_set() and not cause and self.state == ""):
            return self._refused(sentence)
        traceback = cause.get("traceback") or "\n".join(cause.get("last_lines") or ())
        last = cause.get("traceback", "").strip().rpartition("\n")[2]
        text = f"{self.id}: {sentence}" + (f": {_texts.theirs(last, MAX_LAST)}" if last else "")
        error: errors.JobError = errors.JobFailed(text, self.status)
        if cause.get("reason") in errors.TIME_LIMITS:
            error = errors.JobTimeout(text, self.status)
        if traceback:
            task, host = cause.get("task") or "", cause.get("host") or ""
            error.__cause__ = errors.RemoteTraceback(traceback, task, host, self.id)
        return error

    def _said(self) -> str:
        return self._stream.said() if self._stream.ended.is_set() else ""

    def _refused(self, sentence: str) -> BaseException:
        if self.state == "killed":
            return errors.JobKilled(_texts.stopped(self.id, sentence), self.status)
        return errors.InvalidJob(sentence) if self._stream.exit_status == 2 else errors.CommandFailed(sentence)

    # Waits.

    def wait_until(self, condition: Callable[[], bool], seconds: Optional[float]) -> bool:
        """Whether the condition came true in that time; looked at with every event, and at the end of the job."""
        limit = None if seconds is None else time.monotonic() + seconds
        with self.changed:
            while not condition():
                left = None if limit is None else limit - time.monotonic()
                if left is not None and left <= 0:
                    return False
                # An interrupt of the driver is only seen between two waits.
                self.changed.wait(1.0 if left is None else min(left, 1.0))
        return True

    def wait_for_join(self) -> Join:
        """Until the master listens; raises why it does not."""
        self.wait_until(lambda: (self.join is not None and bool(self.id)) or self._stream.ended.is_set(), LISTEN_LIMIT_S)
        if self.join is None or not self.id:
            if not self._stream.ended.is_set():
                self.kill()
                raise errors.CommandFailed(f"gangrun run --on spark did not listen within {LISTEN_LIMIT_S} s")
            raise self.failure() or errors.CommandFailed("gangrun run --on spark ended before it listened")
        return self.join

    # Requests to it.

    def _request(self, method: str, key: str, body: Optional[bytes] = None) -> tuple[int, bytes]:
        assert self.join is not None
        return ask(str(self.status["folder"]), self.join.secret, method, key, body)

    def put(self, name: str, value: bytes) -> None:
        """A key of the rendezvous, which the nodes wait for by their agents."""
        try:
            status, said = self._request("PUT", name, value)
        except OSError as error:
            if self.ended.is_set() or self.state in GONE:
                return  # there is nobody any more who waits for it
            raise errors.CommandFailed(f"{self.id}: the key {name} could not be told to the master: {error}") from error
        if status not in (200, 204) and not (self.ended.is_set() or self.state in GONE):
            raise errors.CommandFailed(f"{self.id}: the master does not take the key {name}: {status} "
                                       f"{_texts.theirs(said[:200].decode(errors='replace'))}")

    def get(self, name: str) -> Optional[bytes]:
        """What a node has put; None where it has not yet, and of a master that has ended."""
        try:
            status, value = self._request("GET", name)
        except OSError as error:
            if self.ended.wait(1) or self.state in GONE:
                return None
            raise errors.CommandFailed(f"{self.id}: the master does not tell the key {name}: {error}") from error
        if status == 200:
            return value
        if status == 404 or self.ended.is_set() or self.state in GONE:
            return None
        raise errors.CommandFailed(f"{self.id}: the master does not tell the key {name}: {status} "
                                   f"{_texts.theirs(value[:200].decode(errors='replace'))}")

    def stop(self) -> None:
        """Asks for the end of the job; its tasks get timeouts.stop for it. Does not wait."""
        self._stopped = self._stopped or not self.has_failed
        if not self.ended.is_set():
            self._stream.interrupt(signal.SIGTERM)

    def kill(self, seconds: float = 0) -> None:
        """The job's end at once; waits for it so long."""
        self._stopped = self._stopped or not self.has_failed
        limit = time.monotonic() + seconds
        self._stream.interrupt(signal.SIGINT)
        # The first one tells the tasks to stop, the second one ends them; two that come together may be seen as one.
        while not self.ended.wait(AGAIN_S):
            self._stream.interrupt(signal.SIGINT)
            if time.monotonic() > limit:
                return
