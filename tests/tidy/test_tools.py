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


run_tests, tidy = load("run_tests"), load("tidy")

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
