"""Set up a task's process before its program runs: variables exported by pre_script_hook, and CUDA libraries.

The loader reads LD_LIBRARY_PATH only at a program's start, so the process re-executes itself with the new variables.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Mapping, Optional

# Set in the re-executed process, which then skips the preparation.
DONE = "TF_YARN_PRELUDE_DONE"
# Seconds that a hook may take.
LIMIT_S = 600


def prepare(hook: Optional[str], cuda_folder: Optional[str]) -> None:
    """Run the hook, add the libraries, and re-execute this process. Does nothing if neither is given, or the second time."""
    if not (hook or cuda_folder) or DONE in os.environ:
        return
    env = dict(os.environ)
    if cuda_folder:
        env = with_libraries(env, pathlib.Path(cuda_folder))
    if hook:
        env = after_hook(hook, env)
    env[DONE] = "1"
    words = command_line()
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *words[1:]], env)


def command_line() -> list[str]:
    """Return the command line that started this process, including options of the interpreter."""
    return pathlib.Path("/proc/self/cmdline").read_bytes().decode(errors="surrogateescape").split("\0")[:-1]


def with_libraries(env: Mapping[str, str], folder: pathlib.Path) -> dict[str, str]:
    """Return the variables with the folders of all shared libraries in `folder` added to LD_LIBRARY_PATH.

    Raises RuntimeError if there are none.
    """
    found = sorted({str(path.parent.absolute()) for path in folder.rglob("*.so*")})
    if not found:
        raise RuntimeError(f"cuda_runtime_hdfs_path: there is no library in the archive ({folder.absolute()})")
    old = env.get("LD_LIBRARY_PATH")
    return {**env, "LD_LIBRARY_PATH": os.pathsep.join([*found, *([old] if old else [])])}


def after_hook(hook: str, env: Mapping[str, str]) -> dict[str, str]:
    """Run the hook in bash and return the variables that it leaves. Its output goes to the task's log.

    Raises RuntimeError if it fails.
    """
    reader, writer = os.pipe()
    try:
        process = subprocess.Popen(["bash", "-c", f"{hook}\nenv -0 >&{writer}"], env=dict(env), pass_fds=[writer],
                                   stdin=subprocess.DEVNULL)
    finally:
        os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        content = pipe.read()
    status = process.wait(timeout=LIMIT_S)
    if status or not content:
        raise RuntimeError(f"pre_script_hook ended with status {status}: {hook}")
    pairs = (part.partition(b"=") for part in content.split(b"\0") if part)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
