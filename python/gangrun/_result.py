"""What a task's function has returned or raised, as the bytes that come back.

A pickled dict of plain values; what the user's function made is pickled once more inside of it, so that a value that
cannot be read here does not take the rest with it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
from typing import Any, Mapping, Optional

from gangrun import _texts, errors

FORMAT = 1
# An agent sends no more (docs/variables.md).
MAX_BYTES = 256 * 1024 * 1024


def _dumps(value: Any) -> bytes:
    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(value)
    return bytes(cloudpickle.dumps(value))


def encode_value(value: Any) -> bytes:
    """A value that cannot be pickled, or is too large, becomes the reason why it is not there."""
    outcome: dict[str, Any] = {"format": FORMAT, "kind": "value", "type": type(value).__qualname__}
    try:
        outcome["body"] = _dumps(value)
    except Exception as error:  # whatever the user's object raises while it is pickled
        outcome.update(kind="unsendable", reason=f"cannot be pickled: {type(error).__name__}: {error}")
    content = pickle.dumps(outcome, protocol=4)
    if len(content) > MAX_BYTES:
        reason = f"has {_texts.size(len(content))} when pickled; allowed: {_texts.size(MAX_BYTES)}"
        content = pickle.dumps({**outcome, "kind": "unsendable", "body": None, "reason": reason}, protocol=4)
    return content


def encode_exception(error: BaseException, traceback: str) -> bytes:
    """The body is left out where the exception would not come out of its pickle again."""
    body: Optional[bytes] = None
    try:
        body = _dumps(error)
        pickle.loads(body)
    except Exception:  # likewise; its type, words and traceback are sent all the same
        body = None
    outcome = {"format": FORMAT, "kind": "exception", "type": type(error).__qualname__, "message": _text(error),
               "traceback": traceback, "body": body if body is None or len(body) < MAX_BYTES // 2 else None}
    return pickle.dumps(outcome, protocol=4)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a user's __str__
        return ""


def decode(content: bytes) -> dict[str, Any]:
    """Only of one's own job: it is a pickle."""
    outcome: dict[str, Any] = pickle.loads(content)
    if outcome.get("format") != FORMAT:
        raise ValueError(f"a result in format {outcome.get('format')!r}; this gangrun reads {FORMAT}")
    return outcome


def own_exception(outcome: Mapping[str, Any], instead: BaseException) -> BaseException:
    """The exception of this outcome itself, or `instead` with its words where it cannot come back."""
    if outcome.get("body") is not None:
        try:
            error = pickle.loads(outcome["body"])
        except Exception:  # a class that is not here, or that does not come out of its pickle: its words are enough
            error = None
        if isinstance(error, Exception):
            return error
    words = f"{outcome['type']}: {outcome['message']}" if outcome.get("message") else outcome["type"]
    return errors.JobFailed(f"{instead} (it raised {_texts.theirs(words)})", getattr(instead, "status", None))


def _write_beside(path: str, content: bytes) -> str:
    beside = f"{path}.{os.getpid()}"
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    return beside


def leave_value(path: str, content: bytes) -> None:
    """Unless a process of this task has left its exception already."""
    beside = _write_beside(path, content)
    with contextlib.suppress(FileExistsError):
        os.link(beside, path)
    os.unlink(beside)


def leave_exception(path: str, content: bytes) -> None:
    """The first one of a task's processes wins, also over a value."""
    beside = _write_beside(path, content)
    try:
        os.link(beside, f"{path}.failed")
    except FileExistsError:
        os.unlink(beside)
        return
    os.replace(beside, path)
