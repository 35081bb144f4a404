"""Threads of a node beside its feed: what the driver says, the figures, and whether the node still goes on."""

from __future__ import annotations

import http.client
import os
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, Optional

from gangrun import _texts

if TYPE_CHECKING:
    from gangrun.spark._feed import Feed

TICK_S = 1.0
CPU_OF_A_TICK_S = 0.05  # a process that uses more is at work, however long it takes no rows
ANSWER_S = 30.0
AT_ONCE_S = 0.1  # an answer so soon was not waited with, as an agent does
MAX_WORD_BYTES = 64


class Watch:
    """Started with the feed it belongs to. What it needs of the job it finds in the environment, and without a job it only
    watches."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.limit_s: Optional[float] = None  # without progress, once somebody feeds
        self._closed = threading.Event()
        self._progress = self._now = time.monotonic()
        self._cpu = time.process_time()
        self._seen: dict[str, Any] = {}
        self._told: dict[str, Any] = {}
        self._threads = [threading.Thread(target=self._tick_on, name="gangrun-feed-figures", daemon=True)]
        place = os.environ.get("GANGRUN_RENDEZVOUS")
        if place:
            self._threads.append(threading.Thread(target=self._listen, args=(place,), name="gangrun-feed-words", daemon=True))
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._closed.set()
        if threading.current_thread() is not self._threads[0]:
            self._threads[0].join(timeout=10)  # the last figures are told

    # --- the driver's words: feed/1, feed/2, … are "flush" or "end"

    def _listen(self, place: str) -> None:
        number = 1
        while not self._closed.is_set():
            word = self._word(place, number)
            if word is None:
                continue
            number += 1
            if word == "end":
                self.feed.end()
                return
            self.feed.flush()

    def _word(self, place: str, number: int) -> Optional[str]:
        """The agent answers when the key is there, or after a while that it is not. Without an agent this process ends soon."""
        connection, asked = http.client.HTTPConnection(place, timeout=ANSWER_S), time.monotonic()
        try:
            connection.request("GET", f"/feed/{number}")
            answer = connection.getresponse()
            body = answer.read(MAX_WORD_BYTES)
            if answer.status == 200:
                return body.decode(errors="replace")
            if answer.status != 404 or time.monotonic() - asked < AT_ONCE_S:
                self._closed.wait(TICK_S)
        except OSError:
            self._closed.wait(TICK_S)
        finally:
            connection.close()
        return None

    # --- figures and progress

    def _tick_on(self) -> None:
        while not self._closed.wait(TICK_S):
            self._tick()
        self._tell(self._figures(self.feed.stats(), max(time.monotonic() - self._now, 1e-3)))

    def _tick(self) -> None:
        stats, now = self.feed.stats(), time.monotonic()
        figures = self._figures(stats, now - self._now)
        self._now = now
        self._tell(figures)
        cpu = time.process_time()
        moved = (self.feed.rows_in, self.feed.rows_out) != (self._seen.get("in"), self._seen.get("out"))
        waits = stats["queued_bytes"] > 0 or self.feed.owed > 0 or self.feed.is_awaited
        if moved or cpu - self._cpu > CPU_OF_A_TICK_S or not waits or self.feed.is_giving:
            self._progress = now
            self.feed.touch()
        elif self.limit_s is not None and now - self._progress > self.limit_s:
            fail(f"no progress for {self.limit_s:g} s (feed_timeout): {_texts.size(int(stats['queued_bytes']))} of rows wait, "
                 f"{self.feed.owed} rows of inference have no result, "
                 f"{'rows of a stream are not done with, ' if self.feed.is_awaited else ''}but this node took nothing, gave nothing and computed "
                 "nothing")
        self._cpu = cpu
        self._seen = {"in": self.feed.rows_in, "out": self.feed.rows_out, **stats}

    def _figures(self, stats: dict[str, Any], seconds: float) -> dict[str, Any]:
        seen = self._seen
        rows_in, rows_out = self.feed.rows_in, self.feed.rows_out
        node = stats["node_waits_s"] - seen.get("node_waits_s", 0.0)
        feeder = stats["feeder_waits_s"] - seen.get("feeder_waits_s", 0.0)
        waits_for = "rows" if node > seconds / 2 else "node" if feeder > seconds / 2 else ""
        return {"rows_in": rows_in, "rows_in_per_s": round((rows_in - seen.get("in", 0)) / seconds), "rows_out": rows_out,
                "rows_out_per_s": round((rows_out - seen.get("out", 0)) / seconds),
                "queued_mib": round(stats["queued_bytes"] / 2**20, 1), "waits_for": waits_for}

    def _tell(self, figures: dict[str, Any]) -> None:
        if figures != self._told and os.environ.get("GANGRUN_FIGURES_FILE"):
            from gangrun import task
            self._told = figures
            task.report(**figures)


def _stacks() -> str:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    parts = [f"Thread {names.get(ident, ident)}:\n{''.join(traceback.format_stack(frame))}"
             for ident, frame in sys._current_frames().items() if ident != threading.get_ident()]
    return "\n".join(parts)


def fail(sentence: str) -> None:
    """Ends this process, with the sentence and what each of its threads is at as what its function has raised."""
    from gangrun import _result
    text = f"{_stacks()}\nTimeoutError: {sentence}\n"
    sys.stderr.write(text)
    sys.stderr.flush()
    path = os.environ.get("GANGRUN_RESULT_FILE")
    if path:
        _result.leave_exception(path, _result.encode_exception(TimeoutError(sentence), text))
    os._exit(1)
