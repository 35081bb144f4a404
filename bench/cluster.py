"""A real cluster of its own for a benchmark."""

import os
import pathlib
import subprocess

from measure import ROOT

LIMIT_S = 300


class Cluster:
    """Runs while it is entered, and ends at the latest with this process."""

    program: pathlib.Path
    programs_in: str  # where in its folder those are that use it

    def __init__(self, folder: pathlib.Path, *options: object) -> None:
        self.folder, self.options = folder, options

    def __enter__(self) -> dict[str, str]:
        """The environment for what uses it."""
        started = self.order("up", "--until", os.getpid(), *self.options)
        exports = (line.removeprefix("export ").split("=", 1) for line in started.splitlines()
                   if line.startswith("export "))
        environment = os.environ | {name: value.strip("'\"") for name, value in exports}
        return environment | {"PATH": f"{self.folder / self.programs_in}:{os.environ.get('PATH', '')}"}

    def __exit__(self, *_: object) -> None:
        self.order("down", "--purge")

    def order(self, command: str, *words: object) -> str:
        done = subprocess.run([self.program, command, "--dir", self.folder, *map(str, words)], capture_output=True, text=True,
                              timeout=LIMIT_S)
        if done.returncode:
            raise SystemExit(f"{self.program.name} {command}: {done.stderr}")
        return done.stdout


class YarnCluster(Cluster):
    program = ROOT / "tests/clusters/hadoop/hadoop-cluster"
    programs_in = "home/bin"


class KubernetesCluster(Cluster):
    program = ROOT / "tests/clusters/kubernetes/kubernetes-cluster"
    programs_in = "bin"
