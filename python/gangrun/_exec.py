"""A command beside a running task, by `gangrun exec`."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Mapping, NoReturn, Optional, Sequence, Union

from gangrun import _arguments, _program, errors

# The status with which `gangrun exec` tells an error of its own; the command's may be the same, without the words.
OWN_TROUBLE = 125

# The value of `subprocess.run`.
if TYPE_CHECKING:
    Done = subprocess.CompletedProcess[bytes]
else:
    Done = subprocess.CompletedProcess


def run(job: str, task: str, command: Union[str, Sequence[str]], given: Union[None, str, bytes], timeout: Optional[float],
        env: Mapping[str, str]) -> Done:
    """Raises InvalidJob, NoSuchJob or CommandFailed where it cannot run, and subprocess.TimeoutExpired once it is killed for that."""
    words = ["sh", "-c", command] if isinstance(command, str) else list(command)
    if not words:
        raise errors.InvalidJob("the command has no words")
    if not all(isinstance(word, (str, bytes, os.PathLike)) for word in words):
        raise TypeError(f"command: {command!r} has a word that is no text; allowed: a line for the shell, or a list of texts")
    data = given.encode() if isinstance(given, str) else given
    if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"input: {given!r} is of the type {type(given).__name__}; allowed: str or bytes")
    limit = _arguments.time_limit("timeout", timeout)
    started = subprocess.Popen([_program.find(), "exec", job, task, "--", *words], env=_program.environment(env),
                               stdin=subprocess.DEVNULL if data is None else subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with started:
        try:
            out, err = started.communicate(data, limit)
        except BaseException as error:
            # The command ends with it.
            started.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                error.cmd = command
            raise
    said = err.splitlines()[-1:]
    if started.returncode == OWN_TROUBLE and said and said[0].startswith(b"gangrun: "):
        fail(_program.sentence(said[0]))
    return subprocess.CompletedProcess(command, started.returncode, out, err)


def fail(said: str) -> NoReturn:
    if "is not a task; " in said:
        raise errors.InvalidJob(said)
    raise (errors.NoSuchJob if "there is no job" in said or "has no task" in said else errors.CommandFailed)(said)
