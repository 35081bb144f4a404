"""What happens to jobs in pods: faults of a real cluster, of its daemons and nodes, and of the job's own processes.

A fault is over when its function returns: what was stopped runs again, what was cut is joined. It returns what it hit, in words,
or None where there was nothing to hit.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import select
import signal
import subprocess

# Between two looks at what is waited for.
LOOK_S = 0.2
LIMIT_S = 120
QUOTA = "nothing"
# Shorter than the client's lease, with what it may be behind with.
LONGEST_OUTAGE_S = 30
LONGEST_ETCD_S = 15
# A node whose kubelet is silent for so long is not ready, and its pods are taken for lost.
LOST_NODE_S = 75


def pause(seconds):
    """The moment of a fault is chosen at random: nothing is waited for."""
    select.select([], [], [], seconds)


@dataclasses.dataclass
class Process:
    pid: int
    words: list
    environment: set

    @property
    def role(self):
        """What it is for a user."""
        if self.words[:2] == ["gangrun-agent", "relay"]:
            return "relay"
        if self.words[:2] == ["gangrun-agent", "pod-master"]:
            return "master"
        if self.words[:2] == ["gangrun-agent", "pod"] and "--task" in self.words:
            return "agent"
        if self.index is not None and self.words[0] == "sh":
            return "command"
        return "other"

    @property
    def index(self):
        """That of its task; None: it has none, or does not tell."""
        if "--task" in self.words:
            return int(self.words[self.words.index("--task") + 1].split(":")[1])
        return next((int(each.split(b"=")[1]) for each in self.environment if each.startswith(b"GANGRUN_TASK_INDEX=")), None)


def processes_of_pods(link, node=""):
    """Those of all containers on the real nodes, or on one, of the cluster that has this network, in an order without numbers of
    processes."""
    found, group = [], f"/{link}/node{node}{'/' if node else ''}"
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if group not in (folder / "cgroup").read_text() or (folder / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                continue
            words = (folder / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
            found.append(Process(int(folder.name), words, set((folder / "environ").read_bytes().split(b"\0"))))
        except OSError:
            continue  # it ended while it was looked at
    return sorted(found, key=lambda each: (each.role, -1 if each.index is None else each.index, each.pid))


def of_share(things, share):
    """One of them; the same share chooses the same one."""
    return things[int(share * len(things))] if things else None


class PodFaults:
    """Faults of one job, in the namespace of `kubectl`. `client` is the user's command that is there: the one that leads the job,
    starts it or waits for it. `share`, from 0 to 1, chooses a victim, and how long it lasts."""

    def __init__(self, cluster, kubectl, client):
        self.cluster, self.kubectl, self.client = cluster, kubectl, client
        self.link = link_of(cluster)
        self.counted = []  # indexes of tasks whose failure counts

    # The job's own processes.

    def kill(self, role, share):
        # The longest lived of each task; the shells of a command's own substitutions come and go.
        own = {}
        for each in processes_of_pods(self.link):
            if each.role == role:
                own.setdefault(each.index, each)
        victim = of_share(list(own.values()), share)
        if victim is None:
            return None
        try:
            os.kill(victim.pid, signal.SIGKILL)
        except ProcessLookupError:
            return None
        if role in ("agent", "command"):
            self.counted.append(victim.index)
        return f"{role} {'' if victim.index is None else victim.index}".strip()

    def kill_agent(self, share):
        return self.kill("agent", share)

    def kill_command(self, share):
        return self.kill("command", share)

    def kill_relay(self, share):
        return self.kill("relay", share)

    def kill_master(self, share):
        return self.kill("master", share)

    def freeze(self, role, share, seconds):
        victim = of_share([each for each in processes_of_pods(self.link) if each.role == role], share)
        if victim is None:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim.pid, signal.SIGSTOP)
            pause(seconds)
            os.kill(victim.pid, signal.SIGCONT)
        return f"{role} {'' if victim.index is None else victim.index}".strip()

    def freeze_agent(self, share):
        return self.freeze("agent", share, 2 * share)

    def freeze_master(self, share):
        return self.freeze("master", share, 5 * share)

    def kill_client(self, _):
        if self.client.poll() is not None:
            return None
        self.client.kill()
        return "client"

    def freeze_client(self, share):
        if self.client.poll() is not None:
            return None
        self.client.send_signal(signal.SIGSTOP)
        pause(5 * share)
        self.client.send_signal(signal.SIGCONT)
        return f"client, {5 * share:.1f} s"

    # Its pods.

    def pods(self, selector="gangrun/task"):
        done = self.kubectl.run("get", "pods", "-l", selector, "-o", "json", check=False)
        return [pod["metadata"]["name"] for pod in json.loads(done.stdout)["items"]] if done.returncode == 0 else []

    def delete(self, names, share, *words):
        victim = of_share(names, share)
        if victim is None or self.kubectl.run("delete", "pod", victim, "--wait=false", *words, check=False).returncode != 0:
            return None
        return victim

    def delete_pod(self, share):
        return self.delete(self.pods(), share)

    def delete_pod_by_force(self, share):
        return self.delete(self.pods(), share, "--force", "--grace-period=0")

    def delete_relay(self, share):
        relays = [name for name in self.pods("gangrun/job") if name.endswith("-relay")]
        return self.delete(relays, share, "--grace-period=1")

    def delete_master(self, share):
        return self.delete(self.pods("gangrun/master"), share)

    def evict(self, share, selector="gangrun/task"):
        victim = of_share(self.pods(selector), share)
        if victim is None:
            return None
        path = f"/api/v1/namespaces/{self.kubectl.namespace}/pods/{victim}/eviction"
        done = self.kubectl.run("create", "--raw", path, "-f", "-", check=False,
                                given={"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": victim}})
        return victim if done.returncode == 0 else None

    def evict_master(self, share):
        return self.evict(share, "gangrun/master")

    def take_quota(self, share):
        """A pod is deleted, and none may be made for a while."""
        self.kubectl.run("create", "quota", QUOTA, "--hard=pods=0", check=False)
        try:
            victim = self.delete(self.pods(), share, "--grace-period=1")
            pause(1 + 5 * share)
        finally:
            self.kubectl.run("delete", "quota", QUOTA, "--ignore-not-found")
        return victim and f"{victim}, {1 + 5 * share:.1f} s"

    # Daemons of the cluster. `meanwhile` is called in the middle.

    @contextlib.contextmanager
    def gone(self, daemon):
        self.cluster.kill(daemon)
        try:
            yield
        finally:
            self.cluster.stop(daemon)  # which forgets the process
            self.cluster.start(daemon)

    @contextlib.contextmanager
    def still(self, daemon):
        self.cluster.kill(daemon, signal.SIGSTOP)
        try:
            yield
        finally:
            self.cluster.kill(daemon, signal.SIGCONT)

    def for_a_while(self, seconds, meanwhile):
        pause(seconds / 2)
        told = meanwhile()
        pause(seconds / 2)
        return f"{seconds:.1f} s{f', meanwhile {told}' if told else ''}"

    def restart_api_server(self, share, meanwhile):
        with self.gone("kube-apiserver"):
            return self.for_a_while(2 * share, meanwhile)

    def stop_api_server(self, share, meanwhile):
        self.cluster.stop("kube-apiserver")
        try:
            return self.for_a_while(5 + (LONGEST_OUTAGE_S - 5) * share, meanwhile)
        finally:
            self.cluster.start("kube-apiserver")

    def slow_api_server(self, share, meanwhile):
        told = None
        for part in range(1 + int(10 * share)):
            with self.still("kube-apiserver"):
                pause(0.8)
                told = told or (meanwhile() if part == 1 else None)
            pause(0.2)
        return told or f"{1 + int(10 * share)} times"

    def kill_etcd(self, share, meanwhile):
        with self.gone("etcd"):
            told = self.for_a_while(LONGEST_ETCD_S * share, meanwhile)
        wait_for_api_server(self.kubectl)
        return told

    # Nodes.

    def node(self, share):
        return 1 + int(share * 1000) % 2

    def kill_kubelet(self, share, meanwhile):
        with self.gone(f"kubelet-node{self.node(share)}"):
            return f"node{self.node(share)}, {self.for_a_while(5 * share, meanwhile)}"

    def freeze_kubelet(self, share, meanwhile):
        with self.still(f"kubelet-node{self.node(share)}"):
            return f"node{self.node(share)}, {self.for_a_while(8 * share, meanwhile)}"

    @contextlib.contextmanager
    def cut(self, node):
        def turn(way):
            subprocess.run(["ip", "link", "set", f"{self.link}-{node}", way], check=True, timeout=LIMIT_S)

        turn("down")
        try:
            yield
        finally:
            turn("up")

    def cut_network(self, share, meanwhile):
        with self.cut(self.node(share)):
            return f"node{self.node(share)}, {self.for_a_while(8 * share, meanwhile)}"

    def lose_node(self, share, meanwhile):
        with self.cut(self.node(share)):
            return f"node{self.node(share)}, {self.for_a_while(LOST_NODE_S, meanwhile)}"


    def kill_node(self, share, meanwhile):
        """All that runs on it is dead at once, and its daemons start again after a while, as where a machine is started anew."""
        node = self.node(share)
        with self.gone(f"kubelet-node{node}"), self.gone(f"containerd-node{node}"):
            dead = processes_of_pods(self.link, node)
            for each in dead:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each.pid, signal.SIGKILL)
            # Those of agents, or of commands that have none.
            agents = {each.index for each in dead if each.role == "agent"}
            self.counted += sorted(agents or {each.index for each in dead if each.role == "command"})
            return f"node{node}, {self.for_a_while(2 + 6 * share, meanwhile)}"


# {job: how often, beside the others}, by what leads it, and whether its tasks have agents: an attached job has a relay, a detached
# one a master in a pod.
ATTACHED, DETACHED, WITHOUT_AGENTS = "attached", "detached", "without agents"
JOBS = {ATTACHED: 5, DETACHED: 4, WITHOUT_AGENTS: 2}
# {name: how often, beside the others}. A fault of the first kind is a moment's; of the second kind there is at most one in a run, and
# a process may be killed while it lasts.
MOMENTS = {
    "kill agent": 4, "kill command": 4, "kill relay": 4, "kill master": 5, "freeze agent": 2, "freeze master": 2, "kill client": 1,
    "freeze client": 2, "delete pod": 4, "delete pod by force": 3, "delete relay": 2, "delete master": 3, "evict": 3, "evict master": 2,
    "take quota": 2}
OUTAGES = {
    "restart api server": 3, "stop api server": 1, "slow api server": 2, "kill etcd": 2,
    "kill kubelet": 3, "freeze kubelet": 2, "cut network": 3, "lose node": 0.6, "kill node": 1}
MEANWHILE = {"nothing": 3, "kill agent": 1, "kill command": 1, "kill relay": 1, "kill master": 1, "freeze client": 1}
# Faults for which a job has nothing.
OF_AGENT = {"kill agent", "freeze agent"}
OF_RELAY = {"kill relay", "delete relay"}
OF_MASTER = {"kill master", "freeze master", "delete master", "evict master"}
LACKS = {ATTACHED: OF_MASTER, DETACHED: OF_RELAY, WITHOUT_AGENTS: OF_AGENT | OF_RELAY | OF_MASTER}


def choose(random, weights, job=None):
    """One of the names that such a job has something for."""
    names = [name for name in weights if name not in LACKS.get(job, ())]
    return random.choices(names, [weights[name] for name in names])[0]


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    share: float  # chooses its victim and its length
    meanwhile: str = "nothing"

    @classmethod
    def choose(cls, random, kinds, job):
        return cls(choose(random, kinds, job), random.random(), choose(random, MEANWHILE, job))

    @property
    def is_outage(self):
        return self.name in OUTAGES

    def strike(self, faults, told):
        """Appends to `told` the names of what was done, with what it hit."""
        def do(name, share, *more):
            hit = getattr(faults, name.replace(" ", "_"))(share, *more)
            if hit is not None:
                told.append((name, hit))
            return hit

        def meanwhile():
            return None if self.meanwhile == "nothing" else do(self.meanwhile, self.share)

        do(self.name, self.share, *([meanwhile] if self.is_outage else []))


def link_of(cluster):
    """The name of the cluster's network, and of the control groups of its nodes."""
    settings = (pathlib.Path(cluster.folder) / "settings").read_text()
    return f"kc{re.search(r'^net=(.*)$', settings, re.MULTILINE)[1]}"


def wait_for(condition, what):
    for _ in range(int(LIMIT_S / LOOK_S)):
        if condition():
            return
        pause(LOOK_S)
    raise RuntimeError(f"waited {LIMIT_S} s for {what}")


def wait_for_api_server(kubectl):
    wait_for(lambda: kubectl.run("get", "--raw", "/readyz", check=False).returncode == 0, "the API server")


def wait_for_nodes(kubectl):
    """Until both are ready, and take pods again."""
    def are_ready():
        done = kubectl.run("get", "nodes", "-o", "json", check=False)
        if done.returncode != 0:
            return False
        nodes = json.loads(done.stdout)["items"]
        ready = [condition["status"] for node in nodes for condition in node["status"]["conditions"] if condition["type"] == "Ready"]
        return set(ready) == {"True"} and not any(node["spec"].get("taints") for node in nodes)

    wait_for(are_ready, "both nodes")
