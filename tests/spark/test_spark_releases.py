"""Which part of the acceptance passes on each release of Spark: the table of docs/spark.md. `-k 3.4` chooses a release."""

import pytest

from releases import LIMIT_S, SPARK


@pytest.mark.releases
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("release", SPARK.releases)
def test_what_is_recorded_passes(release, tmp_path):
    SPARK.check(release, tmp_path / "log")
