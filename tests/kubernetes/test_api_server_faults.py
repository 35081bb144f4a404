"""What the API server and the cluster do to a job that runs: forgotten history, refusals, lost nodes, names of others."""

import base64
import concurrent.futures
import contextlib
import http.client
import json
import signal
import ssl
import tempfile
import threading
import urllib.parse

import pytest
from kubernetes.hollow import hollow_job
from kubernetes.jobs import SLEEPER, WITHOUT_AGENTS
from waiting import wait_until

from clusters.kubernetes.fixtures import Kubectl, Kubernetes, short_folder

LIMIT_S = 180
OTHERS = 5000


def is_of_pods(entry):
    return urllib.parse.urlsplit(entry["requestURI"]).path.endswith("/pods")


def asks_for_its_own(entry):
    return "labelSelector=gangrun%2Fjob%3D" in entry["requestURI"] or "labelSelector=gangrun/job%3D" in entry["requestURI"]


def next_pod(jobs, before):
    """Waits for the pod that takes the place of one."""
    def look():
        pods = [pod for pod in jobs.pods() if pod["metadata"]["name"] == before["name"]]
        return pods[0] if pods and pods[0]["metadata"]["uid"] != before["uid"] else None

    return wait_until(look, lambda: f"the next {before['name']}: {jobs.status()}", LIMIT_S, pause_s=0.2)


def end(jobs, client):
    client.send_signal(signal.SIGINT)
    assert client.wait(LIMIT_S) == 130
    assert jobs.left() == []


def test_a_watch_whose_history_is_forgotten_lists_anew_and_misses_nothing(jobs, kubernetes):
    with jobs.running("-r", "worker:2", "--timeout", "stop=1s", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        before = jobs.pod_of("worker-1")["metadata"]
        client.send_signal(signal.SIGSTOP)
        # A server that has just started knows of nothing that was before.
        kubernetes.stop("kube-apiserver")
        kubernetes.start("kube-apiserver")
        jobs.kubectl.run("delete", "pod", before["name"], "--grace-period=1")
        begun = len(kubernetes.requests())
        client.send_signal(signal.SIGCONT)
        next_pod(jobs, before)
        assert jobs.wait_for_running(2)["restarts_used"] == 0
        assert [entry for entry in kubernetes.requests()[begun:] if entry["verb"] == "list" and is_of_pods(entry) and asks_for_its_own(entry)]
        end(jobs, client)


def cluster_of(jobs):
    """(host and port, trust, the administrator's credentials) of the API server."""
    config = json.loads(jobs.kubectl.run("config", "view", "--raw", "--flatten", "-o", "json").stdout)
    cluster = config["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    return urllib.parse.urlsplit(cluster["server"]).netloc, ssl.create_default_context(cadata=authority), config["users"][0]["user"]


@contextlib.contextmanager
def throttled(jobs, kubernetes, account, token):
    """While this lasts the API server answers nearly every request of the account by 429: the account may have one at a
    time, and one is always there, for a version of the list that never comes, which the server waits for seconds for."""
    namespace = jobs.kubectl.namespace
    level, flow = f"narrow-{namespace}", f"slow-{namespace}"
    kubernetes.kubectl.apply(
        {"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "PriorityLevelConfiguration", "metadata": {"name": level}, "spec": {
            "type": "Limited", "limited": {"nominalConcurrencyShares": 0, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}}}},
        {"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": {"name": flow}, "spec": {
            "priorityLevelConfiguration": {"name": level}, "matchingPrecedence": 10, "rules": [{
                "subjects": [{"kind": "ServiceAccount", "serviceAccount": {"name": account, "namespace": namespace}}],
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}]}]}})
    host, trust, _ = cluster_of(jobs)
    over = threading.Event()

    def occupy():
        connection = http.client.HTTPSConnection(host, context=trust, timeout=LIMIT_S)
        while not over.is_set():
            connection.request("GET", f"/api/v1/namespaces/{namespace}/pods?resourceVersion=9999999999&resourceVersionMatch=NotOlderThan",
                               headers={"Authorization": f"Bearer {token}"})
            connection.getresponse().read()

    occupant = threading.Thread(target=occupy)
    occupant.start()
    try:
        yield
    finally:
        over.set()
        occupant.join(LIMIT_S)
        kubernetes.kubectl.run("delete", "flowschema", flow)
        kubernetes.kubectl.run("delete", "prioritylevelconfiguration", level)


def test_a_server_that_refuses_for_now_is_asked_again(jobs, kubernetes):
    account = jobs.make_account()
    token = jobs.make_token(account)
    config = jobs.write_kubeconfig("mine.yaml", {"token": token})
    with jobs.running("--kubeconfig", config, "-r", "worker:2", "--timeout", "stop=1s", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        before = jobs.pod_of("worker-1")["metadata"]
        begun = len(kubernetes.requests())

        def refusals():
            return [entry for entry in kubernetes.requests()[begun:] if entry.get("responseStatus", {}).get("code") == 429]

        with throttled(jobs, kubernetes, account, token):
            wait_until(lambda: "many requests" in jobs.kubectl.run("--kubeconfig", config, "get", "pods", check=False).stderr,
                       "the first refusal", pause_s=0.3)
            jobs.kubectl.run("delete", "pod", before["name"], "--wait=false")
            wait_until(refusals, "a refusal of the client's requests", pause_s=0.3)
        next_pod(jobs, before)
        assert jobs.wait_for_running(2)["restarts_used"] == 0
        end(jobs, client)


def test_who_has_the_name_of_a_pod_keeps_it_and_the_job_says_so(jobs, kubernetes, two_hollow_nodes):
    mark = jobs.kubectl.namespace
    kubernetes.kubectl.run("label", "node", two_hollow_nodes[0], f"gang={mark}")
    job = hollow_job(jobs, "pair", node_selector={"gang": mark}, gang_scheduling="hold")
    with jobs.running(job, "--timeout", "hold=2s") as client:
        pods = wait_until(lambda: jobs.pods() if len(jobs.pods()) == 2 else None, "both", pause_s=0.05)
        name = pods[0]["metadata"]["name"]
        wait_until(lambda: jobs.pods() == [], "both taken back", 60, pause_s=0.05)
        # While none of them is there.
        jobs.kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
            "containers": [{"name": "main", "image": "any/image:1"}], "schedulingGates": [{"name": "test/never"}]}})
        assert client.wait(LIMIT_S) == 1
    assert f"the pod {name} does not belong to this job" in jobs.status()["cause"]["sentence"]
    assert jobs.left() == []
    assert jobs.kubectl.names("pods") == [f"pod/{name}"]


@pytest.mark.parametrize("words", [("jobs",), ("jobs", "--cascade=foreground"), ("pods,services,jobs",)])
def test_a_job_whose_owner_is_deleted_by_hand_ends_and_says_so(jobs, words):
    """The commands do not end when they are asked to: nobody waits for that."""
    with jobs.running(*WITHOUT_AGENTS, "-r", "worker:2", "--timeout", "stop=15s", "--", "tail", "-f", "/dev/null") as client:
        jobs.wait_for_running(2)
        jobs.kubectl.run("delete", *words, "--selector=gangrun/job", "--wait=false")
        assert client.wait(LIMIT_S) == 1
        assert [pod for pod in jobs.pods() if pod["metadata"].get("deletionTimestamp")], "its pods were waited for"
    status = jobs.status()
    assert "somebody deleted Job " in status["cause"]["sentence"]
    assert status["restarts_used"] == 0 and {task["attempt"] for task in status["tasks"]} == {1}
    wait_until(lambda: jobs.left() == [], lambda: f"the end of {jobs.left()}", pause_s=0.2)


def test_a_job_with_agents_whose_owner_is_deleted_by_hand_ends_and_says_so(jobs):
    with jobs.running("-r", "worker:2", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        jobs.kubectl.run("delete", "jobs", "--selector=gangrun/job", "--wait=false")
        assert client.wait(LIMIT_S) == 1
    assert "somebody deleted Job " in jobs.status()["cause"]["sentence"]
    wait_until(lambda: jobs.left() == [], lambda: f"the end of {jobs.left()}", pause_s=0.2)


def test_a_job_whose_owner_alone_is_deleted_ends_at_once_and_its_pods_stay(jobs):
    """It was noticed when the lease was to be renewed. Who deletes so wants to keep them."""
    with jobs.running(*WITHOUT_AGENTS, "-r", "worker:2", "--", "tail", "-f", "/dev/null") as client:
        jobs.wait_for_running(2)
        jobs.kubectl.run("delete", "jobs", "--cascade=orphan", "--selector=gangrun/job", "--wait=false")
        assert client.wait(LIMIT_S) == 1
    assert "somebody deleted Job " in jobs.status()["cause"]["sentence"]
    pods = jobs.pods()
    assert len(pods) == 2 and not any(pod["metadata"].get("ownerReferences") for pod in pods), pods
    jobs.kubectl.run("delete", "pods,services,secrets,configmaps", "--selector=gangrun/job", "--wait=false")
    wait_until(lambda: jobs.left() == [], lambda: f"the end of {jobs.left()}", pause_s=0.2)


def test_a_client_ends_at_the_second_ctrl_c_while_the_api_server_is_silent(jobs, kubernetes):
    with jobs.running("-r", "worker:2", "--timeout", "stop=2s", "--", "tail", "-f", "/dev/null") as client:
        jobs.wait_for_running(2)
        kubernetes.kill("kube-apiserver", signal.SIGSTOP)
        try:
            for _ in range(2):
                client.send_signal(signal.SIGINT)
                while "Ctrl-C" not in client.stdout.readline():
                    assert client.poll() is None
            said = client.communicate(timeout=20)[0]
        finally:
            kubernetes.kill("kube-apiserver", signal.SIGCONT)
    assert client.returncode == 130
    assert "does not answer: pods of the job may still run in the namespace" in said and "delete pods -l gangrun/job=" in said, said
    wait_until(lambda: jobs.left() == [], lambda: f"the end of {jobs.left()}", LIMIT_S, pause_s=0.5)


def ready_nodes(kubernetes):
    nodes = kubernetes.kubectl.json("get", "nodes", "-l", "!hollow")
    return {node["metadata"]["name"] for node in nodes
            if [condition for condition in node["status"]["conditions"] if condition["type"] == "Ready" and condition["status"] == "True"]}


def test_a_node_that_is_lost_is_named_and_its_task_comes_back_elsewhere(jobs, kubernetes):
    """A kubelet that stands still: its node is not ready after a while, and what ran there is taken for lost."""
    gone_at_once = [{"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
                    for key in ("not-ready", "unreachable")]
    jobs.write("job.yaml", json.dumps({
        "tasks": {"worker": {"instances": 1}}, "command": [*SLEEPER[:2], f"echo restarts $GANGRUN_RESTARTS; {SLEEPER[2]}"], "kubernetes": {
            "agents": "none", "tolerations": gone_at_once, "pod": {"spec": {"affinity": {"nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": [
                    {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node2"]}]}}]}}}}}}))
    with jobs.running("job.yaml", "--timeout", "stop=1s") as client:
        jobs.wait_for_running(1)
        before = jobs.pod_of("worker-0")
        assert before["spec"]["nodeName"] == "node2"
        kubernetes.kill("kubelet-node2", signal.SIGSTOP)
        try:
            after = next_pod(jobs, before["metadata"])
            jobs.kubectl.wait_for_pod(after["metadata"]["name"], lambda pod: pod["spec"].get("nodeName") == "node1", "its node", LIMIT_S)
        finally:
            kubernetes.kill("kubelet-node2", signal.SIGCONT)
        assert jobs.wait_for_running(1)["restarts_used"] == 0
        wait_until(lambda: any("restarts 1" in line for line in jobs.lines()), lambda: f"the second run: {jobs.lines()}", LIMIT_S, pause_s=0.2)
        wait_until(lambda: "node2" in ready_nodes(kubernetes), "the node again", LIMIT_S, pause_s=0.5)
        end(jobs, client)
        assert "node2" in client.stdout.read()


def connection_of(jobs, folder):
    """A connection to the API server as the administrator."""
    host, context, user = cluster_of(jobs)
    paths = {}
    for name in ("certificate", "key"):
        paths[name] = f"{folder}/{name}"
        with open(paths[name], "wb") as file:
            file.write(base64.b64decode(user[f"client-{name}-data"]))
    context.load_cert_chain(paths["certificate"], paths["key"])
    return http.client.HTTPSConnection(host, context=context, timeout=LIMIT_S)


@pytest.fixture(scope="module")
def gang_kubernetes():
    """A cluster that schedules gangs itself, of three hollow nodes with eight GPUs each."""
    cluster = Kubernetes(short_folder(), nodes=3, audit=True, feature_gates="GenericWorkload=true,GangScheduling=true",
                         runtime_config="scheduling.k8s.io/v1alpha1=true")
    yield cluster
    cluster.down()


@pytest.fixture
def full_namespace(jobs_of, gang_kubernetes):
    """Jobs in a namespace full of somebody else's pods. It is left so: to delete them takes longer than all else here, and
    the cluster is taken down after these tests."""
    jobs = jobs_of(Kubectl(gang_kubernetes.environment, "full"), "any/image:1")
    jobs.kubectl.run("create", "namespace", jobs.kubectl.namespace)
    wait_until(lambda: jobs.kubectl.names("serviceaccount"), "the account that pods run under", pause_s=0.1)

    def make(numbers):
        with tempfile.TemporaryDirectory() as folder:
            connection = connection_of(jobs, folder)
            for number in numbers:
                pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"other-{number}", "labels": {"team": "other"}}, "spec": {
                    "containers": [{"name": "main", "image": "any/image:1"}], "schedulingGates": [{"name": "test/never"}]}}
                connection.request("POST", f"/api/v1/namespaces/{jobs.kubectl.namespace}/pods", json.dumps(pod),
                                   {"Content-Type": "application/json"})
                answer = connection.getresponse()
                body = answer.read()
                assert answer.status == 201, body

    with concurrent.futures.ThreadPoolExecutor(4) as several:
        list(several.map(make, (range(start, OTHERS, 4) for start in range(4))))
    return jobs


def test_of_a_full_namespace_only_the_jobs_own_pods_are_looked_at(full_namespace, gang_kubernetes):
    jobs = full_namespace
    job = hollow_job(jobs, "among-many", annotations={"hollow/run-for": "1s"})
    begun = len(gang_kubernetes.requests())
    done = jobs.run(job)
    assert done.returncode == 0, done.stdout + done.stderr
    asked = [entry for entry in gang_kubernetes.requests()[begun:] if entry["verb"] in ("list", "watch") and is_of_pods(entry)]
    assert {entry["verb"] for entry in asked} == {"list", "watch"}
    assert [entry["requestURI"] for entry in asked if not asks_for_its_own(entry)] == []
    assert jobs.left() == []
    assert len(jobs.kubectl.names("pods")) == OTHERS


def test_the_api_servers_own_gang_scheduling(jobs_of, gang_kubernetes):
    jobs = jobs_of(gang_kubernetes.kubectl, "any/image:1")
    gang_kubernetes.kubectl.run("cordon", "hollow-2")
    job = hollow_job(jobs, "three", instances=3, annotations={"hollow/run-for": "2s"})
    with jobs.running(job) as client:
        wait_until(lambda: len(jobs.pods()) == 3, "all pods", pause_s=0.1)
        (workload,) = jobs.kubectl.json("get", "workloads.scheduling.k8s.io")
        assert {pod["spec"]["workloadRef"]["name"] for pod in jobs.pods()} == {workload["metadata"]["name"]}
        told = jobs.waits_for("worker:")["waiting_for"]
        assert [pod for pod in jobs.pods() if pod["spec"].get("nodeName")] == [], told
        gang_kubernetes.kubectl.run("uncordon", "hollow-2")
        assert client.wait(LIMIT_S) == 0
    assert jobs.status()["restarts_used"] == 0
    assert jobs.left() == [] and jobs.kubectl.names("workloads.scheduling.k8s.io") == []
