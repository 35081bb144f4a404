"""Files that are too many or too large for config maps: agents fetch them from the client."""

import hashlib
import json
import random

from kubernetes.jobs import SLEEPER, WITHOUT_AGENTS
from waiting import wait_until

BUSYBOX = "localhost/busybox:1"
MIB = 1 << 20


def make_large(jobs, mib=100):
    """A file that nothing compresses, and its digest."""
    content = random.Random(41).randbytes(mib * MIB)
    path = jobs.write("data/large.bin", "")
    path.write_bytes(content)
    return path, hashlib.sha256(content).hexdigest()


def config_map_bytes(jobs):
    """Of all config maps that belong to jobs, but for the agent's parts."""
    maps = jobs.kubectl.json("get", "configmaps", "-l", "gangrun/job")
    return sum(len(json.dumps([each.get("data"), each.get("binaryData")])) for each in maps)


def test_a_large_file_reaches_two_pods_and_no_config_map(jobs):
    jobs.image = BUSYBOX
    _, digest = make_large(jobs)
    jobs.write("small", "s")
    shows = ("sh", "-c", "sha256sum data/large.bin; stat -c %a data/large.bin small; tail -f /dev/null & wait")
    with jobs.running("-r", "worker:2", "-f", "data", "-f", "small", "--", *shows) as client:
        wait_until(lambda: jobs.status("last"), "the job")
        wait_until(lambda: sum(line.endswith("| 444") for line in jobs.lines()) == 4, lambda: f"two modes of two tasks: {jobs.lines()}", 120)
        assert config_map_bytes(jobs) < MIB, "nothing of it is in the cluster"
        assert jobs.order("kill", "last").returncode == 0
        assert client.wait(60) == 5
    found = [line.split(" | ", 1)[1] for line in jobs.lines() if "large.bin" in line]
    assert found == [f"{digest}  data/large.bin"] * 2
    assert jobs.left() == []


def test_many_files_reach_a_user_without_rights(jobs):
    jobs.image = BUSYBOX
    for i in range(300):
        jobs.write(f"conf/{i % 7}/{i}", f"{i}\n")
    jobs.write("conf/run.sh", "cat conf/*/* | sort -n | sha256sum; id -u\n").chmod(0o755)
    user = {"runAsUser": 1234, "runAsNonRoot": True, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}
    jobs.write("job.yaml", json.dumps({
        "on": "kubernetes", "image": BUSYBOX, "command": ["sh", "conf/run.sh"], "files": ["conf"],
        "tasks": {"worker": {"instances": 2, "memory": "32m"}},
        "kubernetes": {"namespace": jobs.kubectl.namespace,
                       "pod": {"spec": {"containers": [{"name": "task", "securityContext": user}]}}}}))
    done = jobs.order("run", "job.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    digest = hashlib.sha256("".join(f"{i}\n" for i in range(300)).encode()).hexdigest()
    said = sorted(line.split(" | ", 1)[1] for line in jobs.lines())
    assert said == sorted([f"{digest}  -", "1234"] * 2)
    assert jobs.left() == []


def test_a_file_that_changes_meanwhile_is_an_error_that_names_it(jobs):
    """The first pods had it; one that is made again would get another."""
    jobs.image = BUSYBOX
    path, _ = make_large(jobs, mib=65)
    with jobs.running("-r", "worker:2", "-f", "data", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        with path.open("ab") as file:
            file.write(b"more")
        jobs.kubectl.run("delete", "pod", jobs.pod_of("worker-1")["metadata"]["name"], "--grace-period=1")
        assert client.wait(120) not in (0, 5)
    why = jobs.order("why", "last").stdout
    assert "worker:1" in why and f"{path} has changed since the job was started" in why, why
    assert jobs.left() == []


def test_a_dry_run_says_what_they_take(jobs):
    jobs.image = BUSYBOX
    make_large(jobs, mib=65)
    shown = jobs.run("-r", "worker:2", "-f", "data", "--dry-run", "--", "true")
    assert shown.returncode == 0, shown.stderr
    assert "1 file (65 MiB) is too much for config maps: each task's agent fetches them from this client" in shown.stderr, shown.stderr
    without = jobs.run(*WITHOUT_AGENTS, "-r", "worker:2", "-f", "data", "--dry-run", "--", "true")
    assert without.returncode == 2 and "have agents, which fetch more" in without.stderr, without.stderr
