"""Which modules a task can import: those of the environment, and those that are among its files."""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import os
import site
import sys
import sysconfig
from types import ModuleType
from typing import Any, Iterator, Mapping, Optional


def has_installed(folder: str) -> bool:
    """Whether pip or its like has put something there, or would."""
    if os.path.basename(folder) in ("site-packages", "dist-packages"):
        return True
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:  # not there, or an archive
        return False


@functools.lru_cache(maxsize=1)
def _environment_folders() -> tuple[str, ...]:
    """Where the interpreter and what is installed for it lie."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    found = [sysconfig.get_paths()[name] for name in names]
    found += site.getsitepackages() if hasattr(site, "getsitepackages") else []
    found += [path for path in sys.path if has_installed(path)]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    # This package comes to every task; by the names that gangrun.compat answers as well.
    found.append(os.path.dirname(os.path.abspath(__file__)))
    return tuple(os.path.realpath(path) + os.sep for path in found)


@functools.lru_cache(maxsize=1)
def _editable() -> tuple[tuple[str, ...], frozenset[str]]:
    """What is installed as it lies counts as installed, as it is shipped: where it is, and its top-level names."""
    from gangrun.environments import _active

    found = _active.editable_packages()
    return (tuple(os.path.realpath(path) + os.sep for path in found.values()),
            frozenset(name.partition("/")[0].partition(".")[0] for name in found))


def _attribute(module: Optional[ModuleType], name: str) -> Any:
    """An attribute of a module that may be something that only looks like one, and imports who knows what when it is asked."""
    try:
        return getattr(module, name, None)
    except Exception:  # whatever that import raises; what has no file here is none of ours
        return None


def _file_of(name: str) -> Optional[str]:
    """The file or folder of a top-level module, without importing it; None where it has none or is not there."""
    module = sys.modules.get(name)
    spec = _attribute(module, "__spec__")
    if spec is None:
        path = _attribute(module, "__file__")
        if path is not None:
            return str(path)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            return None
    return _place_of(spec)


def _place_of(spec: Optional[importlib.machinery.ModuleSpec]) -> Optional[str]:
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return next(iter(spec.submodule_search_locations), None)
    return spec.origin if spec.has_location else None


def is_shipped(name: str, files: Mapping[str, str]) -> bool:
    """Whether a task finds this module, or its package, among its files."""
    top = name.partition(".")[0]
    return any(given in (top, f"{top}.py") for given in files)


def foreign_file(name: str, files: Mapping[str, str]) -> Optional[str]:
    """Where a module lies that is here, but that a task would not find; None for all others."""
    top = name.partition(".")[0]
    if top in ("__main__", "gangrun", "cloudpickle") or top in sys.builtin_module_names or is_shipped(top, files):
        return None
    path = _file_of(top)
    if path is None:
        return None
    real = os.path.realpath(path) + os.sep
    if real.startswith(_environment_folders()):
        return None
    places, names = _editable()
    # A package of which only parts are editable is in no folder.
    is_editable = real.startswith(places) or (top in names and not os.path.exists(path))
    return None if is_editable else path


def exists(name: str, files: Mapping[str, str]) -> bool:
    """Whether a module can be found, here or among the files; only its parents are imported for that."""
    if is_shipped(name, files):
        return True
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def foreign_modules(files: Mapping[str, str]) -> Iterator[ModuleType]:
    """The imported modules that a task would not find."""
    tops: dict[str, bool] = {}
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if top not in tops:
            tops[top] = foreign_file(top, files) is not None
        if tops[top] and isinstance(module, ModuleType):
            yield module
