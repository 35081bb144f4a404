"""SIGUSR1 and SIGUSR2 to who leads a job on Kubernetes: a notice for the commands in its pods, which without agents are told by
commands in their containers."""

import json
import signal

import pytest
from kubernetes.jobs import documented_master_rights, documented_rights
from waiting import wait_until

# Says each notice that it gets, and ends with the second one.
TOLD = """
import os, signal, sys
count = 0
def told(number, frame):
    global count
    count += 1
    print("told", count, signal.Signals(number).name, open(os.environ["GANGRUN_NOTICE_FILE"]).read(), flush=True)
    if count == 2:
        sys.exit(0)
for number in (signal.SIGUSR1, signal.SIGTERM):
    signal.signal(number, told)
print("up", flush=True)
while True:
    signal.pause()
"""
# What does not catch the signal, and would die of it.
BESIDE = ("sh", "-c", "echo beside; tail -f /dev/null")
ANYONE = {"runAsUser": 4321, "runAsNonRoot": True, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def write_job(jobs, command="python3 told.py", tasks=None, pod=None, **keys):
    jobs.write("told.py", TOLD)
    jobs.write("job.yaml", json.dumps({
        "tasks": {"worker": {"instances": 3}} if tasks is None else tasks, "files": ["told.py"], "command": command,
        "kubernetes": {"agents": "none", "pod": {"spec": pod or {}}}, "timeouts": {"stop": "2s"}, **keys}))
    return "job.yaml"


def told(jobs, text, job="last"):
    return [line.split("| ", 1)[-1] for line in jobs.lines(job) if text in line]


def wait_for_lines(jobs, text, count, job="last"):
    return wait_until(lambda: found if len(found := told(jobs, text, job)) == count else None,
                      lambda: f"{count} lines '{text}' in {jobs.lines(job)}", 60, 0.2)


def wait_until_up(jobs, count, job="last"):
    """Until so many commands catch signals."""
    wait_until(lambda: jobs.status(job), "the job")
    wait_for_lines(jobs, "up", count, job)


def read_until(process, text):
    """The first line of the output that has this text."""
    for line in process.stdout:
        if text in line:
            return line
    raise AssertionError(f"no line with '{text}'")


@pytest.mark.parametrize(("command", "pod"), [
    (["python3", "told.py"], None),
    ("cd . && python3 told.py; true", None),
    ("cd . && python3 told.py; true", {"containers": [{"name": "task", "securityContext": ANYONE}]}),
    (["python3", "told.py"], {"shareProcessNamespace": True,
                              "containers": [{"name": "task"}, {"name": "beside", "image": "localhost/busybox:1", "command": BESIDE}]}),
], ids=["program", "shell", "other user", "shared processes"])
def test_each_pods_command_gets_the_file_and_the_signal(jobs, command, pod):
    with jobs.running(write_job(jobs, command, pod=pod)) as client:
        wait_until_up(jobs, 3)
        client.send_signal(signal.SIGUSR1)
        assert wait_for_lines(jobs, "told 1", 3) == ['told 1 SIGUSR1 {"reason":"signal"}'] * 3
        for one in jobs.pods():
            assert {state["restartCount"] for state in one["status"]["containerStatuses"]} == {0}
            assert all("running" in state["state"] for state in one["status"]["containerStatuses"])
        client.send_signal(signal.SIGUSR2)
        said, _ = client.communicate(timeout=90)
    assert client.returncode == 0, said
    assert len(told(jobs, 'told 2 SIGUSR1 {"reason":"signal"}')) == 3
    assert "SIGUSR1: passed on to 3 tasks as a notice" in said
    assert "SIGUSR2: passed on to 3 tasks as a notice" in said
    assert "no notice" not in said
    assert jobs.left() == []


def test_the_signal_is_the_jobs_choice(jobs):
    with jobs.running(write_job(jobs, tasks={"worker": {"instances": 1}}, notice_signal="TERM")) as client:
        wait_until_up(jobs, 1)
        client.send_signal(signal.SIGUSR2)
        assert wait_for_lines(jobs, "told 1", 1) == ['told 1 SIGTERM {"reason":"signal"}']


def test_who_may_not_run_commands_in_pods_is_told_once_and_the_job_goes_on(jobs):
    rules = [rule for rule in documented_rights() if rule["resources"] != ["pods/exec"]]
    assert len(rules) == len(documented_rights()) - 1
    token = jobs.make_token(jobs.make_account(rules=rules))
    jobs.write_kubeconfig("mine.yaml", {"token": token})
    with jobs.running("--kubeconfig", "mine.yaml", write_job(jobs)) as client:
        wait_until_up(jobs, 3)
        client.send_signal(signal.SIGUSR1)
        line = read_until(client, "no notice")
        assert "SIGUSR1: no notice for worker:0, worker:1, worker:2: " in line
        assert "launcher\" has no right to get pods/exec in namespace" in line
        assert told(jobs, "told") == []
        assert jobs.status()["state"] == "running"
        client.send_signal(signal.SIGINT)
        said, _ = client.communicate(timeout=90)
    assert client.returncode == 130 and "no notice" not in said, said
    assert jobs.left() == []


def test_a_task_whose_image_has_no_shell_is_named_and_the_others_are_told(jobs, kubernetes):
    image = kubernetes.make_image("localhost/gangrun-no-shell:1", "--file", "/bin/busybox:/bin/tail:755", "--env", "PATH=/bin")
    tasks = {"worker": {"instances": 2}, "reader": {"instances": 1, "image": image, "command": ["tail", "-f", "/dev/null"], "policy": "service"}}
    with jobs.running(write_job(jobs, tasks=tasks)) as client:
        wait_until_up(jobs, 2)
        jobs.wait_for_running(3)
        client.send_signal(signal.SIGUSR1)
        line = read_until(client, "no notice")
        assert "SIGUSR1: no notice for reader:0: its image needs sh and mv for a notice" in line
        wait_for_lines(jobs, "told 1", 2)
        client.send_signal(signal.SIGUSR1)
        said, _ = client.communicate(timeout=90)
    assert client.returncode == 0, said


def test_who_asks_a_job_without_a_client_reaches_the_tasks_that_are_meant(jobs):
    jobs.make_account("leader", documented_master_rights())
    done = jobs.run("--detach", write_job(jobs, kubernetes={"agents": "config_maps", "master": {"service_account": "leader", "keep": "0s"}}))
    assert done.returncode == 0, done.stderr
    job = done.stdout.strip()
    wait_until_up(jobs, 3, job)
    refused = jobs.order("stacks", job, "worker:1", "worker:9", "--json")
    assert refused.returncode == 4 and f"{job} has no task worker:9; it has " in refused.stderr, refused
    with jobs.running("attach", job, program="gangrun") as attached:
        attached.stdout.readline()
        for count in (1, 2):
            attached.send_signal(signal.SIGUSR1)
            read_until(attached, "SIGUSR1: passed on to the tasks as a notice")
            wait_for_lines(jobs, f"told {count}", 3, job)
        assert attached.wait(60) == 0
    assert jobs.order("rm", "--yes", job).returncode == 0
