"""`engine`: a real container engine with images, which the tests of a run share."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

PROGRAM = pathlib.Path(__file__).with_name("container-engine")
ORDER_LIMIT_S = 240
SMALL = "gangrun-small:1"
PYTHON = "gangrun-python:1"


class Engine:
    def __init__(self, folder):
        self.folder = folder
        done = self.order("up", "--until", str(os.getpid()))
        self.environment = {"DOCKER_HOST": done.strip()}

    def order(self, action, *words):
        done = subprocess.run([str(PROGRAM), action, "--dir", str(self.folder), *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=ORDER_LIMIT_S)
        assert done.returncode == 0, f"container-engine {action}: {done.stderr}"
        return done.stdout

    def docker(self, *words):
        done = subprocess.run(["docker", *words], env=os.environ | self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=ORDER_LIMIT_S)
        assert done.returncode == 0, f"docker {' '.join(words)}: {done.stderr}"
        return done.stdout

    def containers(self):
        """The names of all containers, also of those that have ended."""
        return sorted(self.docker("ps", "--all", "--format", "{{.Names}}").split())

    def down(self):
        self.order("down")
        shutil.rmtree(self.folder)


@pytest.fixture(scope="session")
def engine():
    # A short path, as the engine's sockets lie in it, which other users may go through.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="engine-"))
    folder.chmod(0o755)
    made = Engine(folder)
    yield made
    made.down()
