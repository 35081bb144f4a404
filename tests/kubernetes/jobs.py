"""Jobs as pods of a real Kubernetes cluster, started by the real programs."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess

import yaml
from waiting import wait_until

RUN_LIMIT_S = 180
# Of all kinds that a job is made of, and that kubectl's "all" leaves out.
KINDS = ("pods", "services", "jobs", "configmaps", "secrets")
WITHOUT_AGENTS = ("--agents", "none")
# Ends when the client says so by deleting its pod, or after a limit that no test reaches.
SLEEPER = ("sh", "-c", "trap 'exit 0' TERM; echo here; tail -f /dev/null & wait")
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/kubernetes.md"


def documented_rights():
    """The rules of the role that the guide tells users to have."""
    (text,) = re.findall(r"```yaml\n(apiVersion: rbac.*?)```", GUIDE.read_text(), re.S)
    role, _ = yaml.safe_load_all(text)
    return role["rules"]


def documented_master_rights():
    """The rules of the role that the guide gives to the account of a detached job's master."""
    (text,) = re.findall(r"```yaml\n# Of the service account that `master` names\.\n(apiVersion: rbac.*?)```", GUIDE.read_text(), re.S)
    return yaml.safe_load(text)["rules"]


def account_objects(namespace, name, rules):
    """A service account with these rights in its namespace."""
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": name}, "rules": rules},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": name},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
         "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]}]


class PodJobs:
    """What a user does with jobs: in a folder of their own, in the namespace of `kubectl`."""

    def __init__(self, gangrun, kubectl, folder, home, image):
        self.gangrun, self.kubectl, self.folder, self.image = gangrun, kubectl, folder, image
        self.environment = os.environ | kubectl.environment | {"GANGRUN_HOME": str(home)}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def order(self, *words, limit=RUN_LIMIT_S, env=None, program="gangrun"):
        """A command that ends by itself."""
        return subprocess.run([self.gangrun.with_name(program), *map(str, words)], cwd=self.folder,
                              env=self.environment | (env or {}), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=limit)

    def words(self, *words):
        return ["run", "--on", "kubernetes", "--namespace", self.kubectl.namespace, "--image", self.image, *words]

    def run(self, *words, **options):
        return self.order(*self.words(*words), **options)

    @contextlib.contextmanager
    def running(self, *words, program="run"):
        """A job in the foreground, or another command; interrupted twice at the end if it goes on."""
        chosen = self.words(*words) if program == "run" else [*map(str, words)]
        process = subprocess.Popen([self.gangrun.with_name("gangrun" if program == "run" else program), *chosen], cwd=self.folder, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=RUN_LIMIT_S)

    def make_account(self, name="launcher", rules=None):
        """A service account of the namespace with these rights there, without any with those that the guide names."""
        self.kubectl.apply(*account_objects(self.kubectl.namespace, name, documented_rights() if rules is None else rules))
        return name

    def make_token(self, account, *words):
        return self.kubectl.run("create", "token", account, *words).stdout.strip()

    def write_kubeconfig(self, name, user=None, **cluster):
        """A kubeconfig in the job's folder: that of the tests with another user, and with these keys (None: without them)
        for its cluster."""
        config = json.loads(self.kubectl.run("config", "view", "--raw", "--flatten", "-o", "json").stdout)
        if user is not None:
            config["users"][0]["user"] = user
        keys = {key.replace("_", "-"): value for key, value in cluster.items()}
        described = config["clusters"][0]["cluster"] | keys
        config["clusters"][0]["cluster"] = {key: value for key, value in described.items() if value is not None}
        return self.write(name, json.dumps(config))

    def status(self, job="last"):
        done = self.order("status", job, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def wait_for_state(self, *states, job="last", seconds=RUN_LIMIT_S):
        def reached():
            status = self.status(job)
            return status if status and status["state"] in states else None

        return wait_until(reached, lambda: f"{' or '.join(states)}: {self.status(job)}", seconds, pause_s=0.2)

    def wait_for_running(self, tasks, job="last"):
        def reached():
            status = self.status(job)
            running = [task for task in status["tasks"] if task["state"] == "running"] if status else []
            return status if len(running) == tasks else None

        return wait_until(reached, lambda: f"{tasks} running tasks: {self.status(job)}", RUN_LIMIT_S, pause_s=0.2)

    def waits_for(self, text, seconds=60):
        """Waits until the job says that it waits for something with this text."""
        def told():
            status = self.status()
            return status if status and text in status.get("waiting_for", "") else None

        return wait_until(told, lambda: f"'{text}': {self.status()}", seconds, pause_s=0.2)

    def pods(self):
        return self.kubectl.json("get", "pods", "-l", "gangrun/job")

    def pod_of(self, task):
        """The pod of "worker-0" as it is now."""
        (pod,) = [pod for pod in self.pods() if pod["metadata"]["labels"].get("gangrun/task") == task]
        return pod

    def left(self):
        """Names of what jobs have on the cluster."""
        return self.kubectl.names(*KINDS, selector="gangrun/job")

    def lines(self, job="last", *words):
        done = self.order("logs", job, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()
