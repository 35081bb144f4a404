"""Does to jobs with agents in pods, at random, what happens on real clusters, and judges each job's end.

    pod_storm.py [--runs N] [--minutes N] [--seed S]

On a real API server with two real nodes, which this program starts (GANGRUN_TEST_KUBERNETES is the folder of one that runs).
Each run has a number, which decides everything about it: how many tasks it has, how often they restart, whether they obey
SIGTERM, and what happens to them, and when (pod_faults.py). Afterwards the client has to end (else it hung), with the right
verdict (else it is wrong), and nothing may be left: no object, no pod, no process on a node. Where the client is killed, all
has to go by itself. A failure prints its number; --seed NUMBER --runs 1 runs that one again. A seed S of N runs has the numbers
S to S + N - 1. It needs root, and the machine for itself. GANGRUN_BIN is the folder of the programs.
"""

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from kubernetes.jobs import KINDS  # noqa: E402
from kubernetes.pod_faults import (LOOK_S, MOMENTS, OUTAGES, Fault, PodFaults, link_of, pause, processes_of_pods,  # noqa: E402
                                   wait_for, wait_for_api_server, wait_for_nodes)

from clusters.kubernetes.fixtures import SMALL_IMAGE, Kubectl, Kubernetes, short_folder  # noqa: E402

BIN = pathlib.Path(os.environ.get("GANGRUN_BIN", ROOT / "build/release/src"))
NAMESPACE = "storm"
# Long after any limit of a job here has passed: the client's lease, and the time that a pod of a lost node may take.
LIMIT_S = 240
# One task. Two runs of it at once are told; it can be told to ignore SIGTERM.
TASK = """
exec 9>"{out}/lock.$GANGRUN_TASK_INDEX"
flock -n 9 || echo "$GANGRUN_TASK_INDEX in $(hostname)" >>"{out}/twice"
trap '{on_term}' TERM
echo "$GANGRUN_RESTARTS" >>"{out}/up.$GANGRUN_TASK_INDEX"
while [ ! -e "{out}/done" ]; do sleep 0.1 9>&-; done
echo >>"{out}/well.$GANGRUN_TASK_INDEX"
"""
EXITS = {"succeeded": 0, "failed": 1, "lost": 6}
COULD_NOT_START = 3
# Nobody but the API server tells a node that such a pod is gone: its processes go on for a moment, or until the node is back.
MAY_RUN_TWICE = {"delete pod by force", "lose node"}


class Hung(Exception):
    pass


class Left(Exception):
    pass


class Wrong(Exception):
    pass


def wait_until(condition, kind, what, pause_s=LOOK_S):
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit:
        if value := condition():
            return value
        pause(pause_s)
    raise kind(f"waited {LIMIT_S} s for {what() if callable(what) else what}")


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run's number decides."""

    tasks: int
    scope: str
    restarts: int
    obeys: bool
    early: bool  # while the job still starts
    delay_s: float
    faults: tuple
    pauses_s: tuple

    @classmethod
    def of(cls, number):
        chance = random.Random(number)
        outages = chance.random() < 0.4
        faults = [Fault.choose(chance, OUTAGES)] if outages else []
        faults += [Fault.choose(chance, MOMENTS) for _ in range(chance.randint(0 if outages else 1, 2))]
        chance.shuffle(faults)
        return cls(tasks=chance.randint(1, 4), scope=chance.choice(["gang", "task"]), restarts=chance.choice([0, 0, 1, 3]),
                   obeys=chance.random() < 0.7, early=chance.random() < 0.3, delay_s=chance.uniform(0, 2.5), faults=tuple(faults),
                   pauses_s=tuple(chance.uniform(0, 1.5) for _ in faults))

    def __str__(self):
        return (f"{self.tasks} tasks, {self.restarts} restarts of a {self.scope}, {'obedient' if self.obeys else 'stubborn'}, "
                f"while it {'starts' if self.early else 'runs'}")


def right_states(plan, done, counted):
    """The states that are right after the faults of these names, and after so many failures that count; None: there may be no
    job."""
    names = set(done)
    if "kill client" in names:
        states = {"lost"} | ({"failed"} if counted > plan.restarts else set())
        # A job that has failed may have been gone before its client; one that was not made is none.
        return states | {None, "failed"} if plan.early else states
    if plan.early and names & set(OUTAGES):
        return {None, "succeeded", "failed"}
    if counted <= plan.restarts:
        return {"succeeded"}
    # Whether the second failure came before the first was answered, or hit what was to go anyway, is a matter of moments.
    is_certain = names <= {"kill agent", "kill command"} and counted == 1 and not plan.early
    return {"failed"} if is_certain else {"failed", "succeeded"}


class Run:
    def __init__(self, number, cluster, kubectl):
        self.number, self.cluster, self.kubectl = number, cluster, kubectl
        self.plan = Plan.of(number)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="storm", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self.home = self.folder / "h"
        self.client, self.faults, self.told = None, None, []

    def __str__(self):
        return f"{self.plan}: {', '.join(f'{name} ({hit})' for name, hit in self.told) or 'nothing done'}"

    def environment(self):
        return os.environ | self.kubectl.environment | {"GANGRUN_HOME": str(self.home)}

    def command(self, *words):
        try:
            return subprocess.run([BIN / "gangrun", *words], env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Hung(f"gangrun {' '.join(words)}") from None

    def job(self):
        at_once = [{"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
                   for key in ("not-ready", "unreachable")]
        task = TASK.format(out=self.folder, on_term="exit 0" if self.plan.obeys else "")
        return {
            "on": "kubernetes", "image": SMALL_IMAGE, "name": "storm", "command": ["sh", "-c", task],
            "tasks": {"worker": {"instances": self.plan.tasks, "memory": "32m", "vcores": 0}},
            "restarts": {"max": self.plan.restarts, "scope": self.plan.scope, "pause": "0s"}, "timeouts": {"stop": "2s"},
            "kubernetes": {"namespace": NAMESPACE, "agents": "config_maps", "tolerations": at_once,
                           "volumes": [{"name": "out", "hostPath": {"path": str(self.folder)}}],
                           "volume_mounts": [{"name": "out", "mountPath": str(self.folder)}]}}

    def start(self):
        (self.folder / "job.yaml").write_text(json.dumps(self.job()))
        self.client = subprocess.Popen([BIN / "gangrun", "run", "job.yaml"], env=self.environment(), cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=open(self.folder / "out", "w"),
                                       stderr=open(self.folder / "err", "w"))
        self.faults = PodFaults(self.cluster, self.kubectl, self.client)
        if self.plan.early:
            return pause(self.plan.delay_s)
        wait_until(lambda: self.are_up() or self.client.poll() is not None, Hung, lambda: f"the tasks to run: {self.said()}", 0.05)
        if not self.are_up():
            raise Wrong(f"it did not start: {self.said()}")

    def are_up(self):
        return len(list(self.folder.glob("up.?"))) == self.plan.tasks

    def said(self):
        logs = [path.read_text()[-2000:] for path in self.home.glob("jobs/*/master.log")]
        return "\n".join([(self.folder / "err").read_text()[-2000:], *logs])

    def run(self):
        self.start()
        for fault, pause_s in zip(self.plan.faults, self.plan.pauses_s, strict=True):
            fault.strike(self.faults, self.told)
            pause(pause_s)
        states = right_states(self.plan, [name for name, _ in self.told], len(self.faults.counted))
        if "succeeded" in states:
            (self.folder / "done").touch()
        self.wait_for_client()
        self.judge(states)
        self.look_for_leftovers()

    def wait_for_client(self):
        """One whose job failed ends by itself, too."""
        try:
            self.client.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Hung(f"the client: {self.said()}") from None

    def judge(self, states):
        if not list(self.home.glob("jobs/*")):
            if None not in states:
                raise Wrong(f"there is no job: {self.said()}")
            return
        ended = self.command("wait", "last")
        done = self.command("status", "--json", "last")
        if done.returncode != 0:
            if None in states:
                return
            raise Wrong(f"status: {done.stderr}")
        status = json.loads(done.stdout)
        state, cause = status["state"], status.get("cause") or {}
        told = (f"{json.dumps(cause)}; {status.get('restarts_used')} restarts; wait said {ended.returncode} {ended.stderr[-300:]}; "
                f"the client {self.client.returncode}: {self.said()}")
        if state not in states:
            raise Wrong(f"{state}, and {' or '.join(map(str, states))} is right: {told}")
        self.judge_exits(state, ended.returncode, told)
        self.judge_runs(status, told)
        only_commands = {name for name, _ in self.told} <= {"kill command", "kill agent"}
        if state == "failed" and only_commands and cause.get("task") not in {f"worker:{index}" for index in self.faults.counted}:
            raise Wrong(f"one of {sorted(self.faults.counted)} is the first cause: {told}")

    def judge_exits(self, state, ended, told):
        right = {EXITS[state]} | ({COULD_NOT_START} if self.plan.early and state == "failed" else set())
        if ended not in right:
            raise Wrong(f"{state}, but wait ended with {ended}: {told}")
        if self.client.returncode >= 0 and self.client.returncode != ended:
            raise Wrong(f"{state}, but the client ended with {self.client.returncode}: {told}")

    def judge_runs(self, status, told):
        if status["state"] == "succeeded":
            unwell = [index for index in range(self.plan.tasks) if not (self.folder / f"well.{index}").exists()]
            if unwell:
                raise Wrong(f"succeeded, and {unwell} have not come to their own end: {told}")
            if status["restarts_used"] > len(self.faults.counted):
                raise Wrong(f"{status['restarts_used']} restarts are used up by {len(self.faults.counted)} failures: {told}")
        twice = self.folder / "twice"
        if twice.exists() and not MAY_RUN_TWICE & {name for name, _ in self.told}:
            raise Wrong(f"two runs of a task at once: {twice.read_text().split()}: {told}")

    def objects(self):
        """Of the job, the agents' config maps, which go with the last job, and pods, whatever they are of."""
        wanted = [("-l", "gangrun/job", ",".join(KINDS)), ("-l", "gangrun/parts", "configmaps"), ("pods",)]
        left = []
        for words in wanted:
            done = self.kubectl.run("get", "-o", "name", *words, check=False)
            if done.returncode != 0:
                return [done.stderr.strip()]
            left += done.stdout.split()
        return sorted(set(left))

    def look_for_leftovers(self):
        def processes():
            return [each.words for each in processes_of_pods(link_of(self.cluster))]

        wait_until(lambda: not self.objects(), Left, lambda: f"the end of {self.objects()}: {self.said()}", 0.5)
        wait_until(lambda: not processes(), Left, lambda: f"the end of {processes()}")
        self.command("status", "last")  # takes away what a killed client could not
        bound = [line for line in pathlib.Path("/proc/net/unix").read_text(errors="replace").splitlines() if str(self.home) in line]
        if sockets := [*bound, *map(str, self.home.glob("jobs/*/*.sock"))]:
            raise Left(f"sockets: {sockets}")

    def clean_up(self):
        """So that the next run finds the cluster as this one did."""
        if self.client:
            self.client.kill()
            self.client.wait(LIMIT_S)
        (self.folder / "done").touch()
        wait_for_api_server(self.kubectl)
        for words in ((",".join(KINDS), "-l", "gangrun/job"), ("pods", "--all"), ("configmaps", "-l", "gangrun/parts")):
            self.kubectl.run("delete", *words, "--wait=false", "--ignore-not-found", "--grace-period=0", "--force", check=False)
        wait_for_nodes(self.kubectl)
        for each in processes_of_pods(link_of(self.cluster)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
        wait_for(lambda: not processes_of_pods(link_of(self.cluster)), "the end of all pods' processes")
        shutil.rmtree(self.folder, ignore_errors=True)


def started_cluster():
    """(cluster, what ends it)"""
    if folder := os.environ.get("GANGRUN_TEST_KUBERNETES"):
        return Kubernetes.running(folder), lambda: None
    cluster = Kubernetes(short_folder(), real_nodes=2, nodes=0)
    return cluster, cluster.down


def storm(runs, minutes, seed):
    """The numbers of runs and faults, and {kind of failure: its sentences}."""
    failures, faults, done = collections.defaultdict(list), collections.Counter(), 0
    cluster, end = started_cluster()
    try:
        kubectl = Kubectl(cluster.environment, NAMESPACE)
        kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
                      {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
        deadline = time.monotonic() + minutes * 60
        for number in range(seed, seed + runs):
            if time.monotonic() > deadline:
                break
            one = Run(number, cluster, kubectl)
            try:
                one.run()
            except (Hung, Left, Wrong) as failure:
                kind = type(failure).__name__.lower()
                failures[kind].append(f"--seed {number} --runs 1: {kind}: {one}: {failure}")
                print(failures[kind][-1], file=sys.stderr, flush=True)
            finally:
                one.clean_up()
            done += 1
            faults.update(name for name, _ in one.told)
    finally:
        end()
    return done, faults, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=int(os.environ.get("POD_STORM_RUNS", 150)))
    # The last run, and the cluster's start and end, come on top.
    parser.add_argument("--minutes", type=float, default=54)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("POD_STORM_SEED", random.SystemRandom().randrange(1, 10**9))))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    started = time.monotonic()
    done, faults, failures = storm(options.runs, options.minutes, options.seed)
    taken, hit = time.monotonic() - started, sum(faults.values())
    print(", ".join(f"{name} {number}" for name, number in sorted(faults.items())))
    counts = {kind: len(failures[kind]) for kind in ("hung", "left", "wrong")}
    print(f"pod_storm: seed {options.seed}: {done} runs with {hit} faults in {taken:.0f} s: "
          + ", ".join(f"{number} {kind}" for kind, number in counts.items()))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S).stdout.strip()
    print(f"| {commit} | {options.seed} | {done}, in {taken:,.0f} s | {hit} | {' | '.join(map(str, counts.values()))} |")
    failed = sum(counts.values())
    print(f"{done - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
