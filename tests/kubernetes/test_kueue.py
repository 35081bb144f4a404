"""Jobs in a queue of the real Kueue, whose quota is as much as one of them needs."""

import json
import signal
import uuid

import pytest
from clusters.kubernetes.fixtures import SMALL_IMAGE, Kubectl, Kubernetes, short_folder
from kubernetes.jobs import SLEEPER, documented_rights
from waiting import wait_until

LIMIT_S = 120
API = "kueue.x-k8s.io/v1beta2"
WORKLOADS = "workloads.kueue.x-k8s.io"
# Of a gang of two, with some left for a pod of our own: the relay is in no queue, and needs none.
QUOTA = {"cpu": "2", "memory": "1Gi"}
BOTH = pytest.mark.parametrize("agents", ["none", "config_maps"])


@pytest.fixture(scope="module")
def kueue_cluster():
    """A cluster with Kueue, which would see to the pods of other tests as well."""
    cluster = Kubernetes(short_folder(), real_nodes=2, nodes=0, kueue=True)
    yield cluster
    cluster.down()


@pytest.fixture
def jobs(jobs_of, kueue_cluster):
    """Jobs in a namespace with a queue of its own, "ml"."""
    name = f"t{uuid.uuid4().hex[:8]}"
    kubectl = Kubectl(kueue_cluster.environment, name)
    quotas = [{"name": resource, "nominalQuota": amount} for resource, amount in QUOTA.items()]
    kubectl.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}},
        {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": "any"}},
        {"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 1000},
        {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": name},
         "spec": {"namespaceSelector": {}, "preemption": {"withinClusterQueue": "LowerPriority"},
                  "resourceGroups": [{"coveredResources": list(QUOTA), "flavors": [{"name": "any", "resources": quotas}]}]}},
        {"apiVersion": API, "kind": "LocalQueue", "metadata": {"name": "ml"}, "spec": {"clusterQueue": name}})
    kubectl.run("wait", "--for=condition=Active", f"localqueues.{API.split('/')[0]}/ml", "--timeout=60s")
    yield jobs_of(kubectl, SMALL_IMAGE)
    kubectl.run("delete", "namespace", name, "--wait=false")
    kubectl.run("delete", f"clusterqueues.{API.split('/')[0]}", name, "--wait=false")


def job_file(jobs, name, agents, command, instances=2, **kubernetes):
    jobs.write(f"{name}.json", json.dumps({
        "on": "kubernetes", "name": name, "image": SMALL_IMAGE, "command": list(command),
        "tasks": {"worker": {"instances": instances}}, "restarts": {"scope": "gang", "max": 0}, "timeouts": {"stop": "5s"},
        "kubernetes": {"namespace": jobs.kubectl.namespace, "queue": "ml", "agents": agents, **kubernetes}}))
    return "run", f"{name}.json"


def id_of(jobs, name):
    """The id of the job that runs under this name, once it is there."""
    def look():
        done = jobs.order("ps", "--json")
        return next((job["id"] for job in json.loads(done.stdout or "[]") if job["id"].startswith(f"{name}-")), None)

    return wait_until(look, lambda: f"the job {name}: {jobs.order('ps')}", pause_s=0.2)


def left(jobs):
    return jobs.left() + jobs.kubectl.names(WORKLOADS)


def goes(jobs):
    """Waits until Kueue has forgotten the last job, which it does a moment after its pods are gone."""
    wait_until(lambda: left(jobs) == [], lambda: f"the end of {left(jobs)}", LIMIT_S, pause_s=0.3)


@BOTH
def test_jobs_that_each_need_the_whole_quota_run_one_after_the_other_and_hear_who_is_ahead(jobs, agents):
    # Each ends when the test says so.
    with jobs.running(*job_file(jobs, "first", agents, SLEEPER), program="gangrun") as first:
        one = id_of(jobs, "first")
        jobs.wait_for_running(2, one)
        with jobs.running(*job_file(jobs, "second", agents, ("echo", "here")), program="gangrun") as second:
            two = id_of(jobs, "second")
            wait_until(lambda: f"it is next in queue ml; {one} has quota there" in jobs.status(two)["waiting_for"],
                       lambda: f"who has the quota: {jobs.status(two)}", LIMIT_S, pause_s=0.3)
            with jobs.running(*job_file(jobs, "third", agents, ("echo", "here")), program="gangrun") as third:
                three = id_of(jobs, "third")
                wait_until(lambda: f"it is number 2 in queue ml, after {two}; {one} has quota there" in jobs.status(three)["waiting_for"],
                           lambda: f"who is ahead: {jobs.status(three)}", LIMIT_S, pause_s=0.3)
                told = jobs.order("why", three).stdout
                assert "Kueue has not admitted it" in told and two in told and "insufficient unused quota for cpu" in told, told
                assert [task["state"] for job in (two, three) for task in jobs.status(job)["tasks"] if task["state"] == "running"] == []
                assert jobs.order("kill", one).returncode == 0
                assert first.wait(LIMIT_S) == 5
                assert (second.wait(LIMIT_S), third.wait(LIMIT_S)) == (0, 0)
    assert [jobs.status(job)["state"] for job in (two, three)] == ["succeeded"] * 2
    goes(jobs)


@BOTH
def test_a_gang_that_fails_leaves_nothing_and_its_quota(jobs, agents):
    done = jobs.order(*job_file(jobs, "fails", agents, ("sh", "-c", '[ "$GANGRUN_TASK_INDEX" != 1 ] || exit 3; tail -f /dev/null')))
    assert done.returncode != 0 and "exited with status 3" in done.stdout + done.stderr, done
    goes(jobs)
    done = jobs.order(*job_file(jobs, "next", agents, ("true",)))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_pod_that_is_deleted_is_replaced_in_its_group(jobs):
    with jobs.running(*job_file(jobs, "replaced", "config_maps", SLEEPER), program="gangrun") as client:
        jobs.wait_for_running(2)
        (before,) = jobs.kubectl.json("get", WORKLOADS)
        lost = jobs.pod_of("worker-1")["metadata"]
        jobs.kubectl.run("delete", "pod", lost["name"], "--wait=false")

        def is_back():
            status = jobs.status()
            return status["generation"] == 2 and all(task["state"] == "running" for task in status["tasks"])

        wait_until(is_back, lambda: f"the gang again: {jobs.status()}", LIMIT_S, pause_s=0.3)
        assert jobs.pod_of("worker-1")["metadata"]["uid"] != lost["uid"] and jobs.status()["restarts_used"] == 0
        (after,) = jobs.kubectl.json("get", WORKLOADS)
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert jobs.order("kill", "last").returncode == 0
        assert client.wait(LIMIT_S) == 5
    goes(jobs)


def test_a_gang_that_kueue_takes_away_comes_again_after_the_other(jobs):
    with jobs.running(*job_file(jobs, "low", "config_maps", SLEEPER), program="gangrun") as low:
        one = id_of(jobs, "low")
        jobs.wait_for_running(2, one)
        high = jobs.order(*job_file(jobs, "high", "config_maps", ("echo", "here"), labels={"kueue.x-k8s.io/priority-class": "high"}))
        assert high.returncode == 0, high.stdout + high.stderr

        def is_back():
            status = jobs.status(one)
            return status["generation"] > 1 and all(task["state"] == "running" for task in status["tasks"])

        wait_until(is_back, lambda: f"the gang again: {jobs.status(one)}", LIMIT_S, pause_s=0.3)
        assert jobs.status(one)["restarts_used"] == 0
        assert jobs.order("kill", one).returncode == 0
        assert low.wait(LIMIT_S) == 5
        said = low.stdout.read()
        assert "by Kueue" in said and "Preempted to accommodate a workload" in said, said
    goes(jobs)


def test_who_may_not_ask_kueue_runs_well_and_hears_less(jobs):
    rules = [rule for rule in documented_rights() if not any("kueue" in group for group in rule["apiGroups"])]
    config = jobs.write_kubeconfig("few.yaml", {"token": jobs.make_token(jobs.make_account("few", rules=rules))})
    with jobs.running(*job_file(jobs, "first", "config_maps", SLEEPER), program="gangrun") as first:
        one = id_of(jobs, "first")
        jobs.wait_for_running(2, one)
        words = job_file(jobs, "second", "config_maps", ("true",), kubeconfig=str(config))
        with jobs.running(*words, program="gangrun") as second:
            two = id_of(jobs, "second")
            wait_until(lambda: "Kueue has not admitted it: it waits in queue ml" in jobs.status(two)["waiting_for"],
                       lambda: f"that it waits: {jobs.status(two)}", LIMIT_S, pause_s=0.3)
            assert jobs.order("kill", one).returncode == 0
            assert first.wait(LIMIT_S) == 5
            assert second.wait(LIMIT_S) == 0
    goes(jobs)


def test_of_a_client_that_is_killed_nothing_is_left_in_the_queue(jobs):
    with jobs.running(*job_file(jobs, "lost", "none", SLEEPER), program="gangrun") as client:
        jobs.wait_for_running(2)
        client.send_signal(signal.SIGKILL)
        client.wait(LIMIT_S)
        wait_until(lambda: left(jobs) == [], lambda: f"the end of {left(jobs)}", 240, pause_s=1)
