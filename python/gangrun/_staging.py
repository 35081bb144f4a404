"""The folder that a job's file, function and files are put into before it starts; only its user can read it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import shutil
import struct
import stat
import sys
import tempfile
import time
import zipfile
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

from gangrun import _places
from gangrun._texts import harmless
from gangrun.errors import InvalidJob, NotInstalled

RUNTIME = "gangrun-runtime.zip"
# Zip knows no earlier time; the same one for all, so that the same files make the same archive.
EPOCH = (1980, 1, 1, 0, 0, 0)


def home() -> pathlib.Path:
    given = os.environ.get("GANGRUN_HOME")
    return pathlib.Path(given) if given else pathlib.Path.home() / ".gangrun"


def is_url(path: str) -> bool:
    return "://" in path


def files_of(files: Any, on: str) -> dict[str, str]:
    """The name in the task → an absolute path, or a URL; everything is checked before anything starts."""
    if files is None:
        return {}
    if isinstance(files, (str, bytes, os.PathLike)):
        raise InvalidJob(f"files: {files!r} is one path; allowed: a list of paths, or a mapping of names to paths")
    pairs = list(files.items()) if isinstance(files, Mapping) else [(None, path) for path in files]
    found: dict[str, str] = {}
    for given, raw in pairs:
        name, path = _file_of(given, raw, on)
        if name in found and found[name] != path:
            raise InvalidJob(f"files: {found[name]} and {path} would both be called '{name}'")
        found[name] = path
    return found


def _file_of(given: Optional[str], raw: Any, on: str) -> tuple[str, str]:
    path = os.fsdecode(raw) if isinstance(raw, (str, bytes, os.PathLike)) else None
    if not isinstance(path, str) or not path:
        raise InvalidJob(f"files: {raw!r} is not a path")
    if is_url(path) and not path.startswith("file://"):
        if on in _places.LED_FROM_HERE:
            where = "on this machine" if on == "local" else f"with on='{on}'"
            raise InvalidJob(f"files: {path} is on a cluster's file system; allowed {where}: paths")
        url, _, fragment = path.partition("#")
        name = given or fragment or url.rstrip("/").rsplit("/", 1)[-1]
        path = url
    else:
        path = os.path.abspath(path[len("file://"):] if path.startswith("file://") else path)
        if not os.path.exists(path):
            raise InvalidJob(f"files: {path} is not there")
        if odd := _odd_kind(path):
            raise InvalidJob(f"files: {path} is {odd}; allowed: files and folders")
        name = given or os.path.basename(path)
    if not isinstance(name, str) or not name or "/" in name or name in (".", ".."):
        raise InvalidJob(f"files: {name!r} is not a name for {path}; allowed: one name without '/'")
    return name, path


def _odd_kind(path: Union[str, pathlib.Path]) -> str:
    """The kind of what is neither a file nor a folder, as the programs name it; else empty."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return error.strerror or "no file"
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return ""
    return next((words for is_it, words in ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"), (stat.S_ISBLK, "a device"),
                                            (stat.S_ISCHR, "a device")) if is_it(mode)), "no file")


OWNER = "owner"
# In a staging folder: what of its tasks' files is to be brought, by type and under "" for the others; there if any is named.
NAMED = "outputs.json"
# In one whose job keeps its folders until it is removed.
KEPT = "kept"
# In one that stays though what is to be brought has been.
BROUGHT = "brought"
# A folder without an owner's file is new for so long: somebody is about to write it.
NEW_S = 3600
# How many things a sentence names, and how much of a name.
MAX_NAMED = 5
# fcntl(2)'s struct flock: type, whence, start, length, process.
FLOCK = "hhqqi0q"
MAX_NAME = 120


def sweep(ended: str = "") -> None:
    """Removes what processes have left that were killed, and what detached jobs have left that have ended.

    What these have made is brought, and told once. `ended`: a job that is known to have ended.
    """
    for entry in (home() / "python").glob("run-*"):
        folder = entry.resolve()
        if entry.is_symlink() and not folder.exists():
            entry.unlink()
            continue
        with contextlib.suppress(OSError):  # another one removes it at the same time
            if not (folder / OWNER).exists():
                if time.time() - folder.stat().st_mtime > NEW_S:
                    _remove(entry)
                continue
            with open(folder / OWNER, "rb") as owner:
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                job = owner.read().decode()
                folder_of_job = home() / "jobs" / job
                if job and job != ended and _is_led(folder_of_job):
                    continue
                if job and not (folder / BROUGHT).exists():
                    brought = _bring_outputs(folder, folder_of_job)
                    (folder / BROUGHT).touch(mode=0o600)
                    if brought.odd:
                        (folder / KEPT).touch(mode=0o600)  # until the job is removed
                    for sentence in brought.sentences(str(folder_of_job / "outputs"), str(folder / "tasks")):
                        print(f"gangrun: {job}: {sentence}", file=sys.stderr)
                if job and (folder / KEPT).exists() and folder_of_job.exists():
                    continue
                _remove(entry)


def _is_led(job: pathlib.Path) -> bool:
    """Whether the job has a master, or may get one again."""
    if (job / "launch.json").exists():
        return True
    try:
        with open(job / "master.lock", "rb") as lock:
            asked = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            found: int = struct.unpack(FLOCK, fcntl.fcntl(lock, fcntl.F_GETLK, asked))[0]
            return found != fcntl.F_UNLCK
    except OSError:
        return False


def _remove(entry: pathlib.Path) -> None:
    """The folder, and the link to it if it is elsewhere."""
    shutil.rmtree(entry.resolve())
    if entry.is_symlink():
        entry.unlink()


class Brought(NamedTuple):
    files: list[str]  # and links and empty folders: where they are now
    odd: list[str]  # what cannot be brought, with the reason

    def sentences(self, outputs: str, tasks: str) -> list[str]:
        """For the user; `tasks`: where what cannot be brought is."""
        told = []
        if self.odd:
            more = f" and {len(self.odd) - MAX_NAMED} more" if len(self.odd) > MAX_NAMED else ""
            told.append(f"what tasks have made in folders of their own cannot all be brought, and stays in {tasks} until `gangrun rm`: "
                        f"{', '.join(self.odd[:MAX_NAMED])}{more}")
        if self.files:
            count = "1 file" if len(self.files) == 1 else f"{len(self.files)} files"
            told.append(f"{count} that tasks have written in folders of their own are in {outputs}")
        return told


def _bring_outputs(folder: pathlib.Path, job: pathlib.Path) -> Brought:
    """What commands have written in their own folders goes where other jobs have it; where there is none, the job was removed."""
    brought = Brought([], [])
    if not job.is_dir():
        return brought
    named = json.loads((folder / NAMED).read_text()) if (folder / NAMED).exists() else {}
    for task in sorted(folder.glob("tasks/*")):
        names = named.get(task.name.rpartition("-")[0], named.get(""))
        if names != []:
            _bring_from(task, names, folder / "files", job / "outputs" / task.name, brought)
    return brought


def _bring_from(task: pathlib.Path, names: Optional[Sequence[str]], given: pathlib.Path, to: pathlib.Path, brought: Brought) -> None:
    # A link to one of the job's files is not the task's.
    paths = [path for path in sorted(task.rglob("*")) if not (path.is_symlink() and _leads_to(path, given))]
    links = {path: _target_in(task, path) for path in paths if path.is_symlink()}
    if names is not None:
        # The targets of links come too.
        names = list(names)
        while more := [str(target) for path, (target, _) in links.items()
                       if target and _is_wanted(path.relative_to(task), names) and not _is_wanted(target, names)]:
            names += more
    # Links first: once what they lead to has been moved, and the rest is done by another process, they would lead to nothing.
    for path in sorted(paths, key=lambda path: path not in links):
        inside = path.relative_to(task)
        if not _is_wanted(inside, names) or (path in links and os.path.islink(to / inside)):
            continue
        target, why = links.get(path, (None, ""))
        if why or not (target or path.is_dir() or path.is_file()):
            brought.odd.append(f"{_in_quotes(str(pathlib.PurePath(task.name, inside)))} ({why or _odd_kind(path)})")
            continue
        if not target and path.is_dir() and any(path.iterdir()):
            continue
        there = to / inside
        there.parent.mkdir(parents=True, exist_ok=True)
        if target:
            os.symlink(os.path.relpath(target, inside.parent), there)
        elif path.is_dir():
            there.mkdir(exist_ok=True)
        else:
            shutil.move(path, there)
        brought.files.append(str(there))


def _leads_to(link: pathlib.Path, folder: pathlib.Path) -> bool:
    return os.path.realpath(os.path.dirname(os.readlink(link))) == os.path.realpath(folder)


def _target_in(folder: pathlib.Path, link: pathlib.Path) -> tuple[Optional[pathlib.PurePath], str]:
    """Where the link leads in the folder; or why it cannot be brought."""
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return None, "a link to nothing"
    if not target.is_relative_to(folder.resolve()):
        return None, "a link that leads out of the folder"
    if odd := _odd_kind(target):
        return None, f"a link to {odd}"
    return target.relative_to(folder.resolve()), ""


def _in_quotes(name: str) -> str:
    return f'"{harmless(name)[:MAX_NAME]}"'


def _is_wanted(path: pathlib.PurePath, names: Optional[Sequence[str]]) -> bool:
    if names is None:
        return "__pycache__" not in path.parts
    return any(path.parts[:len(parts)] == parts for parts in (pathlib.PurePath(name).parts for name in names))


class Staging:
    """Removed by its owner. What a detached job reads from it must outlive the process that started it."""

    def __init__(self, below: Optional[str] = None) -> None:
        """`below`: a folder that other hosts may share, where this one is to lie, with a link in the usual place."""
        parent = home() / "python"
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        sweep()
        self._entry: Optional[str] = None
        if below is None:
            self.folder = tempfile.mkdtemp(prefix="run-", dir=parent)
        else:
            try:
                self.folder = tempfile.mkdtemp(prefix=".gangrun-run-", dir=below)
            except OSError as error:
                raise InvalidJob(f"files: with on='ssh' they are put together in the caller's folder, which is not possible in "
                                 f"{below}: {error.strerror}") from None
            self._entry = str(parent / os.path.basename(self.folder).replace(".gangrun-", "", 1))
            os.symlink(self.folder, self._entry)
        self._job = ""  # as it is noted
        self._owner = open(os.open(self.path(OWNER), os.O_WRONLY | os.O_CREAT, 0o600), "wb")
        fcntl.flock(self._owner, fcntl.LOCK_EX)

    def note_job(self, job: str) -> None:
        """If this process is killed, what the job's tasks have made is brought by the next one. Does nothing where that is known."""
        if job != self._job and not self._owner.closed:
            with contextlib.suppress(OSError):  # a full disk: the end of the job, here, needs no note
                os.truncate(self._owner.fileno(), 0)
                os.pwrite(self._owner.fileno(), job.encode(), 0)
                self._job = job

    def leave_to(self, job: str) -> None:
        """It stays until this job of this machine has ended, or with `keep_folders` until it is removed."""
        self.note_job(job)
        self._owner.close()

    def note_outputs(self, keys: Mapping[str, Any], of_types: Mapping[str, Optional[Sequence[str]]]) -> None:
        """What becomes of what commands write in their own folders. What is wrong with it the program says."""
        given = {"": keys.get("outputs"), **of_types}
        named = {name: list(names) for name, names in given.items() if isinstance(names, (list, tuple))}
        if named:
            self.write_json(NAMED, named)
        if keys.get("keep_folders") is True:
            pathlib.Path(self.path(KEPT)).touch(mode=0o600)

    def end(self, job: str) -> Brought:
        """The job has ended: brings what its commands have written, and removes all, if it is not kept."""
        brought = _bring_outputs(pathlib.Path(self.folder), home() / "jobs" / job) if job else Brought([], [])
        if brought.odd:
            pathlib.Path(self.path(KEPT)).touch(mode=0o600)
        if job and os.path.exists(self.path(KEPT)):
            pathlib.Path(self.path(BROUGHT)).touch(mode=0o600)
            self.leave_to(job)
        else:
            self.remove()
        return brought

    @property
    def name(self) -> str:
        return os.path.basename(self.folder)

    @property
    def files(self) -> str:
        """The folder of links to the job's files; there where the job has some."""
        return self.path("files")

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def write(self, name: str, content: bytes) -> str:
        path = self.path(name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
        return path

    def write_once(self, stem: str, content: bytes) -> str:
        """The same content is written once, whoever asks for it."""
        name = f"gangrun-{stem}-{hashlib.sha256(content).hexdigest()[:16]}"
        return self.path(name) if os.path.exists(self.path(name)) else self.write(name, content)

    def write_json(self, name: str, value: Any) -> str:
        try:
            text = json.dumps(value)
        except TypeError as error:
            raise InvalidJob(f"job: {error}; allowed: what JSON can say") from None
        return self.write(name, text.encode())

    def link_files(self, files: Mapping[str, str], on: str) -> list[str]:
        """Links with the names that the tasks see; what the job file is to list, which on this machine is nothing.

        Hosts that ssh reaches may share this folder, but not every disk: what is on another one is copied.
        """
        links = self.files
        listed = []
        for name, path in files.items():
            if is_url(path):
                listed.append(f"{path}#{name}")
                continue
            os.makedirs(links, exist_ok=True)
            if not os.path.lexists(os.path.join(links, name)):  # a trial has linked it
                if on == "ssh" and os.stat(path).st_dev != os.stat(links).st_dev:
                    (shutil.copytree if os.path.isdir(path) else shutil.copy2)(path, os.path.join(links, name))
                else:
                    os.symlink(path, os.path.join(links, name))
            listed.append(os.path.join(links, name))
        return [] if on == "local" else listed

    def runtime_folder(self) -> str:
        """What a task needs of this package, for tasks that see this machine's files."""
        folder = self.path("runtime")
        if not os.path.isdir(folder):
            os.mkdir(folder)
            os.symlink(package_folder("gangrun"), os.path.join(folder, "gangrun"))
            os.symlink(package_folder("cloudpickle"), os.path.join(folder, "cloudpickle"))
        return folder

    def runtime_archive(self) -> str:
        """The same for tasks elsewhere: the same package always makes the same bytes."""
        path = self.path(RUNTIME)
        if not os.path.exists(path):
            self.write(RUNTIME, runtime_bytes())
        return path

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._entry is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._entry)
        self._owner.close()


def package_folder(name: str) -> str:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.origin:
        raise NotInstalled(f"the package '{name}' is not installed: pip install {name}")
    return os.path.dirname(os.path.realpath(spec.origin))


def runtime_bytes() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in ("gangrun", "cloudpickle"):
            root = pathlib.Path(package_folder(package))
            for path in sorted(root.rglob("*.py")):
                name = zipfile.ZipInfo(f"{package}/{path.relative_to(root).as_posix()}", EPOCH)
                name.external_attr = 0o644 << 16
                name.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(name, path.read_bytes())
    return buffer.getvalue()
