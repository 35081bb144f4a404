"""A detached job with agents whose master keeps its journal and the outputs in a persistent volume."""

import json
import os
import signal

import pytest
from kubernetes.pod_faults import link_of, processes_of_pods
from waiting import wait_until

BUSYBOX = "localhost/busybox:1"
ACCOUNT = "leader"
CLAIM = "models"
RULES = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "get", "list", "watch", "delete"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["list"]},
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "get", "update", "patch", "delete"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "patch"]},
]
WORK = "trap 'exit 0' TERM; tail -f /dev/null & wait"
LEAVES_A_MODEL = "mkdir model; echo $GANGRUN_TASK_INDEX > model/step"


@pytest.fixture
def volume(jobs, tmp_path):
    """The folder of a persistent volume that pods of both real nodes see, and which the namespace has a claim to."""
    folder = tmp_path / "volume"
    folder.mkdir()
    jobs.make_account(ACCOUNT, RULES)
    name = f"{jobs.kubectl.namespace}-{CLAIM}"
    size = {"storage": "1Gi"}
    jobs.kubectl.apply(
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
         "spec": {"capacity": size, "accessModes": ["ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "",
                  "hostPath": {"path": str(folder)}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": CLAIM},
         "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": name, "resources": {"requests": size}}})
    yield folder
    jobs.kubectl.run("delete", "persistentvolume", name, "--wait=false")


def order(jobs, line, keep="5s", claim=CLAIM, pod=None, **fields):
    section = {"namespace": jobs.kubectl.namespace, "agents": "config_maps", "master": {"service_account": ACCOUNT, "keep": keep},
               "journal": {"claim": claim, "path": "runs"}}
    jobs.write("job.yaml", json.dumps({
        "name": "wine", "on": "kubernetes", "image": BUSYBOX, "command": ["sh", "-c", line], "tasks": {"worker": {"instances": 2, "memory": "32m"}},
        "kubernetes": section | ({"pod": pod} if pod else {}), **fields}))
    return jobs.order("run", "--detach", "job.yaml")


def detach(jobs, line, **fields):
    done = order(jobs, line, **fields)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def head(jobs):
    (found,) = jobs.kubectl.json("get", "configmaps", "-l", "gangrun/records=head")
    return json.loads(found["data"]["head"])


def wait_for_master(jobs, number):
    def reached():
        now = head(jobs)
        return now if now["master"] >= number and now["address"] else None

    return wait_until(reached, lambda: f"master {number}: {head(jobs)}", 120, pause_s=0.2)


def kill_master(jobs, kubernetes):
    (pod,) = jobs.kubectl.json("get", "pods", "-l", "gangrun/master")
    own = f"GANGRUN_POD_NAME={pod['metadata']['name']}".encode()
    (victim,) = [each for each in processes_of_pods(link_of(kubernetes)) if each.words[:2] == ["gangrun-agent", "pod-master"] and own in each.environment]
    os.kill(victim.pid, signal.SIGKILL)


def tasks_pods(jobs):
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in jobs.pods() if "gangrun/master" not in pod["metadata"]["labels"]}


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_master_that_is_killed_goes_on_from_the_volume(jobs, volume, kubernetes):
    job = detach(jobs, WORK)
    jobs.wait_for_running(2, job)
    before = tasks_pods(jobs)
    kill_master(jobs, kubernetes)
    wait_for_master(jobs, 2)
    status = jobs.wait_for_running(2, job)
    assert (status["generation"], status["restarts_used"]) == (1, 0), "no task has noticed"
    assert tasks_pods(jobs) == before
    now = head(jobs)
    assert now["folder"] == now["master"] and not [chain for chain in now["chains"] if chain.startswith("journal")]
    own = volume / "runs" / job
    wait_until(lambda: names_in(own) == [f"{now['master']:06}", "owner"], lambda: f"only the last master's folder: {names_in(own)}", 60, pause_s=0.2)
    assert own.stat().st_mode & 0o777 == 0o700
    # It leads: a pod that is taken away is made again by it.
    jobs.kubectl.run("delete", "pod", next(iter(before)), "--wait=false")
    wait_until(lambda: jobs.status(job)["generation"] == 2, lambda: f"the next generation: {jobs.status(job)}", 90, pause_s=0.2)
    assert jobs.order("kill", job).returncode == 0
    assert jobs.order("wait", job).returncode == 5
    wait_until(lambda: names_in(volume / "runs") == [], lambda: f"the end of {names_in(volume / 'runs')}", 60, pause_s=0.2)


def test_a_master_that_begins_after_the_end_hands_out_the_outputs(jobs, volume, kubernetes):
    job = detach(jobs, LEAVES_A_MODEL, keep="10m", outputs=["model/"])
    assert jobs.order("wait", job).returncode == 0
    first = wait_for_master(jobs, 1)
    jobs.kubectl.run("delete", "pod", first["pod_name"], "--wait=false")
    second = wait_for_master(jobs, 2)
    assert second["pod_name"] != first["pod_name"]
    assert second["summary"]["kept_until"] == first["summary"]["kept_until"]
    kill_master(jobs, kubernetes)
    wait_for_master(jobs, second["master"] + 1)
    fetched = jobs.order("fetch", job, "--to", "here")
    assert fetched.returncode == 0, fetched.stderr
    assert [(jobs.folder / f"here/worker-{i}/model/step").read_text() for i in (0, 1)] == ["0\n", "1\n"]
    assert jobs.status(job)["state"] == "succeeded"
    # What is removed leaves nothing there either.
    assert jobs.order("rm", "--yes", job).returncode == 0
    wait_until(lambda: jobs.left() == [] and names_in(volume / "runs") == [],
               lambda: f"the end of {jobs.left()} and {names_in(volume / 'runs')}", 60, pause_s=0.5)


def test_a_volume_that_cannot_be_used_is_an_error_before_anything_runs(jobs, volume):
    missing = order(jobs, WORK, claim="another")
    assert missing.returncode != 0 and "kubernetes.journal: the namespace" in missing.stderr and "'another'" in missing.stderr, missing.stderr
    volume.chmod(0o755)
    forbidden = order(jobs, WORK, pod={"spec": {"securityContext": {"runAsUser": 1000}}})
    assert forbidden.returncode != 0, forbidden.stdout
    for words in ("kubernetes.journal: ", "Permission denied", "fsGroup"):
        assert words in forbidden.stderr, forbidden.stderr
    assert "kind: Role" not in forbidden.stderr
    wait_until(lambda: jobs.left() == [], lambda: f"the end of {jobs.left()}", 60, pause_s=0.5)
