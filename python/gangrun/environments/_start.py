"""How a task starts a Python that is not known to run on its node: what is wrong is said in one line."""

from __future__ import annotations

import platform
import sys

from gangrun._staging import RUNTIME

# $1 the Python, $2 the version that it has to be, $3 the machine that it is for, $4 what it comes from; then arguments.
# A library that the node has is better than the one that was brought: those are for nodes that have none.
SCRIPT = """\
python=$1 version=$2 machine=$3 origin=$4; shift 4
fail() { echo "gangrun: $*" >&2; exit 1; }
own=$(uname -m)
[ -z "$machine" ] || [ "$machine" = "$own" ] || fail "$origin is for $machine; this node, $(uname -n), is $own"
command -v "$python" >/dev/null || fail "$origin: this node, $(uname -n), has no program $python"
look='import sys, zlib, ctypes; print("%d.%d" % sys.version_info[:2])'
if ! said=$("$python" -IS -c "$look" 2>&1); then
  libraries=${python%/bin/*}/lib/gangrun-libraries
  [ -d "$libraries" ] && export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$PWD/$libraries"
  said=$("$python" -IS -c "$look" 2>&1) ||
    fail "$origin does not run on this node, $(uname -n), with $(getconf GNU_LIBC_VERSION 2>/dev/null): $(echo "$said" | tail -n 1)"
fi
[ -z "$version" ] || [ "$said" = "$version" ] ||
  fail "$origin has Python $said on this node, $(uname -n); the job was made with Python $version"
exec "$python" "$@"
"""

# The same for the Python of an image, which need not have a shell: the words are what it comes from, the version that the job was
# made with and the archive with what tasks need of gangrun; then arguments. Any Python 3 can read this.
IN_IMAGE = """\
import os, sys
origin, version, runtime = sys.argv[1:4]
own = "%d.%d" % sys.version_info[:2]
if sys.version_info < (3, 9):
    sys.exit("gangrun: %s has Python %s, and functions need 3.9 or later; the job was made with Python %s" % (origin, own, version))
try:
    import zlib
except ImportError as error:
    sys.exit("gangrun: %s has a Python %s that lacks a part of its own library: %s" % (origin, own, error))
path = [runtime, ".", os.environ.get("PYTHONPATH")]
os.environ["PYTHONPATH"] = os.pathsep.join(part for part in path if part)
os.execv(sys.executable, [sys.executable] + sys.argv[4:])
"""


def version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def here() -> str:
    """What an environment of this machine is for, in words."""
    return f"{platform.machine()} with {' '.join(platform.libc_ver())}"


def command(python: str, origin: str, *, any_version: bool = False, machine: str = "") -> tuple[str, ...]:
    """The words to put before `-m MODULE`."""
    return ("/bin/sh", "-c", SCRIPT, "gangrun", python, "" if any_version else version(), machine, origin)


def command_in_image(python: str, origin: str) -> tuple[str, ...]:
    """The same in a pod. Another version may do there: what was pickled by one is refused where it is read."""
    return (python, "-IS", "-c", IN_IMAGE, origin, version(), RUNTIME)
