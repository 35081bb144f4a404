import contextlib

import pytest
from kubernetes.jobs import PodJobs
from victim import Victim

from clusters.kubernetes.fixtures import kubectl, kubernetes, python_image  # noqa: F401: fixtures


@pytest.fixture(scope="module")
def victim(gangrun, tmp_path_factory):
    """One job for all attacks of a module: what an attack leaves, the next one finds. It has to end well."""
    made = Victim(gangrun, tmp_path_factory.mktemp("h"), tmp_path_factory.mktemp("w"))
    with contextlib.ExitStack() as stack:
        stack.callback(made.stop)
        yield made
        made.assert_well()
        made.let_end()


@pytest.fixture
def make_victim(gangrun, tmp_path_factory):
    with contextlib.ExitStack() as stack:

        def make(*words, **options):
            made = Victim(gangrun, tmp_path_factory.mktemp("h"), tmp_path_factory.mktemp("w"), *words, **options)
            stack.callback(made.stop)
            return made

        yield make


@pytest.fixture
def pod_jobs(gangrun, tmp_path, home, request):
    """What a user does with jobs on a real Kubernetes, in a namespace and a folder of the test's own."""
    (tmp_path / "work").mkdir(exist_ok=True)
    return PodJobs(gangrun, request.getfixturevalue("kubectl"), tmp_path / "work", home, request.getfixturevalue("python_image"))
