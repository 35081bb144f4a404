"""The `__main__` of a process that a task starts by spawn or forkserver: what the task's function refers to."""

from __future__ import annotations

import os

from gangrun import _function, _script

with open(os.environ[_script.FUNCTION_FILE], "rb") as _file:
    _function.load_into(globals(), _file.read())
