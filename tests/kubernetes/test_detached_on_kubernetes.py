"""`gangrun run --on kubernetes --detach`: a job that needs no client."""

import json

import pytest
from kubernetes.jobs import SLEEPER
from waiting import wait_until

# One fails at once, the other goes on.
FAILS = "echo begun; if [ $GANGRUN_TASK_INDEX = 1 ]; then echo 'ValueError: this one' >&2; exit 7; fi; trap 'exit 0' TERM; tail -f /dev/null & wait"


def detach(jobs, *words, **options):
    done = jobs.run("--detach", *words, **options)
    assert done.returncode == 0, done.stderr
    assert "gangrun logs -f" in done.stderr
    return done.stdout.strip()


def wait_until_nothing_is_left(jobs):
    wait_until(lambda: jobs.left() == [], lambda: f"the end of {jobs.left()}", 120, pause_s=0.5)


@pytest.mark.gate
def test_it_runs_and_ends_without_a_client_and_stays_to_be_looked_at(jobs):
    job = detach(jobs, "-r", "worker:2", "--", "sh", "-c", "echo rank $RANK of $WORLD_SIZE; sleep 2")
    assert job in jobs.order("ps").stdout
    followed = jobs.order("logs", "-f", job)
    assert followed.returncode == 0, followed.stderr
    assert sorted(line.split("rank")[1] for line in followed.stdout.splitlines()) == [" 0 of 2", " 1 of 2"]
    waited = jobs.order("wait", job, "--json")
    assert waited.returncode == 0, waited.stderr
    status = json.loads(waited.stdout)
    assert (status["state"], status["name"], status["generation"]) == ("succeeded", "sh", 1)
    assert {task["state"] for task in status["tasks"]} == {"succeeded"}
    assert len(jobs.pods()) == 2
    assert len(jobs.lines(job, "worker:1", "--tail", "1")) == 1
    (timed,) = jobs.lines(job, "worker:1", "--timestamps")
    written, text = timed.split(" ", 1)
    assert text.startswith("rank 1") and jobs.lines(job, "worker:1", "--since", written) == [text]
    assert jobs.lines(job, "worker:1", "--since", "2099-01-01T00:00:00Z") == []
    assert jobs.order("kill", job).returncode == 0
    wait_until_nothing_is_left(jobs)
    assert jobs.status(job)["state"] == "succeeded"
    assert job in jobs.order("history").stdout
    gone = jobs.order("logs", job)
    assert gone.returncode != 0 and "gone" in gone.stderr
    assert "ended already" in jobs.order("kill", job).stderr


def test_it_is_ended_by_another_command(jobs):
    job = detach(jobs, "-r", "worker:2", "--", *SLEEPER)
    status = jobs.wait_for_running(2, job)
    assert status["state"] == "running"
    assert {task["address"].split(".")[1] for task in status["tasks"]} == {job}
    assert jobs.order("wait", job, "--timeout", "1s").returncode not in (0, 1, 5)
    wait_until(lambda: len(jobs.lines(job)) == 2, "the lines of both", pause_s=0.2)
    assert jobs.order("kill", job).returncode == 0
    waited = jobs.order("wait", job)
    assert waited.returncode == 5, waited.stdout + waited.stderr
    assert "gangrun kill" in jobs.order("why", job).stdout
    wait_until_nothing_is_left(jobs)


def test_at_once(jobs):
    job = detach(jobs, "-r", "worker:2", "--timeout", "stop=10m", "--", "sh", "-c", "trap '' TERM; tail -f /dev/null")
    jobs.wait_for_running(2, job)
    assert jobs.order("kill", "--now", job).returncode == 0
    assert jobs.order("wait", job, limit=60).returncode == 5
    wait_until_nothing_is_left(jobs)


def test_at_once_after_all(jobs):
    """Nodes keep to the time that they were told first: nobody waits for it."""
    job = detach(jobs, "-r", "worker:2", "--timeout", "stop=10m", "--", "tail", "-f", "/dev/null")
    jobs.wait_for_running(2, job)
    assert jobs.order("kill", job).returncode == 0
    wait_until(lambda: len([pod for pod in jobs.pods() if pod["metadata"].get("deletionTimestamp")]) == 2, "the request to end",
               pause_s=0.2)
    now = jobs.order("kill", "--now", job)
    assert now.returncode == 0 and "may run on for up to 10 min" in now.stderr, now
    assert jobs.order("wait", job, limit=60).returncode == 5
    wait_until_nothing_is_left(jobs)


def test_the_first_failure_is_told_and_what_runs_on_too(jobs):
    job = detach(jobs, "-r", "worker:2", "--", "sh", "-c", FAILS)
    waited = jobs.order("wait", job, "--json")
    assert waited.returncode == 1, waited.stdout + waited.stderr
    status = json.loads(waited.stdout)
    assert "worker:1" in status["cause"]["sentence"] and "exited with status 7" in status["cause"]["sentence"]
    assert sorted(status["cause"]["last_lines"]) == ["ValueError: this one", "begun"]
    assert "worker:0" in status["notes"][0] and f"gangrun kill {job}" in status["notes"][0]
    assert jobs.order("kill", job).returncode == 0
    wait_until_nothing_is_left(jobs)
    after = jobs.status(job)
    assert (after["state"], after["cause"]) == ("failed", status["cause"])
    assert {task["state"] for task in after["tasks"]} == {"failed", "stopped"}


def test_why_it_waits(jobs):
    job = detach(jobs, "-r", "worker:1", "-m", "900g", "--", "true")
    wait_until(lambda: "Insufficient memory" in jobs.order("why", job).stdout, lambda: jobs.order("why", job).stdout, 60)
    assert jobs.status(job)["state"] == "allocating"
    jobs.order("kill", job)
    wait_until_nothing_is_left(jobs)


def test_its_time_limit_ends_it_and_removes_all(jobs):
    job = detach(jobs, "-r", "worker:1", "--timeout", "job=8s", "--timeout", "stop=1s", "--", *SLEEPER)
    jobs.wait_for_running(1, job)
    wait_until_nothing_is_left(jobs)
    status = jobs.status(job)
    assert status["state"] == "lost" and "time limit" in status["cause"]["sentence"]


def test_what_cannot_be_made_leaves_nothing(jobs):
    jobs.write("quota.yaml", json.dumps({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "one"},
                                         "spec": {"hard": {"pods": "1"}}}))
    jobs.kubectl.run("create", "-f", str(jobs.folder / "quota.yaml"))
    wait_until(lambda: jobs.kubectl.json("get", "resourcequotas")[0].get("status", {}).get("hard"), "the quota", 30)
    done = jobs.run("--detach", "-r", "worker:2", "--", *SLEEPER)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "quota" in done.stderr
    assert jobs.left() == []
    assert jobs.order("status", "last").returncode != 0


@pytest.mark.parametrize("words, told", [
    (("--restarts", "2"), "restarts: 2"),
    (("--output", "model"), "outputs: model"),
    (("--timeout", "allocation=12s"), "timeouts.allocation: 12 s"),
    (("-r", "evaluator:1"), "tasks.evaluator.policy: observer"),
])
def test_what_only_a_client_can_do_is_refused(jobs, words, told):
    done = jobs.run("--detach", "-r", "worker:1", *words, "--", "true")
    assert done.returncode == 2
    assert told in done.stderr and "--detach" in done.stderr
    assert jobs.left() == []


def test_its_plan_has_its_deadline(jobs):
    done = jobs.run("--detach", "--dry-run", "--json", "-r", "worker:1", "--timeout", "job=2h", "--", "true")
    (owner,) = [item for item in json.loads(done.stdout)["items"] if item["kind"] == "Job"]
    assert owner["spec"]["activeDeadlineSeconds"] == 7200


def test_another_cluster_is_not_taken_for_its_own(jobs):
    job = detach(jobs, "-r", "worker:1", "--", *SLEEPER)
    config = json.loads(jobs.kubectl.run("config", "view", "--raw", "-o", "json").stdout)
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    jobs.write("other.yaml", json.dumps(config))
    other = {"KUBECONFIG": str(jobs.folder / "other.yaml")}
    done = jobs.order("status", job, env=other)
    assert done.returncode != 0 and "127.0.0.1:9" in done.stderr
    listed = json.loads(jobs.order("ps", "--json", env=other).stdout)
    assert listed[0]["id"] == job and "last seen" in listed[0]["notes"][0]
    assert jobs.order("kill", job).returncode == 0
    wait_until_nothing_is_left(jobs)
