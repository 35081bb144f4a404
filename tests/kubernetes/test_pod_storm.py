"""The storm on pods replays a run by its number, and knows which ends are right. It needs no cluster for that."""

import dataclasses
import json
import os
import signal
import subprocess

import pytest
from kubernetes import pod_faults
from kubernetes.pod_faults import MEANWHILE, MOMENTS, OUTAGES, Fault, PodFaults, Process
from kubernetes.pod_storm import Plan, right_states

PLAN = dataclasses.replace(Plan.of(1), restarts=1, early=False)


def test_a_number_decides_everything():
    plans = [Plan.of(number) for number in range(200)]
    assert plans == [Plan.of(number) for number in range(200)]
    assert {fault.name for plan in plans for fault in plan.faults} == {*MOMENTS, *OUTAGES}
    assert all(sum(fault.is_outage for fault in plan.faults) <= 1 for plan in plans)


def test_each_fault_has_a_function():
    names = {*MOMENTS, *OUTAGES, *MEANWHILE} - {"nothing"}
    assert not [name for name in names if not hasattr(PodFaults, name.replace(" ", "_"))]


class Recorder:
    """Stands for a cluster, kubectl and a client, and writes down what they are told."""

    namespace = "storm"

    def __init__(self, folder):
        self.folder, self.told = folder, []
        (folder / "settings").write_text("real=2\nnet=7\n")

    def run(self, *words, **_):
        self.told.append(" ".join(words))
        pods = {"items": [{"metadata": {"name": name}} for name in ("storm-worker-0", "storm-relay")]}
        return subprocess.CompletedProcess(words, 0, stdout=json.dumps(pods), stderr="")

    def kill(self, daemon="client", number=signal.SIGKILL):
        self.told.append(f"{signal.Signals(number).name} {daemon}")

    def stop(self, daemon):
        self.told.append(f"stop {daemon}")

    def start(self, daemon):
        self.told.append(f"start {daemon}")

    def poll(self):
        return None

    def send_signal(self, number):
        self.kill("client", number)


@pytest.fixture
def recorder(tmp_path, monkeypatch):
    made = Recorder(tmp_path)
    words = (["gangrun-agent", "relay"], ["gangrun-agent", "pod", "--task", "worker:0"], ["sh", "-c", "x"])
    found = [Process(pid, each, {b"GANGRUN_TASK_INDEX=0"} if each[0] == "sh" else set()) for pid, each in enumerate(words, 10)]
    monkeypatch.setattr(pod_faults, "pause", lambda seconds: None)
    monkeypatch.setattr(pod_faults, "processes_of_pods", lambda link: found if link == "kc7" else [])
    monkeypatch.setattr(os, "kill", lambda pid, number: made.told.append(f"{signal.Signals(number).name} {found[pid - 10].role}"))
    monkeypatch.setattr(pod_faults.subprocess, "run", lambda words, **_: made.told.append(" ".join(words)))
    return made


# What a fault begins with, what ends it.
PAIRS = {
    "kill etcd": ("SIGKILL etcd", "start etcd"), "restart api server": ("SIGKILL kube-apiserver", "start kube-apiserver"),
    "stop api server": ("stop kube-apiserver", "start kube-apiserver"), "slow api server": ("SIGSTOP kube-apiserver", "SIGCONT kube-apiserver"),
    "kill kubelet": ("SIGKILL kubelet-node2", "start kubelet-node2"), "freeze kubelet": ("SIGSTOP kubelet-node2", "SIGCONT kubelet-node2"),
    "cut network": ("ip link set kc7-2 down", "ip link set kc7-2 up"), "lose node": ("ip link set kc7-2 down", "ip link set kc7-2 up"),
    "freeze agent": ("SIGSTOP agent", "SIGCONT agent"), "freeze client": ("SIGSTOP client", "SIGCONT client"),
    "take quota": ("create quota nothing --hard=pods=0", "delete quota nothing --ignore-not-found"),
}


@pytest.mark.parametrize("name", [*MOMENTS, *OUTAGES])
def test_a_fault_hits_and_is_over(recorder, name):
    faults, told = PodFaults(recorder, recorder, recorder), []
    Fault(name, 0.301, "kill agent").strike(faults, told)
    assert dict(told)[name]
    assert ("kill agent" in dict(told)) == (name in OUTAGES or name == "kill agent")
    if name in PAIRS:
        begin, end = PAIRS[name]
        begun, over = recorder.told.index(begin), len(recorder.told) - 1 - recorder.told[::-1].index(end)
        # Of etcd it is over when the API server answers.
        assert over == len(recorder.told) - (2 if name == "kill etcd" else 1), recorder.told
        assert begun < (recorder.told.index("SIGKILL agent") if name in OUTAGES else over) <= over, recorder.told
    assert faults.counted == ([0] if name in ("kill agent", "kill command", *OUTAGES) else [])


@pytest.mark.parametrize("names, counted, changes, right", [
    (["delete pod", "evict", "kill relay"], 0, {"restarts": 0}, {"succeeded"}),
    (["kill agent"], 1, {}, {"succeeded"}),
    (["kill agent"], 1, {"restarts": 0}, {"failed"}),
    (["kill agent"], 1, {"restarts": 0, "early": True}, {"failed", "succeeded"}),
    (["kill command", "kill agent"], 2, {}, {"failed", "succeeded"}),
    (["kill command", "delete pod"], 1, {"restarts": 0}, {"failed", "succeeded"}),
    (["stop api server", "kill command"], 1, {}, {"succeeded"}),
    (["stop api server"], 0, {"early": True}, {None, "succeeded", "failed"}),
    (["kill client"], 0, {}, {"lost"}),
    (["kill command", "kill client"], 1, {"restarts": 0}, {"lost", "failed"}),
    (["kill client"], 0, {"early": True}, {None, "lost", "failed"}),
])
def test_the_right_ends(names, counted, changes, right):
    assert right_states(dataclasses.replace(PLAN, **changes), names, counted) == right
