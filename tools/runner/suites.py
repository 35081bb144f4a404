"""Runs a build, a folder of pytest's, ctest's tests of a label, a tool that counts by itself: each adds to a tally."""

import concurrent.futures
import os
import pathlib
import re
import tempfile
import time

from .commands import PYTHON, ROOT, run
from .tally import Tally

PROGRAMS = ROOT / "build/release/src"
TEST_TIMEOUT_S = 300
# So many tests of a whole run may fail beside others and pass alone before it has failed.
MOST_UNSTEADY = 3
NO_TESTS = 5  # pytest's status where it has found none
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
# What ctest says of each test that is well.
PASSED = re.compile(r"\s+Start\s+\d+: |\s*\d+/\d+ Test\s+#\d+: .*\sPassed\s")
# A room whose tests run once more under the thread sanitizer has one of these in a source with a test beside it: the
# threads of others are started by whole programs only.
THREADS = re.compile(r"#include <(thread|mutex|atomic|condition_variable|shared_mutex|future|semaphore)>|^#define THREADED\b",
                     re.MULTILINE)


def build(tally, preset, *targets):
    started = time.monotonic()
    status, _ = run("tools/build", preset, *targets)
    print(f"run_tests: build {preset}: {time.monotonic() - started:.0f} s")
    if status:
        tally.fail(f"build {preset}")
    return status == 0


def install(tally, *groups):
    """The packages of these groups of tools/install-deps."""
    status, _ = run("tools/install-deps", *groups)
    if status:
        tally.fail(f"install-deps {' '.join(groups)}: status {status}")
    return status == 0


def pytest(tally, *chosen, group=None, keep=False):
    """Runs the tests of folders (of one group, if it is said) or those of these names, and returns the names of those that
    failed. Kept output is shown when they have ended."""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.xml"
        status, _ = run(PYTHON, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider",
                        f"--timeout={TEST_TIMEOUT_S}", "-o", "junit_family=xunit1", f"--junitxml={report}",
                        *([f"--group={group}"] if group else []), *chosen, env={"GANGRUN_BIN": str(PROGRAMS)}, keep=keep)
        failed = tally.add_junit(report) if report.exists() else []
    if status and not failed and not (group and status == NO_TESTS):
        tally.fail(f"pytest {' '.join(chosen)}: status {status}")
    return failed


def parts_of(folder, count):
    """The files with a folder's tests in so many groups, for those that mostly wait: by size, the largest dealt out first."""
    files = sorted((ROOT / folder).glob("test_*.py"), key=lambda path: (-path.stat().st_size, path.name))
    return [tuple(path.relative_to(ROOT).as_posix() for path in files[first::count]) for first in range(count)]


def words_of(folders):
    """For the line of times; a part of a folder has many files."""
    return " ".join(folders) if len(folders) < 4 else f"{folders[0]} and {len(folders) - 1} more"


def once_more(own, failed, run_alone):
    """Runs those that failed beside others with the machine to themselves, and moves those that pass to the unsteady ones.
    `run_alone(tally, names)` returns the names of those that fail again."""
    print(f"run_tests: once more, alone: {' '.join(failed)}")
    alone = Tally()
    again = run_alone(alone, failed)
    if alone.passed + alone.failed == len(failed):
        own.passed_alone([name for name in failed if name not in again])


def side_by_side(tally, *groups, group=None):
    """Runs the tests of groups of folders at the same time: those that mostly wait for other processes.

    A few that fail there are run once more with the machine to themselves. Who passes then is unsteady, which is told at
    the end of the run: the first failure is in the output, and its cause is to be found.
    """
    def tests_of(folders):
        own = Tally()
        started = time.monotonic()
        failed = pytest(own, *folders, group=group, keep=True)
        print(f"run_tests: {words_of(folders)}: {time.monotonic() - started:.0f} s", flush=True)
        return own, failed

    with concurrent.futures.ThreadPoolExecutor(len(groups)) as pool:
        done = list(pool.map(tests_of, groups))
    few = sum(len(failed) for _, failed in done) <= MOST_UNSTEADY - len(tally.unsteady)
    for own, failed in done:
        if failed and few:  # of each group by itself: two that have a conftest may not run in one pytest
            once_more(own, failed, lambda alone, names: pytest(alone, *names))
        tally.add(own)


def ctest(tally, preset, *chosen, jobs=None):
    """Runs the tests that ctest's own flags choose, and returns the names of those that failed."""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.xml"
        status, _ = run("ctest", "--test-dir", f"build/{preset}", *chosen, "-j", jobs or os.cpu_count(),
                        "--output-junit", report, "--timeout", TEST_TIMEOUT_S, "--output-on-failure", drop=PASSED)
        failed = tally.add_junit(report) if report.exists() else []
    if status and not failed:
        tally.fail(f"ctest {preset} {' '.join(chosen)}: status {status}")
    return failed


def labelled(tally, preset, label, *chosen):
    """The tests of a label, several at a time; those that fail are run once more alone, as in side_by_side."""
    own = Tally()
    failed = ctest(own, preset, "-L", label, *chosen)
    if 0 < len(failed) <= MOST_UNSTEADY - len(tally.unsteady):
        once_more(own, failed, lambda alone, names: ctest(
            alone, preset, "-R", f"^({'|'.join(map(re.escape, names))})$", jobs=1))
    tally.add(own)


def counted(tally, *command):
    """Runs a tool that itself ends with "N passed, N failed"."""
    status, output = run(*command, keep=True)
    found = COUNTS.findall(output)
    if found:
        passed, failed = map(int, found[-1])
        tally.passed += passed
        for _ in range(failed):
            tally.fail(command[0])
    if status and not (found and int(found[-1][1])):
        tally.fail(f"{command[0]}: status {status}")


def rooms():
    """{room: rooms it may use} by src/LAYERS."""
    lines = (re.match(r"\d+ ([\w/]+):([^|]*)", line) for line in (ROOT / "src/LAYERS").read_text().splitlines())
    return {match.group(1): match.group(2).split() for match in lines if match}


def test_program(room):
    """The target of a room's tests, as cmake/rooms.cmake names it."""
    return room.replace("/", "_") + "_test"


def has_tests(room):
    return any((ROOT / "src" / room).glob("*_test.cc"))


def has_threads(room):
    folder = ROOT / "src" / room
    return any(THREADS.search(path.read_text()) for path in (*folder.glob("*.cc"), *folder.glob("*.h"))
               if "test" not in path.stem and path.with_name(f"{path.stem}_test.cc").exists())


def room_tests(only=None):
    """The targets of the tests of all rooms, or of those for which only(room) is true."""
    return [test_program(room) for room in rooms() if has_tests(room) and (only is None or only(room))]
