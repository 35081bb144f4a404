"""The Python environment of the tasks, and how it gets to them (docs/environments.md)."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from typing import Any, Callable, Mapping, Optional

from gangrun.errors import InvalidJob

# Folders in the task's working folder where the environment and its interpreter are unpacked.
FOLDER = "env"
INTERPRETER = "env-python"
# Stands for the environment of the calling process; gangrun's `cluster_pack.upload_env` returns it.
ACTIVE = "gangrun:active-environment"


@dataclasses.dataclass(frozen=True)
class TaskPython:
    """How a task starts its Python: the command, and the archives, files and variables that it needs.

    `archives` and `files` map names in the task's working folder to paths or URLs.
    """

    command: tuple[str, ...]
    archives: Mapping[str, str] = dataclasses.field(default_factory=dict)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class NodePython:
    """A Python interpreter that is installed on every node, so nothing is shipped.

    Its version must be that of the Python that starts the job, because functions are sent as bytecode. With `any_version`,
    this is not checked.
    """

    path: str
    any_version: bool = False


Progress = Callable[[str], None]


def prepare(environment: Any, *, on: str, env: Mapping[str, str], progress: Progress) -> TaskPython:
    """Pack an environment if necessary, and return how a task starts its Python. Packed environments are cached.

    environment  None: the environment of this process; the path or URL of an archive or pex; or a NodePython
    on           "local", "yarn", "kubernetes" or "ssh"; with "local" and "ssh", tasks use this process's Python, at its path, and
                 with "kubernetes" the one of their image
    progress     called with messages about long steps

    Raises InvalidJob if the environment cannot be used there.
    """
    found = _prepare(environment, on, progress)
    assert found is not None
    return found


def without_packing(environment: Any, *, on: str) -> Optional[TaskPython]:
    """As `prepare`, for an environment that is used as it is; None for one that has to be packed, which may take minutes."""
    return _prepare(environment, on, None)


def _prepare(environment: Any, on: str, progress: Optional[Progress]) -> Optional[TaskPython]:
    """Without `progress`, everything is checked and nothing is packed."""
    if isinstance(environment, os.PathLike):
        environment = os.fspath(environment)
    if isinstance(environment, NodePython):
        return _of_node(environment, on)
    if environment is not None and (not isinstance(environment, str) or not environment):
        raise InvalidJob(f"environment: {environment!r} is a {type(environment).__name__}; allowed: None, the path or URL of an "
                         "archive, gangrun.environments.NodePython('/usr/bin/python3'), or a mapping of task types or "
                         "labels to these")
    is_active = environment is None or environment == ACTIVE
    if on == "kubernetes":
        return _of_image(None if is_active else environment)
    if on == "local":
        return _on_this_machine(None if is_active else environment)
    if on == "ssh":
        return _on_other_hosts(None if is_active else environment)
    return _packed(progress) if is_active else _of_archive(str(environment), progress)


def _of_node(python: NodePython, on: str) -> TaskPython:
    from gangrun.environments import _start

    if not isinstance(python.path, str) or not python.path or re.search(r"\s", python.path):
        raise InvalidJob(f"environment: NodePython: {python.path!r} is not a path of a program")
    origin = f"the environment NodePython('{python.path}')"
    if on == "kubernetes":
        return TaskPython(_start.command_in_image(python.path, origin))
    return TaskPython(_start.command(python.path, origin, any_version=python.any_version))


def _of_image(given: Optional[str]) -> TaskPython:
    from gangrun.environments import _start

    if given is not None:
        raise InvalidJob(f"environment: a pod has the Python of its image, and unpacks no archive such as {given}; allowed with "
                         "on='kubernetes': None, or gangrun.environments.NodePython, one of the image's")
    return TaskPython(_start.command_in_image("python3", "the image"))


def _on_this_machine(given: Optional[str]) -> TaskPython:
    """The tasks see what this process sees, so an archive is only looked for."""
    if given is not None:
        from gangrun.environments import _given as archives

        if not archives.is_url(given) and not os.path.exists(archives.absolute(given)):
            raise InvalidJob(f"environment: there is no {given}")
    return TaskPython((sys.executable,))


def _on_other_hosts(given: Optional[str]) -> TaskPython:
    """Nothing unpacks an archive there. A disk that they share has this Python, or they have one at the same path."""
    from gangrun.environments import _start

    if given is not None:
        raise InvalidJob(f"environment: hosts that ssh reaches unpack no archive such as {given}; allowed with on='ssh': None for "
                         "the Python at this one's path, or gangrun.environments.NodePython")
    return TaskPython(_start.command(sys.executable, f"the Python of this machine, {sys.executable}"))


def _packed(progress: Optional[Progress]) -> Optional[TaskPython]:
    from gangrun.environments import _active, _cache, _editable, _pack, _start

    if not sys.platform.startswith("linux"):
        raise InvalidJob(f"environment: that of this machine, {sys.platform}, does not run on a cluster's nodes; allowed: the path "
                         "of an archive for Linux, or gangrun.environments.NodePython")
    if progress is None:
        return None
    found = _active.environment()
    archive = _cache.kept(f"{_plain(found.name)}-{found.key[:32]}.tar.gz",
                          lambda part: _pack.write(part, _active.with_libraries(found.content), f"the environment {sys.prefix}", progress))
    files = {_editable.FOLDER: str(_editable.staged(found.editable))} if found.editable else {}
    return TaskPython(_start.command(f"{FOLDER}/bin/python", f"the environment {sys.prefix} ({_start.here()})",
                                     machine=_machine()), {FOLDER: str(archive)}, files,
                      # Packages that a node's user has installed for himself are no part of it.
                      {"PYTHONNOUSERSITE": "1"})


def _of_archive(path: str, progress: Optional[Progress]) -> Optional[TaskPython]:
    from gangrun.environments import _given as archives, _start

    if archives.is_url(path):
        url = path.partition("#")[0]
        if not url.endswith((*archives.ARCHIVES, ".pex")):
            raise InvalidJob(f"environment: {path} is not an environment; allowed: {', '.join(archives.ARCHIVES)} and .pex")
        if url.endswith((".pex", ".pex.zip")):
            return _of_pex(url, progress)
        return TaskPython(_start.command(f"{FOLDER}/bin/python", f"the environment {path}"), {FOLDER: url})
    path = archives.absolute(path)
    contents = archives.checked(path)
    if contents.is_pex:
        return _of_pex(path, progress)
    origin = f"the environment {path}"
    if contents.link:
        origin += f", which has no interpreter but a link to {contents.link},"
    return TaskPython(_start.command(f"{FOLDER}/{contents.python}", origin, machine=contents.machine), {FOLDER: path})


def _of_pex(path: str, progress: Optional[Progress]) -> Optional[TaskPython]:
    """A pex is started by an interpreter, which it does not have: one comes along."""
    from gangrun.environments import _active, _cache, _pack, _start

    if progress is None:
        return None
    content = _active.interpreter()
    archive = _cache.kept(f"python-{_active.key_of(content)[:32]}.tar.gz",
                          lambda part: _pack.write(part, _active.with_libraries(content), f"Python {_start.version()}", progress))
    command = _start.command(f"{INTERPRETER}/bin/python", f"the interpreter for {path} ({_start.here()})",
                             machine=_machine())
    # As an interpreter, a pex runs what its arguments say and not what it was made for; and it finds what PYTHONPATH says,
    # which one that was made with --venv would not.
    env = {"PEX_INTERPRETER": "1", "PEX_ROOT": "./.pex", "PEX_INHERIT_PATH": "fallback", "PEX_VENV": "0"}
    if path.endswith(".pex"):
        return TaskPython((*command, "env.pex"), {INTERPRETER: str(archive)}, {"env.pex": path}, env)
    return TaskPython((*command, FOLDER), {INTERPRETER: str(archive), FOLDER: path}, {}, env)


def _machine() -> str:
    import platform

    return platform.machine()


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:40] or "python"
