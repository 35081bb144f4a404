"""Environments that somebody else has packed: venv-pack, conda-pack, pex, cluster-pack."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import platform
import re
import struct
import tarfile
import zipfile
from typing import Any, BinaryIO, Callable, Iterator, Optional

from gangrun.environments import _cache, _start
from gangrun.errors import InvalidJob

ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")
# ELF's own numbers for machines, by what `uname -m` calls them.
MACHINES = {3: "i686", 40: "armv7l", 62: "x86_64", 183: "aarch64", 21: "ppc64le", 22: "s390x", 243: "riscv64"}
PYTHON = re.compile(r"(?:\./)?bin/python[0-9.]*")
LIBRARY = re.compile(r"(?:\./)?lib/python(3\.\d+)/")
TAG = re.compile(r"-cp3(\d+)-")


@dataclasses.dataclass(frozen=True)
class Contents:
    """What is known of an archive; what is empty or None is not."""

    version: str = ""
    machine: str = ""
    is_pex: bool = False
    python: str = ""  # where the interpreter is in it; empty where there is none
    link: str = ""  # what that leads to on the machine where it was packed, where it is no interpreter itself


def is_url(path: str) -> bool:
    return "://" in path and not path.startswith("file://")


def checked(path: str) -> Contents:
    """Looks into an archive of this machine; InvalidJob for what no task could run."""
    if not os.path.exists(path):
        raise InvalidJob(f"environment: there is no {path}")
    if os.path.isdir(path):
        raise InvalidJob(f"environment: {path} is a folder; allowed: an archive of venv-pack, conda-pack or cluster-pack, a "
                         ".pex file, gangrun.environments.NodePython, or None for the environment that runs this")
    if not path.endswith((*ARCHIVES, ".pex")):
        raise InvalidJob(f"environment: {path} is not an environment; allowed: {', '.join(ARCHIVES)} and .pex")
    try:
        contents = _remembered(path)
    except (OSError, tarfile.TarError, zipfile.BadZipFile, struct.error, ValueError) as error:
        raise InvalidJob(f"environment: {path} cannot be read: {str(error).splitlines()[0]}") from error
    if contents.version and contents.version != _start.version():
        raise InvalidJob(f"environment: {path} is for Python {contents.version}, and this is Python {_start.version()}")
    if contents.machine and contents.machine != platform.machine():
        raise InvalidJob(f"environment: {path} is for {contents.machine}, and this is {platform.machine()}")
    if not contents.is_pex and not contents.python:
        raise InvalidJob(f"environment: {path} has no bin/python, nor is it a pex")
    return contents


def _remembered(path: str) -> Contents:
    """A large archive is read once only."""
    status = os.stat(path)
    state = [os.path.abspath(path), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns]
    memory = _cache.folder() / "given.json"
    known: list[Any] = []
    try:
        known = [entry for entry in json.loads(memory.read_text()) if len(entry) == 2]
    except (OSError, ValueError, TypeError):
        pass  # it is read again
    for entry in known:
        if entry[0] == state:
            return Contents(**entry[1])
    contents = _look(path)
    part = memory.with_name(f"given.json.part-{os.getpid()}")
    part.write_text(json.dumps([*known[-63:], [state, dataclasses.asdict(contents)]]))
    part.replace(memory)
    return contents


def _look(path: str) -> Contents:
    if path.endswith((".zip", ".pex")):
        with zipfile.ZipFile(path) as archive:
            if "PEX-INFO" in archive.namelist():
                return _pex(json.loads(archive.read("PEX-INFO")))
            return _members(_zipped(archive))
    with tarfile.open(path) as archive:
        return _members(_tarred(archive))


# A member: its name, where it leads if it is a link, and how its contents are read.
Member = tuple[str, str, Callable[[], Optional[BinaryIO]]]


def _tarred(archive: tarfile.TarFile) -> Iterator[Member]:
    for member in archive:
        yield (member.name, member.linkname if member.issym() or member.islnk() else "",
               lambda member=member: archive.extractfile(member))  # type: ignore[misc]


def _zipped(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        is_link = (info.external_attr >> 28) == 0o12
        yield (info.filename, archive.read(info).decode() if is_link else "",
               lambda info=info: archive.open(info))  # type: ignore[misc]


def _pex(info: Any) -> Contents:
    """A pex of wheels that are for one version of Python only is for that version."""
    versions = {f"3.{match[1]}" for wheel in info.get("distributions", {})
                for match in [TAG.search(wheel)] if match and f"-cp3{match[1]}-abi3-" not in wheel}
    own = _start.version()
    return Contents(version=own if own in versions or not versions else sorted(versions)[0], is_pex=True)


def _members(members: Iterator[Member]) -> Contents:
    """Until everything is known."""
    version, python, machine, links = "", "", "", {}
    for name, link, reader in members:
        found = LIBRARY.match(name)
        version = version or (found[1] if found else "")
        if PYTHON.fullmatch(name):
            name = name[2:] if name.startswith("./") else name
            if link:
                links[name] = link
            else:
                python, machine = name, _machine_of(reader)
        if version and python and machine:
            break
    if python:
        return Contents(version, machine, python="bin/python")
    outside = next((link for link in links.values() if link.startswith("/")), "")
    return Contents(version, machine, python="bin/python" if links else "", link=outside)


def _machine_of(reader: Callable[[], Optional[BinaryIO]]) -> str:
    file = reader()
    header = file.read(20) if file is not None else b""
    if header[:4] != b"\x7fELF":
        return ""
    number: int = struct.unpack("<H" if header[5] == 1 else ">H", header[18:20])[0]
    return MACHINES.get(number, f"another machine (ELF {number})")


def absolute(path: str) -> str:
    return str(pathlib.Path(path[len("file://"):] if path.startswith("file://") else path).expanduser().resolve())
