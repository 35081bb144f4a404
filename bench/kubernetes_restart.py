"""How soon a gang of pods runs again when one task has failed: in its pods, and in new ones.

    python bench/kubernetes_restart.py [--runs 3] [--pods 2 16] [--most N]

On one cluster of two real nodes, which this program starts. Gangs of the sizes that are given, and of as many pods as this
machine carries: the largest of a row of sizes whose tasks all run half a minute after the command, or `--most`. From the moment when a task is told to fail, which it does at
once, to the first line of the last task of the next run. With agents the gang restarts in place, without them each pod is made
and scheduled again; both have the same command, and end when they are asked to. The image is on the nodes, and the config maps
that bring the agents are in the namespace.
"""

import argparse
import contextlib
import os
import pathlib
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator

from cluster import LIMIT_S
from measure import Figure, Verdicts, in_turns
from pods import LOOK_S, Pods, pods_of_cluster

IN_PLACE, RECREATED = "in place", "in new pods"
AIM_RATIO, AIM_S = 0.5, 1
# Gangs that are tried for the largest one, and the seconds after which the tasks of one that is carried all run.
SIZES = (24, 32, 48, 64, 96, 128, 192, 256, 384)
CARRIED_S = 30
# Each tells its run; in the first one fails when it is told to.
SCRIPT = """#!/bin/sh
cd "$1"
trap 'exit 0' TERM
fails=$([ "$GANGRUN_TASK_INDEX" = 0 ] && [ "$GANGRUN_RESTARTS" = 0 ] && echo yes)
[ -z "$fails" ] || exec 3<fail
echo "$GANGRUN_RESTARTS" >told
if [ "$fails" ]; then
  read -r _ <&3
  exit 3
fi
tail -f /dev/null &
wait
"""


class TooSlow(SystemExit):
    pass


class Told:
    """What the processes of one job tell, by pipes in a folder that their pods see."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.inner = tempfile.TemporaryDirectory(dir=folder)
        self.folder = pathlib.Path(self.inner.name)
        self.folder.chmod(0o755)
        (self.folder / "task").write_text(SCRIPT)
        for name in ("told", "fail"):
            os.mkfifo(self.folder / name)
        self.words = ["sh", f"{self.folder}/task", str(self.folder)]

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        # For both ends, so that neither side waits for the other to open its own.
        self.told, self.fail = (os.open(self.folder / name, os.O_RDWR) for name in ("told", "fail"))
        try:
            yield
        finally:
            os.close(self.told)
            os.close(self.fail)

    def wait(self, tasks: int, restarts: int, started_by: subprocess.Popen, limit_s: float = LIMIT_S) -> float:
        """When the last of so many processes has told that it runs after so many restarts, by time.time()."""
        deadline, got = time.monotonic() + limit_s, b""
        while got.count(b"\n") < tasks:
            if time.monotonic() > deadline:
                raise TooSlow(f"{got.count(10)} of {tasks} tasks run after {restarts} restarts and {limit_s:.0f} s")
            if select.select([self.told], [], [], LOOK_S)[0]:
                got += os.read(self.told, 4096)
            elif started_by.poll() is not None:
                raise SystemExit(f"{got.count(10)} of {tasks} tasks run after {restarts} restarts, and the job has ended")
        last = time.time()
        if got.split() != [str(restarts).encode()] * tasks:
            raise SystemExit(f"other runs than those after {restarts} restarts: {got!r}")
        return last


def uids(pods: Pods) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods.observer.pods.values()}


def one_restart(pods: Pods, tasks: int, *, agents: bool) -> float:
    """Milliseconds."""
    told = Told(pods.folder)
    job = pods.job(tasks, told.words, told.folder, agents=agents, restarts=1)
    with told.opened(), pods.started(pods.gangrun(job)) as process:
        told.wait(tasks, 0, process)
        # The relay of agents is a pod, too.
        pods.observer.wait(lambda seen: len(seen) == tasks + agents, f"the pods of {tasks} tasks")
        before = uids(pods)
        failed = time.time()
        os.write(told.fail, b"now\n")
        again = told.wait(tasks, 1, process)
        kept = before & uids(pods)
        if kept != (before if agents else set()):
            raise SystemExit(f"of {len(before)} pods {len(kept)} are there after the restart")
    return (again - failed) * 1000


def room(pods: Pods) -> int:
    """How many tasks the nodes take, beside the relay."""
    told = pods.kubectl_order("get", "nodes", "-o", "jsonpath={.items[*].status.allocatable.pods}")
    return sum(map(int, told.split())) - 1


def is_carried(pods: Pods, tasks: int) -> bool:
    told = Told(pods.folder)
    job = pods.job(tasks, told.words, told.folder, agents=True)
    begin = time.time()
    with told.opened(), pods.started(pods.gangrun(job)) as process:
        try:
            last = told.wait(tasks, 0, process, CARRIED_S)
        except TooSlow as slow:
            print(f"{tasks} pods are too many: {slow}", flush=True)
            return False
    print(f"{tasks} pods run after {last - begin:.1f} s", flush=True)
    return True


def most_carried(pods: Pods) -> int:
    """The last size before the first one that is not carried; 0: none is."""
    most, at_most = 0, room(pods)
    for tasks in SIZES:
        if tasks > at_most:
            print(f"the nodes take no more than {at_most} tasks", flush=True)
            break
        if not is_carried(pods, tasks):
            break
        most = tasks
    return most


def compare(pods: Pods, tasks: int, runs: int, verdicts: Verdicts, figure: Figure) -> None:
    name = f"{tasks} pods"
    taken = in_turns(runs, {IN_PLACE: lambda: one_restart(pods, tasks, agents=True),
                            RECREATED: lambda: one_restart(pods, tasks, agents=False)})
    for what, series in taken.items():
        print(f"{f'{name} {what}':24} {series}", flush=True)
        figure.add(name, what, series.minimum / 1000)
    minimum = taken[IN_PLACE].minimum
    verdicts.at_most(f"{IN_PLACE} / {RECREATED}, {name}, minima", minimum / taken[RECREATED].minimum, AIM_RATIO)
    verdicts.tell_at_most(f"s until all of {name} run again {IN_PLACE}", minimum / 1000, AIM_S)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pods", type=int, nargs="+", default=[2, 16])
    parser.add_argument("--most", type=int, help="so many pods are the most; 0: none but --pods (default: tried)")
    arguments = parser.parse_args()
    verdicts = Verdicts()
    figure = Figure("kubernetes_restart", "Kubernetes: from a failure until the whole gang runs again", "s, lower is better")
    print(f"milliseconds, minimum and median of {arguments.runs} runs")
    with pods_of_cluster("--real-nodes", 2, "--nodes", 0) as pods:
        pods.keep_parts()
        most = most_carried(pods) if arguments.most is None else arguments.most
        for tasks in sorted({*arguments.pods, *([most] if most else [])}):
            compare(pods, tasks, arguments.runs, verdicts, figure)
    figure.write()
    verdicts.finish()


if __name__ == "__main__":
    main()
