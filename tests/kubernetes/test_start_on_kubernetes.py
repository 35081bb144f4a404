"""The page docs/start/kubernetes.md, followed on a real cluster."""

import os
import pathlib
import shutil
import subprocess

import pages
import pytest

from clusters.kubernetes.fixtures import free_place, short_folder

OWN_CLUSTER = "With a cluster of your own"
TEST_CLUSTER = ["Without one: start a test cluster", "Stop the test cluster"]
SCRIPT = "tests/clusters/kubernetes/kubernetes-cluster"


def write_files(folder):
    for name in ("start/this-machine", "start/kubernetes"):
        pages.write_files(name, folder)


def test_a_model_is_trained_in_pods(jobs):
    write_files(jobs.folder)
    path = f"{jobs.gangrun.parent}:{jobs.environment['PATH']}"
    pages.follow(pages.fences("start/kubernetes", without=TEST_CLUSTER), jobs.folder, jobs.environment | {"PATH": path},
                 {"NAMESPACE=ml": f"NAMESPACE={jobs.kubectl.namespace}", "python:3.12-slim": jobs.image})
    assert jobs.left() == []


@pytest.fixture
def reader(gangrun, home):
    """What somebody has in their environment who has built gangrun and has no Kubernetes."""
    folder = pathlib.Path(short_folder())
    own = {name: value for name, value in pages.with_programs(gangrun, home).items() if name != "KUBECONFIG"}
    yield own | {"TMPDIR": str(folder)}
    for left in folder.glob("kubernetes-cluster-*/settings"):  # the page did not get to its end
        subprocess.run([pages.ROOT / SCRIPT, "down", "--purge", "--dir", left.parent], check=True, timeout=60)
    shutil.rmtree(folder)


def test_the_page_starts_and_stops_a_cluster(reader, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    write_files(folder)
    net, port = free_place()
    pages.follow(pages.fences("start/kubernetes", without=[OWN_CLUSTER]), folder, reader,
                 {"tools/install-deps": f"{pages.ROOT}/tools/install-deps", SCRIPT: f"{pages.ROOT}/{SCRIPT}",
                  "kubernetes-cluster up": f"kubernetes-cluster up --until {os.getpid()} --net {net} --port {port}"})
    assert list(pathlib.Path(reader["TMPDIR"]).iterdir()) == []
