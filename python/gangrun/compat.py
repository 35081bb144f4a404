"""Run unmodified programs that import tf_yarn, tf_skein, skein, cluster_pack or tensorflowonspark.

    python -m gangrun.compat [--on local|yarn] SCRIPT [ARGUMENT...]
    python -m gangrun.compat [--on local|yarn] -m MODULE [ARGUMENT...]
    spark-submit $(python -m gangrun.compat --path) SCRIPT [ARGUMENT...]

These imports return gangrun's own modules; skein and cluster_pack only if they are not installed. Both names lead to the
same objects, so classes are identical and pickles work under either name. The tasks of such a program redirect the imports
too. In the tasks of other jobs, an import is redirected only if no package of that name is installed.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import types
from typing import Any, List, NoReturn, Optional, Sequence, Tuple

from gangrun import _places

# Imported name → (our package, whether an installed package of that name takes precedence).
ANSWERS = {
    "tf_yarn": ("gangrun.tf_yarn", False),
    "tf_skein": ("gangrun.tf_skein", False),
    "tensorflowonspark": ("gangrun.tensorflowonspark", False),
    "skein": ("gangrun.skein", True),
    "cluster_pack": ("gangrun.environments.cluster_pack", True),
}
# Libraries whose names gangrun answers, for programs that compare the version: the last release of each. tf_skein became tf_yarn in 0.1.
FOLLOWED = {"tf_yarn": "0.7.0", "tf_skein": "0.1.0", "tensorflowonspark": "2.2.5", "skein": "0.8.2", "cluster_pack": "0.3.19"}
# Modules that have another place in gangrun.
MOVED = {
    "tf_yarn.keras_experiment": "gangrun.tf_yarn.keras",
    "tf_yarn.tensorflow.client": "gangrun.tf_yarn.client",
    "tf_yarn.tensorflow.experiment": "gangrun.tf_yarn.experiment",
    "tf_yarn.tensorflow.keras_experiment": "gangrun.tf_yarn.keras",
}
USAGE = ("usage: python -m gangrun.compat [--on local|yarn] (SCRIPT | -m MODULE) [ARGUMENT...]\n"
         "       python -m gangrun.compat --path")

_place = "yarn"


def default_place() -> str:
    """Return where tf_yarn and tf_skein jobs run if the call does not say so: the value of `--on`, else "yarn"."""
    return _place


class Answers(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook that loads `tf_yarn.x` as `gangrun.tf_yarn.x`, and likewise for the other packages.

    It must come before the file finder in `sys.meta_path`, which would load the submodules a second time.
    """

    def __init__(self, installed_first: bool) -> None:
        self.installed_first = installed_first

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None,
                  target: Optional[types.ModuleType] = None) -> Optional[importlib.machinery.ModuleSpec]:
        root, _, inner = fullname.partition(".")
        if root not in ANSWERS:
            return None
        package, installed_first = ANSWERS[root]
        if (installed_first or self.installed_first) and is_installed(root):
            return None
        ours = MOVED.get(fullname, f"{package}.{inner}".rstrip("."))
        theirs = installed_spec(fullname) if inner and not is_there(ours) else None
        return theirs or importlib.machinery.ModuleSpec(fullname, self, origin=ours)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        assert spec.origin is not None
        try:
            module = importlib.import_module(spec.origin)
        except ModuleNotFoundError as error:
            # A name that a module of ours itself does not find is another matter.
            if error.name is None or not f"{spec.origin}.".startswith(f"{error.name}."):
                raise
            raise not_there(spec.name) from None
        # The machinery is about to say in the module that it is called `tf_yarn`.
        spec.loader_state = module.__spec__
        answer_from_installed(module, spec.name)
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        module.__spec__ = spec.loader_state


def not_there(name: str) -> ModuleNotFoundError:
    """Return the exception for a module that gangrun does not have."""
    text = f"gangrun answers the import of {name.partition('.')[0]}, but has nothing called {name}"
    return ModuleNotFoundError(text, name=name)


def is_there(ours: str) -> bool:
    """Return whether gangrun has this module."""
    try:
        return importlib.util.find_spec(ours) is not None
    except ModuleNotFoundError:
        return False


def is_installed(name: str) -> bool:
    """Return whether a real package of this name is installed."""
    return installed_spec(name) is not None


def installed_spec(fullname: str) -> Optional[importlib.machinery.ModuleSpec]:
    """Return the spec of a module of a package that is really installed."""
    spec: Optional[importlib.machinery.ModuleSpec] = None
    path: Optional[Sequence[str]] = None
    for end in [*(place for place, letter in enumerate(fullname) if letter == "."), len(fullname)]:
        if spec is not None:
            path = spec.submodule_search_locations
            if path is None:
                return None
        found = (finder.find_spec(fullname[:end], path) for finder in sys.meta_path
                 if not isinstance(finder, Answers) and hasattr(finder, "find_spec"))
        spec = next((each for each in found if each is not None), None)
        if spec is None:
            return None
    return spec


def answer_from_installed(module: types.ModuleType, name: str) -> None:
    """Have a module of ours give what it has not from the real one, where that is installed. The real one is loaded then,
    beside ours."""
    ours = module.__dict__.get("__getattr__")
    if getattr(ours, "is_with_installed", False):
        return
    loaded: List[types.ModuleType] = []

    def getattr_of_both(attribute: str) -> Any:
        try:
            if ours is not None:
                return ours(attribute)
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        except AttributeError:
            if attribute == "__version__" and name in FOLLOWED:
                return version_of(name)
            if attribute.startswith("__") or not is_answering():
                raise
            if installed_spec(f"{name}.{attribute}") is not None:
                return importlib.import_module(f"{name}.{attribute}")
            if not loaded:
                spec = installed_spec(name)
                if spec is None or spec.loader is None:
                    raise
                theirs = importlib.util.module_from_spec(spec)
                loaded.append(theirs)
                try:
                    spec.loader.exec_module(theirs)
                except BaseException:
                    loaded.clear()
                    raise
            if attribute not in vars(loaded[0]):
                raise
            return vars(loaded[0])[attribute]

    getattr_of_both.is_with_installed = True  # type: ignore[attr-defined]
    module.__dict__["__getattr__"] = getattr_of_both


def version_of(name: str) -> str:
    """Return the version of the package that is really installed, else of the one whose names gangrun answers."""
    from importlib import metadata

    for distribution in (name.replace("_", "-"), name):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            pass
    spec = installed_spec(name)  # as a folder on PYTHONPATH, perhaps: what it says of itself, without running it
    if spec is not None and spec.origin is not None and os.path.isfile(spec.origin):
        import re

        with open(spec.origin, encoding="utf-8", errors="replace") as file:
            said = re.search(r"""^__version__\s*=\s*["']([^"'\n]+)["']""", file.read(), re.MULTILINE)
        if said:
            return said.group(1)
    return FOLLOWED[name]


def answer_imports(installed_first: bool = False) -> None:
    """Redirect this process's imports of the packages in `ANSWERS` to gangrun.

    With `installed_first`, a package that is really installed takes precedence.
    """
    for finder in sys.meta_path:
        if isinstance(finder, Answers):
            finder.installed_first = finder.installed_first and installed_first
            return
    sys.meta_path.insert(0, Answers(installed_first))


def is_answering() -> bool:
    """Return whether imports are redirected even if a real package is installed; the job's tasks then do the same."""
    return any(isinstance(finder, Answers) and not finder.installed_first for finder in sys.meta_path)


def bad(text: str) -> NoReturn:
    """Print the message and the usage to standard error, and exit with status 2."""
    sys.stderr.write(f"gangrun.compat: {text}\n{USAGE}\n")
    raise SystemExit(2)


def parse(words: List[str]) -> Tuple[Optional[str], bool, str, List[str]]:
    """Parse the command line into (place, is_module, script or module, its arguments).

    Everything after the script or module belongs to it.
    """
    place = None
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("-h", "--help"):
            sys.stdout.write(f"{__doc__}\n{USAGE}\n")
            raise SystemExit(0)
        if word == "--path":  # for those who start a file
            sys.stdout.write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_compat_main.py") + "\n")
            raise SystemExit(0)
        if word not in ("-m", "--on") and not word.startswith("--on="):
            bad(f"unknown option {word!r}")
        if word.startswith("--on="):
            value: Optional[str] = word[len("--on="):]
        else:
            value = words.pop(0) if words else None
        if value is None:
            bad(f"{word} needs a value")
        if word == "-m":
            return place, True, value, words
        if problem := _places.problem_of(value, _places.OTHER_TOOLS):
            bad(f"--on: {problem}")
        place = value
    if not words:
        bad("no script is named")
    return place, False, words[0], words[1:]


def main(words: Optional[List[str]] = None) -> None:
    """Run the command line program. Exceptions of the script propagate unchanged."""
    place, is_module, name, arguments = parse(list(sys.argv[1:] if words is None else words))
    if not is_module and not os.path.exists(name):
        bad(f"can't open file {name!r}: No such file or directory")
    answer_imports()
    run_as_main(name, arguments, is_module, place)


def run_as_main(name: str, arguments: List[str], is_module: bool, place: Optional[str]) -> None:
    """Run a script or module as `__main__` with these arguments; afterwards, restore sys.argv and sys.path."""
    global _place
    before = sys.argv, list(sys.path), _place
    _place = place or _place
    sys.argv = [name, *arguments]
    try:
        # As Python itself does it: a script's imports begin beside it, a module's in the current folder.
        sys.path[:0] = [os.getcwd() if is_module else os.path.dirname(os.path.abspath(name))]
        if is_module:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(name, run_name="__main__")
    finally:
        sys.argv, sys.path[:], _place = before


if __name__ == "__main__":
    # Everybody else knows this module by its name: there must be one, with one place.
    from gangrun.compat import main as main_of_the_module

    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]  # the current folder, which a script's imports do not begin in
    main_of_the_module()
