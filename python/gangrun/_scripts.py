"""What `pip install gangrun` puts beside `python`: the names by which the program is called."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from gangrun import _program, errors


def _become(name: str) -> NoReturn:
    """This process goes on as the program, which sees by which name it was called."""
    try:
        program = _program.find(on_path=False)
    except errors.NotInstalled as error:
        sys.exit(f"gangrun: {error}")
    os.execv(program, [name, *sys.argv[1:]])


def gangrun() -> NoReturn:
    _become("gangrun")


def ytf_submit() -> NoReturn:
    _become("ytf-submit")


def tf_spawner() -> NoReturn:
    _become("tf-spawner")


def check_hadoop_env() -> NoReturn:
    _become("check_hadoop_env")
