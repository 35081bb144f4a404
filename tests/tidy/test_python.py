"""What Python itself would find only when it comes to the line: names that are not there, types that do not fit, and imports that
are for nothing, or too much."""

import ast
import os
import pathlib
import subprocess
import sys

from house import ROOT, project_files, read, report
from pyflakes.checker import Checker

# What `import gangrun` must not bring: a command line that only asks for a status should not wait for them.
HEAVY = ("asyncio", "cloudpickle", "dataclasses", "inspect", "json", "numpy", "pathlib", "re", "rich", "subprocess",
         "tempfile", "tensorflow", "torch", "typing", "IPython")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "gangrun/mypy"

MEANT = "noqa: F401"  # an import that is used by its being there


def scripts():
    for path in project_files():
        if path.suffix == ".py" or (not path.suffix and (ROOT / path).read_bytes().startswith(b"#!/usr/bin/env python3")):
            yield path


def findings(text, name):
    lines = text.splitlines()
    return [f"{name}:{found.lineno}: {found.message % found.message_args}"
            for found in Checker(ast.parse(text), name).messages if MEANT not in lines[found.lineno - 1]]


def test_python_has_no_names_that_are_not_there():
    paths = list(scripts())
    assert len(paths) > 50
    offences = [found for path in paths for found in findings(read(path), path)]
    assert not offences, report(offences)


def test_a_lost_import_is_found():
    assert findings("print(json.dumps({}))\n", "x.py") == ["x.py:1: undefined name 'json'"]


def test_the_package_has_the_types_that_it_says():
    found = subprocess.run([sys.executable, "-m", "mypy", f"--cache-dir={CACHE}"], cwd=ROOT, capture_output=True, text=True,
                           timeout=600)
    assert found.returncode == 0, found.stdout + found.stderr


def package():
    return [path for path in project_files() if path.suffix == ".py" and path.as_posix().startswith("python/gangrun/")]


def test_the_package_is_python_3_9():
    """As its syntax goes; `X | Y` stands in annotations only, which are not evaluated."""
    assert package()
    for path in package():
        ast.parse(read(path), path.name, feature_version=(3, 9))
    offences = [path for path in package() if read(path).strip() and "from __future__ import annotations" not in read(path)]
    assert not offences, report(offences)


def test_the_package_imports_nothing_heavy():
    code = "import sys; old = set(sys.modules); import gangrun; print(*sorted(set(sys.modules) - old))"
    found = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT / "python", capture_output=True, text=True, timeout=60,
                           check=True)
    brought = found.stdout.split()
    assert "gangrun" in brought and not set(brought) & set(HEAVY), brought
