"""A detached job whose master is in a pod, asked from a machine that has nothing of it but the kubeconfig."""

import json

import pytest
from kubernetes.jobs import PodJobs, documented_master_rights
from kubernetes.opening import fetch
from waiting import wait_until

# Says what it is, leaves an output and a page, and goes on until it is told to end.
WORK = """
echo "rank $RANK of $WORLD_SIZE"
echo "model $RANK" > model.txt
mkdir -p www; echo hello > www/index.html
python3 -m http.server --directory www --bind 127.0.0.1 "$GANGRUN_PORT" >/dev/null 2>&1 &
trap 'exit 0' TERM
tail -f /dev/null & wait
"""


@pytest.fixture
def here(jobs):
    jobs.make_account("leader", documented_master_rights())
    return jobs


@pytest.fixture
def elsewhere(here, tmp_path):
    """The same user on another machine: a kubeconfig that names the namespace, and no record of any job."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    machine = PodJobs(here.gangrun, here.kubectl, folder, folder / "home", here.image)
    config = json.loads(here.kubectl.run("config", "view", "--raw", "--flatten", "-o", "json").stdout)
    for context in config["contexts"]:
        context["context"]["namespace"] = here.kubectl.namespace
    machine.environment["KUBECONFIG"] = str(machine.write("kubeconfig", json.dumps(config)))
    return machine


def detach(jobs, *command, **fields):
    jobs.write("job.yaml", json.dumps({
        "name": "wine", "on": "kubernetes", "image": jobs.image, "command": list(command),
        "tasks": {"worker": {"instances": 2, "memory": "32m"}},
        "kubernetes": {"namespace": jobs.kubectl.namespace, "agents": "config_maps", "master": {"service_account": "leader"}}, **fields}))
    done = jobs.order("run", "--detach", "job.yaml")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def listed(jobs):
    done = jobs.order("ps", "--on", "kubernetes", "--json")
    assert done.returncode == 0, done.stderr
    return {job["id"]: job["state"] for job in json.loads(done.stdout)}


@pytest.mark.gate
def test_all_commands_answer_on_another_machine(here, elsewhere):
    job = detach(here, "sh", "-c", WORK, outputs=["model.txt"])
    unknown = elsewhere.order("status", job)
    assert unknown.returncode == 4 and "there is no job" in unknown.stderr
    assert listed(elsewhere) == {job: "running"} or listed(elsewhere)[job] in ("allocating", "roll_call")
    status = elsewhere.wait_for_running(2, job)
    assert status["name"] == "wine"
    wait_until(lambda: len(elsewhere.lines(job)) == 2, "the lines of both", pause_s=0.2)
    assert "running" in elsewhere.order("why", job).stdout
    assert elsewhere.order("wait", job, "--timeout", "1s").returncode not in (0, 1, 5)
    beside = elsewhere.order("exec", job, "worker:1", "--", "cat", "model.txt")
    assert (beside.returncode, beside.stdout) == (0, "model 1\n"), beside.stderr
    with elsewhere.running("open", job, "worker:0", program="gangrun") as opened:
        assert fetch(opened.stdout.readline().strip()) == b"hello\n"
    with elsewhere.running("attach", job, program="gangrun") as attached, elsewhere.running("logs", "-f", job, program="gangrun") as followed:
        assert "rank" in next(line for line in followed.stdout if "rank" in line)
        killed = elsewhere.order("kill", job)
        assert killed.returncode == 0, killed.stderr
        assert followed.wait(60) == 0
        assert attached.wait(60) == 5
        assert "rank 0 of 2" in attached.stdout.read()
    waited = elsewhere.order("wait", job, "--json")
    assert waited.returncode == 5, waited.stderr
    assert "gangrun kill" in json.loads(waited.stdout)["cause"]["sentence"]
    assert elsewhere.status(job) == here.status(job)
    fetched = elsewhere.order("fetch", job, "--to", "kept")
    assert fetched.returncode == 0, fetched.stderr
    assert [(elsewhere.folder / "kept" / f"worker-{i}" / "model.txt").read_text() for i in (0, 1)] == ["model 0\n", "model 1\n"]
    removed = elsewhere.order("rm", "--yes", job)
    assert removed.returncode == 0, removed.stderr
    wait_until(lambda: here.left() == [], lambda: f"the end of {here.left()}", 120, pause_s=0.5)
    assert listed(elsewhere) == {}
    # The machine that submitted it still knows how it ended.
    assert here.status(job)["state"] == "killed"


def test_a_job_is_named_by_its_namespace_and_its_results_are_read_without_a_master(here, elsewhere):
    job = detach(here, "sh", "-c", 'echo done > "$GANGRUN_RESULT_FILE"', kubernetes={
        "namespace": here.kubectl.namespace, "agents": "config_maps", "master": {"service_account": "leader", "keep": "0s"}})
    name = f"{here.kubectl.namespace}/{job}"
    assert elsewhere.order("wait", name).returncode == 0
    wait_until(lambda: here.kubectl.names("pods", selector="gangrun/job") == [] or not [
        pod for pod in here.pods() if pod["status"]["phase"] == "Running"], "the end of the master's pod", 120, pause_s=0.5)
    status = elsewhere.status(job)
    assert (status["state"], len(status["tasks"])) == ("succeeded", 2)
    assert elsewhere.order("result", job, "worker:1").stdout == "done\n"
    gone = elsewhere.order("logs", job)
    assert gone.returncode != 0 and "its lines went with its master" in gone.stderr


def test_a_job_whose_masters_cannot_work_is_ended_all_the_same(here, elsewhere):
    job = detach(here, "sh", "-c", "tail -f /dev/null")
    here.wait_for_running(2, job)
    # The next master may do nothing, and the one that there is goes.
    here.kubectl.run("delete", "rolebinding", "leader")
    (master,) = here.kubectl.names("pods", selector="gangrun/master")
    here.kubectl.run("delete", master, "--wait=false")
    killed = elsewhere.order("kill", f"{here.kubectl.namespace}/{job}")
    assert killed.returncode == 0, killed.stderr
    wait_until(lambda: here.left() == [], lambda: f"the end of {here.left()}", 120, pause_s=0.5)
    assert here.status(job)["state"] in ("killed", "lost")


def test_who_may_not_read_secrets_sees_the_state_alone(here, elsewhere):
    job = detach(here, "sh", "-c", "tail -f /dev/null")
    here.wait_for_running(2, job)
    account = here.make_account("reader", [
        {"apiGroups": [""], "resources": ["configmaps", "pods"], "verbs": ["get", "list", "watch"]}])
    config = json.loads((elsewhere.folder / "kubeconfig").read_text())
    config["users"][0]["user"] = {"token": here.make_token(account)}
    elsewhere.write("kubeconfig", json.dumps(config))
    # The head has the state some time later.
    wait_until(lambda: listed(elsewhere) == {job: "running"}, lambda: f"{job} running in {listed(elsewhere)}")
    assert elsewhere.status(job)["state"] == "running"
    for order in (("logs", job), ("kill", job), ("exec", job, "worker:0", "--", "true")):
        refused = elsewhere.order(*order)
        assert refused.returncode != 0 and "get secrets" in refused.stderr, (order, refused.stderr)
    assert here.order("kill", job).returncode == 0
    assert here.order("wait", job).returncode == 5


def test_another_cluster_is_not_taken_for_its_own(here):
    job = detach(here, "sh", "-c", "tail -f /dev/null")
    config = json.loads(here.kubectl.run("config", "view", "--raw", "--flatten", "-o", "json").stdout)
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    other = {"KUBECONFIG": str(here.write("other.yaml", json.dumps(config)))}
    for order in ("status", "kill"):
        refused = here.order(order, job, env=other)
        assert refused.returncode == 7 and "https://127.0.0.1:9" in refused.stderr, refused
    shown = here.order("ps", "--json", env=other)
    assert shown.returncode == 0 and [each["id"] for each in json.loads(shown.stdout)] == [job], shown
    assert here.order("kill", job).returncode == 0
    assert here.order("wait", job).returncode == 5
