"""The parts of our own tools that decide what counts as passed."""

import importlib.machinery
import importlib.util

import pytest

from house import ROOT


def load(name):
    loader = importlib.machinery.SourceFileLoader("tool_" + name, str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


run_tests, tidy, coverage = load("run_tests"), load("tidy"), load("coverage")

REPORT = """<testsuites><testsuite>
<testcase classname="base" name="good" status="run"/>
<testcase classname="base" name="bad" status="fail"><failure message=""/></testcase>
<testcase classname="base" name="left out" status="notrun"><skipped/></testcase>
</testsuite></testsuites>"""


def test_what_was_not_run_has_not_passed(tmp_path):
    (tmp_path / "report.xml").write_text(REPORT)
    tally = run_tests.Tally()
    assert tally.add_junit(tmp_path / "report.xml") == 2
    assert (tally.passed, tally.failed) == (1, 2)


@pytest.mark.parametrize("script, passed, failed", [
    ("echo '3 passed, 0 failed'", 3, 0),
    ("echo '3 passed, 2 failed'; exit 1", 3, 2),
    ("echo '3 passed, 0 failed'; exit 1", 3, 1),
    ("exit 3", 0, 1),
])
def test_a_tool_that_fails_is_counted(script, passed, failed):
    tally = run_tests.Tally()
    run_tests.counted(tally, "sh", "-c", script)
    assert (tally.passed, tally.failed) == (passed, failed)


def test_a_command_that_does_not_end_is_stopped():
    assert run_tests.run("tail", "-f", "/dev/null", limit=0.2) == (124, "")


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
    assert "not run: 2-3" in shown and shown.endswith("0 passed, 3 failed\n")


@pytest.mark.parametrize("covered, passed", [(949, False), (950, False), (951, True), (1000, True)])
def test_the_aim_is_over_95_of_100_lines(tmp_path, covered, passed):
    file = tmp_path / "src/journal/a.cc"
    counts = [(file, line, int(line <= covered)) for line in range(1, 1001)]
    result = coverage.summary(coverage.collect(counts, {file}, tmp_path / "src"))
    assert result["journal"]["passed"] == passed
    assert not result["gang"]["passed"], "a room without lines has nothing covered"
