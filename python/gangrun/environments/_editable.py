"""Packages that are installed as links to where they are written: found, and shipped as they are now."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
from typing import Iterator, Mapping

from gangrun.environments import _cache

FOLDER = "gangrun-editable"
# Beside the folder that the environment lies in, that is in the task's working folder; last, as editable packages are.
PTH = (f"import os, sys; sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname("
       f"os.path.abspath(sys.executable)))), {FOLDER!r}))\n").encode()
NOT_SOURCE = shutil.ignore_patterns("__pycache__", "*.pyc", ".git", ".hg", ".svn", ".tox", ".venv", "node_modules")


@dataclasses.dataclass(frozen=True)
class Found:
    """The content of one folder of packages: what is to be imported by its name, and the names in the folder that are links."""

    content: Mapping[str, pathlib.Path]
    left_out: set[str]


def look(folder: pathlib.Path) -> Found:
    content: dict[str, pathlib.Path] = {}
    left_out: set[str] = set()
    for pth in sorted(folder.glob("*.pth")):
        lines = [line.strip() for line in pth.read_text(errors="replace").splitlines()]
        paths = [line for line in lines if line and not line.startswith(("#", "import ", "import\t"))]
        mapped = [pair for line in lines for pair in _finder(folder, line)]
        outside = [path for path in paths if _leads_out(folder, path)]
        if not outside and not mapped:
            continue
        left_out.add(pth.name)
        for name, path in mapped:
            content.setdefault(name, path)
        for place in outside:
            # Another folder of packages is no source: this process finds it among its own.
            if os.path.basename(place) not in ("site-packages", "dist-packages"):
                for name, source in _importable(pathlib.Path(place)):
                    content.setdefault(name, source)
    left_out.update(link.name for link in folder.glob("*.egg-link"))
    left_out.update(finder.name for finder in folder.glob("__editable___*_finder.py"))
    return Found(content, left_out)


def _leads_out(folder: pathlib.Path, path: str) -> bool:
    return os.path.isabs(path) and os.path.isdir(path) and not pathlib.Path(path).is_relative_to(folder)


def _finder(folder: pathlib.Path, line: str) -> Iterator[tuple[str, pathlib.Path]]:
    """setuptools writes where each package is into a module that a .pth imports."""
    match = re.match(r"import (__editable___\w+_finder);", line)
    path = folder / f"{match[1]}.py" if match else None
    if path is None or not path.is_file():
        return
    for node in ast.parse(path.read_text()).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == "MAPPING" and isinstance(node, (ast.Assign, ast.AnnAssign)):
            for name, source in (ast.literal_eval(node.value) if node.value else {}).items():
                found = pathlib.Path(source)
                found = found if found.exists() else found.with_name(f"{found.name}.py")
                if found.exists():
                    ending = ".py" if found.is_file() else ""
                    yield name.replace(".", "/") + ending, found


def _importable(folder: pathlib.Path) -> Iterator[tuple[str, pathlib.Path]]:
    """What can be imported from a folder, which may have much else in it; and what tells of versions."""
    named = {name for path in folder.glob("*.egg-info/top_level.txt") for name in path.read_text().split()}
    for path in sorted(folder.iterdir()):
        if path.suffix in (".egg-info", ".dist-info"):
            yield path.name, path
        elif path.is_file() and path.suffix in (".py", ".so") and path.name != "setup.py":
            yield path.name, path
        elif path.is_dir() and path.name.isidentifier() and ((path / "__init__.py").exists() or path.name in named):
            yield path.name, path


def staged(content: Mapping[str, pathlib.Path]) -> pathlib.Path:
    """A copy of all of it as it is now."""
    digest = hashlib.sha256()
    for name, path in sorted(content.items()):
        for file in [path] if path.is_file() else sorted(_sources(path)):
            status = file.stat()
            digest.update(os.fsencode(f"{name}\0{file}\0{status.st_size} {status.st_mtime_ns} {status.st_ino}\0"))
    return _cache.kept(f"editable-{digest.hexdigest()[:32]}", lambda part: _copy(content, part))


def _sources(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    for path, folders, files in os.walk(folder):
        ignored = NOT_SOURCE(path, [*folders, *files])
        folders[:] = [name for name in folders if name not in ignored]
        yield from (pathlib.Path(path, name) for name in files if name not in ignored)


def _copy(content: Mapping[str, pathlib.Path], folder: pathlib.Path) -> None:
    folder.mkdir(mode=0o700)
    for name, source in content.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=NOT_SOURCE, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
