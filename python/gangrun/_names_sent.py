"""The module-level names of a script, as they are brought to a task beside its function: each is pickled alone.

A function is pickled with what it refers to. What it asks for by a text (`__main__.RATE`, `globals()["Model"]`, an annotation,
the class in somebody's pickle) is found here. Nothing of it is large, and nothing does something when it is made again: classes
and functions of the script, modules, and values of plain types.
"""

from __future__ import annotations

import functools
import io
import sys
import types
from typing import Any, Iterator, Mapping, NamedTuple, Optional

from gangrun import _script, _texts

# Limits of one name, and of all, when pickled. They travel to every task; what the function refers to does not count.
MAX_NAME_BYTES = 1 << 20
MAX_BYTES = 8 << 20
MAX_NAMES = 2000
# Names that the import of a script makes, and not its lines.
OF_EVERY_MODULE = frozenset(("__builtins__", "__cached__", "__file__", "__getattr__", "__loader__", "__name__", "__package__",
                             "__path__", "__spec__"))
# Names that a notebook adds; what was typed and shown there is nobody else's.
OF_A_NOTEBOOK = frozenset(("In", "Out", "exit", "get_ipython", "open", "quit"))
# The modules of types whose objects do nothing but be there. Others may connect, lock or occupy a GPU when they are unpickled.
PLAIN = frozenset(("_collections", "_decimal", "_frozen_importlib", "_frozen_importlib_external", "_functools", "_operator",
                   "argparse", "array", "builtins", "collections",
                   "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "ipaddress", "itertools", "logging",
                   "numpy", "operator", "pathlib", "random", "re", "string", "types", "typing", "typing_extensions", "uuid",
                   "zoneinfo"))


class Sent(NamedTuple):
    entries: dict[str, tuple[bytes, list[str]]]  # of each name: pickled, and the names that it refers to
    left_out: dict[str, str]  # why


class _TooLarge(Exception):
    pass


class _NotPlain(Exception):
    pass


class _Limited(io.BytesIO):
    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def write(self, content: Any) -> int:
        if self.tell() + len(content) > self.most:
            raise _TooLarge
        return super().write(content)


def _candidates(main: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    in_notebook = "get_ipython" in main
    for name, value in list(main.items()):
        if name in OF_EVERY_MODULE or (in_notebook and (name in OF_A_NOTEBOOK or name.startswith("_"))):
            continue
        yield name, value


def _is_code(value: Any) -> bool:
    """By its type: an object that stands for another may run any code when somebody reads its class."""
    return issubclass(type(value), (type, types.FunctionType, functools._lru_cache_wrapper))


def _is_of_script(value: Any) -> bool:
    return _is_code(value) and getattr(value, "__module__", None) == "__main__"


@functools.lru_cache(maxsize=1)
def _pickler_type() -> Any:
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """One name's value; the script's other classes and functions in it are sent by their own names."""

        def __init__(self, file: Any, name: str, named: Mapping[int, str], main: dict[str, Any]) -> None:
            super().__init__(file, protocol=4)
            self.name, self.named, self.main = name, named, main
            self.needs: set[str] = set()

        def persistent_id(self, value: Any) -> Optional[str]:
            name = self.named.get(id(value))
            return None if name == self.name else name

        def reducer_override(self, value: Any) -> Any:
            if type(value) is functools._lru_cache_wrapper and _is_of_script(value):
                parameters = value.cache_parameters()
                return _script.cached, (value.__wrapped__, parameters["maxsize"], parameters["typed"])
            _check_plain(value)
            made = super().reducer_override(value)
            if type(value) is types.FunctionType and value.__globals__ is self.main and isinstance(made, tuple):
                self._without_globals(made)
            return made

        def _without_globals(self, made: tuple[Any, ...]) -> None:
            """A function finds the script's names where it is made again; they are not pickled once more for each."""
            slots = made[2][1] if len(made) > 2 and isinstance(made[2], tuple) and len(made[2]) == 2 else {}
            if isinstance(slots.get("__globals__"), dict):
                self.needs.update(slots["__globals__"])
                slots["__globals__"] = {}

    return Pickler


def _check_plain(value: Any) -> None:
    kind = type(value)
    if issubclass(kind, (type, types.ModuleType)):
        return
    if kind.__module__.partition(".")[0] in PLAIN or kind.__module__ == "__main__" or _is_by_value(kind.__module__):
        return
    raise _NotPlain(f"it has an object of {kind.__module__}.{kind.__qualname__}")


def _is_by_value(module: str) -> bool:
    import cloudpickle

    return module in cloudpickle.list_registry_pickle_by_value()


def collected(main: dict[str, Any]) -> Sent:
    """What goes to the tasks of a script's names, and why others do not."""
    candidates = list(_candidates(main))
    named: dict[int, str] = {}
    for name, value in candidates:
        if _is_of_script(value):
            named.setdefault(id(value), name)
    sent, room = Sent({}, {}), MAX_BYTES
    for name, value in sorted(candidates, key=lambda pair: not _is_code(pair[1])):  # stable: in the order of the script
        if len(sent.entries) >= MAX_NAMES:
            sent.left_out[name] = f"the script has more than {MAX_NAMES} names"
            continue
        file = _Limited(min(MAX_NAME_BYTES, room))
        pickler = _pickler_type()(file, name, named, main)
        try:
            pickler.dump(value)
        except _TooLarge:
            sent.left_out[name] = (f"it is larger than {_texts.size(MAX_NAME_BYTES)} when pickled" if room >= MAX_NAME_BYTES
                                   else f"the script's names are larger than {_texts.size(MAX_BYTES)} together when pickled")
        except _NotPlain as error:
            sent.left_out[name] = str(error)
        except Exception as error:  # what a user's object raises while it is pickled may be anything
            sent.left_out[name] = _texts.shortened(f"it cannot be pickled: {type(error).__name__}: {error}", 200)
        else:
            sent.entries[name] = (file.getvalue(), sorted(pickler.needs - {name}))
            room -= len(sent.entries[name][0])
    return sent


def of_script() -> Optional[Sent]:
    """The names of the script that runs here, where functions can be pickled; the caller holds what goes by value."""
    main = sys.modules.get("__main__")
    return collected(main.__dict__) if isinstance(main, types.ModuleType) else None
