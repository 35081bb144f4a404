"""How soon the processes of all pods of a gang run, beside `kubectl apply` of the same finished manifests.

    python bench/kubernetes_start.py [--runs 2] [--pods 2 16] [--hollow 100] [--many 1000]

On one cluster of two real nodes and many hollow ones, which this program starts. From the command to the moment when
the last pod's process runs; of hollow pods, which have none, to the moment when the API server tells of the last one
that it runs. The peer is `kubectl apply` and `kubectl wait` of what `gangrun run --dry-run` prints.

Then what the client takes of memory and of a processor while many hollow pods run, and what it asks the API server for.
Last: one of sixteen workers fails. From then, and from the API server's word of it, until the last other pod is to be
deleted and its process has got its signal.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

from cluster import LIMIT_S, KubernetesCluster
from gate import PodGate
from measure import Figure, Series, Verdicts, gangrun_program, in_turns

IMAGE = "localhost/busybox:1"
HOLLOW_NODES = 40
FAILING = 16
# Within a tenth of the peer's time, or so much.
AIM_RATIO, AIM_MORE_MS = 1.1, 300
AIM_MEGABYTES, MEGABYTE = 30, 1e6
REST_S = 20  # the time for which the client is watched
SETTLE_S = 5
# States of a pod: a container of it has ended in failure; the API server has been told to delete it.
FAILED, TO_GO = "failed", "to go"
LOOK_S = 1
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


class Observer:
    """Hears what the API server tells of all pods: `pods` by their names, and `first`, when each was told first to be
    FAILED or TO_GO. What is short, as a failed pod that is removed, is only in the latter for sure."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.proxy = subprocess.Popen(["kubectl", "proxy", "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True)
        self.port = int(self.proxy.stdout.readline().rsplit(":", 1)[1])
        self.changed = threading.Condition()
        self.over = False
        self.pods: dict[str, dict] = {}
        self.first: dict[tuple[str, str], float] = {}
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def ask(self, query: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", f"/api/v1/namespaces/default/pods{query}")
        answer = connection.getresponse()
        if answer.status != http.HTTPStatus.OK:
            raise http.client.HTTPException(f"{answer.status}: {answer.read().decode()}")
        return answer

    def listen(self) -> None:
        """The API server ends a watch when it likes; then there is a list and another watch."""
        while not self.over:
            try:
                listed = json.load(self.ask(""))
                with self.changed:
                    self.pods = {pod["metadata"]["name"]: pod for pod in listed["items"]}
                    self.changed.notify_all()
                self.watch(listed["metadata"]["resourceVersion"])
            except (OSError, http.client.HTTPException) as error:
                if not self.over:
                    print(f"watched again after: {error!r}", file=sys.stderr)
                    select.select([], [], [], LOOK_S)

    def watch(self, version: str) -> None:
        for line in self.ask(f"?watch=true&resourceVersion={version}"):
            change = json.loads(line)
            if change["type"] == "ERROR":
                return
            with self.changed:
                name = change["object"]["metadata"]["name"]
                for state, is_in in ((FAILED, has_failed), (TO_GO, is_to_go)):
                    if is_in(change["object"]):
                        self.first.setdefault((name, state), time.time())
                if change["type"] == "DELETED":
                    self.pods.pop(name, None)
                else:
                    self.pods[name] = change["object"]
                self.changed.notify_all()

    def wait(self, condition: Callable[[dict[str, dict]], bool], what: str) -> float:
        """When it was true of the pods for the first time, by time.time()."""
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self.pods), LIMIT_S):
                states = collections.Counter(pod["status"].get("phase") for pod in self.pods.values())
                raise SystemExit(f"the API server has not told of {what} in {LIMIT_S} s, but of {dict(states)}")
            return time.time()

    def first_times(self, names: set[str], state: str, pods: int, what: str) -> dict[str, float]:
        """When so many of these pods were told first to be in this state, or more of them."""
        def times() -> dict[str, float]:
            return {name: at for (name, told), at in self.first.items() if told == state and name in names}

        self.wait(lambda _: len(times()) >= pods, what)
        return times()

    def close(self) -> None:
        self.over = True
        self.proxy.terminate()
        self.proxy.wait(LIMIT_S)
        self.thread.join(LIMIT_S)


def count(pods: dict[str, dict], is_meant: Callable[[dict], bool]) -> int:
    return sum(map(is_meant, pods.values()))


def runs(pod: dict) -> bool:
    return pod["status"].get("phase") == "Running"


def has_failed(pod: dict) -> bool:
    states = [container.get("state", {}) for container in pod["status"].get("containerStatuses", [])]
    return any(state.get("terminated", {}).get("exitCode", 0) for state in states)


def is_to_go(pod: dict) -> bool:
    return "deletionTimestamp" in pod["metadata"]


class Pods:
    """Starts gangs of pods; every measurement is in milliseconds."""

    def __init__(self, folder: pathlib.Path, environment: dict[str, str], observer: Observer) -> None:
        self.folder, self.observer = folder, observer
        self.environment = environment | {"GANGRUN_HOME": str(folder / "home")}

    def job(self, tasks: int, command: list[str], shared: pathlib.Path | None, **kubernetes: object) -> pathlib.Path:
        path = self.folder / "job.yaml"
        if shared is not None:
            kubernetes["volumes"] = [{"name": "shared", "hostPath": {"path": str(shared)}}]
            kubernetes["volume_mounts"] = [{"name": "shared", "mountPath": str(shared)}]
        path.write_text(json.dumps({
            "on": "kubernetes", "image": IMAGE, "name": "bench", "command": command, "kubernetes": kubernetes,
            "tasks": {"worker": {"instances": tasks, "memory": "32m", "vcores": 0}}}))
        return path

    def hollow_job(self, tasks: int) -> pathlib.Path:
        """Hollow pods have no process, so no agent either."""
        return self.job(tasks, ["any"], None, agents="none", node_selector={"hollow": "true"},
                        tolerations=[{"key": "hollow", "operator": "Exists"}])

    def gangrun(self, job: pathlib.Path) -> list[str]:
        return [str(gangrun_program()), "run", str(job)]

    def kubectl(self, job: pathlib.Path) -> list[str]:
        """The peer's command; what it makes is finished beforehand."""
        plan = subprocess.run([gangrun_program(), "run", "--dry-run", job], check=True, capture_output=True, text=True,
                              env=self.environment, timeout=LIMIT_S).stdout
        (self.folder / "plan.yaml").write_text(plan)
        return ["sh", "-c", f"kubectl apply -f {self.folder}/plan.yaml && "
                f"kubectl wait --for=jsonpath='{{.status.phase}}'=Running --timeout={LIMIT_S}s pods -l gangrun/job"]

    @contextlib.contextmanager
    def started(self, command: list[str]) -> Iterator[subprocess.Popen]:
        """Until it is left; then nothing of it is there any more."""
        process = subprocess.Popen(command, env=self.environment, cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            yield process
        finally:
            if command[0] == "sh":
                process.wait(LIMIT_S)
                subprocess.run(["kubectl", "delete", "-f", self.folder / "plan.yaml", "--grace-period=1"], check=True,
                               capture_output=True, env=self.environment, timeout=LIMIT_S)
            elif process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK_S)
                process.terminate()
                process.wait(LIMIT_S)
            self.observer.wait(lambda pods: not pods, "the end of all pods")

    def to_processes(self, tasks: int, how: Callable[[pathlib.Path], list[str]]) -> float:
        gate = PodGate(self.folder)
        command = how(self.job(tasks, gate.words, gate.folder))
        begin = time.time()
        with self.started(command) as process, gate:
            last = gate.wait(tasks, process)
            if command[0] == "sh":  # which waits for pods that run
                process.wait(LIMIT_S)
        return (last - begin) * 1000

    def to_hollow(self, tasks: int, how: Callable[[pathlib.Path], list[str]]) -> float:
        command = how(self.hollow_job(tasks))
        begin = time.time()
        with self.started(command):
            last = self.observer.wait(lambda pods: count(pods, runs) == tasks, f"{tasks} running pods")
        return (last - begin) * 1000


def compare(name: str, arguments: argparse.Namespace, own: Callable[[], float], peer: Callable[[], float], verdicts: Verdicts,
            figure: Figure) -> None:
    taken = in_turns(arguments.runs, {"gangrun": own, "kubectl apply": peer})
    for what, series in taken.items():
        print(f"{f'{what}, {name}':32} {series}", flush=True)
        figure.add(name, what, series.minimum / 1000)
    floor = taken["kubectl apply"].minimum
    aim = max(AIM_RATIO, (floor + AIM_MORE_MS) / floor)
    verdicts.at_most(f"gangrun / kubectl apply, {name}, minima", taken["gangrun"].minimum / floor, aim)


def own_requests(cluster: pathlib.Path) -> list[dict]:
    with open(cluster / "log/audit.log") as log:
        return [entry for entry in map(json.loads, log) if entry.get("userAgent", "").startswith("gangrun/")]


def megabytes(pid: int, field: str) -> float:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status).group(1)) * 1024 / MEGABYTE


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
        begun, seconds = len(own_requests(cluster)), time.clock_gettime(~process.pid << 3 | 2)
        select.select([], [], [], REST_S)
        used = time.clock_gettime(~process.pid << 3 | 2) - seconds
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
        with pods.started(pods.gangrun(pods.job(FAILING, ["sh", f"{folder}/task", str(folder)], folder))):
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
    # A short path, as sockets lie in it, which other users' containers may go through.
    with tempfile.TemporaryDirectory(prefix="kube-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        with KubernetesCluster(folder / "c", "--real-nodes", 2, "--nodes", HOLLOW_NODES, "--audit") as environment:
            observer = Observer(environment)
            try:
                pods = Pods(folder, environment, observer)
                pods.to_processes(2, pods.gangrun)
                for tasks in arguments.pods:
                    compare(f"{tasks} pods", arguments, lambda n=tasks: pods.to_processes(n, pods.gangrun),
                            lambda n=tasks: pods.to_processes(n, pods.kubectl), verdicts, figure)
                compare(f"{arguments.hollow} hollow pods", arguments, lambda: pods.to_hollow(arguments.hollow, pods.gangrun),
                        lambda: pods.to_hollow(arguments.hollow, pods.kubectl), verdicts, figure)
                look_at_client(pods, arguments.many, folder / "c", verdicts)
                look_at_failure(pods, arguments.runs, verdicts)
            finally:
                observer.close()
    figure.write()
    verdicts.finish()


if __name__ == "__main__":
    main()
