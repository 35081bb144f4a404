import pytest

from yarn.jobs import Jobs


@pytest.fixture
def jobs(gangrun, agent, hadoop, home, tmp_path):
    """Jobs on the cluster that the tests share. `agent` is there so that it is built."""
    jobs = Jobs(gangrun, hadoop, tmp_path, home)
    yield jobs
    jobs.end_all()


@pytest.fixture
def own_cluster(hadoop_cluster, gangrun, agent, home, tmp_path):
    """Jobs on a cluster of the test's own, whose daemons it may kill."""
    jobs = Jobs(gangrun, hadoop_cluster(nodes=2, nm_expiry_ms=5000), tmp_path, home)
    yield jobs
    jobs.end_all()
