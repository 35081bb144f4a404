"""How soon the processes of all pods of a gang run, beside `kubectl apply` of the same finished manifests.

    python bench/kubernetes_start.py [--runs 2] [--pods 2 16] [--hollow 100] [--many 1000]

On one cluster of two real nodes and many hollow ones, which this program starts. From the command to the moment when
the last pod's process runs; of hollow pods, which have none, to the moment when the API server tells of the last one
that it runs. Real pods have an agent beside each command, or none; the config maps that bring the agents are there, as
while another job runs, but for one run that brings them. The peer is `kubectl apply` and `kubectl wait` of what
`gangrun run --dry-run` prints for pods without agents. Each line has the minimum, the median, and the ratios of the
minima; the aim is to be at most 0.3 s later than the peer.

Then what the client takes of memory and of a processor while many hollow pods run, and what it asks the API server for.
Last: one of sixteen workers without agents fails. From then, and from the API server's word of it, until the last other
pod is to be deleted and its process has got its signal.
"""

import argparse
import os
import pathlib
import select
import shutil
import tempfile
import time
from collections.abc import Callable

from cluster import LIMIT_S
from measure import Figure, Series, Verdicts, in_turns
from pods import FAILED, LOOK_S, TO_GO, Pods, count, megabytes, pods_of_cluster, requests_of, runs, seconds_of

HOLLOW_NODES = 40
FAILING = 16
AIM_MORE_MS = 300
AIM_MEGABYTES = 30
REST_S = 20  # the time for which the client is watched
SETTLE_S = 5
AGENTS, WITHOUT, PEER = "gangrun", "gangrun without agents", "kubectl apply"
# One fails when it is told to, the others tell when they are to end.
FAILS = """#!/bin/sh
cd "$1"
if [ "$GANGRUN_TASK_INDEX" = 0 ]; then
  exec 3<fail
  echo here >told
  read -r _ <&3
  exit 3
fi
trap 'echo ended >ended; exit 0' TERM
echo here >told
tail -f /dev/null &
wait
"""


def compare(name: str, runs_: int, measures: dict[str, Callable[[], float]], verdicts: Verdicts, figure: Figure) -> None:
    taken = in_turns(runs_, measures)
    minima = {what: series.minimum for what, series in taken.items()}
    for what, series in taken.items():
        ratios = ", ".join(f"{minima[what] / minima[peer]:.2f} of {peer}'s" for peer in (PEER, WITHOUT) if peer != what)
        print(f"{f'{what}, {name}':40} {series}   {ratios}", flush=True)
        figure.add(name, what, series.minimum / 1000)
    for what in (each for each in taken if each != PEER):
        verdicts.tell_at_most(f"s that {what} is later than {PEER}, {name}, minima", (minima[what] - minima[PEER]) / 1000, AIM_MORE_MS / 1000)
        # The same as a ratio, which a busy minute changes less.
        verdicts.at_most(f"{what} / {PEER}, {name}, minima", minima[what] / minima[PEER], (minima[PEER] + AIM_MORE_MS) / minima[PEER])


def compare_starts(pods: Pods, arguments: argparse.Namespace, verdicts: Verdicts, figure: Figure) -> None:
    pods.to_processes(2, pods.gangrun, agents=False)
    first = pods.to_processes(2, pods.gangrun, agents=True)
    print(f"{f'{AGENTS}, 2 pods, the agents come to the namespace':40} {first:8.1f}", flush=True)
    pods.keep_parts()
    for tasks in arguments.pods:
        compare(f"{tasks} pods", arguments.runs, {
            AGENTS: lambda n=tasks: pods.to_processes(n, pods.gangrun, agents=True),
            WITHOUT: lambda n=tasks: pods.to_processes(n, pods.gangrun, agents=False),
            PEER: lambda n=tasks: pods.to_processes(n, pods.kubectl, agents=False)}, verdicts, figure)
    compare(f"{arguments.hollow} hollow pods", arguments.runs, {
        WITHOUT: lambda: pods.to_hollow(arguments.hollow, pods.gangrun),
        PEER: lambda: pods.to_hollow(arguments.hollow, pods.kubectl)}, verdicts, figure)


def own_requests(cluster: pathlib.Path) -> list[dict]:
    return requests_of(cluster, lambda entry: entry.get("userAgent", "").startswith("gangrun/"))


def questions(requests: list[dict]) -> list[dict]:
    """What is not a watch; the logs of hollow pods end at once, and are read again for that."""
    return [entry for entry in requests if entry["verb"] in ("list", "get") and not entry["requestURI"].split("?")[0].endswith("/log")]


def settle(cluster: pathlib.Path) -> None:
    """Waits until the client has asked what every pod waited for."""
    deadline, before = time.monotonic() + LIMIT_S, -1
    while (now := len(questions(own_requests(cluster)))) != before:
        if time.monotonic() > deadline:
            raise SystemExit(f"the client still asks the API server after {LIMIT_S} s")
        before = now
        select.select([], [], [], SETTLE_S)


def look_at_client(pods: Pods, tasks: int, cluster: pathlib.Path, verdicts: Verdicts) -> None:
    with pods.started(pods.gangrun(pods.hollow_job(tasks))) as process:
        pods.observer.wait(lambda seen: count(seen, runs) == tasks, f"{tasks} running pods")
        settle(cluster)
        begun, seconds = len(own_requests(cluster)), seconds_of(process.pid)
        select.select([], [], [], REST_S)
        used = seconds_of(process.pid) - seconds
        asked = questions(own_requests(cluster)[begun:])
        print(f"client while {tasks} hollow pods run: {megabytes(process.pid, 'VmRSS'):.1f} MB, at most {megabytes(process.pid, 'VmHWM'):.1f} MB;"
              f" CPU {seconds:.1f} s until then, {used / REST_S * 100:.1f} % of a processor after it", flush=True)
        verdicts.at_most(f"memory of the client with {tasks} pods, MB", megabytes(process.pid, "VmHWM"), AIM_MEGABYTES)
        verdicts.at_most(f"questions to the API server in {REST_S} s", len(asked), 0)
        process.terminate()


def one_failure(pods: Pods) -> dict[str, float]:
    folder = pathlib.Path(tempfile.mkdtemp(dir=pods.folder))
    folder.chmod(0o755)
    (folder / "task").write_text(FAILS)
    for name in ("told", "fail", "ended"):
        os.mkfifo(folder / name)
    told, fail, ended = (os.open(folder / name, os.O_RDWR) for name in ("told", "fail", "ended"))

    def read_lines(pipe: int, lines: int) -> float:
        deadline, got = time.monotonic() + LIMIT_S, b""
        while got.count(b"\n") < lines:
            if select.select([pipe], [], [], LOOK_S)[0]:
                got += os.read(pipe, 4096)
            elif time.monotonic() > deadline:
                raise SystemExit(f"not all of {lines} pods have told")
        return time.time()

    try:
        with pods.started(pods.gangrun(pods.job(FAILING, ["sh", f"{folder}/task", str(folder)], folder, agents=False))):
            read_lines(told, FAILING)
            pods.observer.wait(lambda seen: count(seen, runs) == FAILING, "all pods running")
            names = set(pods.observer.pods)
            failed = time.time()
            os.write(fail, b"now\n")
            failures = pods.observer.first_times(names, FAILED, 1, "the failure")
            failing = min(failures, key=failures.get)
            heard = failures[failing]
            gone = max(pods.observer.first_times(names - {failing}, TO_GO, FAILING - 1, "the others' deletion").values())
            last = read_lines(ended, FAILING - 1)
    finally:
        for pipe in (told, fail, ended):
            os.close(pipe)
        shutil.rmtree(folder)
    return {"heard": heard - failed, "deleted since": gone - heard, "deleted": gone - failed, "signal": last - failed}


def look_at_failure(pods: Pods, runs_: int, verdicts: Verdicts) -> None:
    taken = [one_failure(pods) for _ in range(runs_)]
    series = {name: Series(tuple(one[name] * 1000 for one in taken)) for name in taken[0]}
    print(f"one of {FAILING} fails, milliseconds until the API server tells of it {series['heard']}, the last other pod is to be deleted"
          f" {series['deleted']}, its process has its signal {series['signal']}", flush=True)
    verdicts.at_most("s from the API server's word of a failure to the last pod told to stop", series["deleted since"].minimum / 1000, 1)
    verdicts.tell_at_most("s from a failure to the last pod told to stop", series["deleted"].minimum / 1000, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--pods", type=int, nargs="+", default=[2, 16])
    parser.add_argument("--hollow", type=int, default=100)
    parser.add_argument("--many", type=int, default=1000)
    arguments = parser.parse_args()
    verdicts = Verdicts()
    figure = Figure("kubernetes_start", "Kubernetes: from the command until the last pod runs", "s, lower is better")
    print(f"milliseconds, minimum and median of {arguments.runs} runs")
    with pods_of_cluster("--real-nodes", 2, "--nodes", HOLLOW_NODES, "--audit") as pods:
        compare_starts(pods, arguments, verdicts, figure)
        look_at_client(pods, arguments.many, pods.folder / "c", verdicts)
        look_at_failure(pods, arguments.runs, verdicts)
    figure.write()
    verdicts.finish()


if __name__ == "__main__":
    main()
