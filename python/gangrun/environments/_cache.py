"""Where packed environments are kept, each under what it was made of: written once, whoever asks at the same time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shutil
import threading
import time
from typing import Callable, Iterator

from gangrun.errors import CommandFailed

# The newest are kept even when nobody has used them lately; one that was wanted in the last hour is never removed,
# since somebody may be about to upload it.
KEPT = 4
USED_SECONDS = 30 * 24 * 3600
FRESH_SECONDS = 3600
LOCK_LIMIT_S, LOCK_PAUSE_S = 3600, 0.1
MARK = ".used"


def folder() -> pathlib.Path:
    """$XDG_CACHE_HOME/gangrun/environments, for its user only."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    parent = pathlib.Path(given) if given.startswith("/") else pathlib.Path.home() / ".cache"
    path = parent / "gangrun" / "environments"
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb") as lock:
        limit = time.monotonic() + LOCK_LIMIT_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > limit:
                    raise CommandFailed(f"another process has been packing {path.stem} for {LOCK_LIMIT_S} s") from None
                threading.Event().wait(LOCK_PAUSE_S)
        yield


def kept(name: str, make: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """The file or folder of this name. Where there is none, `make` writes it under another name in the same folder; what
    it leaves behind when it fails is removed, and after a process that was killed the next one does that."""
    home = folder()
    path = home / name
    lock = home / f"{name}.lock"
    if not path.exists():
        with _locked(lock):
            for left in home.glob(f"{name}.part-*"):
                _remove(left)
            if not path.exists():
                part = home / f"{name}.part-{os.getpid()}"
                try:
                    make(part)
                    part.rename(path)
                except OSError as error:
                    raise CommandFailed(f"{path} could not be written: {error}") from error
                finally:
                    _remove(part)
    (home / f"{name}{MARK}").touch(mode=0o600)
    _clean(home, name)
    return path


def _remove(path: pathlib.Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _clean(home: pathlib.Path, own: str) -> None:
    """Whatever cannot be removed is removed another time."""
    used = {}
    for mark in home.glob(f"*{MARK}"):
        with contextlib.suppress(OSError):
            used[mark.name[:-len(MARK)]] = mark.stat().st_mtime
    now = time.time()
    for number, name in enumerate(sorted(used, key=lambda name: -used[name])):
        age = now - used[name]
        if name == own or age < FRESH_SECONDS or (number < KEPT and age < USED_SECONDS):
            continue
        for path in (home / name, home / f"{name}{MARK}", home / f"{name}.lock"):
            with contextlib.suppress(OSError):
                _remove(path)
