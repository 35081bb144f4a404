"""`gangrun run --on kubernetes`: what a user sees of a job that is well, and of input that is not."""

import base64
import json
import os
import signal
import subprocess

import pytest
from kubernetes.jobs import SLEEPER, WITHOUT_AGENTS
from waiting import wait_until

# Meets the others at the addresses that the cluster spec has, and ends when all of them have met it.
MEETS = """
import contextlib, json, os, socket, threading
cluster = json.loads(os.environ["GANGRUN_CLUSTER_SPEC"])
index = int(os.environ["GANGRUN_TASK_INDEX"])
addresses = cluster["worker"]
server = socket.create_server(("", int(addresses[index].rsplit(":", 1)[1])), family=socket.AF_INET)
seen, met = set(), set()
def serve():
    while len(seen) < len(addresses):
        with contextlib.suppress(OSError):
            other = server.accept()[0]
            other.sendall(f"worker {index}".encode())
            seen.add(other.recv(100))
            seen.discard(b"")
serving = threading.Thread(target=serve)
serving.start()
for address in addresses:
    host, port = address.rsplit(":", 1)
    while True:
        try:
            with socket.create_connection((host, int(port)), timeout=5) as other:
                met.add(other.recv(100).decode())
                other.sendall(str(index).encode())
                break
        except OSError:
            threading.Event().wait(0.1)
print("met", sorted(met), "as rank", os.environ.get("RANK"), flush=True)
serving.join()
"""
SAVES = """
import os, pathlib
folder = pathlib.Path("model")
folder.mkdir()
(folder / "weights").write_bytes(bytes(range(256)) * 4096)
(folder / "who").write_text(os.environ["GANGRUN_TASK_INDEX"])
"""


@pytest.mark.parametrize("words, told", [
    pytest.param((), "an agent runs beside each command, which config maps of the namespace bring (kubernetes.agents: config_maps, by default)",
                 marks=pytest.mark.gate, id="agents"),
    pytest.param(WITHOUT_AGENTS, "no agent runs beside the commands (kubernetes.agents: none)", id="names"),
])
def test_a_gang_of_pods_meets_and_leaves_nothing(jobs, words, told):
    jobs.write("meets.py", MEETS)
    done = jobs.run(*words, "-r", "worker:2", "--", "python3", "meets.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert told in done.stdout + done.stderr
    lines = jobs.lines()
    assert [line for line in lines if "met ['worker 0', 'worker 1'] as rank 1" in line]
    status = jobs.status()
    assert (status["state"], status["generation"], status["restarts_used"]) == ("succeeded", 1, 0)
    assert jobs.left() == []


def test_the_pods_of_a_large_gang_find_all_hosts_by_one_config_map(jobs):
    workers = 30
    jobs.write("job.yaml", json.dumps({
        "name": "gang-whose-hosts-have-long-names", "on": "kubernetes", "image": jobs.image,
        "kubernetes": {"namespace": jobs.kubectl.namespace, "agents": "none"},
        "command": ["sh", "-c", 'echo "tell" "$DTF_WORKER_HOSTS" "$TF_CONFIG" "$GANGRUN_CLUSTER_SPEC"'],
        "tasks": {"worker": {"instances": workers, "vcores": 0, "memory": "16m"}}}))
    shown = jobs.order("run", "--dry-run", "job.yaml")
    assert shown.returncode == 0, shown.stderr
    assert len(shown.stdout) < 5000 * workers
    assert shown.stdout.count("kind: ConfigMap") == 1
    done = jobs.order("run", "job.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    told = [line.split("tell ", 1)[1].split() for line in jobs.lines() if "tell " in line]
    hosts = [task["address"] for task in jobs.status()["tasks"]]
    assert len(told) == len(hosts) == workers
    configs = [json.loads(config) for _, config, _ in told]
    assert sorted(config["task"]["index"] for config in configs) == list(range(workers))
    for (listed, _, cluster), config in zip(told, configs, strict=True):
        assert listed.split(",") == config["cluster"]["worker"] == json.loads(cluster)["worker"] == hosts
    assert jobs.left() == []


@pytest.mark.gate
def test_what_is_said_of_a_running_job_and_its_end_by_another_command(jobs):
    with jobs.running("-r", "worker:2", "--", *SLEEPER) as client:
        status = jobs.wait_for_running(2)
        assert status["id"] in jobs.order("ps").stdout
        assert len({task["address"].rsplit(":", 1)[0] for task in status["tasks"]}) == 2, "each pod has an address"
        wait_until(lambda: len(jobs.lines()) == 2, "the lines of both", pause_s=0.2)
        assert jobs.order("kill", "last").returncode == 0
        assert client.wait(60) == 5
    assert jobs.status()["state"] == "killed"
    assert jobs.order("why", "last").returncode == 0
    assert jobs.left() == []


def test_interrupted_by_its_user(jobs):
    with jobs.running("-r", "worker:2", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        client.send_signal(signal.SIGINT)
        assert client.wait(90) == 130
    assert jobs.left() == []


def test_processes_of_a_task_share_its_memory(jobs):
    """64 MiB are what a pod has otherwise: loaders of data die there."""
    show = ("sh", "-c", "df -m /dev/shm | tail -n 1")
    done = jobs.run("-r", "worker:1", "-m", "300m", "--", *show)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 300 " in jobs.lines()[0]
    assert jobs.run("-r", "worker:1", "--", *show).returncode == 0
    assert " 64 " in jobs.lines()[0]


@pytest.mark.parametrize("agents", ["config_maps", "none"])
def test_a_quota_that_asks_for_limits_of_processors_is_met(jobs, agents):
    jobs.kubectl.run("create", "quota", "limited", "--hard=limits.cpu=8,limits.memory=2Gi")
    jobs.write("job.yaml", json.dumps({"tasks": {"worker": {"instances": 2, "memory": "64m"}}, "outputs": ["out"],
                                       "command": "echo it > out", "kubernetes": {"vcores_limit": 2, "agents": agents}}))
    done = jobs.run("job.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def being_deleted(jobs):
    return [pod for pod in jobs.pods() if pod["metadata"].get("deletionTimestamp")]


@pytest.mark.parametrize("how", ["Ctrl-C twice", "kill, then kill --now"])
def test_who_has_time_to_end_and_then_none_is_not_waited_for(jobs, how):
    """Nodes keep to the time that they were told first. An agent would end at once what does not ignore the signal."""
    with jobs.running(*WITHOUT_AGENTS, "-r", "worker:2", "--timeout", "stop=1m", "--", "tail", "-f", "/dev/null") as client:
        jobs.wait_for_running(2)
        for words in ([], ["--now"]):
            if how == "Ctrl-C twice":
                client.send_signal(signal.SIGINT)
            else:
                assert jobs.order("kill", *words, "last").returncode == 0
            if not words:
                wait_until(lambda: len(being_deleted(jobs)) == 2, "the request to end", pause_s=0.2)
        assert client.wait(30) == (130 if how == "Ctrl-C twice" else 5)
        said = client.stdout.read()
    assert "could not" not in said and "the time to end that they were given first" in said, said
    assert jobs.left() == []


def test_who_attaches_sees_all_lines_and_ends_as_the_job(jobs):
    with jobs.running("-r", "worker:2", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        with jobs.running("attach", "last", program="gangrun") as attached:
            wait_until(lambda: len(jobs.lines()) == 2, "the lines of both", pause_s=0.2)
            assert jobs.order("kill", "last").returncode == 0
            assert client.wait(60) == 5
            said, _ = attached.communicate(timeout=60)
    assert attached.returncode == 5, said
    assert said.count(" | here\n") == 2, said


@pytest.mark.parametrize("when", ["at the first object", "while it runs"])
def test_nothing_stays_of_a_job_whose_client_is_killed(jobs, when):
    with jobs.running("-r", "worker:2", "--timeout", "stop=1s", "--", *SLEEPER) as client:
        if when == "while it runs":
            jobs.wait_for_running(2)
        else:
            wait_until(jobs.left, "an object of it")
        client.kill()
        client.wait()
        assert jobs.left() != []
        wait_until(lambda: jobs.left() == [], lambda: f"the end of {jobs.left()}", 180, pause_s=1)


@pytest.mark.gate
def test_outputs_are_brought_before_their_pods_go(jobs):
    """By a second container, where no agent sends them."""
    jobs.write("saves.py", SAVES)
    done = jobs.run(*WITHOUT_AGENTS, "-r", "worker:2", "--output", "model", "--", "python3", "saves.py")
    assert done.returncode == 0, done.stdout + done.stderr
    listed = json.loads(jobs.order("fetch", "last", "--json").stdout)["outputs"]
    assert [(entry["task"], entry["files"]) for entry in listed] == [("worker-0", 2), ("worker-1", 2)]
    assert jobs.order("fetch", "last", "--to", "here").returncode == 0
    assert (jobs.folder / "here/worker-1/model/who").read_text() == "1"
    assert (jobs.folder / "here/worker-0/model/weights").stat().st_size == 1 << 20
    assert jobs.left() == []


@pytest.mark.parametrize("words", [(), WITHOUT_AGENTS], ids=["agents", "none"])
def test_scripts_over_the_limit_of_a_config_map_and_whole_folders_are_carried(jobs, words):
    jobs.write("data/nested/one.txt", "first")
    jobs.write("data/two.txt", "second")
    jobs.write("large.py", "import hashlib, pathlib, sys\n"
               "print(pathlib.Path('data/nested/one.txt').read_text(), pathlib.Path('data/two.txt').read_text(), len(open(__file__).read()))\n"
               + "#" * (3 << 20) + "\n")
    done = jobs.run(*words, "-r", "worker:1", "-f", "data", "--", "python3", "large.py")
    assert done.returncode == 0, done.stdout + done.stderr
    size = (jobs.folder / "large.py").stat().st_size
    assert [line for line in jobs.lines() if f"first second {size}" in line]


@pytest.mark.parametrize("agents", [(), WITHOUT_AGENTS], ids=["agents", "none"])
def test_a_secret_is_in_a_secret_only(jobs, agents):
    secret = "hunter2-of-this-test"
    words = (*agents, "-r", "worker:1", "-e", f"DB_PASSWORD={secret}", "--", "sh", "-c",
             'trap "exit 0" TERM; echo "length ${#DB_PASSWORD}"; tail -f /dev/null & wait')
    with jobs.running(*words) as client:
        jobs.wait_for_running(1)
        wait_until(lambda: [line for line in jobs.lines() if f"length {len(secret)}" in line], "its line", pause_s=0.2)
        shown = {kind: jobs.kubectl.run("get", kind, "-o", "json").stdout for kind in ("pods", "configmaps", "jobs", "services")}
        assert not [kind for kind, text in shown.items() if secret in text]
        kept = jobs.kubectl.json("get", "secrets", "-l", "gangrun/job")
        assert [value for one in kept for value in one["data"].values() if secret in base64.b64decode(value).decode()]
        client.send_signal(signal.SIGINT)
        said, _ = client.communicate(timeout=90)
    assert secret not in said
    folder = jobs.status()["folder"]
    # The job's own copy of its spec is for its user only.
    found = subprocess.run(["grep", "-rl", secret, folder], capture_output=True, text=True, timeout=30).stdout.split()
    assert all(os.stat(path).st_mode & 0o077 == 0 for path in found)


@pytest.mark.gate
def test_the_plan_is_what_kubectl_would_make(jobs):
    jobs.write("meets.py", MEETS)
    done = jobs.run("-r", "worker:2", "-m", "64m", "-e", "API_TOKEN=hidden-one", "--output", "model", "--dry-run", "--",
                    "python3", "meets.py")
    assert done.returncode == 0, done.stderr
    assert "hidden-one" not in done.stdout
    made = jobs.kubectl.run("create", "--dry-run=server", "-o", "name", "-f", "-", given=done.stdout).stdout
    pods = [name.strip() for name in made.split() if name.startswith("pod/")]
    assert len(pods) == 3 and len([name for name in pods if name.endswith("-relay")]) == 1, pods
    assert "an agent runs beside each command" in done.stderr
    assert jobs.left() == []


@pytest.mark.parametrize("words, told", [
    (("--context", "elsewhere"), "elsewhere"),
    (("--kubeconfig", "absent.yaml"), "absent.yaml"),
    (("--name", "n" * 60), "63"),
    (("-e", "GOOD=1", "--image", ""), "image"),
    (("-f", "absent.py"), "absent.py"),
])
def test_bad_input_is_one_sentence_before_anything_is_made(jobs, words, told):
    done = jobs.run("-r", "worker:1", *words, "--", "true")
    assert done.returncode in (2, 3)
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert jobs.left() == []


def test_a_namespace_that_is_not_there(jobs):
    done = jobs.order("run", "--on", "k8s", "--namespace", "nowhere", "--image", jobs.image, "-r", "worker:1", "--", "true")
    assert done.returncode == 2
    assert "'nowhere' is not a namespace" in done.stderr


# As kubectl apply does: such a pod ran without what was meant.
@pytest.mark.parametrize("flags, status", [([], 3), (["--dry-run"], 2)])
@pytest.mark.parametrize("pod, field", [
    ("{spec: {nodeSelectr: {a: b}}}", "unknown field 'spec.nodeSelectr'"),
    ("{spec: {containers: [{name: worker, securityContex: {runAsUser: 1}}]}}", "unknown field 'spec.containers[0].securityContex'"),
    ("{spec: {tolerations: [{key: a, operater: Exists}]}}", "unknown field 'spec.tolerations[0].operater'"),
])
def test_a_field_that_pods_do_not_have_is_an_error(jobs, pod, field, flags, status):
    jobs.write("job.yaml", f"tasks: {{worker: {{pod: {pod}}}}}\ncommand: 'true'\n")
    done = jobs.run("job.yaml", *flags)
    assert done.returncode == status and field in done.stdout + done.stderr, done
    assert jobs.left() == []


@pytest.mark.parametrize("section, told", [
    ("{pod: {kind: Deployment, apiVersion: apps/v1}}", "pod.kind"),
    ("{pod: {kind: Pod}}", "pod.spec.containers"),
    ("{pod: {spec: {containers: [{image: x}]}}}", "pod.spec.containers.0"),
    ("{pod: {spec: {restartPolicy: Always}}}", "pod.spec.restartPolicy"),
    ("{labels: {team: the physicists}}", "labels.team: 'the physicists'"),
])
def test_a_section_that_pods_cannot_be_made_of(jobs, section, told):
    jobs.write("job.yaml", f"tasks: {{worker: {{instances: 1}}}}\ncommand: 'true'\nkubernetes: {section}\n")
    done = jobs.run("job.yaml")
    assert done.returncode == 2
    assert f"kubernetes.{told}" in done.stderr


def test_without_a_cluster_or_without_an_answer(jobs, tmp_path):
    none = jobs.run("-r", "worker:1", "--", "true", env={"KUBECONFIG": "", "HOME": str(tmp_path)})
    assert none.returncode == 2 and "kubeconfig" in none.stderr.lower()
    config = json.loads(jobs.kubectl.run("config", "view", "--raw", "-o", "json").stdout)
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    jobs.write("dead.yaml", json.dumps(config))
    dead = jobs.run("-r", "worker:1", "--kubeconfig", "dead.yaml", "--", "true")
    assert dead.returncode == 3 and "127.0.0.1:9" in dead.stderr


@pytest.mark.gate
def test_the_rights_that_are_missing_are_named(jobs):
    jobs.kubectl.run("create", "serviceaccount", "launcher")
    jobs.kubectl.run("create", "role", "launcher", "--verb=get,list,watch,create,delete", "--resource=pods")
    jobs.kubectl.run("create", "rolebinding", "launcher", "--role=launcher", f"--serviceaccount={jobs.kubectl.namespace}:launcher")
    token = jobs.kubectl.run("create", "token", "launcher").stdout.strip()
    config = json.loads(jobs.kubectl.run("config", "view", "--raw", "-o", "json").stdout)
    config["users"][0]["user"] = {"token": token}
    jobs.write("launcher.yaml", json.dumps(config))
    done = jobs.run("-r", "worker:1", "--kubeconfig", "launcher.yaml", "--", "true")
    assert done.returncode == 3
    assert "create jobs.batch" in done.stderr and "create pods," not in done.stderr
    assert token not in done.stderr
