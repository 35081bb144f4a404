"""The storm on pods replays a run by its number, and knows which ends are right. It needs no cluster for that."""

import dataclasses
import json
import os
import signal
import subprocess

import pytest
from kubernetes import pod_faults
from kubernetes.jobs import documented_master_rights
from kubernetes.pod_faults import ATTACHED, DETACHED, JOBS, LACKS, MEANWHILE, MOMENTS, OUTAGES, WITHOUT_AGENTS, Fault, PodFaults, Process
from kubernetes.pod_storm import Outcome, again, recorded, table_of
from kubernetes.storm_run import DetachedRun, Plan, Run, Wrong, right_states, run_of

PLAN = dataclasses.replace(Plan.of(1), job=ATTACHED, restarts=1, early=False)


def test_a_number_decides_everything():
    plans = [Plan.of(number) for number in range(400)]
    assert plans == [Plan.of(number) for number in range(400)]
    assert all(sum(fault.is_outage for fault in plan.faults) <= 1 for plan in plans)


@pytest.mark.parametrize("job", JOBS)
def test_each_kind_of_job_meets_all_that_may_happen_to_it(job):
    plans = [plan for plan in map(Plan.of, range(2000)) if plan.job == job]
    assert {fault.name for plan in plans for fault in plan.faults} == {*MOMENTS, *OUTAGES} - LACKS[job]
    meanwhile = {fault.meanwhile for plan in plans for fault in plan.faults}
    assert meanwhile == set(MEANWHILE) - LACKS[job]


def test_what_a_job_lacks_are_faults():
    assert set().union(*LACKS.values()) <= {*MOMENTS, *OUTAGES}
    assert set(LACKS) == set(JOBS)


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
        names = ("storm-master-x",) if "gangrun/master" in words else ("storm-worker-0", "storm-relay")
        pods = {"items": [{"metadata": {"name": name}} for name in names]}
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
    words = (["gangrun-agent", "relay"], ["gangrun-agent", "pod", "--task", "worker:0"], ["sh", "-c", "x"], ["gangrun-agent", "pod-master"])
    found = [Process(pid, each, {b"GANGRUN_TASK_INDEX=0"} if each[0] == "sh" else set()) for pid, each in enumerate(words, 10)]
    monkeypatch.setattr(pod_faults, "pause", lambda seconds: None)
    monkeypatch.setattr(pod_faults, "processes_of_pods", lambda link, node="": found if link == "kc7" else [])
    monkeypatch.setattr(os, "kill", lambda pid, number: made.told.append(f"{signal.Signals(number).name} {found[pid - 10].role}"))
    monkeypatch.setattr(pod_faults.subprocess, "run", lambda words, **_: made.told.append(" ".join(words)))
    return made


# What a fault begins with, what ends it.
PAIRS = {
    "kill etcd": ("SIGKILL etcd", "start etcd"), "restart api server": ("SIGKILL kube-apiserver", "start kube-apiserver"),
    "stop api server": ("stop kube-apiserver", "start kube-apiserver"), "slow api server": ("SIGSTOP kube-apiserver", "SIGCONT kube-apiserver"),
    "kill kubelet": ("SIGKILL kubelet-node2", "start kubelet-node2"), "freeze kubelet": ("SIGSTOP kubelet-node2", "SIGCONT kubelet-node2"),
    "cut network": ("ip link set kc7-2 down", "ip link set kc7-2 up"), "lose node": ("ip link set kc7-2 down", "ip link set kc7-2 up"),
    "kill node": ("SIGKILL containerd-node2", "start kubelet-node2"), "freeze master": ("SIGSTOP master", "SIGCONT master"),
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
    own = 1 if name in ("kill agent", "kill command", "kill node") else 0
    assert faults.counted == [0] * (own + (name in OUTAGES))


def test_a_node_takes_all_that_runs_on_it(recorder):
    faults, told = PodFaults(recorder, recorder, recorder), []
    Fault("kill node", 0.301).strike(faults, told)
    killed = [each.removeprefix("SIGKILL ") for each in recorder.told if each.startswith("SIGKILL")]
    assert killed == ["kubelet-node2", "containerd-node2", "relay", "agent", "command", "master"]
    assert [each for each in recorder.told if each.startswith("start ")] == ["start containerd-node2", "start kubelet-node2"]
    assert faults.counted == [0], "the agent's failure alone, not its command's as well"


def test_the_master_is_taken_and_not_a_task(recorder):
    faults = PodFaults(recorder, recorder, recorder)
    assert (faults.kill_master(0.5), faults.delete_master(0.5), faults.evict_master(0.5)) == ("master", "storm-master-x", "storm-master-x")
    assert faults.counted == []


def test_a_client_that_has_ended_is_not_hit(recorder, monkeypatch):
    monkeypatch.setattr(recorder, "poll", lambda: 0)
    told = []
    for name in ("kill client", "freeze client"):
        Fault(name, 0.3).strike(PodFaults(recorder, recorder, recorder), told)
    assert told == [] and not [each for each in recorder.told if "client" in each]


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
    (["kill node"], 1, {}, {"succeeded"}),
    (["kill node"], 2, {}, {"failed", "succeeded"}),
    (["kill command"], 1, {"job": WITHOUT_AGENTS, "restarts": 0}, {"failed"}),
    (["delete pod", "stop api server"], 0, {"job": WITHOUT_AGENTS, "restarts": 0}, {"succeeded"}),
    (["kill client"], 0, {"job": WITHOUT_AGENTS}, {"lost"}),
    (["kill master", "evict master", "lose node", "kill client"], 0, {"job": DETACHED, "restarts": 0}, {"succeeded"}),
    (["kill master", "kill agent"], 1, {"job": DETACHED, "restarts": 0}, {"failed", "succeeded"}),
    (["kill agent"], 1, {"job": DETACHED, "restarts": 0}, {"failed"}),
    (["kill client"], 0, {"job": DETACHED, "early": True}, {None, "lost", "succeeded"}),
    (["kill client", "kill agent"], 1, {"job": DETACHED, "early": True, "restarts": 0}, {None, "lost", "failed", "succeeded"}),
    (["kill etcd"], 0, {"job": DETACHED, "early": True}, {None, "lost", "failed", "succeeded"}),
    (["kill master"], 0, {"job": DETACHED, "early": True}, {"succeeded"}),
])
def test_the_right_ends(names, counted, changes, right):
    assert right_states(dataclasses.replace(PLAN, **changes), names, counted) == right


def number_of(job):
    return next(number for number in range(1000) if Plan.of(number).job == job)


@pytest.fixture
def run(recorder, tmp_path, monkeypatch):
    """run(job): one of such a job, in the test's own folder."""
    def made(job):
        monkeypatch.setattr("tempfile.mkdtemp", lambda **_: str(tmp_path))
        return run_of(number_of(job), recorder, recorder)

    return made


@pytest.mark.parametrize("job, kind, ways", [
    (ATTACHED, Run, {"agents": "config_maps"}),
    (WITHOUT_AGENTS, Run, {"agents": "none"}),
    (DETACHED, DetachedRun, {"agents": "config_maps", "master": {"service_account": "leader"}}),
])
def test_a_job_is_led_as_its_number_says(run, job, kind, ways):
    one = run(job)
    assert type(one) is kind
    section = one.job()["kubernetes"]
    section.get("master", {}).pop("keep", None)
    assert {key: section[key] for key in ways} == ways and ("master" in section) == (job == DETACHED)


def test_a_job_that_was_handed_over_is_there(run):
    one = run(DETACHED)
    one.starter = subprocess.CompletedProcess([], 0)
    one.said = lambda: "nothing"
    with pytest.raises(Wrong, match="there is no job"):
        one.judge({None, "lost", "succeeded"})
    one.starter = subprocess.CompletedProcess([], -signal.SIGKILL)
    assert one.judge({None, "lost", "succeeded"}) is None


@pytest.mark.parametrize("waited, is_wrong", [(0, False), (1, True), (6, True), (7, False), (-9, False)])
def test_who_waits_is_told_the_right_end_or_none(run, waited, is_wrong):
    one = run(DETACHED)
    one.starter, one.client = subprocess.CompletedProcess([], 0), subprocess.CompletedProcess([], waited)
    if is_wrong:
        with pytest.raises(Wrong, match="the client ended with"):
            one.judge_client("succeeded", 0, "")
    else:
        one.judge_client("succeeded", 0, "")


OUTCOMES = [
    Outcome(7, ATTACHED, ["kill agent", "evict", "kill agent"], None, 12.5),
    Outcome(8, DETACHED, ["kill master"], "wrong", 30.0),
    Outcome(9, DETACHED, ["kill master", "lose node"], None, 130.0),
]


def test_the_table_counts_runs():
    assert table_of(OUTCOMES) == """\
| what | runs | hung | left | wrong |
|---|---|---|---|---|
| job: attached | 1 | 0 | 0 | 0 |
| job: detached | 2 | 0 | 0 | 1 |
| job: without agents | 0 | 0 | 0 | 0 |
| kill agent | 1 | 0 | 0 | 0 |
| kill master | 2 | 0 | 0 | 1 |
| evict | 1 | 0 | 0 | 0 |
| lose node | 1 | 0 | 0 | 0 |
| all | 3 | 0 | 0 | 1 |"""


def test_the_tables_of_several_storms_are_one(tmp_path):
    files = [tmp_path / "a", tmp_path / "b"]
    for file, outcomes in zip(files, (OUTCOMES[:1], OUTCOMES[1:]), strict=True):
        file.write_text("".join(json.dumps(dataclasses.asdict(outcome)) + "\n" for outcome in outcomes))
    assert recorded(files) == OUTCOMES


def test_a_failure_says_how_it_is_repeated():
    assert again(17) == "tests/kubernetes/pod_storm.py --seed 17 --runs 1"


def test_the_masters_account_has_the_rights_that_the_guide_names():
    assert {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "patch"]} in documented_master_rights()
