"""Finds and loads gangrun._core, the part of the package that is compiled.

It is there for one release of Python: the one that it was compiled with (from 3.12 on, any later one too).
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from typing import Any, Iterator, Optional

from gangrun import errors

_NAME = "gangrun._core"


def _folders() -> Iterator[str]:
    programs = os.environ.get("GANGRUN_BIN")
    if programs:
        yield os.path.join(os.path.dirname(os.path.abspath(programs)), "python", "gangrun")
    yield os.path.dirname(os.path.abspath(__file__))


def path() -> str:
    """The file of the module for this Python: beside the programs of $GANGRUN_BIN, else in this package."""
    looked = []
    for folder in _folders():
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            found = os.path.join(folder, "_core" + suffix)
            if os.path.isfile(found):
                return found
        looked.append(folder)
    raise errors.NotInstalled(f"gangrun's compiled module for Python {sys.version_info[0]}.{sys.version_info[1]} is not in "
                              f"{' nor in '.join(looked)}; the wheel of gangrun for this Python has it")


def core(file: Optional[str] = None) -> Any:
    """The module gangrun._core, from `file` (where it was shipped alone) or as path() finds it.

    Its types are those of _core.pyi.
    """
    loaded = sys.modules.get(_NAME)
    if loaded is None:
        where = file or path()
        loader = importlib.machinery.ExtensionFileLoader(_NAME, where)
        spec = importlib.util.spec_from_file_location(_NAME, where, loader=loader)
        try:
            if spec is None:
                raise ImportError("no module")
            loaded = importlib.util.module_from_spec(spec)
            loader.exec_module(loaded)
        except ImportError as error:
            raise errors.NotInstalled(f"{where} cannot be loaded by this Python, {sys.version.split()[0]}: {error}") from error
        sys.modules[_NAME] = loaded
    return loaded
