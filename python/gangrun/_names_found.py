"""In a task: the module-level names of the script that its function is from, which _names_sent.py has sent.

Those that import nothing but the standard library are there at once. The others are made when somebody asks `__main__` for them:
a package that the function does not use is not imported for its sake.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator, Mapping, Optional

from gangrun import _script

# Not in the standard library of Python 3.9, which has no list of it: then what it has not imported yet is imported late.
STANDARD = frozenset(getattr(sys, "stdlib_module_names", ())) - {"antigravity", "this"}


class _NotYet(Exception):
    """A name that is not made now, and why."""


class _Unpickler(_script.Unpickler):
    def __init__(self, file: Any, main: dict[str, Any], value_of: Callable[[str], Any], may_import: bool) -> None:
        super().__init__(file, main)
        self.value_of, self.may_import = value_of, may_import

    def _check_import(self, module: str) -> None:
        if not self.may_import and module not in sys.modules and module.partition(".")[0] not in STANDARD:
            raise _NotYet(f"it imports {module}")

    def find_class(self, module: str, name: str) -> Any:
        self._check_import(module)
        found = super().find_class(module, name)
        if module.partition(".")[0] == "cloudpickle" and name == "subimport":
            def imported(wanted: str) -> Any:
                self._check_import(wanted)
                return found(wanted)

            return imported
        return found

    def persistent_load(self, name: str) -> Any:
        return self.value_of(name)


class Names:
    """The names of the script, for `main`, the variables of this process's `__main__`."""

    def __init__(self, main: dict[str, Any], entries: Mapping[str, tuple[bytes, list[str]]], left_out: Mapping[str, str]) -> None:
        self.main, self.entries, self.left_out = main, entries, left_out
        self.late: set[str] = set()

    def load_early(self, made: list[Any]) -> None:
        """After the function: what is not there yet. `made`: what the function brought; its annotations are to be found."""
        for name in self.entries:
            with contextlib.suppress(Exception):  # who asks for it is told why
                self._load(name, may_import=False)
                continue
            self.late.add(name)
        self.late, late = set(), self.late
        for name in sorted(late & {name for one in made for name in _annotated(one)}):
            with contextlib.suppress(Exception):  # likewise
                self._load(name, may_import=True)

    def get(self, name: str) -> Any:
        """What `__main__` answers for a name that it has not."""
        if name in self.main:
            return self.main[name]
        if name in self.left_out:
            raise AttributeError(f"'{name}' of the script is not in this task: {self.left_out[name]}; refer to it in the "
                                 "function, or give it to the function as an argument")
        if name not in self.entries:
            raise AttributeError(f"module '__main__' has no attribute '{name}'")
        try:
            self._load(name, may_import=True)
        except Exception as error:  # whatever its import raises
            why = str(error) if isinstance(error, _NotYet) else f"{type(error).__name__}: {error}"
            raise AttributeError(f"'{name}' of the script cannot be made in this task: {why}") from error
        return self.main[name]

    def _load(self, name: str, may_import: bool) -> None:
        """With all that it refers to, or nothing."""
        _Loading(self, may_import).load(name)


class _Loading:
    """One name and what belongs to it: all of it gets into `main`, or none."""

    def __init__(self, names: Names, may_import: bool) -> None:
        self.names, self.may_import = names, may_import
        self.made: dict[str, Any] = {}
        self.begun: dict[str, _Unpickler] = {}

    def load(self, name: str) -> None:
        self.value_of(name)
        for name, value in self.made.items():
            self.names.main.setdefault(name, value)

    def value_of(self, name: str) -> Any:
        for there in (self.names.main, self.made):
            if name in there:
                return there[name]
        if name in self.begun:
            return self._half_made(name)
        if name in self.names.late or name not in self.names.entries:
            reason = self.names.left_out.get(name)
            raise _NotYet(f"it refers to '{name}', which is not in this task{f': {reason}' if reason else ''}")
        return self._make(name)

    def _make(self, name: str) -> Any:
        import io

        pickled, needs = self.names.entries[name]
        unpickler = _Unpickler(io.BytesIO(pickled), self.names.main, self.value_of, self.may_import)
        self.begun[name] = unpickler
        value = self.made[name] = unpickler.load()
        wanted = dict.fromkeys(needs)
        wanted.update((name, None) for made in unpickler.made for name in _annotated(made) if name in self.names.entries)
        for need in wanted:
            self.value_of(need)
        return value

    def _half_made(self, name: str) -> Any:
        """Classes that refer to each other: the one that is being made."""
        for made in self.begun[name].made:
            if getattr(made, "__name__", None) == name:
                return made
        raise _NotYet(f"it and '{name}' need each other")


def _annotated(made: Any) -> Iterator[str]:
    """The names in the annotations of a function or a class that are still texts."""
    annotations: Any = vars(made).get("__annotations__") if isinstance(made, type) else getattr(made, "__annotations__", None)
    if isinstance(annotations, dict):
        for annotation in annotations.values():
            yield from _names_in(annotation)


def _names_in(annotation: Any) -> Iterator[str]:
    import ast

    text: Optional[str] = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
    if isinstance(text, str):
        with contextlib.suppress(SyntaxError):
            yield from (node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name))
        return
    arguments = getattr(annotation, "__args__", None)
    for argument in arguments if isinstance(arguments, tuple) else ():
        yield from _names_in(argument)
