"""Real Kubernetes for tests: a cluster of two real nodes and some hollow ones, which all tests of a run share."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import uuid

import pytest

from clusters.program import RunningCluster
from groups import GATE
from waiting import wait_until

PROGRAM = pathlib.Path(__file__).with_name("kubernetes-cluster")
REAL_NODES, HOLLOW_NODES = 2, 20
KUBECTL_LIMIT_S = 120
IMAGE_LIMIT_S = 280
START_LIMIT_S = 60
NETS, PORTS_EACH, FIRST_PORT = range(1, 16), 7, 16443
PYTHON_IMAGE = "localhost/gangrun-python:1"
TENSORFLOW_IMAGE = "localhost/gangrun-tensorflow:2.15"
STOCK = {"python": PYTHON_IMAGE, "tensorflow": TENSORFLOW_IMAGE}
SMALL_IMAGE = "localhost/busybox:1"


def bound(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_place():
    """(addresses, first port) of a cluster that is none of the others on this machine."""
    start = os.getpid() % len(NETS)
    for net in [*NETS[start:], *NETS[:start]]:
        port = FIRST_PORT + 10 * net
        if not pathlib.Path(f"/sys/class/net/kc{net}").exists() and not any(bound(port + k) for k in range(PORTS_EACH)):
            return net, port
    raise AssertionError("fifteen clusters run on this machine, or were not taken down")


def short_folder():
    """For a cluster: a short path, as sockets lie in it, which containers of other users may go through."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kube-"))
    folder.chmod(0o755)
    return folder


class Kubectl:
    """kubectl with the rights of the administrator, in one namespace."""

    def __init__(self, environment, namespace="default"):
        self.environment = environment
        self.namespace = namespace

    def run(self, *words, given=None, check=True):
        """The finished process of `kubectl WORDS...`; `given` is its standard input: a text, or an object for JSON."""
        text = given if given is None or isinstance(given, str) else json.dumps(given)
        done = subprocess.run(["kubectl", "--namespace", self.namespace, *map(str, words)], input=text,
                              stdin=subprocess.DEVNULL if text is None else None, env=os.environ | self.environment,
                              capture_output=True, text=True, timeout=KUBECTL_LIMIT_S)
        assert not check or done.returncode == 0, f"kubectl {' '.join(map(str, words))}: {done.stderr}"
        return done

    def json(self, *words):
        """What `kubectl WORDS... -o json` shows; of several things the list of them."""
        shown = json.loads(self.run(*words, "-o", "json").stdout)
        return shown["items"] if shown["kind"] == "List" or shown["kind"].endswith("List") else shown

    def apply(self, *things):
        """Creates or changes these objects."""
        self.run("apply", "--server-side", "-f", "-", given={"apiVersion": "v1", "kind": "List", "items": list(things)})

    def names(self, *kinds, selector=None):
        """["pod/a", "configmap/b"] of all of these kinds."""
        chosen = [f"--selector={selector}"] if selector else []
        return sorted(self.run("get", ",".join(kinds), *chosen, "-o", "name").stdout.split())

    def pod(self, name):
        """A pod, or None where there is none of that name."""
        done = self.run("get", "pod", name, "-o", "json", "--ignore-not-found")
        return json.loads(done.stdout) if done.stdout else None

    def wait_for_pod(self, name, condition, what, seconds=START_LIMIT_S):
        """Waits until condition(pod) is true, and returns the pod."""
        def look():
            pod = self.pod(name)
            return pod if pod and condition(pod) else None
        return wait_until(look, lambda: f"{what} of {json.dumps((self.pod(name) or {}).get('status'))}", seconds, 0.2)

    def wait_for_phase(self, name, *phases, seconds=START_LIMIT_S):
        return self.wait_for_pod(name, lambda pod: pod["status"]["phase"] in phases, " or ".join(phases), seconds)


def environment_of(folder):
    return {"KUBECONFIG": str(folder / "pki/admin.kubeconfig"), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


class Kubernetes(RunningCluster):
    """A running cluster. `environment` is what clients of it need: KUBECONFIG, and a PATH with kubectl."""

    program = PROGRAM

    def __init__(self, folder, **options):
        self.images = {STOCK[name] for name in (options.get("stock"),) if name}
        self.net, port = free_place()
        super().__init__(folder, net=self.net, port=port, **options)

    @classmethod
    def running(cls, folder):
        """One that somebody else has started, and ends."""
        cluster = cls.__new__(cls)
        cluster.folder = pathlib.Path(folder)
        cluster.images = set()
        return cluster

    @property
    def environment(self):
        return environment_of(self.folder)

    @property
    def kubectl(self):
        return Kubectl(self.environment)

    def stock(self, name):
        """The name of an image that is made of this machine's files ("python", "tensorflow"), and is on every real node."""
        image = STOCK[name]
        if image not in self.images and image not in self.images_of_nodes():
            subprocess.run([self.program, "stock", name, "--dir", self.folder], check=True, capture_output=True, timeout=IMAGE_LIMIT_S)
        self.images.add(image)
        return image

    def images_of_nodes(self):
        """Those that every real node has told of."""
        told = [{name for image in node["status"].get("images", []) for name in image["names"] or []}
                for node in self.kubectl.json("get", "nodes", "-l", "!hollow")]
        return set.intersection(*told)

    def pid(self, daemon):
        """The process of a daemon: "kube-apiserver", "kubelet-node1", "containerd-node2", ..."""
        return int((self.folder / "run" / f"{daemon}.pid").read_text().split()[0])

    def stop(self, *daemons):
        self.order("stop", *daemons)

    def start(self, *daemons):
        """Starts what was stopped or killed; of the API server also waits until it answers."""
        self.order("start", *daemons)

    def kill(self, daemon, number=signal.SIGKILL):
        os.kill(self.pid(daemon), number)

    def make_image(self, name, *options):
        """Puts an image on every real node; the options are those of `kubernetes-cluster image`."""
        self.order("image", "--name", name, *options)
        return name

    def requests(self, agent="gangrun/"):
        """What clients of this name have asked the API server for until now: entries of its audit log, in their order."""
        with open(self.folder / "log/audit.log") as log:
            entries = map(json.loads, log)
            return [entry for entry in entries if entry.get("userAgent", "").startswith(agent)]

    def down(self):
        self.order("down", "--purge")


@pytest.fixture(scope="session")
def kubernetes(request):
    """Two real nodes, node1 and node2, and hollow ones, which the gate's tests and the attacks do without; who changes it puts it back.
    GANGRUN_TEST_KUBERNETES is the folder of one that runs already, which is then left running."""
    if folder := os.environ.get("GANGRUN_TEST_KUBERNETES"):
        yield Kubernetes.running(folder)
        return
    hollow = 0 if request.config.getoption("group") in (GATE, "attacks") else HOLLOW_NODES
    cluster = Kubernetes(short_folder(), real_nodes=REAL_NODES, nodes=hollow, audit=True, stock="python")
    yield cluster
    cluster.down()


@pytest.fixture(scope="session")
def python_image(kubernetes):
    """The name of an image with Python and the usual programs of a shell."""
    return kubernetes.stock("python")


@pytest.fixture(scope="session")
def tensorflow_image(kubernetes):
    """The name of an image with TensorFlow 2.15 besides. Only tests that train ask for it: it is large."""
    return kubernetes.stock("tensorflow")


@pytest.fixture
def kubectl(kubernetes):
    """kubectl in a namespace of the test's own, `kubectl.namespace`, whose end nobody waits for."""
    made = Kubectl(kubernetes.environment, f"t{uuid.uuid4().hex[:8]}")
    # With the account that pods run under, which a controller would make some time later.
    made.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made.namespace}},
               {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
    yield made
    made.run("delete", "pods", "--all", "--force", "--grace-period=0", "--wait=false")
    made.run("delete", "namespace", made.namespace, "--wait=false")
