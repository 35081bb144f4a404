"""What is run while one works: the house rules, and the tests of the rooms that the change can reach."""

import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import tempfile

from .commands import ROOT, run
from .stages import Stage
from .suites import TEST_TIMEOUT_S, build, has_tests, pytest, rooms, test_program
from .tally import Tally

# A change of these reaches every room.
EVERYWHERE = ("CMakeLists.txt", "CMakePresets.json", "cmake/", "src/LAYERS", "src/CMakeLists.txt")

# So many processes share a room's tests: with one, the largest room would keep a single processor busy at the end.
SHARDS = 4
# What a test program says where all is well.
CHATTER = re.compile(r"Running main|Note: This is test shard|\[=+\]|\[  PASSED  \]")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


def changed_files():
    """What is not committed; where there is nothing, what the last commit changed."""
    loose = git("diff", "--name-only", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    return loose or git("diff", "--name-only", "HEAD~1", "HEAD")


def room_of(path, uses):
    """The room that a file lies in, or None. proto/ROOM is a part of its room, web/ of the page."""
    path = path.replace("web/", "src/page/", 1) if path.startswith("web/") else path.replace("proto/", "src/", 1)
    folders = [room for room in uses if path.startswith(f"src/{room}/")]
    return max(folders, key=len, default=None)


def reached(paths, uses):
    """The rooms that a change of these files can reach: their own, and all that use those, directly or not."""
    if any(path.startswith(EVERYWHERE) for path in paths):
        return set(uses)
    found = {room_of(path, uses) for path in paths} - {None}
    while True:
        users = {room for room, used in uses.items() if found & set(used)} - found
        if not users:
            return found
        found |= users


def rules(tally):
    pytest(tally, "tests/tidy", group="gate", keep=True)


def shard(program, index):
    """The tests of a part of a room, in one process: to start one with sanitizers takes longer than most tests. The gate
    gives each test its own."""
    own = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.xml"
        status, _ = run(ROOT / "build/dev" / program, "--gtest_brief=1", f"--gtest_output=xml:{report}",
                        env={"GTEST_TOTAL_SHARDS": str(SHARDS), "GTEST_SHARD_INDEX": str(index)}, limit=TEST_TIMEOUT_S, drop=CHATTER)
        failed = own.add_junit(report) if report.exists() else []
    if status and not failed:
        own.fail(f"{program}: status {status}")
    return own


def unit(tally):
    chosen = [test_program(room) for room in reached(changed_files(), rooms()) if has_tests(room)]
    if not chosen:
        print("run_tests: the change reaches no room")
    elif build(tally, "dev", *chosen):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for own in pool.map(shard, *zip(*itertools.product(chosen, range(SHARDS)))):
                tally.add(own)


def both(tally):
    """One beside the other: the house rules keep one processor busy."""
    of_rules, of_rooms = Tally(), Tally()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        done = pool.submit(rules, of_rules)
        unit(of_rooms)
        done.result()
    tally.add(of_rules)
    tally.add(of_rooms)


STAGES = [Stage("quick", "The house rules, and the tests of the rooms that the change can reach.", 90, both)]
