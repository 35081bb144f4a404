"""What the master of a detached job takes in its pod, and what it asks the API server for, with 1,000 agents.

    python bench/kubernetes_agents.py [--agents 1000]

On one cluster of a real node and many hollow ones, which this program starts. The master's pod is on the real node, with that
of one task, whose agent and command are as users have them. The pods of all other tasks are hollow, and have no process: their
agents are played by one program of this machine (play_agents), with the job's own certificate and secret. It connects to the
master's pod as agents in pods do, and says what they say. So master, API server and all agents share this machine's
processors, and times say little.

The figures of the master are read when it has made all pods, when all agents were told to start, while all tasks run, and when
they have ended. Its requests are those of its service account in the API server's audit log.
"""

import argparse
import base64
import collections
import json
import pathlib
import select
import subprocess
import time

from cluster import LIMIT_S
from gate import PodGate
from measure import Verdicts, build_folder, gangrun_program
from pods import IMAGE, LOOK_S, MEGABYTE, Pods, count, megabytes, pods_of_cluster, requests_of, runs, seconds_of

HOLLOW_NODES = 40
ACCOUNT = "leader"
USER = f"system:serviceaccount:default:{ACCOUNT}"
REST_S = 20  # the time for which the master is watched while all tasks run
SETTLE_S = 5
# What the master's pod requests: as much for itself, and for each task.
REQUESTED_MEGABYTES, REQUESTED_MEGABYTES_OF_TASK = 256 * 1024**2 / MEGABYTE, 24 * 1024 / MEGABYTE
AIM_REQUESTS_OF_TASK = 2  # its pod, and less than one for what the master writes down
AIM_REQUESTS_A_SECOND = 1


class Master:
    """The process in the master's pod."""

    def __init__(self, pod: str, cluster: pathlib.Path) -> None:
        self.cluster = cluster
        own = [folder for folder in pathlib.Path("/proc").iterdir() if folder.name.isdigit() and self.is_in(pod, folder)]
        if len(own) != 1:
            raise SystemExit(f"{len(own)} processes lead the job, and one in the pod {pod} should")
        self.pid = int(own[0].name)
        self.seconds, self.asked = 0.0, 0

    @staticmethod
    def is_in(pod: str, folder: pathlib.Path) -> bool:
        try:
            return ((folder / "cmdline").read_bytes().startswith(b"gangrun-agent\0pod-master\0")
                    and f"GANGRUN_POD_NAME={pod}".encode() in (folder / "environ").read_bytes().split(b"\0"))
        except OSError:
            return False  # it ended while it was looked at

    def since(self, what: str) -> tuple[float, collections.Counter]:
        """Prints what it has taken since the last look, and returns the seconds and the requests."""
        seconds, asked = seconds_of(self.pid), requests_of(self.cluster, lambda entry: entry["user"].get("username") == USER)
        used, new = seconds - self.seconds, asked[self.asked:]
        self.seconds, self.asked = seconds, len(asked)
        kinds = collections.Counter(f"{entry['verb']} {kind_of(entry)}" for entry in new)
        print(f"master {what}: {used:.2f} s of CPU, {megabytes(self.pid, 'VmRSS'):.1f} MB, at most {megabytes(self.pid, 'VmHWM'):.1f} MB;"
              f" {len(new)} requests: {', '.join(f'{number} {kind}' for kind, number in kinds.most_common())}", flush=True)
        return used, kinds


def kind_of(entry: dict) -> str:
    of = entry.get("objectRef", {})
    return "/".join(of[key] for key in ("resource", "subresource") if key in of) or entry["requestURI"].split("?")[0]


class Job:
    """A detached job: a chief in a real pod, and workers in hollow ones."""

    def __init__(self, pods: Pods, workers: int, gate: PodGate) -> None:
        self.pods, self.workers = pods, workers
        hollow = {"spec": {"nodeSelector": {"hollow": "true"}, "tolerations": [{"key": "hollow", "operator": "Exists"}]}}
        task = {"memory": "32m", "vcores": 0}
        # The master's pod goes where the first type's may.
        file = pods.folder / "detached.yaml"
        file.write_text(json.dumps({
            "on": "kubernetes", "image": IMAGE, "name": "many", "command": gate.words, "timeouts": {"stop": "1s"},
            "tasks": {"chief": {"instances": 1, **task}, "worker": {"instances": workers, **task, "pod": hollow}},
            "kubernetes": {"agents": "config_maps", "master": {"service_account": ACCOUNT, "keep": "10m"},
                           "volumes": [{"name": "shared", "hostPath": {"path": str(gate.folder)}}],
                           "volume_mounts": [{"name": "shared", "mountPath": str(gate.folder)}]}}))
        begin = time.monotonic()
        self.id = self.gangrun("run", "--detach", str(file)).strip()
        print(f"gangrun run --detach has returned after {time.monotonic() - begin:.2f} s", flush=True)
        self.head = self.look_at_head()
        self.master = Master(self.head["pod_name"], pods.folder / "c")

    def gangrun(self, *words: str) -> str:
        done = subprocess.run([gangrun_program(), *words], env=self.pods.environment, capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode:
            raise SystemExit(f"gangrun {words[0]}: status {done.returncode}: {done.stderr}")
        return done.stdout

    def look_at_head(self) -> dict:
        """With the master's address, which comes with its first words there."""
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            (found,) = json.loads(self.pods.kubectl_order("get", "configmaps", "-l", "gangrun/records=head", "-o", "json"))["items"]
            head = json.loads(found["data"]["head"])
            if head["address"]:
                return head
            select.select([], [], [], LOOK_S)
        raise SystemExit("the job's master tells no address")

    def agent_config(self) -> str:
        """What the agents in its pods read: from the Secret that its first master makes, as one line."""
        secrets = json.loads(self.pods.kubectl_order("get", "secrets", "-l", f"gangrun/job={self.id}", "-o", "json"))["items"]
        (found,) = [secret["data"]["agent.json"] for secret in secrets if "agent.json" in secret.get("data", {})]
        return json.dumps(json.loads(base64.b64decode(found)))


class Load:
    """The program that plays the agents of the job's workers."""

    def __init__(self, job: Job) -> None:
        words = [build_folder() / "bench" / "play_agents", job.head["address"], "worker", str(job.workers)]
        config = job.agent_config()
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.tell(config)

    def __enter__(self) -> "Load":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate(timeout=LIMIT_S)

    def tell(self, line: str) -> None:
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def wait_for(self, word: str) -> None:
        """Its own limits end it, and so the wait."""
        line = self.process.stdout.readline()
        if not line.startswith(f"{word} "):
            raise SystemExit(f"the played agents have not {word}: {line!r}")
        print(f"all played agents have {word} after {float(line.split()[1]):.0f} ms", flush=True)


def make_account(pods: Pods) -> None:
    pods.kubectl_order("create", "serviceaccount", ACCOUNT)
    # What it may beside that is of no use to it.
    pods.kubectl_order("create", "rolebinding", ACCOUNT, "--clusterrole=admin", f"--serviceaccount=default:{ACCOUNT}")


def measure(pods: Pods, agents: int, verdicts: Verdicts) -> None:
    tasks = agents + 1
    with PodGate(pods.folder) as gate:
        job = Job(pods, agents, gate)
        master = job.master
        pods.observer.wait(lambda seen: count(seen, runs) == tasks + 1, f"the pods of {tasks} tasks and their master")
        _, making = master.since(f"until {tasks} pods run")
        with Load(job) as load:
            load.wait_for("attached")
            load.wait_for("started")
            gate.wait(1, load.process)
            used, starting = master.since(f"from then until {tasks} tasks run")
            select.select([], [], [], SETTLE_S)
            master.since("in the seconds after that")
            select.select([], [], [], REST_S)
            _, resting = master.since(f"in {REST_S} s while all run")
            gate.release()
            load.tell("end")
            load.wait_for("ended")
            job.gangrun("wait", job.id)
            pods.observer.wait(lambda seen: not [pod for pod in seen.values() if "gangrun/task" in pod["metadata"]["labels"]],
                               "the end of all tasks' pods")
            master.since("until all pods are gone")
    verdicts.at_most(f"memory of the master with {tasks} tasks, MB", megabytes(master.pid, "VmHWM"),
                     REQUESTED_MEGABYTES + tasks * REQUESTED_MEGABYTES_OF_TASK)
    verdicts.tell_at_most("CPU ms of the master for each agent, from its report until its task runs", used * 1000 / agents, 2)
    verdicts.at_most("requests of the master for each task until all run", (making + starting).total() / tasks, AIM_REQUESTS_OF_TASK)
    verdicts.at_most("requests of the master a second while all run", resting.total() / REST_S, AIM_REQUESTS_A_SECOND)
    job.gangrun("rm", "--yes", job.id)
    pods.observer.wait(lambda seen: not seen, "the end of the master's pod")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=1000)
    arguments = parser.parse_args()
    verdicts = Verdicts()
    with pods_of_cluster("--real-nodes", 1, "--nodes", HOLLOW_NODES, "--audit") as pods:
        make_account(pods)
        measure(pods, arguments.agents, verdicts)
    verdicts.finish()


if __name__ == "__main__":
    main()
