"""The tables of releases in the documents say what the tests have recorded, and name tests that are there."""

import pytest

from releases import HADOOP, SPARK


@pytest.fixture(params=[HADOOP, SPARK], ids=lambda releases: releases.name)
def releases(request):
    return request.param


def test_a_table_is_what_was_recorded(releases):
    _, table, _ = releases.written()
    assert table == releases.table(), f"GANGRUN_UPDATE_GOLDEN=1 pytest {releases.folder}/test_*releases.py writes {releases.document}"


def test_each_row_has_tests_that_are_there(releases):
    for row, tests in releases.parts.items():
        for test in tests:
            file, name = test.split("[")[0].split("::")
            assert f"def {name}(" in (releases.folder / file).read_text(), f"{row}: {test}"
