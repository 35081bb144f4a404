"""Jobs as pods of a real Kubernetes cluster, and what the API server tells of their pods, for benchmarks."""

import collections
import contextlib
import http.client
import json
import pathlib
import re
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

from cluster import LIMIT_S, KubernetesCluster
from gate import PodGate
from measure import gangrun_program

IMAGE = "localhost/busybox:1"
# States of a pod: a container of it has ended in failure; the API server has been told to delete it.
FAILED, TO_GO = "failed", "to go"
LOOK_S = 1
MEGABYTE = 1e6


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


def requests_of(cluster: pathlib.Path, is_meant: Callable[[dict], bool]) -> list[dict]:
    """The requests that the API server has had until now and that are meant: entries of its audit log; a watch is one."""
    with open(cluster / "log/audit.log") as log:
        # The last line may be half written.
        entries = [json.loads(line) for line in log if line.endswith("\n")]
    return list({entry["auditID"]: entry for entry in entries if is_meant(entry)}.values())


def megabytes(pid: int, field: str) -> float:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status).group(1)) * 1024 / MEGABYTE


def seconds_of(pid: int) -> float:
    """Of a processor, of all threads of the process."""
    return time.clock_gettime(~pid << 3 | 2)


class Pods:
    """Starts gangs of pods; every measurement is in milliseconds."""

    def __init__(self, folder: pathlib.Path, environment: dict[str, str], observer: Observer) -> None:
        self.folder, self.observer = folder, observer
        self.environment = environment | {"GANGRUN_HOME": str(folder / "home")}

    def job(self, tasks: int, command: list[str], shared: pathlib.Path | None, *, agents: bool, restarts: int = 0,
            **kubernetes: object) -> pathlib.Path:
        """The file of a job whose gang restarts so often, at once. `shared` is a folder that its pods see under the same path."""
        path = self.folder / "job.yaml"
        kubernetes["agents"] = "config_maps" if agents else "none"
        if shared is not None:
            kubernetes["volumes"] = [{"name": "shared", "hostPath": {"path": str(shared)}}]
            kubernetes["volume_mounts"] = [{"name": "shared", "mountPath": str(shared)}]
        more = {"restarts": {"scope": "gang", "max": restarts, "pause": "0s"}} if restarts else {}
        path.write_text(json.dumps({
            "on": "kubernetes", "image": IMAGE, "name": "bench", "command": command, "kubernetes": kubernetes, **more,
            "tasks": {"worker": {"instances": tasks, "memory": "32m", "vcores": 0}}}))
        return path

    def hollow_job(self, tasks: int) -> pathlib.Path:
        """Hollow pods have no process, so no agent either."""
        return self.job(tasks, ["any"], None, agents=False, node_selector={"hollow": "true"},
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

    def kubectl_order(self, *words: str) -> str:
        """What the finished command printed."""
        done = subprocess.run(["kubectl", *words], capture_output=True, text=True, env=self.environment, timeout=LIMIT_S)
        if done.returncode:
            raise SystemExit(f"kubectl {' '.join(words)}: {done.stderr}")
        return done.stdout

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

    def to_processes(self, tasks: int, how: Callable[[pathlib.Path], list[str]], *, agents: bool) -> float:
        gate = PodGate(self.folder)
        command = how(self.job(tasks, gate.words, gate.folder, agents=agents))
        begin = time.time()
        with self.started(command) as process, gate:
            last = gate.wait(tasks, process)
            if command[0] == "sh":  # which waits for pods that run
                process.wait(LIMIT_S)
        return (last - begin) * 1000

    def keep_parts(self) -> None:
        """From now on the config maps that bring the agents stay, as while another job runs: each has one more owner."""
        order = self.kubectl_order
        gate = PodGate(self.folder)
        job = self.job(1, gate.words, gate.folder, agents=True)
        with self.started(self.gangrun(job)) as process, gate:
            gate.wait(1, process)
            uid = order("create", "configmap", "keeper", "-o", "jsonpath={.metadata.uid}")
            owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "keeper", "uid": uid}
            change = [{"op": "add", "path": "/metadata/ownerReferences/-", "value": owner}]
            for name in order("get", "configmaps", "-l", "gangrun/parts", "-o", "name").split():
                order("patch", name, "--type=json", "-p", json.dumps(change))

    def to_hollow(self, tasks: int, how: Callable[[pathlib.Path], list[str]]) -> float:
        command = how(self.hollow_job(tasks))
        begin = time.time()
        with self.started(command):
            last = self.observer.wait(lambda pods: count(pods, runs) == tasks, f"{tasks} running pods")
        return (last - begin) * 1000


@contextlib.contextmanager
def pods_of_cluster(*options: object) -> Iterator[Pods]:
    """On a cluster of their own, which is in their folder's `c`."""
    # A short path, as sockets lie in it, which other users' containers may go through.
    with tempfile.TemporaryDirectory(prefix="kube-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        with KubernetesCluster(folder / "c", *options) as environment, contextlib.closing(Observer(environment)) as observer:
            yield Pods(folder, environment, observer)
