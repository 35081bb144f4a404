"""Jobs on a kernel of Red Hat 7's age: without pidfds, memory files, getrandom() and close_range()."""

import json
import pathlib
import signal
import subprocess
import sys

import pytest

from living import processes_of
from waiting import wait_until

OLD_KERNEL = pathlib.Path(__file__).parents[1] / "old_kernel.py"
LIMIT_S = 120


def without_newer_calls(*command):
    return [sys.executable, str(OLD_KERNEL), *map(str, command)]


@pytest.fixture
def run_old(gangrun, home, tmp_path):
    """Runs gangrun there; the finished process."""
    def run(*words):
        return subprocess.run(without_newer_calls(gangrun, *words), cwd=tmp_path, capture_output=True, text=True,
                              timeout=LIMIT_S, env={"GANGRUN_HOME": str(home), "PATH": "/usr/bin:/bin"})
    return run


def test_the_calls_are_refused():
    code = "import errno, os\ntry: os.pidfd_open(os.getpid())\nexcept OSError as error: print(errno.errorcode[error.errno])"
    done = subprocess.run(without_newer_calls(sys.executable, "-c", code), capture_output=True, text=True, timeout=LIMIT_S)
    assert done.stdout == "ENOSYS\n", done.stderr


def test_a_gang_starts_and_ends(run_old):
    done = run_old("run", "-r", "worker:3", "--quiet", "--", "sh", "-c", "echo of $GANGRUN_TASK_INDEX")
    assert done.returncode == 0, done.stderr
    assert sorted(line.split("| ")[1] for line in done.stdout.splitlines()) == ["of 0", "of 1", "of 2"]


def test_the_first_cause_is_told_and_the_others_have_their_time(run_old, tmp_path):
    script = ('trap "echo stopped >> stops; exit 0" TERM; touch up.$GANGRUN_TASK_INDEX; '
              '[ $GANGRUN_TASK_INDEX = 0 ] && while [ ! -e up.1 ]; do sleep 0.01; done && exit 3; '
              'while :; do sleep 0.05; done')
    done = run_old("run", "--name", "gang", "-r", "worker:2", "--", "sh", "-c", script)
    assert done.returncode == 1, done.stderr
    assert "worker:0 on 127.0.0.1 exited with status 3" in done.stderr
    assert (tmp_path / "stops").read_text() == "stopped\n"


def test_a_detached_job_is_followed_and_killed(run_old):
    job = run_old("run", "--detach", "-r", "worker:2", "--", "sleep", "1000").stdout.strip()
    # It is submitted before all its tasks have started.
    wait_until(lambda: json.loads(run_old("status", "--json", job).stdout)["state"] == "running", "the start of the tasks", LIMIT_S)
    assert run_old("kill", job).returncode == 0
    run_old("wait", job)
    assert json.loads(run_old("status", "--json", job).stdout)["state"] == "killed"
    assert not processes_of(job)


def test_nothing_survives_the_death_of_the_client(gangrun, home, tmp_path):
    script = "echo $GANGRUN_JOB_ID > job; setsid sleep 1000 & sleep 1000"
    client = subprocess.Popen(without_newer_calls(gangrun, "run", "-r", "worker:1", "--", "sh", "-c", script), cwd=tmp_path,
                              env={"GANGRUN_HOME": str(home), "PATH": "/usr/bin:/bin"}, stderr=subprocess.DEVNULL)
    try:
        named = tmp_path / "job"
        wait_until(lambda: named.exists() and named.read_text().endswith("\n"), "the task")
        job = named.read_text().strip()
        wait_until(lambda: len(processes_of(job)) >= 3, "the task's processes")
    finally:
        client.send_signal(signal.SIGKILL)
        client.wait(LIMIT_S)
    wait_until(lambda: not processes_of(job), "the end of all that the job started")
