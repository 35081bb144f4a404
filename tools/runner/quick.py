"""What is run while one works: the house rules, and the tests of the rooms that the change can reach."""

import subprocess

from .commands import ROOT
from .stages import Stage
from .suites import build, has_tests, labelled, pytest, rooms, test_program

# A change of these reaches every room.
EVERYWHERE = ("CMakeLists.txt", "CMakePresets.json", "cmake/", "src/LAYERS", "src/CMakeLists.txt")


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
    pytest(tally, "tests/tidy", group="gate")


def unit(tally):
    chosen = sorted(room for room in reached(changed_files(), rooms()) if has_tests(room))
    if not chosen:
        print("run_tests: the change reaches no room")
    elif build(tally, "dev", *map(test_program, chosen)):
        labelled(tally, "dev", "^unit$", "-R", f"^({'|'.join(chosen)})\\.")


STAGES = [
    Stage("rules", "The house rules.", 40, rules),
    Stage("unit", "The tests of the rooms that the change can reach.", 50, unit),
]
