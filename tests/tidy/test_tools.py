"""The parts of our own tools that decide what counts as passed."""

import collections
import os
import subprocess
import sys

import pytest

from house import ROOT, load_tool
from waiting import wait_until


tidy, coverage = load_tool("tidy"), load_tool("coverage")
sys.path.insert(0, str(ROOT / "tools"))
from runner import acceptance, commands, quick, stages, suites  # noqa: E402
from runner.tally import Tally  # noqa: E402

REPORT = """<testsuites><testsuite>
<testcase classname="base" name="good" status="run"/>
<testcase classname="base" name="bad" status="fail"><failure message=""/></testcase>
<testcase classname="base" name="left out" status="notrun"><skipped/></testcase>
</testsuite></testsuites>"""


def test_what_was_not_run_has_not_passed(tmp_path):
    (tmp_path / "report.xml").write_text(REPORT)
    tally = Tally()
    assert tally.add_junit(tmp_path / "report.xml") == ["base::bad", "base::left out"]
    assert (tally.passed, tally.failed) == (1, 2)


@pytest.mark.parametrize("script, passed, failed", [
    ("echo '3 passed, 0 failed'", 3, 0),
    ("echo '3 passed, 2 failed'; exit 1", 3, 2),
    ("echo '3 passed, 0 failed'; exit 1", 3, 1),
    ("exit 3", 0, 1),
])
def test_a_tool_that_fails_is_counted(script, passed, failed):
    tally = Tally()
    suites.counted(tally, "sh", "-c", script)
    assert (tally.passed, tally.failed) == (passed, failed)


@pytest.mark.parametrize("folder", ["tests", "python/tests"])
def test_no_two_test_modules_have_one_name(folder):
    """pytest imports them by their names alone: of two in one run it would refuse the second, and with it the whole run."""
    found = collections.defaultdict(list)
    for path in sorted((ROOT / folder).rglob("test_*.py")):
        found[path.name].append(path.relative_to(ROOT).as_posix())
    assert found
    assert not [paths for paths in found.values() if len(paths) > 1]


def test_tests_that_run_side_by_side_are_all_counted(monkeypatch):
    monkeypatch.setattr(suites, "run", lambda *words, **options: (1 if "tests/integration" in words else 0, ""))
    tally = Tally()
    suites.side_by_side(tally, ("tests/clusters", "tests/yarn"), ("tests/integration",))
    assert tally.names == ["pytest tests/integration: status 1"] and tally.failed == 1


def test_each_file_of_a_folder_is_in_one_of_its_parts():
    parts = suites.parts_of("tests/integration", 3)
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/integration").glob("test_*.py")]
    assert sorted(sum(parts, ())) == sorted(files)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


UNSTEADY = """
import pathlib
def test_that_passes(): pass
def test_that_passes_alone():
    mark = pathlib.Path(__file__).with_suffix(".mark")
    there = mark.exists()
    mark.touch()
    assert there
"""
BAD = "def test_that_fails(): assert False\n"


@pytest.mark.parametrize("most, unsteady, failed", [
    (2, ["one/test_one.py::test_that_passes_alone"], ["two/test_two.py::test_that_fails"]),
    (1, [], ["one/test_one.py::test_that_passes_alone", "two/test_two.py::test_that_fails"]),
])
def test_what_fails_beside_others_is_run_once_more_alone(tmp_path, monkeypatch, most, unsteady, failed):
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    for name, value in (("PYTHON", sys.executable), ("MOST_UNSTEADY", most)):
        monkeypatch.setattr(suites, name, value)
    for name, text in (("one", UNSTEADY), ("two", BAD)):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"test_{name}.py").write_text(text)
    tally = Tally()
    suites.side_by_side(tally, ("one",), ("two",))
    assert (tally.unsteady, tally.names) == (unsteady, failed)
    assert (tally.passed, tally.failed) == (3 - len(failed), len(failed))
    (tmp_path / "one/test_one.mark").unlink()
    suites.side_by_side(tally, ("one",), ("two",))  # a later stage: what is allowed is allowed of the whole run
    assert tally.unsteady == unsteady and tally.failed == len(failed) + 2


def test_what_fails_beside_others_in_ctest_is_run_once_more_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    (tmp_path / "build/dev").mkdir(parents=True)
    tests = {"room.passes": "true", "a/room.passes_alone": f"test -e {tmp_path}/mark || ! touch {tmp_path}/mark", "room.fails": "false"}
    (tmp_path / "build/dev/CTestTestfile.cmake").write_text("".join(
        f'add_test("{name}" "/bin/sh" "-c" "{command}")\nset_tests_properties("{name}" PROPERTIES LABELS unit)\n'
        for name, command in tests.items()))
    tally = Tally()
    suites.labelled(tally, "dev", "unit")
    assert (tally.unsteady, tally.names) == (["a/room.passes_alone"], ["room.fails"])
    assert (tally.passed, tally.failed) == (2, 1)


@pytest.mark.parametrize("statuses, counts, unsteady, failed", [
    ([0], (1, 0), [], []),
    ([1, 0], (1, 0), ["bench start.py"], []),
    ([1, 2], (0, 1), [], ["bench start.py: status 2"]),
])
def test_a_claim_that_is_missed_is_measured_once_more(monkeypatch, statuses, counts, unsteady, failed):
    left = list(statuses)
    monkeypatch.setattr(acceptance, "run", lambda *words, **options: (left.pop(0), ""))
    tally = Tally()
    acceptance.bench_program(tally, ROOT / "bench/start.py")
    assert (left, (tally.passed, tally.failed), tally.unsteady, tally.names) == ([], counts, unsteady, failed)


def test_a_thread_that_a_test_has_left_does_not_keep_the_run(tmp_path):
    (tmp_path / "conftest.py").write_text("from ending import pytest_sessionfinish, pytest_unconfigure\n")
    (tmp_path / "test_left.py").write_text(
        "import threading\ndef test_left(): threading.Thread(target=threading.Event().wait, name='a waiter').start()\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_left.py"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT / "tests")})
    assert done.returncode == 1 and "1 passed" in done.stdout and "never ended: the threads a waiter" in done.stdout, done.stdout


def test_a_command_that_does_not_end_is_stopped_and_what_it_said_is_kept():
    assert commands.run("sh", "-c", "echo said; exec tail -f /dev/null", limit=4, keep=True) == (124, "said\n")


@pytest.fixture
def two_stages(tmp_path):
    """two_stages(script, early): runs a stage, and one after it that needs what the script makes of {mark}; (the tally, whether
    the later one saw it or None, what each took)."""
    def play(script, early=lambda mark: None, keep_going=True):
        seen, mark, tally = {}, tmp_path / "mark", Tally()
        chosen = [stages.Stage("early", "", 60, lambda own: early(mark) or own.fail("early")),
                  stages.Stage("late", "", 60, lambda own: seen.update(late=mark.exists()), needs=("made",))]
        took = stages.run_stages(tally, chosen, {"made": script.format(mark=mark)}, keep_going)
        return tally, seen.get("late"), took
    return play


@pytest.mark.parametrize("script, there", [("touch {mark}", True), ("echo cannot; exit 3", False)])
def test_what_a_stage_needs_is_made_beside_those_before_it(two_stages, capsys, script, there):
    tally, seen, _ = two_stages(script)
    said = capsys.readouterr().out
    assert seen == there and ("cannot" in said and "the stage tries again" in said) != there
    assert tally.names == ["early"]


def test_what_two_stages_need_says_its_words_once(capsys):
    beside = commands.Beside("echo said; exit 3")
    assert [beside.join(), beside.join()] == [3, 3]
    assert capsys.readouterr().out == "said\n"


def test_what_is_made_for_a_stage_that_is_left_out_ends_with_the_run(two_stages):
    pids = []

    def early(mark):
        pids.append(wait_until(lambda: mark.exists() and mark.read_text().strip(), "the process"))

    _, seen, took = two_stages("echo $$ >{mark}; exec tail -f /dev/null", early, keep_going=False)
    assert seen is None and [one.stage.name for one in took] == ["early"]
    assert not os.path.exists(f"/proc/{pids[0]}")


@pytest.mark.parametrize("seconds, waited, late", [(100, 0, False), (121, 0, True), (500, 400, False)])
def test_a_stage_over_twice_its_budget_is_named(seconds, waited, late):
    """What it waited for is told, and is not its own."""
    stage = stages.Stage("some", "", 60, lambda tally: None)
    row = stages.table([stages.Took(stage, seconds, waited, 3, 0)]).splitlines()[1]
    assert ("over twice its budget" in row) == late and "1:00" in row


def test_a_run_ends_with_its_slowest_tests_and_its_count(capsys):
    tally = Tally(passed=12, times=[(float(number), f"test {number}") for number in range(12)])
    stages.report(tally, [])
    said = capsys.readouterr().out
    assert "11.0 s  test 11" in said and "test 2\n" in said and "test 1\n" not in said
    assert said.endswith("\n12 passed, 0 failed\n")


ROOMS = {"base": [], "job": ["base"], "net": ["base"], "cluster": ["job"], "yarn": ["net", "cluster"], "page": ["base"]}


@pytest.mark.parametrize("paths, reached", [
    (["src/page/x.cc"], {"page"}),
    (["web/page.js"], {"page"}),
    (["src/cluster/x.h", "README.md"], {"cluster", "yarn"}),
    (["src/yarn/x.cc"], {"yarn"}),
    (["proto/net/x.proto"], {"net", "yarn"}),
    (["src/base/x.h"], set(ROOMS)),
    (["src/LAYERS"], set(ROOMS)),
    (["docs/job.md"], set()),
])
def test_a_change_reaches_its_room_and_those_that_use_it(paths, reached):
    assert quick.reached(paths, ROOMS) == reached


def test_clang_tidy_reads_what_the_source_includes_and_no_more():
    command = '/usr/bin/c++ -DX=\\"a\\" -Winvalid-pch -include /b/cmake_pch.hxx -fpch-preprocess -o a.o -c /x/a.cc'
    assert tidy.without_precompiled_headers(command) == "/usr/bin/c++ '-DX=\"a\"' -o a.o -c /x/a.cc"
    assert tidy.object_of(command) == "a.o"


def test_what_only_tests_include_is_not_covered_code(tmp_path):
    room = tmp_path / "src/gang"
    room.mkdir(parents=True)
    for name, text in {"a.cc": '#include "gang/a.h"', "a.h": '#include "gang/below.h"', "below.h": "", "samples.h": "",
                       "a_test.cc": '#include "gang/samples.h"'}.items():
        (room / name).write_text(text)
    assert {path.name for path in coverage.product_files(tmp_path / "src")} == {"a.cc", "a.h", "below.h"}


def test_a_line_is_covered_when_one_of_its_copies_ran(tmp_path, capsys):
    file = tmp_path / "src/gang/a.cc"
    other = tmp_path / "src/job/b.cc"
    counts = [(file, 1, 0), (file, 1, 3), (file, 2, 0), (file, 3, 0), (other, 1, 1)]
    result = coverage.summary(coverage.collect(counts, {file, other}, tmp_path / "src"))
    assert result["gang"]["files"]["src/gang/a.cc"] == {"lines": 3, "covered": 1, "missing": [2, 3]}
    assert (result["gang"]["percent"], result["gang"]["passed"]) == (33.33, False)
    coverage.show(result, missing=True)
    shown = capsys.readouterr().out
    assert "not run: 2-3" in shown and shown.endswith(f"0 passed, {len(coverage.ROOMS)} failed\n")


@pytest.mark.parametrize("covered, passed", [(949, False), (950, False), (951, True), (1000, True)])
def test_the_aim_is_over_95_of_100_lines(tmp_path, covered, passed):
    file = tmp_path / "src/journal/a.cc"
    counts = [(file, line, int(line <= covered)) for line in range(1, 1001)]
    result = coverage.summary(coverage.collect(counts, {file}, tmp_path / "src"))
    assert result["journal"]["passed"] == passed
    assert not result["gang"]["passed"], "a room without lines has nothing covered"
