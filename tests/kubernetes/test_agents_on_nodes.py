"""Agents and the nodes that they are on: on the network of one, and on processors that are not theirs."""

import json
import signal

from kubernetes.jobs import SLEEPER
from waiting import wait_until

BUSYBOX = "localhost/busybox:1"
LIMIT_S = 60
SHARES_A_NODE = {"spec": {"hostNetwork": True, "nodeSelector": {"kubernetes.io/hostname": "node1"}}}
FAILS_ONCE = ("sh", "-c", "echo $GANGRUN_CLUSTER_SPEC; [ $GANGRUN_RESTARTS -gt 0 ] || exit 3")
# No node of the tests has it.
RISC_V = 243
MACHINE_AT = 18


def job_file(jobs, *command, **kubernetes):
    jobs.write("job.yaml", json.dumps({
        "on": "kubernetes", "image": BUSYBOX, "command": list(command), "restarts": {"scope": "gang", "max": 1, "pause": "0s"},
        "tasks": {"worker": {"instances": 2, "memory": "32m"}},
        "kubernetes": {"namespace": jobs.kubectl.namespace, "agents": "config_maps", **kubernetes}}))
    return "job.yaml"


def test_two_tasks_share_the_network_of_a_node(jobs):
    done = jobs.order("run", job_file(jobs, *FAILS_ONCE, pod=SHARES_A_NODE))
    assert done.returncode == 0, done.stdout + done.stderr
    specs = [json.loads(line.split(" | ", 1)[1])["worker"] for line in jobs.lines() if "{" in line]
    assert len(specs) >= 3 and jobs.status()["restarts_used"] == 1
    (node,) = [each for each in jobs.kubectl.json("get", "nodes") if each["metadata"]["name"] == "node1"]
    (address,) = [each["address"] for each in node["status"]["addresses"] if each["type"] == "InternalIP"]
    for spec in specs:
        assert {each.rsplit(":", 1)[0] for each in spec} == {address} and len(set(spec)) == 2, spec
    assert jobs.left() == []


def test_they_are_told_of_another_relay(jobs):
    """Each is told at a port of the node that it has chosen."""
    with jobs.running("run", job_file(jobs, *SLEEPER, pod=SHARES_A_NODE), program="gangrun") as client:
        jobs.wait_for_running(2)
        (relay,) = [pod["metadata"] for pod in jobs.pods() if pod["metadata"]["name"].endswith("-relay")]
        jobs.kubectl.run("delete", "pod", relay["name"], "--grace-period=1", "--wait=false")

        def is_told():
            answers = [jobs.order("exec", "last", f"worker:{index}", "--", "true") for index in (0, 1)]
            there = [pod["metadata"]["uid"] for pod in jobs.pods() if pod["metadata"]["name"] == relay["name"]]
            return there and there != [relay["uid"]] and [done.returncode for done in answers] == [0, 0]

        wait_until(is_told, "both agents by the other relay", LIMIT_S, pause_s=0.5)
        assert jobs.status()["restarts_used"] == 0
        client.send_signal(signal.SIGINT)
        assert client.wait(LIMIT_S) == 130
    assert jobs.left() == []


def test_nodes_of_another_architecture_without_an_agent_for_it_are_refused_at_once(jobs):
    for words in ((), ("--dry-run",)):
        done = jobs.order("run", *words, job_file(jobs, "true", node_selector={"kubernetes.io/arch": "arm64"}))
        assert done.returncode == 2, done.stdout + done.stderr
        assert "this gangrun has no agent for arm64" in done.stderr and "kubernetes.agent_image" in done.stderr, done.stderr
    assert jobs.left() == []


def test_pods_go_only_to_nodes_that_the_agent_runs_on(jobs):
    with jobs.running("run", job_file(jobs, *SLEEPER), program="gangrun") as client:
        jobs.wait_for_running(2)
        assert [pod["spec"]["nodeSelector"] for pod in jobs.pods()] == [{"kubernetes.io/arch": "amd64"}] * 3
        client.send_signal(signal.SIGINT)
        assert client.wait(LIMIT_S) == 130


def test_an_agent_that_the_node_cannot_execute_is_told(jobs, kubernetes, agent, tmp_path):
    program = bytearray(agent.read_bytes())
    program[MACHINE_AT:MACHINE_AT + 2] = RISC_V.to_bytes(2, "little")
    foreign = tmp_path / "agent"
    foreign.write_bytes(program)
    image = kubernetes.make_image("localhost/foreign-agent:1", "--file", f"{foreign}:/gangrun-agent:755")
    done = jobs.order("run", job_file(jobs, "true", agents="image", agent_image=image), "--timeout", "roll_call=30s")
    assert done.returncode == 3, done.stdout + done.stderr
    said = jobs.order("why", "last").stdout
    assert "exec format error" in said and "the node has another processor" in said and "kubernetes.io/arch: amd64" in said, said
    assert jobs.left() == []
