"""How soon all tasks of a gang run on a real YARN cluster, beside skein and beside YARN's own DistributedShell.

    python bench/yarn_start.py [--runs 3] [--peer-runs 1] [--tasks 2 8 16]

From the command to the moment when the last task's process runs, on one cluster of two nodes that this program starts,
with everything uploaded and localised by a run before. The peers are given the command alone, skein's driver runs
already, and its time begins when its client submits; gangrun also holds a port for each task and publishes the cluster
spec before it starts any.
While the most tasks run, what gangrun's master takes of memory, and of a processor since its start, beside skein's
ApplicationMaster and driver. Also: from `gangrun run --detach` to its end, when YARN has recorded the job.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile
import time

from gate import Gate
from measure import Figure, Verdicts, gangrun_program, in_turns, python_of
from cluster import LIMIT_S, YarnCluster

SHELL = "org.apache.hadoop.yarn.applications.distributedshell.Client"
# Of skein's time; two processors that start many containers at once do little else, whoever asked for them.
AIMS = {2: 1 / 6, 8: 1 / 6, 16: 1 / 4}
MEGABYTE = 1e6
AIM_MEGABYTES = 20


@dataclasses.dataclass(frozen=True)
class Use:
    """What processes take: resident bytes, those of them that are no file's, seconds of a processor."""

    resident: float = 0
    own: float = 0
    seconds: float = 0

    def __add__(self, other: "Use") -> "Use":
        return Use(self.resident + other.resident, self.own + other.own, self.seconds + other.seconds)

    def __str__(self) -> str:
        return f"{self.resident / MEGABYTE:6.1f} MB, of which {self.own / MEGABYTE:6.1f} its own; CPU {self.seconds:.2f} s"


def processes(folder: pathlib.Path, program: str, word: str) -> list[int]:
    """Those of a program, somewhere in the folder, that have this word in their command line."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
            is_below = pathlib.Path(os.readlink(path.with_name("cwd"))).is_relative_to(folder)
        except OSError:
            continue
        if is_below and words[0].endswith(program) and word in words:
            found.append(int(path.parent.name))
    return found


def use_of(pids: list[int]) -> Use:
    total = Use()
    for pid in pids:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        resident, own = (int(re.search(rf"{field}:\s+(\d+) kB", status).group(1)) * 1024 for field in ("VmRSS", "RssAnon"))
        total += Use(resident, own, time.clock_gettime(~pid << 3 | 2))
    return total


class Starts:
    """Runs them; every measurement is in milliseconds."""

    def __init__(self, folder: pathlib.Path, environment: dict) -> None:
        self.folder = folder
        self.environment = environment | {"GANGRUN_HOME": str(folder / "home"), "SKEIN_CONFIG": str(folder / "skein")}
        self.skein_folder = python_of("skein").parent
        self.uses: dict[str, Use] = {}

    def measure(self, name: str, command: list, tasks: int, gate: Gate, *masters: tuple[str, ...]) -> float:
        """`masters`: words of the command lines of what manages the tasks, to be looked at while they run."""
        begin = time.time()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen([str(word) for word in command], env=self.environment, cwd=self.folder,
                                       stdout=output, stderr=output)
            with gate:
                last = gate.wait(tasks, process)
                # Where a program says when it began to submit, its own start is not counted.
                if (told := gate.folder / "begin").exists():
                    begin = float(told.read_text())
                found = [processes(self.folder, *words) for words in masters]
                assert all(len(pids) == 1 for pids in found), f"{name}: {found} should be one process each"
                self.uses[name] = use_of(sum(found, []))
            if process.wait(LIMIT_S):
                output.seek(0)
                raise SystemExit(f"{name}: {output.read().decode()}")
        return (last - begin) * 1000

    def gangrun(self, tasks: int) -> float:
        gate = Gate(self.folder)
        command = [gangrun_program(), "run", "--on", "yarn", "-m", "64m", "-r", f"worker:{tasks}", "--", *gate.words]
        return self.measure("gangrun", command, tasks, gate, ("gangrun-agent", "master"))

    def skein(self, tasks: int) -> float:
        gate = Gate(self.folder)
        # Not a benchmark of its own, so it has no main program.
        words = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); import skein_start;" \
                " skein_start.main()"
        begin = gate.folder / "begin"
        return self.measure("skein", [self.skein_folder / "python", "-c", words, tasks, begin, *gate.words], tasks, gate,
                            ("/java", "com.anaconda.skein.ApplicationMaster"), ("/java", "com.anaconda.skein.Driver"))

    def skein_driver(self, order: str) -> None:
        subprocess.run([self.skein_folder / "skein", "driver", order], check=True, capture_output=True,
                       env=self.environment, cwd=self.folder, timeout=LIMIT_S)

    def distributed_shell(self, tasks: int) -> float:
        gate = Gate(self.folder)
        jar = self.environment["DSHELL_JAR"]
        return self.measure("DistributedShell", [
            "yarn", "jar", jar, SHELL, "-jar", jar, "-num_containers", tasks, "-container_memory", 64, "-master_memory", 256,
            "-shell_command", " ".join(gate.words)], tasks, gate)

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


def compare(starts: Starts, tasks: int, arguments: argparse.Namespace, verdicts: Verdicts, figure: Figure) -> None:
    taken = in_turns(arguments.runs, {"gangrun": lambda: starts.gangrun(tasks)})
    taken |= in_turns(arguments.peer_runs, {"skein": lambda: starts.skein(tasks),
                                            "DistributedShell": lambda: starts.distributed_shell(tasks)})
    for name, series in taken.items():
        print(f"{f'{name}, {tasks} containers':32} {series}", flush=True)
        figure.add(f"{tasks} containers", name, series.minimum / 1000)
    own = taken["gangrun"].minimum
    verdicts.at_most(f"gangrun / skein at {tasks}, minima", own / taken["skein"].minimum, AIMS.get(tasks, 1 / 4))
    verdicts.at_most(f"gangrun / DistributedShell at {tasks}, minima", own / taken["DistributedShell"].minimum, 1 / 2)


def compare_uses(starts: Starts, tasks: int, verdicts: Verdicts) -> None:
    for name in ("gangrun", "skein"):
        print(f"{f'{name}, {tasks} tasks run':32} {starts.uses[name]}")
    own, peer = starts.uses["gangrun"], starts.uses["skein"]
    verdicts.at_most(f"memory of gangrun's master with {tasks} tasks, MB", own.resident / MEGABYTE, AIM_MEGABYTES)
    verdicts.at_least("memory of skein's master and driver / gangrun's", peer.resident / own.resident, 20)
    verdicts.at_most("CPU of gangrun's master / skein's", own.seconds / peer.seconds, 1 / 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer-runs", type=int, default=1)
    parser.add_argument("--tasks", type=int, nargs="+", default=[2, 8, 16])
    arguments = parser.parse_args()
    verdicts = Verdicts()
    figure = Figure("yarn_start", "YARN: from the command until the last task's process runs", "s, lower is better")
    print(f"milliseconds, minimum and median of {arguments.runs} runs, of the peers of {arguments.peer_runs}")
    with (tempfile.TemporaryDirectory() as text,
          YarnCluster(folder := pathlib.Path(text) / "cluster", "--nodes", 2, "--vcores", 64) as environment):
        starts = Starts(folder.parent, environment)
        starts.skein_driver("start")
        try:
            for start in (starts.gangrun, starts.distributed_shell, starts.skein):
                start(2)
            for tasks in arguments.tasks:
                compare(starts, tasks, arguments, verdicts, figure)
            compare_uses(starts, arguments.tasks[-1], verdicts)
        finally:
            starts.skein_driver("stop")
        submitted = in_turns(arguments.runs, {"gangrun run --detach": starts.detach})["gangrun run --detach"]
        print(f"{'gangrun run --detach':32} {submitted}")
        verdicts.at_most("ms from gangrun run --detach to its end, nothing to upload", submitted.minimum, 300)
    figure.write()
    verdicts.finish()


if __name__ == "__main__":
    main()
