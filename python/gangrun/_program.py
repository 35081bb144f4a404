"""Finds the programs, runs their commands, and makes errors of their exit statuses."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
from typing import Any, Mapping, NoReturn, Optional, Sequence

from gangrun import _texts, errors

# A command that only asks or tells something has the first limit; one that moves a whole log or a result, the second.
COMMAND_TIMEOUT_S = 120
TRANSFER_TIMEOUT_S = 1800

JOB_FAILED, BAD_INPUT, COULD_NOT_START, NO_SUCH_JOB, STOPPED, LOST, FAILED, TIME_LIMIT, INTERRUPTED = 1, 2, 3, 4, 5, 6, 7, 124, 130


def find(name: str = "gangrun", on_path: bool = True) -> str:
    """The path of a program: in $GANGRUN_BIN, else in this package, else on $PATH.

    What is on $PATH may be a script that asks for the program itself.
    """
    folder = os.environ.get("GANGRUN_BIN")
    if folder:
        path = os.path.join(folder, name)
        if not os.access(path, os.X_OK):
            raise errors.NotInstalled(f"GANGRUN_BIN: {folder} has no program '{name}'")
        return path
    packaged = pathlib.Path(__file__).parent / "bin" / name
    if os.access(packaged, os.X_OK):
        return str(packaged)
    found = shutil.which(name) if on_path else None
    if found is None:
        raise errors.NotInstalled(f"the program '{name}' is neither in the package gangrun nor on PATH; "
                                  "pip install gangrun brings it, GANGRUN_BIN names a folder that has it")
    return found


def version() -> str:
    """The programs' version, which is the package's."""
    return str(json.loads(call(["version", "--json"]).stdout)["version"])


def environment(changes: Optional[Mapping[str, str]] = None) -> dict[str, str]:
    return {**os.environ, **(changes or {})}


def with_defaults(changes: Optional[Mapping[str, str]], defaults: bool) -> Optional[Mapping[str, str]]:
    """The changes to the environment of a command that reads the files of defaults, or leaves them out."""
    return changes if defaults else {**(changes or {}), "GANGRUN_NO_DEFAULTS": "1"}


def sentence(stderr: bytes) -> str:
    """What a command says of its failure, without the program's name before it."""
    text = _texts.harmless_lines(stderr.decode(errors="replace").strip())
    return text[len("gangrun: "):] if text.startswith("gangrun: ") else text


def fail(status: int, said: str) -> NoReturn:
    """Raises what an exit status other than 0 of a command that only asks or tells means."""
    if status == BAD_INPUT:
        raise errors.InvalidJob(said)
    if status == NO_SUCH_JOB:
        raise errors.NoSuchJob(said)
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    raise errors.CommandFailed(said or f"gangrun ended with status {status} and printed nothing")


def call(words: Sequence[str], *, env: Optional[Mapping[str, str]] = None, timeout: float = COMMAND_TIMEOUT_S,
         folder: Optional[str] = None, answers_with: int = 0) -> subprocess.CompletedProcess[bytes]:
    """Runs a command of `gangrun` to its end; raises when that is not success. With the status `answers_with` it has answered too,
    where it printed something."""
    try:
        done = subprocess.run([find(), *words], env=environment(env), stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=timeout, check=False, cwd=folder)
    except subprocess.TimeoutExpired:
        raise errors.CommandFailed(f"gangrun {words[0]} did not end within {timeout:.0f} s") from None
    if done.returncode != 0 and not (done.returncode == answers_with and done.stdout):
        fail(done.returncode, sentence(done.stderr))
    return done


def ask(words: Sequence[str], *, env: Optional[Mapping[str, str]] = None, answers_with: int = 0) -> Any:
    """A command's answer in JSON."""
    return json.loads(call([*words, "--json"], env=env, answers_with=answers_with).stdout)
