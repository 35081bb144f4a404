"""What the tests that start the programs share. GANGRUN_BIN is the folder of the programs."""

import dataclasses
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_TIMEOUT_S = 60


@dataclasses.dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str


def program(name):
    path = pathlib.Path(os.environ.get("GANGRUN_BIN", ROOT / "build/release/src")) / name
    assert path.is_file(), f"{path} is not there: make build, or set GANGRUN_BIN"
    return path


@pytest.fixture(scope="session")
def gangrun():
    """The path of the program `gangrun`."""
    return program("gangrun")


@pytest.fixture(scope="session")
def agent():
    """The path of the program `gangrun-agent`."""
    return program("gangrun-agent")


@pytest.fixture
def home(tmp_path_factory):
    """A folder for gangrun's own files, of this test only. Its path is short: sockets lie in it."""
    return tmp_path_factory.mktemp("h")


@pytest.fixture
def run_gangrun(gangrun, home):
    """Runs a command to its end: run_gangrun("ps", "--json") returns status, stdout and stderr."""

    def run(*arguments, timeout=DEFAULT_TIMEOUT_S, cwd=None, env=None, stdin=None):
        environment = os.environ | {"GANGRUN_HOME": str(home)} | (env or {})
        done = subprocess.run([str(gangrun), *map(str, arguments)], cwd=cwd, env=environment, input=stdin,
                              stdin=subprocess.DEVNULL if stdin is None else None,
                              capture_output=True, text=True, timeout=timeout)
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def survivors():
    """survivors("MARKER=x") lists (pid, command line) of living processes with that in their environment."""

    def look(marker):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                # A dead process whose parent has not asked yet has an empty environment.
                if marker.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                    found.append((int(entry.name), " ".join(words).strip()))
            except OSError:
                continue  # it ended while it was looked at
        return found

    return look
