"""What fails on the way: a command, a pod, an image, a node, a quota, the API server."""

import json
import re
import signal

import pytest
from kubernetes.hollow import hollow_job
from kubernetes.jobs import SLEEPER, WITHOUT_AGENTS
from waiting import wait_until

ONLY_THE_FIRST_FAILS = ("sh", "-c",
                        'if [ "$GANGRUN_RESTARTS" = 0 ] && [ "$GANGRUN_TASK_INDEX" = 1 ]; then echo failing; exit 3; fi; '
                        'if [ "$GANGRUN_RESTARTS" = 0 ]; then exec tail -f /dev/null; fi; echo again')


@pytest.mark.gate
def test_the_first_failure_is_the_cause_with_its_last_lines(jobs):
    done = jobs.run("-r", "worker:3", "--", "sh", "-c",
                    'if [ "$GANGRUN_TASK_INDEX" = 1 ]; then echo "reason: no data" >&2; exit 3; fi; trap "exit 0" TERM; tail -f /dev/null & wait')
    assert done.returncode == 1
    cause = jobs.status()["cause"]
    assert cause["task"] == "worker:1"
    assert re.fullmatch(r"worker:1 on node\d exited with status 3", cause["sentence"]), cause
    assert "reason: no data" in cause["last_lines"]
    assert "exited with status 3" in jobs.order("why", "last").stdout
    assert jobs.left() == []


@pytest.mark.parametrize("agents", [(), WITHOUT_AGENTS], ids=["agents", "none"])
@pytest.mark.parametrize("scope, generation", [("gang", 2), ("task", 1)])
def test_restarts(jobs, scope, generation, agents):
    words = ONLY_THE_FIRST_FAILS if scope == "gang" else (
        "sh", "-c", 'if [ "$GANGRUN_RESTARTS" = 0 ] && [ "$GANGRUN_TASK_INDEX" = 1 ]; then exit 3; fi; sleep 5; echo again')
    done = jobs.run(*agents, "-r", "worker:2", "--restarts", f"1:{scope}", "--timeout", "stop=1s", "--", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    status = jobs.status()
    assert (status["restarts_used"], status["generation"]) == (1, generation)
    assert len([line for line in jobs.lines() if "again" in line]) == 2
    assert jobs.left() == []


def test_out_of_memory_is_told_as_such(jobs):
    done = jobs.run("-r", "worker:1", "-m", "64m", "--", "python3", "-c", "print(len(b'x' * (1 << 30)))")
    assert done.returncode == 1
    assert "out of memory" in jobs.status()["cause"]["sentence"]


def test_an_image_that_is_not_there(jobs):
    jobs.image = "localhost/absent:1"
    done = jobs.run("-r", "worker:1", "--timeout", "roll_call=5s", "--", "true")
    assert done.returncode == 3
    assert "localhost/absent:1" in jobs.status()["cause"]["sentence"]
    assert jobs.left() == []


def test_a_command_that_is_not_in_the_image(jobs):
    done = jobs.run("-r", "worker:1", "--", "no-such-program")
    assert done.returncode == 3
    assert "could not be started" in jobs.status()["cause"]["sentence"]
    assert "no-such-program" in jobs.status()["cause"]["sentence"]


def test_an_init_container_that_fails(jobs):
    jobs.write("job.yaml", json.dumps({
        "tasks": {"worker": {"instances": 1}}, "command": "true", "kubernetes": {"pod": {"spec": {
            "initContainers": [{"name": "prepares", "image": jobs.image, "command": ["sh", "-c", "exit 7"]}]}}}}))
    done = jobs.run("job.yaml")
    assert done.returncode == 3
    assert "prepares" in jobs.status()["cause"]["sentence"]


def test_what_no_node_has_is_told_while_it_is_waited_for_and_at_the_limit(jobs):
    with jobs.running("-r", "worker:1", "-m", "9000g", "--timeout", "allocation=12s", "--", "true") as client:
        jobs.waits_for("Insufficient memory")
        assert client.wait(60) == 3
    assert "Insufficient memory" in jobs.status()["cause"]["sentence"]
    assert jobs.left() == []


def test_a_scheduler_that_nobody_runs_is_named(jobs):
    jobs.write("job.yaml", json.dumps({"tasks": {"worker": {"instances": 1}}, "command": "true",
                                       "kubernetes": {"pod": {"spec": {"schedulerName": "nobody-s"}}}}))
    with jobs.running("job.yaml", "--timeout", "allocation=12s") as client:
        jobs.waits_for("nobody-s")
        assert client.wait(60) == 3
    assert "nobody-s" in jobs.status()["cause"]["sentence"]


def test_all_or_nothing(jobs, kubernetes, two_hollow_nodes):
    """With room for one of two the one is taken back; with room for both they come."""
    mark = jobs.kubectl.namespace
    first, second = two_hollow_nodes
    kubernetes.kubectl.run("label", "node", first, f"gang={mark}")
    job = hollow_job(jobs, "pair", node_selector={"gang": mark}, annotations={"hollow/run-for": "2s"}, gang_scheduling="hold")
    with jobs.running(job, "--timeout", "hold=2s") as client:
        wait_until(lambda: [pod for pod in jobs.pods() if pod["spec"].get("nodeName")], "one with a node", pause_s=0.05)
        wait_until(lambda: jobs.pods() == [], "both taken back", 60, pause_s=0.05)
        kubernetes.kubectl.run("label", "node", second, f"gang={mark}")
        assert client.wait(120) == 0
    status = jobs.status()
    assert (status["state"], status["restarts_used"]) == ("succeeded", 0)


@pytest.mark.parametrize("how", ["deleted by hand", "evicted"])
def test_a_pod_that_is_taken_away_comes_back_and_uses_up_no_restart(jobs, how):
    with jobs.running(*WITHOUT_AGENTS, "-r", "worker:2", "--timeout", "stop=1s", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        before = jobs.pod_of("worker-1")["metadata"]
        if how == "evicted":
            jobs.kubectl.run("create", "--raw", f"/api/v1/namespaces/{before['namespace']}/pods/{before['name']}/eviction", "-f", "-",
                             given={"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": before["name"]}})
        else:
            jobs.kubectl.run("delete", "pod", before["name"], "--wait=false")
        wait_until(lambda: [pod for pod in jobs.pods() if pod["metadata"]["name"] == before["name"]
                            and pod["metadata"]["uid"] != before["uid"]], "the next pod", 90, pause_s=0.2)
        status = jobs.wait_for_running(2)
        assert status["restarts_used"] == 0
        client.send_signal(signal.SIGINT)
        assert client.wait(90) == 130
    assert jobs.left() == []


def test_a_pod_that_is_preempted_comes_back(jobs, kubernetes, two_hollow_nodes):
    mark = jobs.kubectl.namespace
    for node in two_hollow_nodes:
        kubernetes.kubectl.run("label", "node", node, f"gang={mark}")
    urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": f"urgent-{mark}"}, "value": 1000}
    kubernetes.kubectl.apply(urgent)
    with jobs.running(hollow_job(jobs, "pair", node_selector={"gang": mark}), "--timeout", "stop=1s"):
        jobs.wait_for_running(2)
        jobs.kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "urgent", "annotations": {"hollow/run-for": "3s"}}, "spec": {
            "priorityClassName": f"urgent-{mark}", "restartPolicy": "Never", "nodeSelector": {"gang": mark},
            "tolerations": [{"key": "hollow", "operator": "Exists"}],
            "containers": [{"name": "main", "image": "any/image:1", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}})
        jobs.kubectl.wait_for_phase("urgent", "Running", "Succeeded")
        status = jobs.wait_for_running(2)
        assert status["restarts_used"] == 0
    kubernetes.kubectl.run("delete", "priorityclass", f"urgent-{mark}")


@pytest.mark.parametrize("agents, status", [pytest.param((), 3, id="agents"), pytest.param(WITHOUT_AGENTS, 1, id="none")])
def test_a_quota_is_waited_for_and_named(jobs, agents, status):
    """Without agents one command has run when the time is over."""
    jobs.kubectl.run("create", "quota", "few", "--hard=pods=1")
    with jobs.running(*agents, "-r", "worker:2", "--timeout", "allocation=15s", "--", *SLEEPER) as client:
        jobs.waits_for("few")
        assert client.wait(90) == status
    assert "few" in jobs.status()["cause"]["sentence"]
    assert jobs.left() == []


def test_an_admission_policy_is_named(jobs, kubernetes):
    mark = jobs.kubectl.namespace
    kubernetes.kubectl.apply(
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": f"no-{mark}"}, "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
            "validations": [{"expression": "false", "message": "no pods on Sundays"}]}},
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": f"no-{mark}"}, "spec": {
            "policyName": f"no-{mark}", "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": mark}}}}})
    try:
        refusal = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
        wait_until(lambda: jobs.kubectl.run("create", "--dry-run=server", "-f", "-", given=refusal, check=False).returncode != 0,
                   "the policy", pause_s=0.3)
        done = jobs.run("-r", "worker:1", "--", "true")
        assert done.returncode == 3
        assert "no pods on Sundays" in jobs.status()["cause"]["sentence"]
        assert jobs.left() == []
    finally:
        for kind in ("validatingadmissionpolicybinding", "validatingadmissionpolicy"):
            kubernetes.kubectl.run("delete", kind, f"no-{mark}")


@pytest.mark.parametrize("agents", [(), WITHOUT_AGENTS], ids=["agents", "none"])
def test_no_task_notices_a_restart_of_the_api_server(jobs, kubernetes, agents):
    script = 'echo start; i=0; while [ $i -lt 80 ]; do i=$((i+1)); sleep 0.25; echo line $i; done'
    with jobs.running(*agents, "-r", "worker:2", "--", "sh", "-c", script) as client:
        jobs.wait_for_running(2)
        kubernetes.stop("kube-apiserver")
        kubernetes.start("kube-apiserver")
        assert client.wait(120) == 0
    status = jobs.status()
    assert (status["state"], status["restarts_used"]) == ("succeeded", 0)
    for task in ("worker:0", "worker:1"):
        lines = [line.split("| ", 1)[-1].strip() for line in jobs.lines("last", task)]
        assert lines == ["start", *(f"line {number}" for number in range(1, 81))]
    assert jobs.left() == []


def test_a_silent_api_server_is_told_and_its_return_too(jobs, kubernetes):
    with jobs.running("-r", "worker:1", "--timeout", "stop=1s", "--", *SLEEPER) as client:
        jobs.wait_for_running(1)
        kubernetes.stop("kube-apiserver")
        try:
            jobs.waits_for("the API server, which has not answered")
            assert "the API server, which has not answered" in jobs.order("why", "last").stdout
        finally:
            kubernetes.start("kube-apiserver")
        wait_until(lambda: not jobs.status()["waiting_for"], lambda: f"the return: {jobs.status()}", 90, pause_s=0.2)
        client.send_signal(signal.SIGINT)
        assert client.wait(90) == 130
        said = client.stdout.read()
    assert "the API server has not answered for " in said and "the API server answers again, after " in said, said
    assert jobs.left() == []


def test_who_is_to_end_at_once_while_the_api_server_is_away_does_when_it_is_back(jobs, kubernetes):
    with jobs.running(*WITHOUT_AGENTS, "-r", "worker:2", "--timeout", "stop=2m", "--", "tail", "-f", "/dev/null") as client:
        jobs.wait_for_running(2)
        kubernetes.stop("kube-apiserver")
        try:
            jobs.waits_for("the API server, which has not answered")
            for words in ([], ["--now"]):
                assert jobs.order("kill", *words, "last").returncode == 0
        finally:
            kubernetes.start("kube-apiserver")
        assert client.wait(90) == 5
        said = client.stdout.read()
    # Nodes keep to the time that they are told first.
    assert "given first" not in said and "by force" not in said, said
    # A server that is away for longer than the client waits for the ends brings them after it.
    wait_until(lambda: not jobs.left(), lambda: f"no pod, in {jobs.left()}; run said: {said}")
