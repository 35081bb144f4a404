"""Pods with agents that are taken away: that is nobody's failure, and uses up no restart."""

import json
import os
import pathlib
import signal

import pytest
from kubernetes.jobs import SLEEPER
from waiting import wait_until

BUSYBOX = "localhost/busybox:1"
# worker:1 listens until it is ended; worker:0 fails as soon as it has lost worker:1.
PEERS = """
import json, os, select, signal, socket, sys
host, port = json.loads(os.environ["GANGRUN_CLUSTER_SPEC"])["worker"][1].rsplit(":", 1)
if os.environ["GANGRUN_TASK_INDEX"] == "1":
    peer, _ = socket.create_server(("", int(port))).accept()
    print("here", flush=True)
    signal.pause()
while True:
    try:
        peer = socket.create_connection((host, int(port)))
        break
    except OSError:
        select.select([], [], [], 0.05)
print("here", flush=True)
peer.recv(1)
sys.exit("has lost worker:1")
"""


def write_job(jobs, image, tasks, command, scope="gang", **kubernetes):
    jobs.write("job.yaml", json.dumps({"on": "kubernetes", "image": image, "command": list(command), "tasks": tasks,
                                       "restarts": {"max": 0, "scope": scope},
                                       "kubernetes": {"namespace": jobs.kubectl.namespace, "agents": "config_maps", **kubernetes}}))


def wait_for_generation(jobs, number, seconds=90):
    def reached():
        status = jobs.status()
        return status if status and status["generation"] == number and all(task["state"] == "running" for task in status["tasks"]) else None

    return wait_until(reached, lambda: f"generation {number}: {jobs.status()}", seconds, pause_s=0.2)


def end(jobs, client):
    assert jobs.order("kill", "last").returncode == 0
    assert client.wait(90) == 5
    assert jobs.left() == []
    return client.stdout.read()


@pytest.mark.parametrize(("how", "scope"), [("evicted", "gang"), ("evicted", "task"), ("deleted", "task")])
def test_a_pod_that_is_taken_is_the_cause_and_not_the_peer_that_breaks(jobs, how, scope):
    write_job(jobs, jobs.image, {"worker": {"instances": 2}}, ("python3", "-c", PEERS), scope)
    with jobs.running("run", "job.yaml", program="gangrun") as client:
        wait_for_generation(jobs, 1)
        wait_until(lambda: sum("here" in line for line in jobs.lines()) == 2, "a connection", pause_s=0.2)
        kept, lost = jobs.pod_of("worker-0")["metadata"], jobs.pod_of("worker-1")["metadata"]
        if how == "evicted":
            jobs.kubectl.run("create", "--raw", f"/api/v1/namespaces/{lost['namespace']}/pods/{lost['name']}/eviction", "-f", "-",
                             given={"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": lost["name"]}})
        else:
            jobs.kubectl.run("delete", "pod", lost["name"], "--wait=false")
        status = wait_for_generation(jobs, 2)
        assert status["restarts_used"] == 0
        assert jobs.pod_of("worker-0")["metadata"]["uid"] == kept["uid"], "restarted in its pod"
        assert jobs.pod_of("worker-1")["metadata"]["uid"] != lost["uid"]
        said = end(jobs, client)
    assert ("all tasks restart, not counted, because worker:1 was lost before" in said) == (scope == "task"), said
    words = "was evicted" if how == "evicted" else "lost its container"
    assert f"{words}: pod {lost['name']}" in said, said


def test_a_pod_that_is_preempted_is_made_again_alone(jobs, kubernetes):
    mark = jobs.kubectl.namespace
    chip = f"gangrun.test/{mark}"
    nodes = [node["metadata"]["name"] for node in kubernetes.kubectl.json("get", "nodes", "-l", "!hollow")][:2]

    def set_chips(number):
        for node in nodes:
            kubernetes.kubectl.run("patch", "node", node, "--subresource=status", "--type=merge", "-p",
                                   json.dumps({"status": {"capacity": {chip: number}, "allocatable": {chip: number}}}))

    set_chips("1")
    kubernetes.kubectl.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": f"urgent-{mark}"}, "value": 1000})
    wants_chip = {"spec": {"containers": [{"name": "task", "resources": {"limits": {chip: "1"}}}]}}
    write_job(jobs, BUSYBOX, {"worker": {"instances": 2, "memory": "32m", "pod": wants_chip}}, SLEEPER)
    try:
        with jobs.running("run", "job.yaml", program="gangrun") as client:
            wait_for_generation(jobs, 1)
            before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in jobs.pods()}
            jobs.kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "urgent"}, "spec": {
                "priorityClassName": f"urgent-{mark}", "restartPolicy": "Never", "containers": [
                    {"name": "main", "image": BUSYBOX, "command": ["sleep", "3"], "resources": {"limits": {chip: "1"}}}]}})
            status = wait_for_generation(jobs, 2)
            assert status["restarts_used"] == 0
            after = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in jobs.pods()}
            assert len([name for name, uid in after.items() if before.get(name) != uid]) == 1
            said = end(jobs, client)
        assert "was preempted: pod " in said and "by the scheduler" in said, said
    finally:
        set_chips(None)
        kubernetes.kubectl.run("delete", "priorityclass", f"urgent-{mark}")


def agent_in(pod):
    """The process of the agent in this pod, as this machine sees it."""
    address = f"GANGRUN_POD_IP={pod['status']['podIP']}".encode()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words, variables = ((folder / name).read_bytes().split(b"\0") for name in ("cmdline", "environ"))
        except OSError:
            continue
        if words[:2] == [b"gangrun-agent", b"pod"] and address in variables:
            return int(folder.name)
    raise AssertionError(f"no agent in {pod['metadata']['name']}")


def test_a_node_that_is_not_ready_is_named_once_its_agent_is_silent(jobs, kubernetes):
    lost, other = sorted(node["metadata"]["name"] for node in kubernetes.kubectl.json("get", "nodes", "-l", "!hollow"))[:2]
    at_first = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": {
        "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [lost]}]}}]}}
    # The relay goes where the first type goes.
    write_job(jobs, BUSYBOX, {
        "chief": {"instances": 1, "memory": "32m", "pod": {"spec": {"nodeSelector": {"kubernetes.io/hostname": other}}}},
        "worker": {"instances": 1, "memory": "32m", "pod": {"spec": {"affinity": at_first}}}}, SLEEPER)
    with jobs.running("run", "job.yaml", program="gangrun") as client:
        wait_for_generation(jobs, 1)
        pod = jobs.pod_of("worker-0")
        assert pod["spec"]["nodeName"] == lost
        agent = agent_in(pod)
        kubernetes.stop(f"kubelet-{lost}")
        try:
            def is_marked():
                conditions = {each["type"]: each["status"] for each in jobs.pod_of("worker-0")["status"]["conditions"]}
                return conditions["Ready"] == "False"

            wait_until(is_marked, "a pod that is marked", 150, pause_s=0.5)
            status = jobs.status()
            assert status["generation"] == 1 and all(task["state"] == "running" for task in status["tasks"]), "only the kubelet is gone"
            os.kill(agent, signal.SIGKILL)
            # The old agent may live for a minute, for all that is known.
            status = wait_for_generation(jobs, 2, 120)
            assert status["restarts_used"] == 0
            made = jobs.pod_of("worker-0")
            assert made["spec"]["nodeName"] == other and made["metadata"]["uid"] != pod["metadata"]["uid"]
            said = end(jobs, client)
            assert f"worker:0 on {lost} was lost with its node: pod " in said, said
        finally:
            kubernetes.start(f"kubelet-{lost}")
            kubernetes.kubectl.run("wait", "node", lost, "--for=condition=Ready", "--timeout=100s")
