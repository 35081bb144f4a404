"""Pods with an agent beside each command: what holds there as it does on other places."""

import hashlib
import json
import pathlib
import signal

import pytest
from kubernetes.jobs import SLEEPER
from waiting import wait_until

BUSYBOX = "localhost/busybox:1"
# Fails in its first run, and says in each which pod and run it is.
FAILS_ONCE = ("sh", "-c", "echo run $GANGRUN_RESTARTS in $(hostname) of $GANGRUN_TASK_INDEX; [ $GANGRUN_RESTARTS -gt 0 ] || exit 3")


def maps(jobs):
    return jobs.kubectl.names("configmap", selector="gangrun/parts")


@pytest.mark.gate
def test_a_gang_with_agents_starts_together_and_leaves_nothing(jobs):
    jobs.image = BUSYBOX
    say = ("sh", "-c", "echo $GANGRUN_CLUSTER_SPEC; echo trouble >&2; cat /proc/1/cmdline | tr '\\0' ' '")
    done = jobs.run("-r", "worker:2", "--", *say)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = jobs.lines()
    spec = json.loads(next(line for line in lines if "{" in line).split(" | ", 1)[1])
    assert len({address.rsplit(":", 1)[0] for address in spec["worker"]}) == 2, "two pods, with an address each"
    assert sum("gangrun-agent pod --task worker:" in line for line in lines) == 2, "the agent is process 1"
    assert jobs.left() == []


def test_the_agents_config_maps_go_with_the_last_job(jobs):
    jobs.image = BUSYBOX
    with jobs.running("-r", "worker:1", "--", *SLEEPER) as client:
        jobs.wait_for_running(1)
        there = maps(jobs)
        assert len(there) > 1, there
        assert jobs.run("-r", "worker:1", "--", "true").returncode == 0
        assert maps(jobs) == there
        client.send_signal(signal.SIGINT)
        assert client.wait(60) == 130
    wait_until(lambda: maps(jobs) == [], lambda: f"the end of {maps(jobs)}")


def test_a_failed_gang_restarts_in_its_pods(jobs):
    jobs.image = BUSYBOX
    jobs.write("job.yaml", json.dumps({
        "on": "kubernetes", "image": BUSYBOX, "command": list(FAILS_ONCE), "tasks": {"worker": {"instances": 2, "memory": "32m"}},
        "restarts": {"scope": "gang", "max": 2}, "kubernetes": {"namespace": jobs.kubectl.namespace}}))
    with jobs.running("run", "job.yaml", program="gangrun") as client:
        seen = set()

        def ended():
            seen.update((pod["metadata"]["name"], pod["metadata"]["uid"]) for pod in jobs.kubectl.json("get", "pods")
                        if not pod["metadata"]["name"].endswith("-relay"))
            return client.poll() is not None

        wait_until(ended, "the end of the job", pause_s=0.1)
    assert client.returncode == 0, jobs.status()
    assert len(seen) == 2, "no pod was made again"
    assert sorted(line.split(" in ")[0].split("| ")[1] for line in jobs.lines()) == ["run 0", "run 0", "run 1", "run 1"]


def test_a_stop_takes_as_long_as_the_command_needs(jobs):
    """A shell as process 1 ignored SIGTERM, and took the whole grace."""
    jobs.image = BUSYBOX
    with jobs.running("-r", "worker:2", "--", "sh", "-c", "echo here; tail -f /dev/null & wait") as client:
        jobs.wait_for_running(2)
        assert jobs.order("kill", "last").returncode == 0
        assert client.wait(15) == 5
    assert jobs.left() == []


def test_large_files_arrive_in_an_image_without_a_shell(jobs, kubernetes):
    jobs.image = kubernetes.make_image("localhost/gangrun-sum:1", "--program", "/usr/bin/sha256sum:/bin/sha256sum")
    jobs.write("data/large.bin", "0123456789abcdef" * (1 << 17))
    jobs.write("small", "s")
    done = jobs.run("-r", "worker:2", "--", "/bin/sha256sum", "data/large.bin", "small")
    assert done.returncode == 0, done.stdout + done.stderr
    expected = {name: hashlib.sha256((jobs.folder / name).read_bytes()).hexdigest() for name in ("data/large.bin", "small")}
    assert sorted(line.split(" | ", 1)[1] for line in jobs.lines()) == sorted([f"{found}  {name}" for name, found in expected.items()] * 2)


def test_exec_and_stacks(jobs):
    jobs.image = BUSYBOX
    with jobs.running("-r", "worker:2", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        told = jobs.order("exec", "last", "worker:1", "--", "sh", "-c", "echo $GANGRUN_TASK_INDEX $(hostname)")
        assert told.returncode == 0 and told.stdout.startswith("1 "), told
        shown = jobs.order("stacks", "last", "--json")
        assert shown.returncode == 0, shown
        assert jobs.order("kill", "last").returncode == 0
        assert client.wait(60) == 5


def test_outputs_come_from_the_agents(jobs):
    """Without `sh` or `tar` of ours in the image, and without a second container."""
    jobs.image = BUSYBOX
    work = ("mkdir -p model/deep model/none; echo step > model/step; head -c 3000000 /dev/zero > model/deep/weights; "
            "ln -s step model/last; ln -s / model/out; head -c 9000000 /dev/zero > model/big; chmod 755 model/step")
    done = jobs.run("-r", "worker:2", "--output", "model/", "--output", "nothing", "--outputs-limit", "4m", "--", "sh", "-c", work)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "outputs of worker:1 were not all kept: over outputs_limit" in done.stdout + done.stderr, done.stdout + done.stderr
    listed = json.loads(jobs.order("fetch", "last", "--json").stdout)["outputs"]
    assert [(entry["task"], entry["files"]) for entry in listed] == [("worker-0", 3), ("worker-1", 3)], listed
    assert jobs.order("fetch", "last", "worker:1", "--to", "here").returncode == 0
    fetched = jobs.folder / "here/worker-1"
    assert (fetched / "model/step").read_text() == "step\n" and (fetched / "model/step").stat().st_mode & 0o111
    assert (fetched / "model/deep/weights").stat().st_size == 3_000_000
    assert (fetched / "model/last").readlink() == pathlib.Path("step")
    assert not (fetched / "model/out").is_symlink() and not (fetched / "model/big").exists()
    for task in jobs.status()["tasks"]:
        assert "over outputs_limit (4 MiB): model/big" in task["lost_outputs"], task
        assert '"model/out" (a link that leads out of the folder)' in task["lost_outputs"], task
    assert "outputs: it has written no nothing" in jobs.order("logs", "last").stderr
    assert jobs.left() == []


def test_outputs_of_a_run_that_is_followed_come_once_at_the_end(jobs):
    jobs.image = BUSYBOX
    work = "mkdir -p out; echo run $GANGRUN_RESTARTS >> out/runs; [ $GANGRUN_RESTARTS -gt 0 ] || exit 3"
    jobs.write("job.yaml", json.dumps({
        "on": "kubernetes", "image": BUSYBOX, "command": ["sh", "-c", work], "tasks": {"worker": {"instances": 2, "memory": "32m"}},
        "outputs": ["out"], "restarts": {"scope": "gang", "max": 2}, "kubernetes": {"namespace": jobs.kubectl.namespace}}))
    with jobs.running("run", "job.yaml", program="gangrun") as client:
        assert client.wait(120) == 0, jobs.status()
    (job,) = pathlib.Path(jobs.environment["GANGRUN_HOME"]).glob("jobs/*")
    assert [(job / f"outputs/worker-{i}/out/runs").read_text() for i in range(2)] == ["run 0\nrun 1\n"] * 2


def test_outputs_of_a_task_that_is_stopped_come(jobs):
    jobs.image = BUSYBOX
    work = "mkdir out; trap 'echo saved > out/state; exit 0' TERM; echo here; sleep 1000 & wait"
    with jobs.running("-r", "worker:1", "--output", "out", "--", "sh", "-c", work) as client:
        jobs.wait_for_running(1)
        wait_until(lambda: any("here" in line for line in jobs.lines()), "the trap")
        assert jobs.order("kill", "last").returncode == 0
        assert client.wait(60) == 5
    assert jobs.order("fetch", "last", "--to", "here").returncode == 0
    assert (jobs.folder / "here/worker-0/out/state").read_text() == "saved\n"
    assert jobs.left() == []


def test_a_relay_that_is_gone_is_replaced_and_no_task_notices(jobs):
    jobs.image = BUSYBOX
    with jobs.running("-r", "worker:2", "--", *SLEEPER) as client:
        running = jobs.wait_for_running(2)
        relay = f"{running['id']}-relay"
        before = jobs.kubectl.json("get", "pods", "-l", "gangrun/job")
        (old,) = [pod for pod in before if pod["metadata"]["name"] == relay]
        jobs.kubectl.run("delete", "pod", relay, "--grace-period=0", "--force")

        def is_replaced():
            pods = {pod["metadata"]["name"]: pod for pod in jobs.kubectl.json("get", "pods", "-l", "gangrun/job")}
            return relay in pods and pods[relay]["metadata"]["uid"] != old["metadata"]["uid"]

        wait_until(is_replaced, "another relay", pause_s=0.2)
        wait_until(lambda: jobs.order("exec", "last", "worker:0", "--", "true").returncode == 0, "an agent that answers", pause_s=0.5)
        after = jobs.wait_for_running(2)
        assert after["restarts_used"] == 0 and [task["pid"] for task in after["tasks"]] == [task["pid"] for task in running["tasks"]]
        tasks = [pod["metadata"]["uid"] for pod in before if pod is not old]
        assert sorted(tasks) == sorted(pod["metadata"]["uid"] for pod in jobs.pods() if pod["metadata"]["name"] != relay)
        assert jobs.order("kill", "last").returncode == 0
        assert client.wait(60) == 5
    assert jobs.left() == []


def test_a_pod_that_somebody_deletes_is_made_again_alone(jobs):
    jobs.image = BUSYBOX
    with jobs.running("-r", "worker:2", "--", *SLEEPER) as client:
        jobs.wait_for_running(2)
        kept, lost = jobs.pod_of("worker-0"), jobs.pod_of("worker-1")
        jobs.kubectl.run("delete", "pod", lost["metadata"]["name"], "--grace-period=1")

        def is_back():
            status = jobs.status()
            return status if status["generation"] == 2 and all(task["state"] == "running" for task in status["tasks"]) else None

        status = wait_until(is_back, lambda: f"the second generation: {jobs.status()}", 60, pause_s=0.2)
        assert status["restarts_used"] == 0
        assert jobs.pod_of("worker-0")["metadata"]["uid"] == kept["metadata"]["uid"]
        assert jobs.pod_of("worker-1")["metadata"]["uid"] != lost["metadata"]["uid"]
        assert jobs.order("kill", "last").returncode == 0
        assert client.wait(60) == 5
    assert jobs.left() == []


def test_who_reads_pods_and_config_maps_learns_no_secret(jobs):
    jobs.image = BUSYBOX
    with jobs.running("-r", "worker:1", "--", *SLEEPER) as client:
        jobs.wait_for_running(1)
        (secret,) = (folder / "secret" for folder in pathlib.Path(jobs.environment["GANGRUN_HOME"]).glob("jobs/*"))
        shown = jobs.kubectl.run("get", "pods,configmaps,jobs,services", "-o", "json").stdout
        assert secret.read_text().strip() not in shown
        assert jobs.order("kill", "last").returncode == 0
        assert client.wait(60) == 5
