"""The real Kubernetes that the other tests here stand on: what they take for granted of it."""

import os
import pathlib
import subprocess
import tempfile

import pytest
from clusters.kubernetes.fixtures import SMALL_IMAGE, Kubernetes
from waiting import wait_until

LIMIT_S = 60
MIB = "64Mi"
# Serves its own name, and asks the other for its.
NEIGHBOUR = """
import http.server, socket, sys, threading, urllib.request
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(socket.gethostname().encode())
    def log_message(self, *words): pass
server = http.server.HTTPServer(("", 8000), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
while True:
    try:
        print("reached", urllib.request.urlopen(f"http://{sys.argv[1]}:8000", timeout=5).read().decode(), flush=True)
        break
    except OSError:
        pass
threading.Event().wait()
"""


def pod(name, image, *command, node=None, annotations=None, **spec):
    container = {"name": "main", "image": image, "command": list(command)}
    chosen = {"kubernetes.io/hostname": node} if node else {}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"app": "gang"}, "annotations": annotations or {}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "nodeSelector": chosen,
                     "containers": [container | spec.pop("container", {})], **spec}}


def test_pods_on_two_nodes_reach_each_other_by_the_names_of_a_headless_service(kubectl, python_image):
    names = {"one-0": "one-1", "one-1": "one-0"}
    kubectl.apply(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "one"},
         "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"app": "gang"}}},
        *(pod(name, python_image, "python", "-c", NEIGHBOUR, f"{other}.one", node=f"node{number}", hostname=name, subdomain="one")
          for number, (name, other) in enumerate(names.items(), 1)))
    for name, other in names.items():
        wait_until(lambda: f"reached {other}\n" in kubectl.run("logs", name, check=False).stdout, f"{name} to reach {other}", LIMIT_S, 0.2)


def test_logs_and_a_command_inside_of_a_pod(kubectl):
    kubectl.apply(pod("talks", SMALL_IMAGE, "sh", "-c", "echo said; exec tail -f /dev/null", node="node2"))
    kubectl.wait_for_phase("talks", "Running")
    wait_until(lambda: kubectl.run("logs", "talks").stdout == "said\n", "the log", LIMIT_S, 0.2)
    assert kubectl.run("exec", "talks", "--", "sh", "-c", "hostname; exit 3", check=False).stdout == "talks\n"


@pytest.mark.parametrize("code, phase, reason", [("0", "Succeeded", "Completed"), ("137", "Failed", "Evil")])
def test_a_hollow_pod_ends_as_its_annotations_say(kubectl, code, phase, reason):
    notes = {"hollow/run-for": "1s", "hollow/exit-code": code, "hollow/reason": reason}
    kubectl.apply(pod("pretends", "any/image:1", "any", annotations=notes, tolerations=[{"key": "hollow", "operator": "Exists"}],
                      container={"resources": {"limits": {"nvidia.com/gpu": "8"}}}))
    ended = kubectl.wait_for_phase("pretends", "Succeeded", "Failed")
    state = ended["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["status"]["phase"], state["exitCode"], state["reason"]) == (phase, int(code), reason)


def test_a_pod_that_takes_more_memory_than_it_may_is_told_so(kubectl, python_image):
    kubectl.apply(pod("greedy", python_image, "python", "-c", "print(len(b'x' * (1 << 30)))", container={"resources": {"limits": {"memory": MIB}}}))
    ended = kubectl.wait_for_phase("greedy", "Failed")
    assert ended["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] == "OOMKilled"


def test_an_api_server_that_starts_again_has_all_objects_and_pods_run_on(kubernetes, kubectl):
    kubectl.apply(pod("stays", SMALL_IMAGE, "tail", "-f", "/dev/null", node="node1"))
    before = kubectl.wait_for_phase("stays", "Running")
    kubernetes.stop("kube-apiserver")
    assert kubectl.run("get", "pods", check=False).returncode != 0
    kubernetes.start("kube-apiserver")
    after = kubectl.pod("stays")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["containerStatuses"][0]["containerID"] == before["status"]["containerStatuses"][0]["containerID"]


def processes_in(folder):
    """The command lines of those that have this folder in them, or in their environment."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
            if os.fsencode(folder) in command or os.fsencode(folder) in (entry / "environ").read_bytes():
                found.append(command)
        except OSError:
            continue  # it ended while it was looked at
    return found


def test_a_cluster_ends_with_the_process_that_it_is_for_and_nothing_is_left():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kube-"))
    holder = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    cluster = Kubernetes(folder, real_nodes=1, until=holder.pid)
    link = f"kc{cluster.net}"
    cluster.kubectl.apply(pod("stays", SMALL_IMAGE, "tail", "-f", "/dev/null"))
    cluster.kubectl.wait_for_phase("stays", "Running")
    assert processes_in(folder) and pathlib.Path("/sys/class/net", link).exists()
    holder.stdin.close()
    assert holder.wait(LIMIT_S) == 0
    wait_until(lambda: not folder.exists() and not processes_in(folder), lambda: f"the end of {processes_in(folder)}", LIMIT_S)
    assert not pathlib.Path("/sys/class/net", link).exists() and not list(pathlib.Path("/run/netns").glob(f"{link}-*"))
