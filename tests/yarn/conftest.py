import pytest

from yarn.jobs import Jobs


@pytest.fixture
def jobs(gangrun, agent, hadoop, home, tmp_path):
    """Jobs on the cluster that the tests share. `agent` is there so that it is built."""
    jobs = Jobs(gangrun, hadoop, tmp_path, home)
    yield jobs
    jobs.end_all()
