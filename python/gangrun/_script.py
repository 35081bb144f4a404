"""What a function finds around it in a task, as in the script that it is from: `__main__`, sys.argv and sys.path.

Other processes that a task starts by `multiprocessing` find the script's functions and classes by their names there. Those
that do not inherit them (spawn, forkserver) read again what the task got, and not the script: a host need not have it, and
it may start the job.
"""

from __future__ import annotations

import builtins
import functools
import importlib.machinery
import io
import os
import pickle
import sys
import types
from typing import Any, Callable, Mapping, Optional

AGAIN = "gangrun._script_again"
FUNCTION_FILE = "GANGRUN_FUNCTION_FILE"


def described(has_files: bool) -> dict[str, Any]:
    """The script that runs here, for JSON. `has_files`: the job has files, which tasks find first."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return {"file": os.path.abspath(file) if file else None, "folder": os.path.abspath(sys.path[0]) if sys.path else None,
            "argv": [str(word) for word in sys.argv], "has_files": has_files}


def enter(script: Mapping[str, Any], function_file: Optional[str]) -> None:
    """Makes this process look like the script. `function_file`: with the payload for processes that inherit nothing; or None."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    if script["file"]:
        main.__file__ = script["file"]
    # Such a process makes its own main of this; it takes "__main__" for nothing.
    main.__spec__ = importlib.machinery.ModuleSpec(AGAIN if function_file else "__main__", None)
    if function_file:
        os.environ[FUNCTION_FILE] = os.path.abspath(function_file)
    sys.modules["__main__"] = main
    sys.argv[:] = script["argv"]
    if script["folder"] and os.path.isdir(script["folder"]):
        sys.path.insert(1 if script["has_files"] else 0, script["folder"])


def load(pickled: bytes, main: dict[str, Any]) -> tuple[Any, list[Any]]:
    """What was pickled in the script, and its functions and classes that were made for it; they are in `main` afterwards, which
    is what its `__main__` has."""
    unpickler = Unpickler(io.BytesIO(pickled), main)
    value = unpickler.load()
    for made in unpickler.made:
        if made.__module__ == "__main__" and "." not in made.__qualname__:
            main.setdefault(made.__name__, made)
    return value, unpickler.made


def cached(function: Any, size: Optional[int], typed: bool) -> Any:
    """A function with functools.lru_cache, made again with an empty cache."""
    return functools.lru_cache(size, typed)(function)


class Unpickler(pickle.Unpickler):
    """The functions of cloudpickle that make functions and classes have had these names and parameters since its version 2."""

    def __init__(self, file: Any, main: dict[str, Any]) -> None:
        super().__init__(file)
        self.main = main
        self.made: list[Any] = []

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__" and "__getattr__" in self.main:  # this process may have another one
            first, *others = name.split(".")
            return functools.reduce(getattr, others, self.main[first] if first in self.main else self.main["__getattr__"](first))
        found = super().find_class(module, name)
        if module.partition(".")[0] != "cloudpickle":
            return found
        if name == "_make_function":
            return functools.partial(self._make_function, found)
        return functools.partial(self._make_class, found) if name in ("_make_skeleton_class", "_make_skeleton_enum") else found

    def _make_function(self, make: Callable[..., Any], code: Any, scope: dict[str, Any], *others: Any) -> Any:
        if scope.get("__name__") == "__main__":
            self.main.update(scope)
            scope = self.main
        self.made.append(make(code, scope, *others))
        return self.made[-1]

    def _make_class(self, make: Callable[..., Any], *arguments: Any) -> Any:
        self.made.append(make(*arguments))
        return self.made[-1]
