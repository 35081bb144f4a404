"""What the tests of the Python package on clusters share."""

import os
import pathlib
import subprocess
import sys

import pytest

from clusters.hadoop.fixtures import Hadoop

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKING_LIMIT_S = 280
sys.path[:0] = [str(ROOT / "python")]


def environment_folder(name):
    """A Python environment of tools/install-deps."""
    done = subprocess.run([ROOT / "tools/install-deps", "--venv", name], check=True, capture_output=True, text=True, timeout=60)
    return pathlib.Path(done.stdout.strip())


@pytest.fixture(scope="session")
def tensorflow():
    """A Python with the last TensorFlow that has Estimators, which the nodes of a cluster of this machine have too."""
    return environment_folder("tensorflow-2.15") / "bin/python"


@pytest.fixture(scope="session")
def labelled(tmp_path_factory):
    """A cluster of two plain nodes and a third with the label gpu. What is shipped to its nodes is there for all tests."""
    cluster = Hadoop(tmp_path_factory.mktemp("hadoop"), nodes=3, node_labels=True, gpu_nodes=1, gpus=0, native=True)
    yield cluster
    cluster.down_for_good()


# What packs the environment that runs it, or finds that it was packed.
PACKING = """
from gangrun import environments
print(environments.prepare(None, on="yarn", env={}, progress=lambda text: None).archives[environments.FOLDER])
"""


@pytest.fixture(scope="session")
def tensorflow_archive(tensorflow):
    """The environment of TensorFlow with its interpreter, as an archive: the same that is shipped where it runs a program."""
    done = subprocess.run([tensorflow, "-c", PACKING], check=True, capture_output=True, text=True, timeout=PACKING_LIMIT_S,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
    return pathlib.Path(done.stdout.strip())


@pytest.fixture
def client(gangrun, home, monkeypatch):
    """client(cluster): from now on this process, and what it starts, is a client of that cluster."""

    def become(cluster):
        for name, value in cluster.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("GANGRUN_BIN", os.path.dirname(gangrun))
        monkeypatch.setenv("GANGRUN_HOME", str(home))
        monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))

    return become
