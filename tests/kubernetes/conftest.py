"""Tests of jobs on a real Kubernetes cluster."""

import pytest

from clusters.kubernetes.fixtures import kubectl, kubernetes, python_image, tensorflow_image  # noqa: F401: fixtures
from kubernetes.jobs import PodJobs


@pytest.fixture
def jobs_of(gangrun, tmp_path, home):
    """jobs_of(kubectl, image): what a user does with jobs, in a folder of the test's own and in that namespace."""
    return lambda namespace, image: PodJobs(gangrun, namespace, tmp_path, home, image)


@pytest.fixture
def jobs(jobs_of, request):
    """The same in a namespace of the test's own."""
    return jobs_of(*map(request.getfixturevalue, ("kubectl", "python_image")))


@pytest.fixture
def two_hollow_nodes(request):
    """Names of two hollow nodes that only pods with the namespace's own label are sent to."""
    administrator = request.getfixturevalue("kubernetes").kubectl
    chosen = [node["metadata"]["name"] for node in administrator.json("get", "nodes", "-l", "hollow")][:2]
    yield chosen
    for node in chosen:
        administrator.run("label", "node", node, "gang-", check=False)
