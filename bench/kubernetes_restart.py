"""How soon a gang of pods runs again when one task has failed: in its pods, and in new ones.

    python bench/kubernetes_restart.py [--runs 3] [--pods 2 16 64]

On one cluster of two real nodes, which this program starts. From the moment when a task is told to fail, which it does at
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

    def wait(self, tasks: int, restarts: int, started_by: subprocess.Popen) -> float:
        """When the last of so many processes has told that it runs after so many restarts, by time.time()."""
        deadline, got = time.monotonic() + LIMIT_S, b""
        while got.count(b"\n") < tasks:
            if select.select([self.told], [], [], LOOK_S)[0]:
                got += os.read(self.told, 4096)
            elif started_by.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{got.count(10)} of {tasks} tasks run after {restarts} restarts")
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
    parser.add_argument("--pods", type=int, nargs="+", default=[2, 16, 64])
    arguments = parser.parse_args()
    verdicts = Verdicts()
    figure = Figure("kubernetes_restart", "Kubernetes: from a failure until the whole gang runs again", "s, lower is better")
    print(f"milliseconds, minimum and median of {arguments.runs} runs")
    with pods_of_cluster("--real-nodes", 2, "--nodes", 0) as pods:
        pods.keep_parts()
        for tasks in arguments.pods:
            compare(pods, tasks, arguments.runs, verdicts, figure)
    figure.write()
    verdicts.finish()


if __name__ == "__main__":
    main()
