"""Nothing is lost between the gate and acceptance: every test is run by exactly one of them."""

import collections
import concurrent.futures
import re
import subprocess
import sys

import groups
import pytest
from house import ROOT, project_files, report

sys.path.insert(0, str(ROOT / "tools"))
from runner import acceptance, gate, suites  # noqa: E402

COLLECTING_LIMIT_S = 120
# tests/ and python/tests have a conftest each, so a run of pytest's each.
RUNS = ("tests", "python/tests")


def folders_with_tests():
    return {path.parent.as_posix() for path in project_files() if re.fullmatch(r"test_\w+\.py", path.name)}


def collected(folder, *options):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *options, folder], cwd=ROOT,
                          capture_output=True, text=True, timeout=COLLECTING_LIMIT_S)
    assert done.returncode in (0, suites.NO_TESTS), done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def group_of_test():
    """{test: its group} of all tests that pytest finds."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        lines = sum(pool.map(lambda folder: collected(folder, "--show-groups"), RUNS), [])
    shown = [line.split(" ", 2)[1:] for line in lines if line.startswith("group ")]
    return {test: group for group, test in shown}


def test_every_folder_of_tests_is_looked_into():
    assert folders_with_tests() == set(groups.FOLDERS)
    assert not [folder for folder in groups.FOLDERS if not folder.startswith(RUNS)]


def test_every_test_is_in_a_group_that_is_run(group_of_test):
    numbers = collections.Counter(group_of_test.values())
    run_by_pytest = {gate.GROUP} | (set(acceptance.names()) & set(groups.GROUPS))
    assert set(numbers) <= run_by_pytest and set(groups.GROUPS) == run_by_pytest, numbers
    assert numbers[gate.GROUP] > 800 and sum(numbers.values()) > 1300, numbers


def test_a_group_has_its_tests_and_no_others(group_of_test):
    chosen = {line for line in collected("python/tests", "--group", gate.GROUP) if "::" in line}
    own = {test for test in group_of_test if test.startswith("python/tests/")}
    assert chosen == {test for test in own if group_of_test[test] == gate.GROUP}


def test_the_gate_runs_each_folder_that_has_tests_of_its_group(group_of_test, monkeypatch):
    """Its stages name folders, or the files of one: none with tests for it may be missing."""
    looked_into = []
    monkeypatch.setattr(gate, "build", lambda *words: True)
    monkeypatch.setattr(gate, "install", lambda *words: True)
    monkeypatch.setattr(gate, "labelled", lambda *words: None)
    monkeypatch.setattr(gate, "pytest", lambda tally, *folders, **options: looked_into.extend(folders))
    monkeypatch.setattr(gate, "side_by_side", lambda tally, *chosen, **options: looked_into.extend(sum(chosen, ())))
    for stage in gate.STAGES:
        stage.run(None)
    needed = {test.partition("::")[0] for test, group in group_of_test.items() if group == gate.GROUP}
    missing = [path for path in needed if len({path, path.rpartition("/")[0]} & set(looked_into)) != 1]
    assert not missing and len(looked_into) == len(set(looked_into)), (missing, looked_into)


def test_every_room_with_tests_has_a_program_for_them():
    folders = {path.parent.relative_to("src").as_posix() for path in project_files()
               if path.parts[0] == "src" and path.name.endswith("_test.cc")}
    missing = folders - {room for room in suites.rooms() if suites.has_tests(room)}
    assert folders and not missing, report(missing)
