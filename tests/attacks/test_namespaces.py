"""One namespace of Kubernetes with others in it: rights that are too narrow, and strangers' objects with our labels and names.

A missing right is named, and nothing is left. A stranger's object is no part of a job: it is neither taken for one nor deleted.
"""

import json
import signal

import pytest
from kubernetes.jobs import KINDS, SLEEPER, WITHOUT_AGENTS, documented_master_rights, documented_rights
from kubernetes.opening import fetch, opened
from said import assert_clean

from waiting import wait_until

LIMIT_S = 120
# What a job without agents with a file and a secret needs before anything is made of it: a verb and a resource that the guide's role
# gives.
NEEDED = [("create", "jobs"), ("get", "jobs"), ("patch", "jobs"), ("delete", "jobs"), ("create", "pods"), ("list", "pods"), ("watch", "pods"),
          ("delete", "pods"), ("get", "pods/log"), ("create", "services"), ("create", "configmaps"), ("create", "secrets"), ("create", "pods/exec"), ("list", "events"),
          ("list", "services"), ("list", "configmaps"), ("list", "secrets")]
# Agents need these besides.
NEEDED_BY_AGENTS = [("get", "configmaps"), ("patch", "configmaps"), ("get", "pods/portforward"), ("create", "pods/portforward")]
# Without a client it needs these; its master's account has rights of its own.
NEEDED_TO_DETACH = [("create", "jobs"), ("get", "jobs"), ("patch", "jobs"), ("delete", "jobs"), ("create", "services"), ("create", "secrets"),
                    ("create", "configmaps"), ("get", "configmaps"), ("list", "configmaps"), ("patch", "configmaps"), ("get", "pods"), ("list", "pods"),
                    ("create", "pods/portforward"), ("get", "pods/portforward")]
# What only other commands need, or jobs without agents.
SPARED = [("get", "pods"), ("list", "jobs"), ("delete", "services"), ("delete", "configmaps"), ("delete", "secrets"), ("create", "pods/exec")]


def rights_without(verb, resource):
    """Those of the guide, but for one verb of one resource."""
    rules = []
    for rule in documented_rights():
        kept = [each for each in rule["resources"] if each != resource]
        if kept:
            rules.append(rule | {"resources": kept})
        verbs = [each for each in rule["verbs"] if each != verb]
        if len(kept) < len(rule["resources"]) and verbs:
            rules.append(rule | {"resources": [resource], "verbs": verbs})
    return rules


def run_with_rights(jobs, rules, *words):
    account = jobs.make_account(rules=rules)
    jobs.write_kubeconfig("narrow.yaml", {"token": jobs.make_token(account)})
    jobs.write("given.txt", "given")
    return jobs.run("--kubeconfig", "narrow.yaml", "-r", "worker:1", "-e", "API_TOKEN=x", "-f", "given.txt", "--output", "made", *words, "--",
                    "sh", "-c", "cat given.txt > made")


def check_refusal(jobs, verb, resource, *words):
    """That the right, which the guide gives and this user lacks, is named before anything is made."""
    account = jobs.make_account(rules=rights_without(verb, resource))
    jobs.write_kubeconfig("narrow.yaml", {"token": jobs.make_token(account)})
    jobs.write("given.txt", "given")
    done = jobs.run("--kubeconfig", "narrow.yaml", "-e", "API_TOKEN=x", "-f", "given.txt", *words)
    said = done.stdout + done.stderr
    assert done.returncode == 3, said
    assert verb in said and resource in said, said
    assert_clean(said)
    assert jobs.kubectl.names(*KINDS, selector="gangrun/job") == []
    return said


@pytest.mark.parametrize("verb, resource", NEEDED, ids=lambda word: word.replace("/", "-"))
def test_a_right_that_is_missing_is_named_and_nothing_is_left(pod_jobs, verb, resource):
    check_refusal(pod_jobs, verb, resource, *WITHOUT_AGENTS, "--output=made", "-r", "worker:1", "--", "sh", "-c", "cat given.txt > made")


@pytest.mark.parametrize("verb, resource", NEEDED_BY_AGENTS, ids=lambda word: word.replace("/", "-"))
def test_a_right_that_agents_need_is_named_and_a_job_without_them_does_without_it(pod_jobs, verb, resource):
    said = check_refusal(pod_jobs, verb, resource, "-r", "worker:1", "--", "true")
    assert "`--agents none` runs the job without them: without commands that begin together" in said, said
    done = pod_jobs.run("--kubeconfig", "narrow.yaml", *WITHOUT_AGENTS, "-r", "worker:1", "--", "true")
    assert done.returncode == 0, done.stdout + done.stderr


def write_detached_job(jobs, *command):
    """A job file, and the account of its master."""
    jobs.make_account("leader", rules=documented_master_rights())
    jobs.write("job.yaml", json.dumps({
        "command": list(command), "tasks": {"worker": {"instances": 2}}, "timeouts": {"stop": "1s"},
        "kubernetes": {"agents": "config_maps", "master": {"service_account": "leader"}}}))
    return "job.yaml"


@pytest.mark.parametrize("verb, resource", NEEDED_TO_DETACH, ids=lambda word: word.replace("/", "-"))
def test_a_right_that_is_missing_to_detach_is_named_and_nothing_is_left(pod_jobs, verb, resource):
    check_refusal(pod_jobs, verb, resource, "--detach", write_detached_job(pod_jobs, "cat", "given.txt"))


@pytest.mark.parametrize("verb, resource", SPARED, ids=lambda word: word.replace("/", "-"))
def test_a_right_that_it_can_do_without(pod_jobs, verb, resource):
    done = run_with_rights(pod_jobs, rights_without(verb, resource))
    assert done.returncode == 0, done.stdout + done.stderr
    assert_clean(done.stdout + done.stderr)
    listed = json.loads(pod_jobs.order("fetch", "last", "--json").stdout)["outputs"]
    assert [entry["files"] for entry in listed] == [1]
    assert pod_jobs.left() == []


def test_no_rights_at_all(pod_jobs):
    done = run_with_rights(pod_jobs, [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}])
    said = done.stdout + done.stderr
    assert done.returncode == 3 and "create" in said and "jobs" in said, said
    assert_clean(said)
    assert pod_jobs.left() == []


def test_rights_that_are_taken_away_meanwhile_end_the_job_with_their_name(pod_jobs):
    account = pod_jobs.make_account()
    pod_jobs.write_kubeconfig("mine.yaml", {"token": pod_jobs.make_token(account)})
    with pod_jobs.running("--kubeconfig", "mine.yaml", "-r", "worker:1", "--timeout", "stop=1s", "--", *SLEEPER) as client:
        pod_jobs.wait_for_running(1)
        pod_jobs.kubectl.run("delete", "rolebinding", account)
        client.send_signal(signal.SIGINT)
        said, _ = client.communicate(timeout=LIMIT_S)
    assert client.returncode in (1, 130), said
    assert "cannot delete resource" in said or "cannot list resource" in said or "cannot get resource" in said, said
    assert_clean(said)
    # Its lease ends it: nobody has to do anything.
    wait_until(lambda: pod_jobs.left() == [], lambda: f"the end of {pod_jobs.left()}", 180, pause_s=1)


# Strangers' objects.

def likeness(job_object, name=None, owner=None):
    """What somebody makes who has seen an object of a job: the same labels, and whatever else may be copied."""
    metadata = {"name": name or job_object["metadata"]["name"], "labels": job_object["metadata"]["labels"]}
    if owner:
        metadata["ownerReferences"] = owner
    return {"apiVersion": job_object["apiVersion"], "kind": job_object["kind"], "metadata": metadata}


def stranger_pod(job_pod, image, name=None, ends=False):
    command = ["sh", "-c", "echo FAKE; exit 0"] if ends else list(SLEEPER)
    return likeness(job_pod, name) | {"spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                                               "containers": [{"name": "task", "image": image, "command": command}]}}


def of_strangers(jobs, job_pod):
    """Objects of each kind with the job's label, and a pod with all labels of its task."""
    labels = {"gangrun/job": job_pod["metadata"]["labels"]["gangrun/job"]}

    def named(kind, name, **more):
        return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "labels": labels}} | more

    jobs.kubectl.apply(named("ConfigMap", "theirs", data={"a": "b"}), named("Secret", "theirs", stringData={"a": "b"}),
                       named("Service", "theirs", spec={"ports": [{"port": 80}]}), stranger_pod(job_pod, jobs.image, "theirs"))
    jobs.kubectl.wait_for_phase("theirs", "Running")
    return ["configmap/theirs", "pod/theirs", "secret/theirs", "service/theirs"]


def test_objects_with_a_jobs_labels_are_neither_its_own_nor_deleted_with_it(pod_jobs):
    with pod_jobs.running("-r", "worker:2", "--timeout", "stop=1s", "--", *SLEEPER) as client:
        pod_jobs.wait_for_running(2)
        theirs = of_strangers(pod_jobs, pod_jobs.pod_of("worker-0"))
        uid = pod_jobs.kubectl.pod("theirs")["metadata"]["uid"]
        status = pod_jobs.status()
        assert len(status["tasks"]) == 2 and {task["state"] for task in status["tasks"]} == {"running"}
        assert all(task["attempt"] == 1 for task in status["tasks"])
        pod_jobs.kubectl.run("delete", "pod", "theirs", "--grace-period=1")
        pod_jobs.kubectl.apply(stranger_pod(pod_jobs.pod_of("worker-1"), pod_jobs.image, "theirs"))
        assert pod_jobs.status()["restarts_used"] == 0 and pod_jobs.kubectl.pod("theirs")["metadata"]["uid"] != uid
        client.send_signal(signal.SIGINT)
        said, _ = client.communicate(timeout=LIMIT_S)
    assert client.returncode == 130, said
    # Nobody waits for them, either.
    assert "still" not in said and "not deleted" not in said, said
    assert pod_jobs.left() == theirs


def test_a_pod_with_the_name_and_the_labels_of_a_task_is_not_taken_for_it(pod_jobs):
    """Its own was deleted, and somebody was quicker than the client."""
    with pod_jobs.running("-r", "worker:1", "--timeout", "stop=1s", "--", *SLEEPER) as client:
        pod_jobs.wait_for_running(1)
        own = pod_jobs.pod_of("worker-0")
        theirs = stranger_pod(own, pod_jobs.image, ends=True)
        # Until it has the name: a client that is stopped cannot make its own.
        client.send_signal(signal.SIGSTOP)
        pod_jobs.kubectl.run("delete", "pod", own["metadata"]["name"], "--force", "--grace-period=0")
        pod_jobs.kubectl.apply(theirs)
        pod_jobs.kubectl.wait_for_phase(own["metadata"]["name"], "Succeeded")
        client.send_signal(signal.SIGCONT)
        said, _ = client.communicate(timeout=LIMIT_S)
    assert client.returncode != 0, said
    assert f"the pod {own['metadata']['name']} does not belong to this job: its name is taken" in said, said
    assert_clean(said)
    assert pod_jobs.kubectl.pod(own["metadata"]["name"])["status"]["phase"] == "Succeeded"
    assert pod_jobs.left() == [f"pod/{own['metadata']['name']}"]


@pytest.mark.parametrize("at_once", [[], ["--now"]], ids=["", "now"])
def test_the_end_of_a_detached_job_ends_nothing_of_others(pod_jobs, at_once):
    done = pod_jobs.run("--detach", write_detached_job(pod_jobs, *SLEEPER))
    assert done.returncode == 0, done.stderr
    job = done.stdout.strip()
    pod_jobs.wait_for_running(2, job)
    theirs = of_strangers(pod_jobs, pod_jobs.pod_of("worker-0"))
    assert pod_jobs.order("kill", job, *at_once).returncode == 0
    waited = pod_jobs.order("wait", job)
    assert waited.returncode == 5, waited.stdout + waited.stderr
    pod_jobs.kubectl.run("delete", "job", f"{job}-owner", "--cascade=foreground")
    wait_until(lambda: pod_jobs.left() == theirs, lambda: f"the end of {pod_jobs.left()}", LIMIT_S, pause_s=0.5)
    # A Job that has its owner's name by now is somebody else's.
    pod_jobs.kubectl.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"{job}-owner"}, "spec": {
        "suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": pod_jobs.image}]}}}})
    assert pod_jobs.order("rm", "--yes", job).returncode == 0
    assert pod_jobs.kubectl.names("jobs", selector="!gangrun/job") == [f"job.batch/{job}-owner"]


def test_open_does_not_lead_to_a_strangers_pod(pod_jobs):
    serve = "import http.server, sys; http.server.test(http.server.SimpleHTTPRequestHandler, port=2222, bind='127.0.0.1')"
    own = f'mkdir /tmp/x; cd /tmp/x; echo own > whose; exec python3 -c "{serve}"'
    with pod_jobs.running(*WITHOUT_AGENTS, "-r", "worker:1", "--timeout", "stop=1s", "--", "sh", "-c", own):
        pod_jobs.wait_for_running(1)
        theirs = stranger_pod(pod_jobs.pod_of("worker-0"), pod_jobs.image, "a-theirs")
        theirs["spec"]["containers"][0]["command"] = ["sh", "-c", f'mkdir /tmp/x; cd /tmp/x; echo theirs > whose; exec python3 -c "{serve}"']
        pod_jobs.kubectl.apply(theirs)
        pod_jobs.kubectl.wait_for_phase("a-theirs", "Running")
        with opened(pod_jobs, "worker:0") as process:
            url = process.stdout.readline().strip()
            assert fetch(url + "whose") == b"own\n"
