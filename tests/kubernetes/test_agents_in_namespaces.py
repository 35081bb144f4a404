"""Agents in namespaces that are not everybody's: rules for pods, quotas, a mesh, a network that denies, readers."""

import base64
import contextlib
import json
import pathlib
import signal
import subprocess
import time

import pytest
from kubernetes.injection import injected
from kubernetes.jobs import SLEEPER
from kubernetes.pod_faults import link_of
from waiting import wait_until

AGENTS = ("--agents", "config_maps")
BUSYBOX = "localhost/busybox:1"
LIMIT_S = 60
SAYS = ("sh", "-c", "echo user $(id -u) run $GANGRUN_RESTARTS; [ $GANGRUN_RESTARTS -gt 0 ] || exit 3")
RESTRICTED = {"spec": {
    "securityContext": {"runAsNonRoot": True, "runAsUser": 1234, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [{"name": "task", "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}]}}
# Where a relay listens for agents.
RELAY_PORT = 17400
RULES = f"""
table bridge denied {{ chain forward {{ type filter hook forward priority 0; policy accept; ether type ip tcp dport {RELAY_PORT} drop; }}; }}
table inet denied {{ chain forward {{ type filter hook forward priority 0; policy accept; tcp dport {RELAY_PORT} drop; }}; }}
"""


def job_file(jobs, tasks=None, **kubernetes):
    """Of a gang of two that fails once."""
    jobs.write("job.yaml", json.dumps({
        "on": "kubernetes", "image": BUSYBOX, "command": list(SAYS), "restarts": {"scope": "gang", "max": 1, "pause": "0s"},
        "tasks": {"worker": {"instances": 2, "memory": "64m"} | (tasks or {})},
        "kubernetes": {"namespace": jobs.kubectl.namespace, "agents": "config_maps", **kubernetes}}))
    return "job.yaml"


def runs_well(jobs, *words):
    done = jobs.order("run", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (jobs.status()["restarts_used"], jobs.left()) == (1, [])


def test_pods_that_are_restricted(jobs):
    jobs.kubectl.run("label", "namespace", jobs.kubectl.namespace, "pod-security.kubernetes.io/enforce=restricted")
    runs_well(jobs, job_file(jobs, pod=RESTRICTED))
    assert len([line for line in jobs.lines() if "user 1234 run 1" in line]) == 2


def test_who_does_not_obey_the_restriction_is_told(jobs):
    jobs.kubectl.run("label", "namespace", jobs.kubectl.namespace, "pod-security.kubernetes.io/enforce=restricted")
    done = jobs.order("run", job_file(jobs))
    assert done.returncode in (2, 3), done
    assert "violates PodSecurity" in done.stdout + done.stderr
    assert jobs.left() == []


# The limits of two tasks and of the relay, and no more. A quota asks for what it counts of each container.
QUOTA = {"requests.cpu": "2010m", "limits.cpu": "3", "requests.memory": "160Mi", "limits.memory": "192Mi", "pods": "3"}
STORAGE = {"limits.ephemeral-storage": "2304Mi", "requests.ephemeral-storage": "2304Mi"}


@pytest.mark.parametrize("hard, resources", [(QUOTA, {}), (QUOTA | STORAGE, {"ephemeral-storage": 1 << 30})], ids=["memory and processors", "storage"])
def test_a_quota_that_asks_for_requests_and_limits(jobs, hard, resources):
    jobs.kubectl.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "all"}, "spec": {"hard": hard}})
    wait_until(lambda: jobs.kubectl.json("get", "quota", "all")["status"].get("hard"), "the quota", pause_s=0.2)
    runs_well(jobs, job_file(jobs, {"resources": resources} if resources else {}, vcores_limit=1))


def put_range(jobs, least, most):
    jobs.kubectl.apply({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "each"}, "spec": {"limits": [
        {"type": "Container", "min": {"cpu": "10m", "memory": least}, "max": {"cpu": "1", "memory": most}}]}})


@pytest.mark.parametrize("most", ["256Mi", "64Mi"])
def test_a_range_of_limits(jobs, most):
    put_range(jobs, "16Mi", most)
    runs_well(jobs, job_file(jobs, vcores_limit=1))


def test_a_range_that_the_relay_does_not_fit_is_told_with_the_field_to_set(jobs):
    put_range(jobs, "40Mi", "64Mi")
    done = jobs.order("run", job_file(jobs, vcores_limit=1))
    assert done.returncode in (2, 3), done
    said = done.stdout + done.stderr
    assert "minimum memory usage per Container is 40Mi" in said and "kubernetes.relay.memory" in said, said
    assert jobs.left() == []
    runs_well(jobs, job_file(jobs, vcores_limit=1, relay={"memory": "40m"}))


@pytest.mark.parametrize("position", [0, "-"], ids=["first", "last"])
@pytest.mark.parametrize("line", ["trap '' TERM; tail -f /dev/null", "exit 7"], ids=["never ends", "fails at once"])
def test_the_container_of_a_mesh_neither_keeps_a_job_alive_nor_fails_it(jobs, tmp_path, position, line):
    proxy = {"name": "mesh-proxy", "image": BUSYBOX, "command": ["sh", "-c", line]}
    with injected(jobs.kubectl, tmp_path, proxy, position):
        begun = time.monotonic()
        runs_well(jobs, job_file(jobs), "--timeout", "stop=1m")
        assert time.monotonic() - begun < 50, "nobody waits for the proxy"
    assert len([line for line in jobs.lines() if "run 1" in line]) == 2


def test_a_container_of_the_users_own_beside_the_task(jobs):
    proxy = {"name": "beside", "image": BUSYBOX, "command": ["sh", "-c", "trap '' TERM; tail -f /dev/null"]}
    begun = time.monotonic()
    runs_well(jobs, job_file(jobs, pod={"spec": {"containers": [{"name": "task"}, proxy]}}), "--timeout", "stop=1m")
    assert time.monotonic() - begun < 50, "nobody waits for it"


@contextlib.contextmanager
def relays_denied(cluster):
    """What a policy does that lets nobody into pods: what agents send to a relay is dropped."""
    def on_nodes(*words, given=None):
        for node in (1, 2):
            subprocess.run(["nsenter", f"--net=/run/netns/{link_of(cluster)}-node{node}", "/usr/sbin/nft", *words], input=given, text=True, check=True,
                           capture_output=True, timeout=LIMIT_S)

    on_nodes("-f", "-", given=RULES)
    try:
        yield
    finally:
        for family in ("bridge", "inet"):
            on_nodes("delete", "table", family, "denied")


def test_no_command_runs_while_the_network_keeps_agents_from_their_relay(jobs, kubernetes):
    jobs.image = BUSYBOX
    with contextlib.ExitStack() as denied:
        denied.enter_context(relays_denied(kubernetes))
        with jobs.running(*AGENTS, "-r", "worker:2", "--", *SLEEPER) as client:
            wait_until(lambda: len([pod for pod in jobs.pods() if pod["status"].get("phase") == "Running"]) == 3, "all pods", pause_s=0.3)
            waits = jobs.status()
            assert [task["state"] for task in waits["tasks"] if task["state"] == "running"] == [] and jobs.lines() == []
            denied.close()
            jobs.wait_for_running(2)
            assert jobs.status()["restarts_used"] == 0
            client.send_signal(signal.SIGINT)
            assert client.wait(LIMIT_S) == 130
    assert jobs.left() == []


def test_a_network_that_keeps_agents_from_their_relay_ends_the_job_in_time(jobs, kubernetes):
    jobs.image = BUSYBOX
    with relays_denied(kubernetes):
        # The limit of a roll call begins when all pods have nodes, and has the time in it that their containers may take to start.
        limits = [word for limit in ("allocation=15s", "roll_call=8s", "stop=1s") for word in ("--timeout", limit)]
        done = jobs.run(*AGENTS, "-r", "worker:2", *limits, "--", "echo", "never")
    assert done.returncode == 3, done.stdout + done.stderr
    assert jobs.lines() == [] and jobs.left() == []


def test_who_may_read_all_but_secrets_learns_none(jobs):
    jobs.image = BUSYBOX
    may_read = [{"apiGroups": ["", "batch", "events.k8s.io"], "verbs": ["get", "list", "watch"],
                 "resources": ["pods", "pods/log", "configmaps", "services", "jobs", "events", "endpoints"]}]
    account = jobs.make_account("reader", rules=may_read)
    config = jobs.write_kubeconfig("reader.yaml", {"token": jobs.make_token(account)})

    def read(*words, **options):
        return jobs.kubectl.run("--kubeconfig", config, *words, **options)

    with jobs.running(*AGENTS, "-r", "worker:2", "-e", "API_TOKEN=hunter2-of-this-test", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        (secret,) = (folder / "secret" for folder in pathlib.Path(jobs.environment["GANGRUN_HOME"]).glob("jobs/*"))
        hidden = [value for one in jobs.kubectl.json("get", "secrets", "-l", "gangrun/job") for value in one["data"].values()]
        hidden += [base64.b64decode(value).decode() for value in hidden] + [secret.read_text().strip(), "hunter2-of-this-test"]
        shown = read("get", "pods,configmaps,services,jobs,events,endpoints", "-o", "json").stdout
        shown += "".join(read("logs", name, "--all-containers").stdout for name in jobs.kubectl.names("pods"))
        assert len(hidden) >= 5 and "gangrun/parts" in shown
        assert not [text for text in hidden if text and text in shown]
        for words in (["get", "secrets"], ["exec", jobs.pod_of("worker-0")["metadata"]["name"], "--", "true"]):
            refused = read(*words, check=False)
            assert refused.returncode != 0 and "forbidden" in refused.stderr, refused
        client.send_signal(signal.SIGINT)
        assert client.wait(LIMIT_S) == 130
    assert jobs.left() == []
