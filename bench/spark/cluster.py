"""A real standalone Spark cluster of its own for a benchmark."""

import json
import os
import pathlib
import subprocess

from measure import ROOT

CLUSTER = ROOT / "tests/clusters/spark/spark-cluster"
LIMIT_S = 300


class Cluster:
    """Runs while it is entered, and ends at the latest with this process."""

    def __init__(self, folder: pathlib.Path, *options: object) -> None:
        self.folder, self.options = folder, options

    def __enter__(self) -> dict[str, str]:
        """The environment for drivers; the Python of Spark's workers is that of PYSPARK_PYTHON in it."""
        self.order("up", "--until", os.getpid(), *self.options)
        return os.environ | json.loads(self.order("status"))["environment"]

    def __exit__(self, *_: object) -> None:
        self.order("down")

    def order(self, command: str, *words: object) -> str:
        return subprocess.run([CLUSTER, command, "--dir", self.folder, *map(str, words)], check=True, capture_output=True,
                              text=True, timeout=LIMIT_S).stdout
