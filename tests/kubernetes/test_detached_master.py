"""A detached job: its master is a pod, and may die."""

import json
import os
import signal

import pytest
from kubernetes.jobs import documented_master_rights
from kubernetes.pod_faults import link_of, processes_of_pods
from waiting import wait_until

BUSYBOX = "localhost/busybox:1"
ACCOUNT = "leader"
# Goes on until the test ends it, and says when it began.
WORK = "echo run $GANGRUN_RESTARTS of $GANGRUN_TASK_INDEX; trap 'exit 0' TERM; tail -f /dev/null & wait"
IGNORES = "trap '' TERM; echo here; tail -f /dev/null"
# One fails at once, the other goes on.
ONE_FAILS = f"if [ $GANGRUN_TASK_INDEX = 1 ]; then echo 'ValueError: this one' >&2; exit 7; fi; {WORK}"
FAILS_ONCE = "echo run $GANGRUN_RESTARTS of $GANGRUN_TASK_INDEX; [ $GANGRUN_RESTARTS -gt 0 ] || exit 3"


@pytest.fixture
def led(jobs):
    jobs.image = BUSYBOX
    jobs.make_account(ACCOUNT, documented_master_rights())
    return jobs


def write_job(jobs, line, keep="5s", **fields):
    jobs.write("job.yaml", json.dumps({
        "name": "wine", "on": "kubernetes", "image": BUSYBOX, "command": ["sh", "-c", line],
        "tasks": {"worker": {"instances": 2, "memory": "32m"}},
        "kubernetes": {"namespace": jobs.kubectl.namespace, "agents": "config_maps",
                       "master": {"service_account": ACCOUNT, "keep": keep}}, **fields}))


def detach(jobs, line, **fields):
    write_job(jobs, line, **fields)
    done = jobs.order("run", "--detach", "job.yaml")
    assert done.returncode == 0, done.stderr
    assert "gangrun attach" in done.stderr
    return done.stdout.strip()


def masters(jobs):
    return jobs.kubectl.json("get", "pods", "-l", "gangrun/master")


def head(jobs):
    (found,) = jobs.kubectl.json("get", "configmaps", "-l", "gangrun/records=head")
    return json.loads(found["data"]["head"])


def tasks_pods(jobs):
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in jobs.pods() if "gangrun/master" not in pod["metadata"]["labels"]}


def restarts(pod):
    return sum(status["restartCount"] for status in pod["status"].get("containerStatuses", []))


def wait_for_master(jobs, number):
    def reached():
        now = head(jobs)
        return now if now["master"] >= number and now["address"] else None

    return wait_until(reached, lambda: f"master {number}: {head(jobs)}", 120, pause_s=0.2)


def end(jobs, job):
    assert jobs.order("kill", job).returncode == 0
    waited = jobs.order("wait", job)
    assert waited.returncode == 5, waited.stdout + waited.stderr


@pytest.mark.gate
def test_it_restarts_and_ends_without_a_client(led):
    job = detach(led, FAILS_ONCE, restarts={"max": 2, "scope": "gang"})
    waited = led.order("wait", job, "--json")
    assert waited.returncode == 0, waited.stdout + waited.stderr
    status = json.loads(waited.stdout)
    assert (status["state"], status["generation"], status["restarts_used"]) == ("succeeded", 2, 1)
    wait_until(lambda: tasks_pods(led) == {}, "the end of the tasks' pods", 60, pause_s=0.2)
    wait_until(lambda: led.kubectl.json("get", "jobs")[0]["status"].get("succeeded") == 1, "the end of its master", 60, pause_s=0.2)
    assert head(led)["summary"]["state"] == "succeeded"
    assert led.order("rm", "--yes", job).returncode == 0
    wait_until(lambda: led.left() == [], lambda: f"the end of {led.left()}", 60, pause_s=0.5)


def test_a_master_that_is_killed_comes_back_in_its_pod(led, kubernetes):
    job = detach(led, WORK)
    led.wait_for_running(2, job)
    before = tasks_pods(led)
    (pod,) = masters(led)
    own = f"GANGRUN_POD_NAME={pod['metadata']['name']}".encode()
    (victim,) = [each for each in processes_of_pods(link_of(kubernetes)) if each.words[:2] == ["gangrun-agent", "pod-master"] and own in each.environment]
    os.kill(victim.pid, signal.SIGKILL)
    wait_for_master(led, 2)
    status = led.wait_for_running(2, job)
    assert (status["generation"], status["restarts_used"]) == (1, 0), "no task has noticed"
    assert tasks_pods(led) == before
    (now,) = masters(led)
    assert now["metadata"]["uid"] == pod["metadata"]["uid"] and restarts(now) == 1
    end(led, job)


@pytest.mark.parametrize("how", ["deleted", "evicted"])
def test_another_pod_leads_where_the_masters_is_taken(led, how):
    job = detach(led, WORK)
    led.wait_for_running(2, job)
    before = tasks_pods(led)
    (pod,) = masters(led)
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    if how == "deleted":
        led.kubectl.run("delete", "pod", name, "--wait=false")
    else:
        led.kubectl.run("create", "--raw", f"/api/v1/namespaces/{namespace}/pods/{name}/eviction", "-f", "-",
                        given={"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}})
    now = wait_for_master(led, 2)
    assert now["pod_name"] != name
    status = led.wait_for_running(2, job)
    assert (status["generation"], status["restarts_used"]) == (1, 0)
    assert tasks_pods(led) == before
    # It leads: a pod that is taken away is made again by it.
    led.kubectl.run("delete", "pod", next(iter(before)), "--wait=false")
    wait_until(lambda: led.status(job)["generation"] == 2, lambda: f"the next generation: {led.status(job)}", 90, pause_s=0.2)
    led.wait_for_running(2, job)
    end(led, job)


def test_outputs_are_kept_until_they_are_fetched(led):
    job = detach(led, "mkdir model; echo $GANGRUN_TASK_INDEX > model/step", keep="10m", outputs=["model/"])
    assert led.order("wait", job).returncode == 0
    fetched = led.order("fetch", job, "--to", "here")
    assert fetched.returncode == 0, fetched.stderr
    assert [(led.folder / f"here/worker-{i}/model/step").read_text() for i in (0, 1)] == ["0\n", "1\n"]
    assert head(led)["summary"]["kept_until"] > head(led)["summary"]["ended"]
    assert led.order("rm", "--yes", job).returncode == 0


# A second wish, to end at once, comes while the tasks still have the time that the first one gave them.
@pytest.mark.parametrize("wishes", [["--now"], [None, "--now"]], ids=["at once", "at once after all"])
def test_it_is_ended_at_once(led, wishes):
    job = detach(led, IGNORES, timeouts={"stop": "10m"})
    led.wait_for_running(2, job)
    wait_until(lambda: len(led.lines(job)) == 2, "the lines of both", pause_s=0.2)
    for wish in wishes:
        assert led.order("kill", *filter(None, [wish]), job).returncode == 0
        if wish is None:
            led.wait_for_state("stopping", job=job)
    waited = led.order("wait", job, limit=60)
    assert waited.returncode == 5, waited.stdout + waited.stderr
    wait_until(lambda: tasks_pods(led) == {}, "the end of the tasks' pods", 60, pause_s=0.2)


def test_the_first_failure_ends_it_and_is_told(led):
    job = detach(led, ONE_FAILS)
    waited = led.order("wait", job, "--json")
    assert waited.returncode == 1, waited.stdout + waited.stderr
    status = json.loads(waited.stdout)
    assert "worker:1" in status["cause"]["sentence"] and "exited with status 7" in status["cause"]["sentence"]
    assert status["cause"]["last_lines"] == ["ValueError: this one"]
    assert {task["task"]: task["state"] for task in status["tasks"]} == {"worker:0": "stopped", "worker:1": "failed"}


def test_why_it_waits(led):
    job = detach(led, "true", tasks={"worker": {"instances": 1, "memory": "900g"}})
    wait_until(lambda: "Insufficient memory" in led.order("why", job).stdout, lambda: led.order("why", job).stdout, 60)
    assert led.status(job)["state"] == "allocating"
    end(led, job)


def test_its_time_limit_ends_it(led):
    job = detach(led, WORK, timeouts={"job": "8s", "stop": "1s"})
    waited = led.order("wait", job, "--json")
    assert waited.returncode == 1, waited.stdout + waited.stderr
    assert "(timeouts.job)" in json.loads(waited.stdout)["cause"]["sentence"]
    wait_until(lambda: tasks_pods(led) == {}, "the end of the tasks' pods", 60, pause_s=0.2)
    assert led.order("rm", "--yes", job).returncode == 0
    wait_until(lambda: led.left() == [], lambda: f"the end of {led.left()}", 60, pause_s=0.5)


def test_what_cannot_be_made_leaves_nothing(led):
    led.kubectl.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": {"hard": {"services": "0"}}})
    wait_until(lambda: led.kubectl.json("get", "quota", "none")["status"].get("hard"), "the quota", pause_s=0.2)
    write_job(led, WORK)
    done = led.order("run", "--detach", "job.yaml")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "quota" in done.stderr
    assert led.left() == []
    assert led.order("status", "last").returncode != 0
