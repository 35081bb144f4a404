"""What the environment of this process consists of, as an installation of its own that lies anywhere.

A virtual environment has no interpreter, only a link to one. So what is shipped is none: it is a folder with the
interpreter itself, the standard library, and everything installed, of which Python finds the parts by where it lies.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import re
import site
import subprocess
import sys
import sysconfig
from typing import Iterator, Mapping

from gangrun import _modules
from gangrun.environments import _editable, _start
from gangrun.environments._pack import Source

FORMAT = 1  # of what is packed: another one is packed again
# Parts of the standard library that only its own tests and builds of other interpreters need.
UNNEEDED = {"test", "tests", "idlelib", "turtledemo", "ensurepip", "site-packages", "dist-packages", "EXTERNALLY-MANAGED"}
# Parts of a virtual environment's folder that are of no use elsewhere, or come from the interpreter.
NOT_SHIPPED = re.compile(r"bin/(activate.*|Activate.*|python[0-9.]*|deactivate)|pyvenv\.cfg|include|lib64|\.lock|CACHEDIR\.TAG"
                         r"|(conda-meta|pkgs|envs)|\.gitignore")
# Every Linux with such a C library has these.
OF_EVERY_NODE = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|util|nsl|resolv|crypt|gcc_s))\.so.*")
SHEBANG = b"""#!/bin/sh
'''exec' "$(dirname -- "$(readlink -f -- "$0")")/python" "$0" "$@"
' '''
"""
LDD_LIMIT_S = 60
LINKS_UP = 40


@dataclasses.dataclass(frozen=True)
class Environment:
    """Everything by its name in the archive, and what is shipped beside it, by its name in that folder."""

    content: Mapping[str, Source]
    editable: Mapping[str, pathlib.Path]
    key: str
    name: str


def environment() -> Environment:
    """What this process runs in, as it is now."""
    content: dict[str, Source] = {}
    editable: dict[str, pathlib.Path] = {}
    packages = _packages_folder()
    for folder in _site_folders():
        found = _editable.look(folder)
        for name, path in found.content.items():
            editable.setdefault(name, path)
        for name, source in _files(folder, found.left_out):
            content.setdefault(f"{packages}/{name}", source)
    content[f"{packages}/gangrun-editable.pth"] = _editable.PTH
    if sys.prefix != sys.base_prefix or _is_conda():
        skipped = {os.path.realpath(folder) for folder in _site_folders()} | {os.path.realpath(_stdlib())}
        for name, source in _files(pathlib.Path(sys.prefix), skipped):
            if not NOT_SHIPPED.match(name) and "/__pycache__/" not in name:
                content.setdefault(name, _relocated(name, source))
    content.update(interpreter())
    return Environment(content, editable, key_of(content), os.path.basename(sys.prefix) or "python")


def editable_packages() -> dict[str, pathlib.Path]:
    """What is shipped beside the environment: by what it is imported as, where it is written."""
    found: dict[str, pathlib.Path] = {}
    for folder in _site_folders():
        for name, path in _editable.look(folder).content.items():
            found.setdefault(name, path)
    return found


def interpreter() -> dict[str, Source]:
    """The interpreter with its standard library, of the version that runs here."""
    content: dict[str, Source] = {}
    binary = pathlib.Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
    version = f"python{_start.version()}"
    for name in ("python", "python3", version):
        content[f"bin/{name}"] = str(binary)
    for name, source in _files(pathlib.Path(_stdlib()), set()):
        if name.split("/")[0] in UNNEEDED or name.startswith("config-"):
            continue
        content[f"lib/{version}/{name}"] = source
    return content


def with_libraries(content: Mapping[str, Source]) -> dict[str, Source]:
    """What is packed: also the shared libraries of the interpreter. They are no part of the key, as they take seconds to find
    and only stand in for those that a node has not."""
    programs = [source for name, source in content.items()
                if isinstance(source, str) and (name == "bin/python" or "/lib-dynload/" in name)]
    whole = dict(content)
    for path in _libraries_of(programs):
        # The interpreter finds a library beside itself there again.
        own = sys.base_prefix != "/usr" and path.is_relative_to(sys.base_prefix)
        whole.setdefault(f"lib/{path.name}" if own else f"lib/gangrun-libraries/{path.name}", str(path))
    return whole


def _stdlib() -> str:
    return os.path.dirname(os.__file__)


def _is_conda() -> bool:
    return os.path.isdir(os.path.join(sys.prefix, "conda-meta"))


def _packages_folder() -> str:
    """Where the interpreter, shipped, looks for packages: distributions have changed that."""
    code = "import site, sys; sys.stdout.write('\\n'.join(site.getsitepackages(['/P'])))"
    binary = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    done = subprocess.run([binary, "-I", "-c", code], capture_output=True, text=True, timeout=LDD_LIMIT_S, check=True)
    folders = done.stdout.split("\n")
    usual = f"/P/lib/python{_start.version()}/site-packages"
    return (usual if usual in folders else folders[0])[len("/P/"):]


def _site_folders() -> list[pathlib.Path]:
    """Where this process finds packages, first the ones that win."""
    paths = sysconfig.get_paths()
    wanted = [paths["purelib"], paths["platlib"]]
    if site.ENABLE_USER_SITE:
        wanted.insert(0, site.getusersitepackages())
    wanted += [path for path in sys.path if _modules.has_installed(path)]
    found: list[pathlib.Path] = []
    for path in wanted:
        real = pathlib.Path(os.path.realpath(path))
        if real.is_dir() and real not in found:
            found.append(real)
    return found


def _files(folder: pathlib.Path, left_out: set[str]) -> Iterator[tuple[str, Source]]:
    """Every file below, by its path in the folder. Links that lead out of it are what they lead to."""
    root = os.path.realpath(folder)
    waiting = [(root, "")]
    depths = {root: 0}
    while waiting:
        path, prefix = waiting.pop()
        with os.scandir(path) as entries:
            for entry in entries:
                name = prefix + entry.name
                is_link = entry.is_symlink()
                if entry.path in left_out or name in left_out or (is_link and os.path.realpath(entry.path) in left_out):
                    continue
                if is_link and _stays_inside(entry.path, root):
                    yield name, entry.path
                elif entry.is_dir():
                    depths[entry.path] = depths[path] + 1
                    if depths[entry.path] <= LINKS_UP:
                        waiting.append((entry.path, f"{name}/"))
                elif entry.is_file():
                    is_compiled = prefix.endswith("__pycache__/")
                    if not is_compiled or f".{sys.implementation.cache_tag}." in entry.name:
                        yield name, os.path.realpath(entry.path) if is_link else entry.path


def _stays_inside(link: str, root: str) -> bool:
    target = os.readlink(link)
    if os.path.isabs(target):
        return False
    lexical = os.path.normpath(os.path.join(os.path.dirname(link), target))
    return lexical.startswith(root + os.sep) and os.path.exists(link)


def _relocated(name: str, source: Source) -> Source:
    """A script that begins with the path of this environment's Python begins with the one beside it."""
    if not name.startswith("bin/") or isinstance(source, bytes) or os.path.islink(source):
        return source
    with open(source, "rb") as file:
        if file.read(2) != b"#!":
            return source
        first, _, rest = (b"#!" + file.read()).partition(b"\n")
    if first.startswith(b"#!/bin/sh") and rest.startswith(b"'''exec'"):
        return SHEBANG + rest.partition(b"' '''\n")[2]
    return SHEBANG + rest if re.match(rb"#!.*/python[0-9.]*\s*$", first) else source


def _libraries_of(programs: list[str]) -> list[pathlib.Path]:
    """The shared libraries that they load here, but those that every node has."""
    done = subprocess.run(["ldd", *programs], capture_output=True, text=True, timeout=LDD_LIMIT_S)
    found = {match[1]: pathlib.Path(match[2]) for match in re.finditer(r"^\s+(\S+) => (/\S+) \(", done.stdout, re.M)}
    return [_named(path, name) for name, path in sorted(found.items()) if not OF_EVERY_NODE.fullmatch(name)]


def _named(path: pathlib.Path, name: str) -> pathlib.Path:
    """The path by which it is called as programs ask for it."""
    return path if path.name == name else path.with_name(name)


def key_of(content: Mapping[str, Source]) -> str:
    """What tells one state of an environment from another: names, sizes, times. Compiled modules come and go."""
    digest = hashlib.sha256(f"{FORMAT} {_start.here()} {sys.version}".encode())
    for name in sorted(content):
        if "/__pycache__/" in name:
            continue
        source = content[name]
        if isinstance(source, bytes):
            state = hashlib.sha256(source).hexdigest()
        else:
            status = os.lstat(source)
            state = f"{status.st_size} {status.st_mtime_ns} {status.st_mode:o}"
        digest.update(os.fsencode(f"{name}\0{state}\0"))
    return digest.hexdigest()
