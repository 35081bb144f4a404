"""What a user sees and does between the submission of a job and its end."""

import json
import re
import signal
import subprocess

import pytest

from redrawn import BAR
from waiting import wait_until
from yarn.jobs import UNTIL, Waiting
from yarn.processes import processes

PLACED = """
on: yarn
yarn: {queue: ml, priority: 7, tags: [wine, red], master: {memory: 512m, vcores: 2}}
tasks:
  worker: {instances: 2, memory: 2g, gpus: 1, label: gpu, resources: {fpga: 3}}
  ps: {instances: 1, one_per_node: true}
timeouts: {hold: 20s}
command: "true"
"""


@pytest.mark.gate
def test_a_dry_run_tells_what_would_be_asked_and_starts_nothing(jobs, hadoop):
    jobs.write("job.yaml", PLACED)
    before = len(hadoop.applications())
    done = jobs.order("run", "job.yaml", "--dry-run")
    assert done.returncode == 0, done.stderr
    for words in ("queue         ml", "priority      7", "tags          wine, red",
                  "master        512 MiB of memory, 2 vcores", "up to 20 s",
                  "2 GiB of memory, 1 vcore, 1 GPU, 3 fpga", "the default memory (1 GiB)",
                  "label gpu", "one on a node"):
        assert words in done.stdout, done.stdout
    told = json.loads(jobs.order("run", "job.yaml", "--dry-run", "--json").stdout)
    assert told["job"]["yarn"]["queue"] == "ml"
    assert told["job"]["tasks"]["worker"]["label"] == "gpu"
    assert told["job"]["timeouts"]["hold"] == "20 s"
    assert len(hadoop.applications()) == before


def attached(jobs, job):
    return subprocess.Popen([jobs.gangrun, "attach", job.id], cwd=jobs.folder, env=jobs.environment,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.gate
def test_attach_shows_a_job_and_leaves_it_alone(jobs, tmp_path):
    job = Waiting(jobs, "-r", "worker:2")
    job.starts(2)
    leaves, stays = attached(jobs, job), attached(jobs, job)
    try:
        told = {leaves.stdout.readline().split()[0] for _ in range(2)}
        assert told == {"worker:0", "worker:1"}
        leaves.send_signal(signal.SIGINT)
        _, err = leaves.communicate(timeout=60)
        assert leaves.returncode == 130 and "keeps running" in err, err
        assert job.status()["state"] == "running"
        assert job.id in jobs.order("status").stdout  # the last job
        job.end()
        # From another machine that has the configuration, too.
        elsewhere = {"GANGRUN_HOME": str(tmp_path / "elsewhere")}
        assert jobs.order("wait", job.id, env=elsewhere).returncode == 0
        assert job.id in jobs.order("history", "--on", "yarn", env=elsewhere).stdout
        out, err = stays.communicate(timeout=60)
        assert stays.returncode == 0, err
        assert out.count("pid ") == 2
        assert "succeeded" in err
    finally:
        for process in (leaves, stays):
            process.kill()
            process.wait()


@pytest.mark.gate
def test_while_a_job_waits_it_is_told_for_what_and_what_there_is(jobs):
    job = jobs.submit("-r", "worker:40", "-m", "1g", "--", "true")
    def waiting():
        words = jobs.status(job)["waiting_for"]
        return words if "missing" in words else None

    words = wait_until(waiting, "the master to tell what is missing", pause_s=0.2)
    assert re.search(r"\d+ of 40 containers are there; missing: \d+ of 1024 MiB, 1 vcore", words)
    assert re.search(r"queue \S+ has \d+ MiB and \d+ vcores left", words)


def test_what_a_job_that_yarn_has_ended_leaves_is_cleared_away(jobs, hadoop):
    job = Waiting(jobs, "-r", "worker:1")
    job.starts(1)
    killed = hadoop.run("yarn", "application", "-kill", job.id)
    assert "Killed application" in killed.stdout + killed.stderr
    hadoop.wait_for_application(job.id)
    status = jobs.wait_for_state(job.id, "killed")
    assert "killed" in status["cause"]["sentence"].lower() and status["cause"]["reason"] == "stopped"
    listing = hadoop.run("hdfs", "dfs", "-ls", "-R", "/user").stdout
    assert f"/jobs/{job.id}" not in listing
    assert f"/history/{job.id}/journal/" in listing


def test_a_progress_bar_is_told_as_one_while_it_moves(jobs):
    jobs.write("bar.py", BAR)
    job = jobs.submit("-r", "worker:1", "-m", "128m", "-f", "bar.py", "--", "python3", "bar.py", str(jobs.folder / "end"))
    with subprocess.Popen([jobs.gangrun, "logs", "-f", "--json", job], cwd=jobs.folder, env=jobs.environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True) as logs:
        events = (json.loads(line) for line in logs.stdout)
        first = next(events)
        assert first["redrawn"] and re.fullmatch(r"step \d+", first["line"]), first
        (jobs.folder / "end").touch()
        rest = list(events)
    assert [event["line"] for event in rest if "redrawn" not in event] == ["all done"], rest
    assert jobs.wait_for_state(job, "succeeded")


def test_lines_have_their_times_while_the_job_runs_and_after_it(jobs):
    end = jobs.folder / "end"
    job = jobs.submit("-r", "worker:1", "-m", "128m", "--", "sh", "-c", f"echo one; until test -e {end}; do sleep 0.2; done; echo two")
    wait_until(lambda: jobs.lines(job) == ["worker:0 | one"], "the first line", 90, pause_s=0.25)
    line, = jobs.lines(job, "--timestamps")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z worker:0 \| one", line)
    end.touch()
    jobs.wait_for_state(job, "succeeded")
    first, second = (timed.split()[0] for timed in jobs.lines(job, "--timestamps"))
    assert first < second
    assert jobs.lines(job, "--since", second) == ["worker:0 | two"]


@pytest.mark.gate
def test_ctrl_c_ends_the_job(jobs, hadoop):
    jobs.write("until.py", UNTIL)
    words = ("-r", "worker:2", "-m", "128m", "--", "python3", "until.py", str(jobs.folder / "end"))
    with jobs.running(*words) as client:
        told = {client.stdout.readline().split()[0] for _ in range(2)}
        assert told == {"worker:0", "worker:1"}
        client.send_signal(signal.SIGINT)
        _, err = client.communicate(timeout=120)
    assert client.returncode == 130, err
    job, = {found[1] for found in re.finditer(r"(application_\d+_\d+)", err)}
    assert hadoop.wait_for_application(job)["finalStatus"] == "KILLED"
    assert not processes(str(jobs.folder / "end"))


TOLD = """
import os, signal, sys
def told(number, frame):
    print("told", open(os.environ["GANGRUN_NOTICE_FILE"]).read(), flush=True)
    sys.exit(0)
signal.signal(signal.SIGUSR1, told)
print("up", flush=True)
while True:
    signal.pause()
"""


def test_a_warning_of_a_batch_system_is_handed_on_to_the_tasks(jobs):
    jobs.write("told.py", TOLD)
    with jobs.running("-r", "worker:1", "-m", "128m", "-f", "told.py", "--", "python3", "told.py") as client:
        assert client.stdout.readline() == "worker:0 | up\n"
        client.send_signal(signal.SIGUSR2)
        out, err = client.communicate(timeout=120)
    assert client.returncode == 0, err
    assert 'told {"reason":"signal"}' in out and "SIGUSR2: passed on to the tasks as a notice" in err


LEAVES = """
import os, select
index = os.environ["GANGRUN_TASK_INDEX"]
with open(os.environ["GANGRUN_FIGURES_FILE"], "w") as file:
    file.write('{"index": %s}' % index)
while index != "0" and not os.path.exists("END"):
    select.select([], [], [], 0.05)
with open(os.environ["GANGRUN_RESULT_FILE"], "w") as file:
    file.write("of " + index)
"""


@pytest.mark.gate
def test_results_are_there_when_a_task_has_ended_and_after_the_job(jobs):
    end = jobs.folder / "end"
    jobs.write("leaves.py", LEAVES.replace("END", str(end)))
    job = jobs.submit("-r", "worker:2", "-m", "128m", "--", "python3", "leaves.py")

    def listed():
        done = jobs.order("result", job, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["results"]

    assert wait_until(listed, "the first result", 90, pause_s=0.5) == [{"task": "worker:0", "bytes": 4}]
    assert jobs.order("result", job, "worker:0").stdout == "of 0"
    assert jobs.order("result", job, "worker:1").returncode == 4
    end.touch()
    status = jobs.wait_for_state(job, "succeeded")
    assert [task["figures"] for task in status["tasks"]] == [{"index": 0}, {"index": 1}]
    assert jobs.hadoop.wait_for_application(job)["finalStatus"] == "SUCCEEDED"
    assert jobs.order("result", job, "worker:1").stdout == "of 1"


@pytest.mark.gate
def test_a_command_runs_beside_a_task_for_the_jobs_user_only(jobs):
    job = Waiting(jobs, "-r", "worker:2")
    _, pid, node = next(one for one in job.starts(2) if one[0] == "worker:1")
    # The number is that of the task in its own namespace.
    script = f"echo $GANGRUN_TASK_INDEX on $NM_HOST; readlink /proc/self/ns/pid /proc/{pid}/ns/pid; tr '\\0' ' ' < /proc/$PPID/cmdline; exit 4"
    done = jobs.order("exec", job.id, "worker:1", "--", "sh", "-c", script)
    assert done.returncode == 4, done.stderr
    told, own, of_task, parent = done.stdout.split("\n", 3)
    assert told == f"1 on {node}"
    assert own == of_task
    assert "beside agent" in parent
    (seen,) = json.loads(jobs.order("stacks", job.id, "worker:1", "--timeout", "40s", "--json").stdout)["tasks"]
    assert (pid, "python3") in [(process["pid"], process["name"]) for process in seen["processes"]], seen
    other = jobs.of("mallory").order("exec", job.id, "worker:1", "--", "true")
    assert other.returncode == 125 and other.stderr.startswith("gangrun: "), other
    assert job.end()["state"] == "succeeded"


@pytest.mark.gate
def test_a_job_is_submitted_again_until_it_is_removed(jobs):
    jobs.write("said.txt", "first\n")
    job = jobs.submit("-r", "worker:1", "-m", "128m", "-f", "said.txt", "--", "cat", "said.txt")
    jobs.wait_for_state(job, "succeeded")
    jobs.write("said.txt", "second\n")
    done = jobs.order("rerun", job, "--detach", "--json")
    assert done.returncode == 0 and "said.txt has changed since" in done.stderr, done
    again = json.loads(done.stdout)["job"]
    jobs.started.append(again)
    assert again != job
    jobs.wait_for_state(again, "succeeded")
    wait_until(lambda: jobs.lines(again) == ["worker:0 | second"], "the lines of the second job", 90)
    assert jobs.hadoop.wait_for_application(job)["finalStatus"] == "SUCCEEDED"
    assert jobs.order("rm", "--yes", job).returncode == 0
    assert jobs.order("rerun", job).returncode != 0
    assert jobs.order("rerun", again, "--dry-run").returncode == 0
