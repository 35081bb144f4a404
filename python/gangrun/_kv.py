"""The keys of a job and its barriers, for code in its tasks: `gangrun.task.kv` and `gangrun.task.barrier()`."""

from __future__ import annotations

import json
import os
import urllib.parse
from typing import Any, Optional, Union

from gangrun import _arguments

# The time that an agent may take beyond the time of a request, while the job has no master.
_ALLOWANCE_S = 70.0
_DEFAULT_TIMEOUT_S = 600.0
_MAX_TIMEOUT_S = 604800.0
_MAX_TASKS = 100000  # at a barrier


class KeyValues:
    """The keys of this job: names and values that every task of it may put and get, for as long as the job lasts.

    A key has at most 200 printable ASCII characters without spaces, a value at most 256 KiB, a job at most 10,000 keys and 64 MiB.
    Raises RuntimeError where a process is in no task, or in one that has no agent (a pod); ValueError for what cannot be a key or is
    too large; ConnectionError if the job's master does not answer.
    """

    def put(self, key: str, value: Union[bytes, str]) -> None:
        """Set a key. A text is encoded as UTF-8. When this returns, the value outlives this task and the job's master."""
        if not isinstance(value, (bytes, bytearray, memoryview, str)):
            raise TypeError(f"the value of a key is bytes or str, not {type(value).__name__}")
        _ask("PUT", _path(key), value.encode() if isinstance(value, str) else bytes(value))

    def get(self, key: str, default: Optional[bytes] = None) -> Optional[bytes]:
        """Return the value of a key, or `default` if there is no such key."""
        value = _found("GET", _path(key))
        return default if value is None else value

    def wait(self, key: str, timeout: Optional[float] = _DEFAULT_TIMEOUT_S) -> bytes:
        """Return the value of a key as soon as there is one. Raises TimeoutError after `timeout` seconds (at most a week; None: a week)."""
        path, seconds = _path(key), _seconds(timeout)
        return _ask("GET", f"{path}?wait={seconds:.3f}", wait=seconds)

    def delete(self, key: str) -> bool:
        """Remove a key, and return whether there was one."""
        return _found("DELETE", _path(key)) is not None

    def keys(self, prefix: str = "") -> list[str]:
        """Return all keys, or those that begin with `prefix`, in order."""
        found: list[str] = []
        while True:
            query = urllib.parse.urlencode({"prefix": _text("prefix", prefix), **({"after": found[-1]} if found else {})})
            answer = json.loads(_ask("GET", f"/kv?{query}"))
            found += answer["keys"]
            if not answer["more"]:
                return found


kv = KeyValues()


def barrier(name: str = "barrier", tasks: Optional[int] = None, timeout: Optional[float] = _DEFAULT_TIMEOUT_S) -> None:
    """Wait until `tasks` tasks have come to the barrier with this name; by default each that is tracked.

    A task has come when each of its processes has called this. The same name may be used again. Raises TimeoutError after `timeout`
    seconds (None: a week), with who has not come, and RuntimeError where the tasks disagree, or at once where a task has ended that is
    waited for, with which and how. Raises ValueError for more tasks than the job has. A command beside a task (`gangrun exec`) has no
    barriers: RuntimeError.
    """
    if os.environ.get("GANGRUN_EXEC"):
        raise RuntimeError("a barrier is for the processes of a task, and not for a command beside it (gangrun exec), "
                           "which would count as one of them")
    seconds, path = _seconds(timeout), _quoted("a barrier's name", name)
    query: dict[str, Union[str, int]] = {"timeout": f"{seconds:.3f}", "process": os.environ.get("GANGRUN_PROCESS", "0")}
    if tasks is not None:
        query["tasks"] = _arguments.count("tasks", tasks, 1, _MAX_TASKS)
    _ask("POST", f"/barrier/{path}?{urllib.parse.urlencode(query)}", wait=seconds)


def _seconds(timeout: Optional[float]) -> float:
    if timeout is None or timeout == float("inf"):
        return _MAX_TIMEOUT_S
    return _arguments.seconds("timeout", timeout, 0, _MAX_TIMEOUT_S)


def _path(key: str) -> str:
    return f"/kv/{_quoted('a key', key)}"


def _quoted(noun: str, name: Any) -> str:
    if not _text(noun, name):
        raise ValueError(f"'' is not {noun}: one has from 1 to 200 printable ASCII characters, no space")
    return urllib.parse.quote(name)


def _text(noun: str, given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{noun} is a str, not {type(given).__name__}")
    return given


def _ask(method: str, target: str, body: Optional[bytes] = None, wait: float = 0.0) -> bytes:
    text = _found(method, target, body, wait)
    if text is None:
        raise RuntimeError(f"the task's agent knows no {target}")
    return text


def _found(method: str, target: str, body: Optional[bytes] = None, wait: float = 0.0) -> Optional[bytes]:
    """What the agent answers; None: there is no such key."""
    import http.client  # takes longer than all of gangrun.task

    address = os.environ.get("GANGRUN_KV")
    if not address:
        inside = "GANGRUN_TASK_TYPE" in os.environ
        raise RuntimeError("GANGRUN_KV is not set: "
                           + ("this task has no agent that could be asked (a pod may have none)" if inside
                              else "this process is not in a task of gangrun"))
    connection = http.client.HTTPConnection(address, timeout=wait + _ALLOWANCE_S)
    try:
        connection.request(method, target, body=body)
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionError(f"the task's agent at GANGRUN_KV={address} does not answer: {error}") from error
    finally:
        connection.close()
    if answer.status == 200:
        return text
    if answer.status == 404:
        return None
    raise _error(answer.status, text.decode(errors="replace").strip())


def _error(status: int, sentence: str) -> Exception:
    if status == 504:
        return TimeoutError(sentence)
    if status in (400, 413):
        return ValueError(sentence)
    if status == 403:
        return PermissionError(sentence)
    if status == 503:
        return ConnectionError(sentence)
    return RuntimeError(sentence)
