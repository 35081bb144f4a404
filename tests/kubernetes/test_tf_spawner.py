"""The command lines of tf-spawner on a real Kubernetes cluster."""

import json
import os
import pathlib
import pty
import signal
import subprocess

import pytest
from kubernetes.jobs import documented_rights
from waiting import wait_until

KINDS = ("pods", "services", "jobs", "configmaps", "secrets")
SCRIPT = """
import json, os, sys, threading
config = json.loads(os.environ["TF_CONFIG"])
print("told", os.environ["WORKER_NUMBER"], os.environ["TOT_WORKERS"], config["task"]["index"], *config["cluster"]["worker"], __file__,
      os.environ.get("S3_SECRET_KEY"), flush=True)
if len(sys.argv) == 1:
    threading.Event().wait()
"""
# What a user of tf-spawner has.
OLD_POD = """
apiVersion: v1
kind: Pod
metadata: {name: PODNAME, labels: {app: APPNAME, training_attempt: ATTEMPT, team: physics}}
spec:
  containers:
    - name: trainer
      env:
      volumeMounts: [{name: script, mountPath: /script}]
      command: [python3, /script/training-script.py, "once"]
  volumes: [{name: script, configMap: {name: script}}]
  restartPolicy: Never
"""
# Services that are reached from outside.
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: NAME, labels: {team: physics}}
spec: {type: NodePort}
"""
# Fails in its first run, and says in the second one whether that was in the same container.
FAILS_ONCE = """
import os, pathlib, sys
ran = pathlib.Path("/tmp/ran")
if os.environ["GANGRUN_RESTARTS"] == "0":
    ran.touch()
    sys.exit(3)
print("again in", "its pod" if ran.exists() else "another pod", flush=True)
"""
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/tf-spawner"


class Spawner:
    def __init__(self, jobs):
        self.jobs, self.kubectl = jobs, jobs.kubectl
        jobs.write("script.py", SCRIPT)
        jobs.write("go.sh", "# runs it\n\npython /script/training-script.py\n")

    def order(self, *words, **options):
        return self.jobs.order("-n", self.kubectl.namespace, *words, program="tf-spawner", **options)

    def running(self, *words):
        return self.jobs.running("-n", self.kubectl.namespace, "-i", self.jobs.image, *words, program="tf-spawner")

    def waits(self, *words):
        """A run whose script waits for ever."""
        return self.running("-c", "go.sh", "--timeout", "stop=2s", *words, "script.py")

    def named(self, tag="tf-spawner"):
        return self.kubectl.names(*KINDS, selector=f"training_attempt={tag}")

    def wait_for_workers(self, client, tag="tf-spawner", count=2):
        def running():
            assert client.poll() is None, client.stdout.read()
            pods = self.kubectl.json("get", "pods", "-l", f"training_attempt={tag}")
            return [pod for pod in pods if pod["status"]["phase"] == "Running"]

        return wait_until(lambda: running() if len(running()) == count else None, "running workers", 120, pause_s=0.2)


@pytest.fixture
def spawner(jobs):
    return Spawner(jobs)


@pytest.mark.gate
def test_names_labels_and_variables_are_the_documented_ones(spawner):
    with spawner.waits() as client:
        pods = spawner.wait_for_workers(client)
        assert [pod["metadata"]["name"] for pod in pods] == ["worker0", "worker1"]
        assert [pod["metadata"]["labels"]["app"] for pod in pods] == ["worker0", "worker1"]
        shown = {variable["name"]: variable.get("value", "") for variable in pods[1]["spec"]["containers"][0]["env"]}
        assert "worker1:1999" in shown["TF_CONFIG"] and (shown["WORKER_NUMBER"], shown["TOT_WORKERS"]) == ("1", "2"), shown
        assert len([name for name in spawner.kubectl.names("pods") if name.endswith("-relay")]) == 1, "and it is no worker"
        named = spawner.named()
        assert {"pod/worker0", "pod/worker1", "service/worker0", "service/worker1", "configmap/script"} <= set(named)
        script = spawner.kubectl.json("get", "configmap", "script")
        assert script["data"] == {"training-script.py": SCRIPT}
        wait_until(lambda: len(spawner.jobs.lines()) >= 2, "both lines", 60, pause_s=0.2)
        told = [line for line in spawner.jobs.lines() if "told" in line]
        assert [line for line in told if "told 1 2 1 worker0:1999 worker1:1999 /script/training-script.py" in line]
        client.send_signal(signal.SIGINT)
        assert client.wait(90) == 130
    assert spawner.named() == [] and spawner.jobs.left() == []


def test_a_worker_that_fails_starts_again_in_its_pod(spawner):
    spawner.jobs.write("script.py", FAILS_ONCE)
    done = spawner.order("-w", "2", "-i", spawner.jobs.image, "--restarts", "2", "script.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([line for line in spawner.jobs.lines() if "again in its pod" in line]) == 2, spawner.jobs.lines()
    assert spawner.jobs.status()["restarts_used"] == 2


def test_who_may_do_no_more_than_the_original_does_runs_without_agents(spawner):
    of_agents = {"pods/portforward"}, {"get", "patch"}
    rules = [rule for rule in documented_rights() if set(rule["resources"]) != of_agents[0] and set(rule["verbs"]) != of_agents[1]]
    assert len(rules) == len(documented_rights()) - 2
    spawner.jobs.write_kubeconfig("narrow.yaml", {"token": spawner.jobs.make_token(spawner.jobs.make_account(rules=rules))})
    spawner.jobs.write("script.py", FAILS_ONCE)
    words = ("--kubeconfig", "narrow.yaml", "-w", "1", "-i", spawner.jobs.image, "--restarts", "1", "script.py")
    done = spawner.order(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    (told,) = [line for line in done.stderr.splitlines() if "no agents run beside the workers" in line]
    assert "you have no right to get configmaps, patch configmaps, get pods/portforward, create pods/portforward: this run is without" in told
    assert [line for line in spawner.jobs.lines() if "again in another pod" in line]
    refused = spawner.order("--agents", "config_maps", *words)
    assert refused.returncode == 3 and "create pods/portforward" in refused.stderr, refused
    assert spawner.named() == []


def test_a_template_of_old_a_tag_a_port_and_the_end(spawner):
    spawner.jobs.write("pod.yaml", OLD_POD)
    # More than a config map takes.
    spawner.jobs.write("script.py", SCRIPT + "#" * (2 << 20) + "\n")
    spawner.jobs.write("envfile", "# cloud\nS3_SECRET_KEY=of this test\nPLAIN=1\n")
    done = spawner.order("-w", "3", "-p", "2100", "-r", "-e", "envfile", "-i", spawner.jobs.image, "--no-logs", "script.py")
    assert done.returncode == 0, done.stdout + done.stderr
    (label,) = [word for word in done.stdout.split() if word.startswith("training_attempt=")]
    assert len(bytes.fromhex(label.split("=")[1])) == 4
    lines = spawner.jobs.lines()
    assert len([line for line in lines if "worker2:2100" in line and "of this test" in line]) == 3
    assert spawner.kubectl.names(*KINDS, selector=label) == []


def test_two_runs_of_one_namespace_do_not_collide_and_a_tag_is_one_run_s(spawner):
    with spawner.waits() as first:
        spawner.wait_for_workers(first)
        same = spawner.order("-i", spawner.jobs.image, "script.py")
        assert same.returncode == 3
        assert "'tf-spawner'" in same.stderr and "-d -t tf-spawner" in same.stderr and "-r" in same.stderr
        with spawner.waits("-t", "Second.run") as second:
            pods = spawner.wait_for_workers(second, "Second.run")
            assert [pod["metadata"]["name"] for pod in pods] == ["worker0-second-run", "worker1-second-run"]
            assert "configmap/script-second-run" in spawner.named("Second.run")
            wait_until(lambda: [line for line in spawner.jobs.lines() if "worker0-second-run:1999" in line], "its own places", 60,
                       pause_s=0.2)
            second.send_signal(signal.SIGINT)
            assert second.wait(90) == 130
        assert len(spawner.wait_for_workers(first)) == 2
        assert spawner.named("Second.run") == []
        first.send_signal(signal.SIGINT)
        assert first.wait(90) == 130


def test_a_run_is_deleted_by_its_tag_and_its_client_ends(spawner):
    with spawner.waits("-t", "mine") as client:
        spawner.wait_for_workers(client, "mine")
        done = spawner.order("-d", "mine", "--yes")
        assert done.returncode == 0, done.stderr
        assert "pod/worker0" in done.stdout and "configmap/script" in done.stdout and "-relay" in done.stdout
        assert client.wait(60) == 1
        said = client.stdout.read()
        assert "somebody deleted Job " in said and "lost" not in said and "avoided" not in said
    wait_until(lambda: spawner.named("mine") == [] == spawner.jobs.left(), lambda: f"the end of {spawner.jobs.left()}", 60, pause_s=0.5)


def old_run(kubectl, tag):
    """What tf-spawner itself leaves behind."""
    labels = {"training_attempt": tag}
    kubectl.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "script", "labels": labels}, "data": {"a": "b"}},
                  {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "worker0", "labels": labels},
                   "spec": {"ports": [{"port": 1999}], "selector": {"app": "worker0"}}})


def test_what_the_original_left_is_deleted_when_its_user_agrees(spawner):
    old_run(spawner.kubectl, "old")
    left = ["configmap/script", "service/worker0"]
    refused = spawner.order("-d", "old")
    assert refused.returncode == 2 and "--yes" in refused.stderr and spawner.named("old") == left
    assert spawner.order("-d", "old", "--dry-run").stdout.split()[-2:] == ["service/worker0", "configmap/script"]
    for answer, expected in ((b"\n", left), (b"n\n", left), (b"y\n", [])):
        ours, theirs = pty.openpty()
        os.write(ours, answer)
        done = subprocess.run([spawner.jobs.gangrun.with_name("tf-spawner"), "-n", spawner.kubectl.namespace, "-d", "-t", "old"],
                              stdin=theirs, env=spawner.jobs.environment, cwd=spawner.jobs.folder, capture_output=True, text=True,
                              timeout=60)
        os.close(ours)
        os.close(theirs)
        assert done.returncode == 0 and "y/[n]" in done.stderr
        assert spawner.named("old") == expected
    nothing = spawner.order("-d", "old", "--yes")
    assert nothing.returncode == 0 and "there is nothing" in nothing.stderr


def delete_by(spawner, answer, *words):
    return subprocess.run([spawner.jobs.gangrun.with_name("tf-spawner"), *words], input=answer, env=spawner.jobs.environment,
                          cwd=spawner.jobs.folder, capture_output=True, text=True, timeout=60)


def test_the_answer_may_come_from_a_pipe(spawner):
    old_run(spawner.kubectl, "piped")
    words = ("-n", spawner.kubectl.namespace, "-d", "piped")
    refused = delete_by(spawner, "n\n", *words)
    assert refused.returncode == 2 and "nothing was deleted" in refused.stderr and len(spawner.named("piped")) == 2
    assert delete_by(spawner, "y\n", *words).returncode == 0
    assert spawner.named("piped") == []


def test_only_what_a_run_has_made_is_deleted(spawner):
    """The original deletes pods, services and config maps; ours has a Job and Secrets besides, with a label of its own."""
    labels = {"training_attempt": "shared"}
    old_run(spawner.kubectl, "shared")
    spawner.kubectl.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "theirs", "labels": labels}},
                          {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "theirs", "labels": labels},
                           "spec": {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}}})
    done = spawner.order("-d", "shared", "--yes")
    assert done.returncode == 0 and "theirs" not in done.stdout, done
    assert spawner.kubectl.names("jobs", "secrets", selector="training_attempt=shared") == ["job.batch/theirs", "secret/theirs"]


def test_a_namespace_that_is_not_there_is_told(spawner):
    done = delete_by(spawner, "", "-n", "no-such-namespace", "-d")
    assert done.returncode == 2 and "-n: there is no namespace 'no-such-namespace'" in done.stderr


def test_names_that_are_nobody_s_run_are_left_alone(spawner):
    spawner.kubectl.run("create", "configmap", "script", "--from-literal=a=b")
    with spawner.waits("-t", "beside") as client:
        spawner.wait_for_workers(client, "beside")
        assert "configmap/script-beside" in spawner.named("beside")
    assert spawner.kubectl.json("get", "configmap", "script")["data"] == {"a": "b"}


@pytest.mark.parametrize("words, told", [
    ((), "TRAINING_SCRIPT_PATH is missing"),
    (("absent.py",), "absent.py"),
    (("-w", "0", "script.py"), "-w: '0'"),
    (("--pod-file", "absent.yaml", "script.py"), "--pod-file: 'absent.yaml'"),
    (("--pod-file", "restarts.yaml", "script.py"), "gangrun: --pod-file restarts.yaml: spec.restartPolicy: "),
    (("-n", "A_b", "script.py"), "gangrun: -n: 'A_b'"),
    (("--pod-file", "deployment.yaml", "script.py"), "not the template of a Pod"),
    (("-t", "two words", "script.py"), "-t: 'two words' is not a tag"),
])
def test_bad_input_is_one_sentence_and_makes_nothing(spawner, words, told):
    spawner.jobs.write("deployment.yaml", "kind: Deployment\nspec: {}\n")
    spawner.jobs.write("restarts.yaml", "kind: Pod\nspec: {restartPolicy: Always, containers: [{name: a}]}\n")
    done = spawner.order("-i", spawner.jobs.image, *words)
    assert done.returncode in (2, 3)
    assert told in done.stderr
    assert spawner.named() == []


@pytest.mark.parametrize("template", ["pod.yaml", "pod-gpu.yaml"])
def test_the_plan_is_what_kubectl_would_make(spawner, template):
    spawner.jobs.write("service.yaml", SERVICE)
    done = spawner.order("--dry-run", "-i", spawner.jobs.image, "--pod-file", EXAMPLES / template, "script.py")
    assert done.returncode == 0, done.stderr
    spawner.jobs.write("plan.yaml", done.stdout)
    made = spawner.kubectl.json("apply", "--dry-run=server", "-f", spawner.jobs.folder / "plan.yaml")
    names = {f"{thing['kind']}/{thing['metadata']['name']}" for thing in made}
    assert {"Pod/worker0", "Pod/worker1", "Service/worker0", "ConfigMap/script"} <= names
    service = next(thing for thing in made if thing["metadata"]["name"] == "worker1" and thing["kind"] == "Service")
    assert (service["spec"]["type"], service["metadata"]["labels"]["team"]) == ("NodePort", "physics")
    pod = next(thing for thing in made if thing["metadata"]["name"] == "worker1" and thing["kind"] == "Pod")
    assert ("nvidia.com/gpu" in json.dumps(pod["spec"])) == (template == "pod-gpu.yaml")
