"""One run of the storm on pods (pod_storm.py): what its number decides, its job, and whether that has ended as it should."""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

from clusters.kubernetes.fixtures import SMALL_IMAGE
from kubernetes.jobs import KINDS
from kubernetes.pod_faults import (ATTACHED, DETACHED, JOBS, LOOK_S, MOMENTS, OUTAGES, WITHOUT_AGENTS, Fault, PodFaults, choose, link_of,
                                   pause, processes_of_pods, wait_for, wait_for_api_server, wait_for_nodes)

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("GANGRUN_BIN", ROOT / "build/release/src"))
NAMESPACE = "storm"
# That of masters in pods.
ACCOUNT = "leader"
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
LONGEST_START_S = {ATTACHED: 2.5, DETACHED: 5, WITHOUT_AGENTS: 2.5}


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

    job: str
    tasks: int
    scope: str
    restarts: int
    obeys: bool
    early: bool  # while the job still starts
    delay_s: float
    keep_s: int  # how long a master in a pod stays after the end
    faults: tuple
    pauses_s: tuple

    @classmethod
    def of(cls, number):
        chance = random.Random(number)
        job = choose(chance, JOBS)
        outages = chance.random() < 0.4
        faults = [Fault.choose(chance, OUTAGES, job)] if outages else []
        faults += [Fault.choose(chance, MOMENTS, job) for _ in range(chance.randint(0 if outages else 1, 2))]
        chance.shuffle(faults)
        return cls(job=job, tasks=chance.randint(1, 4), scope=chance.choice(["gang", "task"]), restarts=chance.choice([0, 0, 1, 3]),
                   obeys=chance.random() < 0.7, early=chance.random() < 0.3, delay_s=chance.uniform(0, LONGEST_START_S[job]),
                   keep_s=chance.choice([0, 5]), faults=tuple(faults), pauses_s=tuple(chance.uniform(0, 1.5) for _ in faults))

    def __str__(self):
        return (f"{self.job}, {self.tasks} tasks, {self.restarts} restarts of a {self.scope}, "
                f"{'obedient' if self.obeys else 'stubborn'}, while it {'starts' if self.early else 'runs'}")


def states_of_led(plan, names, counted):
    """Of a job whose master lives, or has a next one."""
    if counted <= plan.restarts:
        return {"succeeded"}
    # Whether the second failure came before the first was answered, or hit what was to go anyway, is a matter of moments.
    is_certain = names <= {"kill agent", "kill command"} and counted == 1 and not plan.early
    return {"failed"} if is_certain else {"failed", "succeeded"}


def right_states(plan, done, counted):
    """The states that are right after the faults of these names, and after so many failures that count; None: there may be no
    job."""
    names = set(done)
    if plan.job == DETACHED:
        states = states_of_led(plan, names, counted)
        # A client that is killed may have started the job or not. What it has begun and not handed over goes by itself.
        if plan.early and "kill client" in names:
            states |= {None, "lost"}
        if plan.early and names & set(OUTAGES):
            states |= {None, "lost", "succeeded", "failed"}
        return states
    if "kill client" in names:
        states = {"lost"} | ({"failed"} if counted > plan.restarts else set())
        # A job that has failed may have been gone before its client; one that was not made is none.
        return states | {None, "failed"} if plan.early else states
    if plan.early and names & set(OUTAGES):
        return {None, "succeeded", "failed"}
    return states_of_led(plan, names, counted)


class Run:
    """Of a job that the user's command leads, with agents or without."""

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
            raise Hung(f"gangrun {' '.join(words)}: {self.said()}") from None

    def begin(self, *words, name):
        """A command that goes on; what it prints is in the files `name`.out and `name`.err."""
        with open(self.folder / f"{name}.out", "w") as out, open(self.folder / f"{name}.err", "w") as err:
            return subprocess.Popen([BIN / "gangrun", *words], env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=err)

    def job(self):
        at_once = [{"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
                   for key in ("not-ready", "unreachable")]
        task = TASK.format(out=self.folder, on_term="exit 0" if self.plan.obeys else "")
        return {
            "on": "kubernetes", "image": SMALL_IMAGE, "name": "storm", "command": ["sh", "-c", task],
            "tasks": {"worker": {"instances": self.plan.tasks, "memory": "32m", "vcores": 0}},
            "restarts": {"max": self.plan.restarts, "scope": self.plan.scope, "pause": "0s"}, "timeouts": {"stop": "2s"},
            "kubernetes": {"namespace": NAMESPACE, "tolerations": at_once,
                           "volumes": [{"name": "out", "hostPath": {"path": str(self.folder)}}],
                           "volume_mounts": [{"name": "out", "mountPath": str(self.folder)}], **self.way()}}

    def way(self):
        return {"agents": "none" if self.plan.job == WITHOUT_AGENTS else "config_maps"}

    def start(self):
        (self.folder / "job.yaml").write_text(json.dumps(self.job()))
        self.client = self.begin("run", "job.yaml", name="run")
        self.faults = PodFaults(self.cluster, self.kubectl, self.client)
        if self.plan.early:
            return pause(self.plan.delay_s)
        wait_until(lambda: self.are_up() or self.client.poll() is not None, Hung, lambda: f"the tasks to run: {self.said()}", 0.05)
        if not self.are_up():
            raise Wrong(f"it did not start: {self.said()}")

    def are_up(self):
        return len(list(self.folder.glob("up.?"))) == self.plan.tasks

    def said(self):
        logs = [path.read_text()[-2000:] for path in (*self.folder.glob("*.err"), *self.home.glob("jobs/*/master.log"))]
        return "\n".join(logs)

    def run(self):
        self.start()
        for fault, pause_s in zip(self.plan.faults, self.plan.pauses_s, strict=True):
            fault.strike(self.faults, self.told)
            pause(pause_s)
        states = right_states(self.plan, [name for name, _ in self.told], len(self.faults.counted))
        if "succeeded" in states:
            (self.folder / "done").touch()
        self.wait_for_client()
        state = self.judge(states)
        self.remove(state)
        self.look_for_leftovers()

    def wait_for_client(self):
        """One whose job failed ends by itself, too."""
        try:
            self.client.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Hung(f"the client: {self.said()}") from None

    def jobs(self):
        """The ids of those that the user's machine knows; at most one."""
        return [path.name for path in self.home.glob("jobs/*") if path.is_dir()]

    def judge(self, states):
        """The state; None: there is no job."""
        found = self.jobs()
        if not found:
            if None not in states:
                raise Wrong(f"there is no job: {self.said()}")
            return None
        ended = self.command("wait", found[0])
        done = self.command("status", "--json", found[0])
        if done.returncode != 0:
            if None in states:
                return None
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
        return state

    def judge_exits(self, state, ended, told):
        right = {EXITS[state]} | ({COULD_NOT_START} if self.plan.early and state == "failed" else set())
        if ended not in right:
            raise Wrong(f"{state}, but wait ended with {ended}: {told}")
        self.judge_client(state, ended, told)

    def judge_client(self, state, ended, told):
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

    def remove(self, state):
        """What a job keeps after its end until the user removes it: of this one nothing in the cluster."""

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


class DetachedRun(Run):
    """Of a job that a pod leads. The client starts it; later one waits for it, and may be killed as well: nothing follows from
    that."""

    def way(self):
        return {"agents": "config_maps", "master": {"service_account": ACCOUNT, "keep": f"{self.plan.keep_s}s"}}

    def start(self):
        (self.folder / "job.yaml").write_text(json.dumps(self.job()))
        self.starter = self.client = self.begin("run", "--detach", "job.yaml", name="run")
        self.faults = PodFaults(self.cluster, self.kubectl, self.client)
        if self.plan.early:
            return pause(self.plan.delay_s)
        self.wait_for_client()
        if self.client.returncode != 0:
            raise Wrong(f"it did not start: {self.said()}")
        self.client = self.faults.client = self.begin("wait", *self.jobs(), name="wait")
        wait_until(self.are_up, Hung, lambda: f"the tasks to run: {self.said()}", 0.05)

    def said(self):
        logs = self.kubectl.run("logs", "-l", "gangrun/master", "--tail=20", "--prefix", check=False)
        return f"{super().said()}\n{logs.stdout[-2000:]}"

    def jobs(self):
        return [path.stem for path in self.home.glob("kubernetes/*.json")]

    def judge(self, states):
        return super().judge(states - {None, "lost"} if self.starter.returncode == 0 else states)

    def judge_client(self, state, ended, told):
        """Who waits is not told the end where the API server is away; what is told is right."""
        if self.client is self.starter or self.client.returncode not in EXITS.values():
            return
        super().judge_client(state, ended, told)

    def remove(self, state):
        """Its records stay for a day."""
        if state in (None, "lost"):
            return
        done = self.command("rm", "--yes", *self.jobs())
        if done.returncode != 0:
            raise Left(f"rm: {done.stderr}: {self.said()}")


def run_of(number, cluster, kubectl):
    kind = DetachedRun if Plan.of(number).job == DETACHED else Run
    return kind(number, cluster, kubectl)
