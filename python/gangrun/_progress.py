"""What is told before a job begins: that an environment is packed, that files are uploaded."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Mapping, Optional

from gangrun import _texts

# A long step says no more often than this that it goes on, but on a terminal.
INTERVAL_S = 10.0
QUARTERS = 4
LARGE = 64 << 20  # what is smaller is there at once


class Progress:
    """Tells it by `tell` where there is a display; else on standard error, if that is wanted: on a terminal by one line that
    changes, elsewhere by lines, of which a long step has few."""

    def __init__(self, tell: Optional[Callable[[str], None]], wanted: bool) -> None:
        self.tell, self.wanted = tell, wanted and tell is None and sys.stderr is not None
        self.terminal = self.wanted and sys.stderr.isatty()
        self.step = ""
        self.told_at = 0.0
        self.is_open = False  # the line on the terminal
        self.uploaded: dict[str, int] = {}

    def say(self, text: str) -> None:
        """One more word about a step, which is what stands before the colon."""
        step, now = text.partition(":")[0], time.monotonic()
        if self.terminal:
            self._write(("" if step == self.step or not self.is_open else "\n") + f"\r\x1b[Kgangrun: {text}")
            self.is_open = True
        elif step != self.step or now - self.told_at >= INTERVAL_S:
            self.told_at = now
            self._line(text)
        self.step = step

    def notice(self, sentence: str) -> None:
        """What a job says of itself: where its tasks work, what was brought."""
        self.end()
        self._line(_texts.harmless(sentence))

    def end(self) -> None:
        if self.is_open:
            self.is_open = False
            self._write("\n")

    def event(self, event: Mapping[str, Any]) -> None:
        """One of `gangrun run --json` that is for somebody without a display."""
        if event["event"] == "upload":
            self.upload(event)
        else:
            self.notice(event["sentence"])

    def upload(self, event: Mapping[str, Any]) -> None:
        """An event of that kind from `gangrun run --json`: a line at the beginning, and of a large file for each quarter."""
        name, sent, size = event["name"], event["sent"], event["size"]
        quarter = sent * QUARTERS // size if size >= LARGE else 0
        if self.uploaded.get(name) == quarter:
            return
        begins = name not in self.uploaded
        self.uploaded[name] = quarter
        whole = _texts.size(size)
        self._line(f"uploads {name} ({whole})" if begins else f"uploads {name}: {sent * 100 // size} % of {whole}")

    def _line(self, text: str) -> None:
        if self.tell is not None:
            with contextlib.suppress(OSError):
                self.tell(text)
        elif self.wanted:
            self._write(f"gangrun: {text}\n")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # whoever looked is gone
            sys.stderr.write(text)
            sys.stderr.flush()
