"""How soon all tasks of a gang run on a real YARN cluster, beside YARN's own DistributedShell.

    python bench/yarn_start.py [--runs 3] [--tasks 2 8 16]

From the command to the moment when the last task's process runs; the two in turns, on one cluster of two nodes that
this program starts, with everything uploaded and localised by a run before. DistributedShell is given the command
alone; gangrun also holds a port for each task and publishes the cluster spec before it starts any. Also: from
`gangrun run --detach` to its end, when YARN has recorded the job.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from measure import Verdicts, gangrun_program, in_turns
from yarn_cluster import LIMIT_S, Cluster

SHELL = "org.apache.hadoop.yarn.applications.distributedshell.Client"

# Each process leaves its time, by the clock that is one for all.
TASK = """#!/usr/bin/python3
import sys, tempfile, time
with tempfile.NamedTemporaryFile("w", dir=sys.argv[1], delete=False) as file:
    file.write(str(time.monotonic()))
"""


class Starts:
    """Runs them; every measurement is in milliseconds."""

    def __init__(self, folder: pathlib.Path, environment: dict) -> None:
        self.folder = folder
        self.environment = environment | {"GANGRUN_HOME": str(folder / "home")}
        self.script = folder / "task.py"
        self.script.write_text(TASK)
        self.script.chmod(0o755)

    def measure(self, command: list, tasks: int) -> float:
        with tempfile.TemporaryDirectory(dir=self.folder) as told:
            begin = time.monotonic()
            words = [str(word).replace("{told}", told) for word in command]
            done = subprocess.run(words, capture_output=True, text=True, env=self.environment, cwd=self.folder,
                                  timeout=LIMIT_S)
            if done.returncode:
                sys.exit(f"{' '.join(words)}: {done.stderr}")
            ends = [float(file.read_text()) for file in pathlib.Path(told).iterdir()]
        assert len(ends) == tasks, f"{len(ends)} of {tasks} tasks have run"
        return (max(ends) - begin) * 1000

    def gangrun(self, tasks: int) -> float:
        return self.measure([gangrun_program(), "run", "--on", "yarn", "-m", "64m", "-r", f"worker:{tasks}", "--",
                             self.script, "{told}"], tasks)

    def distributed_shell(self, tasks: int) -> float:
        jar = self.environment["DSHELL_JAR"]
        return self.measure(["yarn", "jar", jar, SHELL, "-jar", jar, "-num_containers", tasks, "-container_memory", 64,
                             "-master_memory", 256, "-shell_command", f"{self.script} {{told}}"], tasks)

    def detach(self) -> float:
        begin = time.monotonic()
        done = subprocess.run([gangrun_program(), "run", "--on", "yarn", "--detach", "-m", "64m", "-r", "worker:1", "--",
                               "true"], check=True, capture_output=True, text=True, env=self.environment,
                              timeout=LIMIT_S)
        taken = (time.monotonic() - begin) * 1000
        # The next one meets a cluster at rest.
        subprocess.run([gangrun_program(), "wait", done.stdout.strip()], check=True, capture_output=True,
                       env=self.environment, timeout=LIMIT_S)
        return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tasks", type=int, nargs="+", default=[2, 8, 16])
    arguments = parser.parse_args()
    verdicts = Verdicts()
    print(f"milliseconds, minimum and median of {arguments.runs} runs")
    with (tempfile.TemporaryDirectory() as text,
          Cluster(folder := pathlib.Path(text), "--nodes", 2, "--vcores", 64) as environment):
        starts.gangrun(2)
        starts.distributed_shell(2)
        for tasks in arguments.tasks:
            taken = in_turns(arguments.runs, {
                f"gangrun, {tasks} tasks": lambda tasks=tasks: starts.gangrun(tasks),
                f"DistributedShell, {tasks} containers": lambda tasks=tasks: starts.distributed_shell(tasks),
            })
            for name, series in taken.items():
                print(f"{name:32} {series}")
            own, peer = taken.values()
            verdicts.at_most(f"gangrun / DistributedShell at {tasks}, minima", own.minimum / peer.minimum, 1 / 2)
        submitted = in_turns(arguments.runs, {"gangrun run --detach": starts.detach})["gangrun run --detach"]
        print(f"{'gangrun run --detach':32} {submitted}")
        verdicts.at_most("ms from gangrun run --detach to its end, nothing to upload", submitted.minimum, 300)
    verdicts.finish()


if __name__ == "__main__":
    main()
