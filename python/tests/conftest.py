"""What the tests of the package share: it is the one of this checkout, with the programs of GANGRUN_BIN."""

import os
import pathlib
import signal
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests")]

from ending import pytest_sessionfinish, pytest_unconfigure  # noqa: F401, E402: hooks of pytest
from living import processes_with  # noqa: E402: beside the tests that start the programs
from waiting import wait_until  # noqa: E402: likewise

from gangrun import compat  # noqa: E402: after the path above


# As for the tests that start the programs: what a shell starts in the background ignores SIGINT, and so would they.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.setdefault("GANGRUN_BIN", str(ROOT / "build/release/src"))
MARKER = "TEST_OF_GANGRUN"


def alive(home):
    """The other living processes that a test has started; what begins with GANGRUN_ is not handed on to tasks."""
    return [pid for pid in processes_with(f"{MARKER}={home}") if pid != os.getpid()]


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """gangrun's own folder, of this test only; whatever the test started has to end with it."""
    folder = tmp_path_factory.mktemp("h")
    monkeypatch.setenv("GANGRUN_BIN", os.environ.get("GANGRUN_BIN", str(ROOT / "build/release/src")))
    monkeypatch.setenv("GANGRUN_HOME", str(folder))
    monkeypatch.setenv(MARKER, str(folder))
    yield folder
    wait_until(lambda: not alive(folder), "the end of what the test has started")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that the test's user works in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def answered():
    """Imports are answered, in this test only."""
    modules, finders = dict(sys.modules), list(sys.meta_path)
    compat.answer_imports()
    yield
    sys.meta_path[:] = finders
    for name in set(sys.modules) - set(modules):
        if name.partition(".")[0] in compat.ANSWERS:
            del sys.modules[name]
