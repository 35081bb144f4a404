"""How a run is shown while it goes on: a table that is redrawn in a terminal or a notebook, or the tasks' lines."""

from __future__ import annotations

import contextlib
import html
import sys
import time
from collections import Counter
from typing import Any, Callable, Mapping, Optional, Protocol, Union

from gangrun import _texts
from gangrun.errors import InvalidJob

Status = Mapping[str, Any]
KINDS = ("live", "notebook", "lines", "none")
STYLES = {"succeeded": "green", "failed": "red", "lost": "red", "killed": "red", "running": "cyan"}
# More rows help nobody; those in which something is wrong come first.
MAX_ROWS = 40
MAX_LINE = 200
# A notebook keeps every update in its document until the next one.
NOTEBOOK_INTERVAL_S = 0.5


class Display(Protocol):
    def event(self, event: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this; IPython in a terminal is a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def kind_of(wanted: Union[None, bool, str], block: bool) -> str:
    """The default: a display where somebody looks at it, and nothing in a terminal that goes on meanwhile."""
    if wanted is None or wanted is True:
        if in_notebook():
            return "notebook"
        seen = sys.stdout is not None and sys.stdout.isatty()
        return "live" if (seen and block) or wanted else "none"
    if wanted is False:
        return "none"
    if wanted not in KINDS:
        raise InvalidJob(f"display: {wanted!r}; allowed: True, False, {', '.join(map(repr, KINDS))}")
    return wanted


def make(kind: str) -> Optional[Display]:
    if kind == "live":
        with contextlib.suppress(ImportError):
            return Live()
        return Lines()
    if kind == "notebook":
        return Notebook()
    return Lines() if kind == "lines" else None


def progress(display: Optional[Display]) -> Callable[[str], None]:
    """A teller of what happens before there is a job: it is shown as the job's own notices are."""
    def tell(text: str) -> None:
        if display is not None:
            display.event({"event": "notice", "sentence": text})

    return tell


def close(display: Optional[Display]) -> None:
    if display is not None:
        with contextlib.suppress(OSError):  # whoever looked is gone
            display.close()


def figures(task: Mapping[str, Any]) -> str:
    found = task.get("figures") or {}
    return " ".join(f"{name}={value:.5g}" if isinstance(value, float) else f"{name}={value}" for name, value in found.items())


def duration(ms: int) -> str:
    """As the program writes it: "410 ms", "4.1 s", "41 s", "2 min 5 s", "1 h 2 min"."""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 10_000:
        return f"{ms // 1000}.{ms % 1000 // 100} s"
    large, small, units = (ms // 60_000, ms // 1000 % 60, ("min", "s")) if ms < 3_600_000 else (
        ms // 3_600_000, ms // 60_000 % 60, ("h", "min"))
    words = [f"{count} {unit}" for count, unit in zip((large, small), units) if count]
    return " ".join(words)


def headline(status: Status) -> str:
    words = f"{status['id']} {status['state']}, {duration(status.get('elapsed_ms', 0))}"
    if status.get("restarts_used"):
        words += f", {status['restarts_used']} of {status['restarts_max']} restarts used"
    return words


def what_now(status: Status) -> str:
    cause = status.get("cause") or {}
    return str(cause.get("sentence") or status.get("waiting_for") or "")


def rows(status: Status, limit: int) -> tuple[list[Mapping[str, Any]], str]:
    """The tasks to show, and what is said of those that are not."""
    tasks = list(status.get("tasks", []))
    if len(tasks) <= limit:
        return tasks, ""
    order = {"failed": 0, "lost": 0, "waiting": 1, "running": 2}
    shown = sorted(tasks, key=lambda task: order.get(task["state"], 3))[:limit]
    kept = {task["task"] for task in shown}
    rest = Counter(task["state"] for task in tasks if task["task"] not in kept)
    return [task for task in tasks if task["task"] in kept], "and " + ", ".join(
        f"{count} more {state}" for state, count in rest.items())


COLUMNS = ("task", "state", "address", "memory", "figures", "last line")


def cells(task: Mapping[str, Any]) -> tuple[str, ...]:
    line = _texts.harmless(str(task.get("last_line") or ""))[:MAX_LINE]
    memory = task.get("memory_bytes", 0)
    state = task["state"] + (f" ({task['attempt']})" if task.get("attempt", 1) > 1 else "")
    return (task["task"], state, str(task.get("address") or ""), _texts.size(memory) if memory else "", _texts.harmless(figures(task)),
            line or _texts.harmless(str(task.get("exit") or "")))


class Lines:
    """What `gangrun run` prints where nobody looks: the tasks' lines with their names, and what happens to the job."""

    def event(self, event: Mapping[str, Any]) -> None:
        kind = event.get("event")
        if kind == "line":
            out = sys.stderr if event["stream"] == "stderr" else sys.stdout
            print(f"{event['task']} | {_texts.harmless(event['line'])}", file=out, flush=True)
        elif kind in ("warning", "notice"):
            print(f"gangrun: {_texts.harmless(event['sentence'])}", file=sys.stderr, flush=True)
        elif kind == "end":
            print(f"gangrun: {headline(event['status'])}", file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


class Live:
    """A table at the bottom of the terminal; what the program prints meanwhile goes above it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._console = Console()
        self._live = RichLive("", console=self._console, auto_refresh=False, vertical_overflow="crop")
        self._live.start()

    def event(self, event: Mapping[str, Any]) -> None:
        kind = event.get("event")
        if kind in ("status", "end"):
            self._live.update(self._table(event["status"]), refresh=True)
        elif kind in ("warning", "notice"):
            self._console.print(f"gangrun: {_texts.harmless(event['sentence'])}", markup=False, highlight=False)

    def _table(self, status: Status) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        for column in COLUMNS:
            table.add_column(column, no_wrap=True, overflow="ellipsis", ratio=1 if column == "last line" else None)
        shown, rest = rows(status, max(1, min(MAX_ROWS, self._console.height - 6)))
        for task in shown:
            style = STYLES.get(task["state"], "")
            table.add_row(*(Text(cell, style=style if column == "state" else "")
                            for column, cell in zip(COLUMNS, cells(task))))
        below = [Text(text) for text in (rest, _texts.harmless(what_now(status))) if text]
        return Group(Text(headline(status), style="bold"), table, *below)

    def close(self) -> None:
        self._live.stop()


class Notebook:
    """One output of a cell, replaced as the job goes on."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._handle: Any = display(HTML(""), display_id=True)
        self._shown_at = 0.0

    def event(self, event: Mapping[str, Any]) -> None:
        kind, now = event.get("event"), time.monotonic()
        if kind == "end" or (kind == "status" and now - self._shown_at >= NOTEBOOK_INTERVAL_S):
            self._shown_at = now
            self._handle.update(self._html(to_html(event["status"])))
        elif kind in ("warning", "notice") and not self._shown_at:
            self._handle.update(self._html(f"<div>{html.escape(_texts.harmless(event['sentence']))}</div>"))

    def close(self) -> None:
        pass


def to_html(status: Status) -> str:
    """The same table, for `_repr_html_`; everything in it is escaped."""
    shown, rest = rows(status, MAX_ROWS)
    head = "".join(f"<th style='text-align:left'>{column}</th>" for column in COLUMNS)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in cells(task)) + "</tr>"
                   for task in shown)
    notes = [_texts.harmless(note) for note in status.get("notes", [])]
    below = "".join(f"<div>{html.escape(text)}</div>" for text in (rest, what_now(status), *notes) if text)
    return (f"<div><b>{html.escape(headline(status))}</b><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"{below}</div>")
