"""What a master takes of a processor to get hundreds of containers from YARN, and whether that is linear.

    python bench/yarn_load.py [--runs 2] [--containers 125 500 1000]

A real ResourceManager and HDFS; the containers are on NodeManagers in this process that speak the real protocol and
start nothing but the master (fake_nodes.py). The job is submitted as a user does it and killed when all its containers
are started. Counted is the master's process by its own clock: until the last container was started, and from its first
to its last instruction, with all containers stopped and given back. The agents' reports are counted in roll_call.py.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile
import time

from fake_nodes import Nodes
from measure import Series, Verdicts, gangrun_program
from cluster import LIMIT_S, YarnCluster

NODES = 50
AIM_CONTAINERS, AIM_MS = 500, 1000
# Of which only the fake nodes have enough.
MEMORY = "256m"


def cpu_ms(pid: int) -> float:
    """Of a process that lives, all its threads: the clock that clock_getcpuclockid(3) gives."""
    return time.clock_gettime(~pid << 3 | 2) * 1000


class Load:
    def __init__(self, folder: pathlib.Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment | {"GANGRUN_HOME": str(folder / "home")}
        tracker = re.search(r"resource-tracker.address</name>\s*<value>([^<]+)",
                            (folder / "cluster/conf/yarn-site.xml").read_text()).group(1)
        self.nodes = Nodes(tracker, gangrun_program().with_name("gangrun-agent"), folder, count=NODES, memory_mb=16384,
                           vcores=64, version="3.5.0", on_task=self.on_task)
        self.containers = 0

    def gangrun(self, *words: object) -> str:
        return subprocess.run([gangrun_program(), *map(str, words)], env=self.environment, check=True, text=True,
                              capture_output=True, timeout=LIMIT_S).stdout.strip()

    def on_task(self, started: int) -> None:
        if started == self.containers:
            self.cpu_ms = cpu_ms(self.nodes.master.pid)
            self.done = time.monotonic()

    def run(self, containers: int) -> dict[str, float]:
        self.containers = containers
        self.nodes.tasks.clear()
        begin = time.monotonic()
        job = self.gangrun("run", "--on", "yarn", "--detach", "-m", MEMORY, "-r", f"worker:{containers}", "--", "true")
        self.nodes.wait_until(lambda: len(self.nodes.tasks) >= containers, f"{containers} containers are started")
        self.gangrun("kill", job)
        _, _, used = os.wait4(self.nodes.master.pid, 0)
        self.nodes.master = None
        assert len(self.nodes.tasks) == containers, "more containers were started than there are tasks"
        return {"started": self.cpu_ms, "life": (used.ru_utime + used.ru_stime) * 1000,
                "memory": used.ru_maxrss / 1000, "wall": (self.done - begin) * 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--containers", type=int, nargs="+", default=[125, AIM_CONTAINERS, 1000])
    arguments = parser.parse_args()
    verdicts = Verdicts()
    least: dict[int, float] = {}
    print(f"{NODES} nodes; minimum and median of {arguments.runs} runs: the master's CPU ms until all are started, in all"
          " its life; its peak MB; ms from the command to the last container's start")
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        # The real node is too small for anything.
        options = ("--nodes", 1, "--memory-mb", 64, "--set", "yarn.scheduler.maximum-allocation-mb=8192")
        with YarnCluster(folder / "cluster", *options) as environment:
            load = Load(folder, environment)
            with load.nodes:
                load.run(min(arguments.containers))  # uploads
                for containers in arguments.containers:
                    runs = [load.run(containers) for _ in range(arguments.runs)]
                    series = {name: Series(tuple(run[name] for run in runs)) for name in runs[0]}
                    least[containers] = series["started"].minimum
                    print(f"{containers:5} containers {' '.join(map(str, series.values()))}", flush=True)
    if AIM_CONTAINERS in least:
        verdicts.at_most(f"CPU ms of the master for {AIM_CONTAINERS} containers", least[AIM_CONTAINERS], AIM_MS)
    smallest, largest = min(least), max(least)
    verdicts.at_most(f"CPU of {largest} containers / of {smallest}, each by their number",
                     least[largest] / largest / (least[smallest] / smallest), 1)
    verdicts.finish()


if __name__ == "__main__":
    main()
