"""The process of a node: what comes before and after the user's function."""

from __future__ import annotations

import http.client
import importlib
import json
import os
import socket
import sys
import threading
import time
import traceback
from typing import Any, Mapping, NoReturn, Optional

from gangrun import _texts

# The agent asks the master and has the answer within this, or is ended.
TELL_TIMEOUT_S = 60

# The time of a failed node for its threads, and for what runs at the end of Python.
LEAVE_S = 0.5

_feed: Any = None
_over = threading.Event()  # never set


def feed() -> Any:
    """Return this node's DataFeed, which yields the rows that Spark sends to it (docs/spark.md).

    Raises RuntimeError in a process that takes no rows, such as a ps, an evaluator, or one outside of a node.
    """
    if _feed is None:
        raise RuntimeError("this process does not take rows: gangrun.spark.feed() is for the function of gangrun.spark.start, in a node "
                           "that is neither a ps nor an evaluator")
    from gangrun.spark._data_feed import DataFeed
    return DataFeed(_feed)


def main(info: Mapping[str, Any], function: bytes) -> Any:
    """Called by gangrun._task_main. The feed is open before anything of the user's is read, which may take long."""
    global _feed
    from gangrun import _function

    sys.path += [path for path in info["path"] if path not in sys.path]
    if info["feed"]:
        _feed = _open(info)
    gate: Optional[socket.socket] = None
    try:
        called, args, kwargs = _function.load(function, enters_script=True)
        gate = _tell(info)
        value = _call(info, called, args, kwargs)
    except BaseException as error:
        if _feed is None and isinstance(error, SystemExit):
            raise
        if not _is_end(error):
            _fail(info, error)
        value = None
    if _feed is not None:
        _feed.returned()
        _feed.close()
    if gate is not None:
        gate.close()
    return value


def _is_end(error: BaseException) -> bool:
    """sys.exit() of the user's function, which is as good as its return."""
    return isinstance(error, SystemExit) and error.code in (None, 0)


def shown(error: BaseException) -> str:
    """The traceback without our own frames at its beginning, which tell the user nothing."""
    package = os.path.dirname(os.path.dirname(__file__)) + os.sep
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(package) and frames.tb_next is not None:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def _fail(info: Mapping[str, Any], error: BaseException) -> NoReturn:
    """Ends this process with what its function has raised, told to the job and to who feeds it. Threads of the function, for which
    Python would wait, have a moment only: all others wait to hear of the error."""
    from gangrun import _result

    text = shown(error)
    sys.stdout.flush()
    sys.stderr.write(text)
    sys.stderr.flush()
    path = os.environ.get("GANGRUN_RESULT_FILE")
    if path:
        _result.leave_exception(path, _result.encode_exception(error, text))
    if _feed is not None:
        _feed.failed(f"{info['task']} on {info['host']} has failed:\n{text}")
    status = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1
    threading.Thread(target=lambda: (_over.wait(LEAVE_S), os._exit(status)), name="gangrun end", daemon=True).start()
    sys.exit(status)


def _open(info: Mapping[str, Any]) -> Any:
    from gangrun import _native
    from gangrun.spark import _feed as feeds

    if info["core"]:
        _native.core(info["core"])
    return feeds.open_feed(info["feed"], info["key"], info["memory_mib"])


def _tell(info: Mapping[str, Any]) -> socket.socket:
    """The driver, by the keys of the gang, and the start task, which holds the other end of what is returned."""
    put(f"started/{info['task']}", json.dumps({"pid": os.getpid(), "host": info["host"]}).encode())
    gate = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        gate.connect("\0" + info["gate"])
        gate.sendall(b"started\n")
    except OSError:  # the start task is gone, as Spark ends one; the driver knows all the same
        gate.close()
    return gate


def put(name: str, value: bytes) -> None:
    """A key for the driver and the other nodes, by the agent of this node."""
    status, said = _ask("PUT", name, value)
    if status not in (200, 204):
        raise RuntimeError(f"the key {name} could not be told to the driver: {status} {_texts.theirs(said[:200].decode(errors='replace'))}")


def get(name: str, seconds: float) -> bytes:
    """A key that another node puts; TimeoutError where it has not come in that time."""
    limit = time.monotonic() + seconds
    while True:
        status, said = _ask("GET", name)  # which the agent holds for a moment before it says that there is no such key
        if status == 200:
            return said
        if status != 404:
            raise RuntimeError(f"the key {name} is not told: {status} {_texts.theirs(said[:200].decode(errors='replace'))}")
        if time.monotonic() > limit:
            raise TimeoutError(f"the key {name} did not come within {seconds:.0f} s")


def _ask(method: str, name: str, value: Optional[bytes] = None) -> tuple[int, bytes]:
    address: Optional[str] = os.environ.get("GANGRUN_RENDEZVOUS")
    if not address:
        raise RuntimeError("GANGRUN_RENDEZVOUS is not set: this process was not started by an agent of a job on Spark")
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=TELL_TIMEOUT_S)
    try:
        connection.request(method, f"/{name}", value)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _call(info: Mapping[str, Any], called: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    if info["entry"] is None:
        return called(*args, **kwargs)
    module, _, name = info["entry"].partition(":")
    entry = getattr(importlib.import_module(module), name)
    sys.stdout.flush()
    return entry(info, _feed, called, *args)
