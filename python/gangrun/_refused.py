"""What other systems have and gangrun does not: told by its name, with what stands for it, instead of "cannot import name"."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Mapping, NoReturn

from gangrun.errors import InvalidJob


def module(name: str, instead: str) -> ModuleNotFoundError:
    """For a module whose import ends here."""
    root = name.partition(".")[0]
    # By this name, and not by ours: `from package import module` would make "cannot import name" of that.
    return ModuleNotFoundError(f"gangrun answers the import of {root}, but has nothing called {name}: {instead}", name=name)


def names(of: str, instead: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module. Its refused names can be imported, as many are and never used; that is told at once, and
    using one is an error. (An error at the import would also be one of whoever only asks whether a module has such a name.)"""

    def getattr_of_module(name: str) -> Any:
        if name not in instead:
            raise AttributeError(f"module {of!r} has no attribute {name!r}")
        told = f"{of}.{name} is not answered by gangrun: {instead[name]}"
        warnings.warn(told, stacklevel=2)

        def refuse(*_arguments: Any, **_options: Any) -> NoReturn:
            raise InvalidJob(told)

        return type(name, (), {"__doc__": told, "__new__": refuse, "__module__": of})

    return getattr_of_module


def member(of: str, name: str, instead: str) -> AttributeError:
    """For an object that has only some of the members that it has elsewhere."""
    if name.startswith("__"):
        return AttributeError(name)
    return AttributeError(f"{of}.{name} is not answered by gangrun: {instead}")
