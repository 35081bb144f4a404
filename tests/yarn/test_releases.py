"""Which part of the acceptance passes on each release of Hadoop that can be had: the table of docs/yarn.md.

The daemons of all releases are real and run with one Java 17. `-k 2.10.2` chooses a release. Any other test of this folder
runs on another release by HADOOP_RELEASE, too.
"""

import pytest

from releases import HADOOP, LIMIT_S


@pytest.mark.releases
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("release", HADOOP.releases)
def test_what_is_recorded_passes(release, tmp_path):
    HADOOP.check(release, tmp_path / "log")
