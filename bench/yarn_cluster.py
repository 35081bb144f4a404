"""A real YARN cluster of its own for a benchmark."""

import os
import pathlib
import subprocess

from measure import ROOT

CLUSTER = ROOT / "tests/clusters/hadoop/hadoop-cluster"
LIMIT_S = 300


class Cluster:
    """Runs while it is entered, and ends at the latest with this process."""

    def __init__(self, folder: pathlib.Path, *options: object) -> None:
        self.folder, self.options = folder, options

    def __enter__(self) -> dict[str, str]:
        """The environment for what uses it."""
        started = self.order("up", "--until", os.getpid(), *self.options)
        exports = (line.removeprefix("export ").split("=", 1) for line in started.splitlines()
                   if line.startswith("export "))
        environment = os.environ | {name: value.strip("'\"") for name, value in exports}
        return environment | {"PATH": f"{self.folder}/home/bin:{os.environ.get('PATH', '')}"}

    def __exit__(self, *_: object) -> None:
        self.order("down", "--purge")

    def order(self, command: str, *words: object) -> str:
        return subprocess.run([CLUSTER, command, "--dir", self.folder, *map(str, words)], check=True, capture_output=True,
                              text=True, timeout=LIMIT_S).stdout
