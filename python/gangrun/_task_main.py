"""The process of a task whose main is a function: python -m gangrun._task_main PAYLOAD [FILES]"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

from gangrun import _function, _result, _stacks


def _absolute_paths() -> None:
    """What the function starts in another folder is to find the same modules."""
    found = os.environ.get("PYTHONPATH")
    if found:
        os.environ["PYTHONPATH"] = os.pathsep.join(os.path.abspath(part) for part in found.split(os.pathsep))


def _shown(error: BaseException) -> str:
    """The traceback without the frames of this file, which tell the user nothing."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__ and frames.tb_next is not None:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def _leave(write: Any, content: bytes, what: str) -> None:
    """Where it cannot be kept (a full disk), that is said, and is no failure of the function's."""
    path = os.environ.get("GANGRUN_RESULT_FILE")
    if path:
        try:
            write(path, content)
        except OSError as error:
            print(f"gangrun: what the function {what} cannot be kept: {error}", file=sys.stderr, flush=True)


def main(payload: str, files: str = ".") -> int:
    """`files` is the folder of the job's files."""
    _stacks.answer()
    _absolute_paths()
    os.environ["GANGRUN_FILES"] = os.path.abspath(files)  # for gangrun.task.file()
    sys.path.insert(0, os.environ["GANGRUN_FILES"])  # before the caller's folder, which may have others of their names
    try:
        with open(payload, "rb") as file:
            function, args, kwargs = _function.load(file.read(), enters_script=True, function_file=payload)
        value = function(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's own: it is theirs to tell
        if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
            raise  # a status, which is told already; with a text it is a failure like all others
        text = _shown(error)
        sys.stdout.flush()
        # First, as the last line is taken for the reason.
        _leave(_result.leave_exception, _result.encode_exception(error, text), "raised")
        sys.stderr.write(text)
        sys.stderr.flush()
        return 1
    if os.environ.get("GANGRUN_PROCESS", "0") == "0":
        _leave(_result.leave_value, _result.encode_value(value), "returned")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
