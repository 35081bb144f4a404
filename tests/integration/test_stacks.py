"""Where the processes of running tasks are, by jobs on this machine."""

import json
import os
import signal
import subprocess
import sys

import pytest

from waiting import wait_until

LIMIT_S = 60

# worker:1 is somewhere else than the others.
WAITS = """
import os, pathlib, select, sys

def odd_place(): select.select([], [], [])
def usual_place(): select.select([], [], [])

pathlib.Path(sys.argv[1], os.environ["GANGRUN_TASK_INDEX"]).touch()
odd_place() if os.environ["GANGRUN_TASK_INDEX"] == "1" else usual_place()
"""

def command(gangrun, home, *words):
    return subprocess.run([gangrun, *words], env=os.environ | {"GANGRUN_HOME": str(home)}, timeout=LIMIT_S, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL)


@pytest.fixture
def job(gangrun, home, tmp_path):
    """A detached job of three tasks that wait."""
    (tmp_path / "task.py").write_text(WAITS)
    there = tmp_path / "there"
    there.mkdir()
    started = subprocess.run([gangrun, "run", "--detach", "--json", "-r", "worker:3", "--", sys.executable, "task.py", str(there)],
                             cwd=tmp_path, env=os.environ | {"GANGRUN_HOME": str(home)}, timeout=LIMIT_S, text=True, capture_output=True)
    assert started.returncode == 0, started.stderr
    wait_until(lambda: len(list(there.iterdir())) == 3, "the tasks", LIMIT_S)
    yield json.loads(started.stdout.splitlines()[-1])["job"]
    command(gangrun, home, "kill", "--now", "last")


def test_every_process_of_every_task_is_seen_and_goes_on(gangrun, home, job):
    seen = command(gangrun, home, "stacks", job, "--timeout", "40s", "--json")
    assert seen.returncode == 0, seen.stderr
    tasks = json.loads(seen.stdout)["tasks"]
    assert [task["task"] for task in tasks] == ["worker:0", "worker:1", "worker:2"]
    for task in tasks:
        (process,) = task["processes"]
        assert process["name"].startswith("python"), process
        assert process["state"] == "S"
        stack = process.get("python", "") + process.get("native", "")
        # What can be seen depends on the programs that are installed here; one or the other is told.
        assert "select" in stack or "usual_place" in stack or "odd_place" in stack or process["trouble"], process
        assert process["pid"] > 0
    status = json.loads(command(gangrun, home, "status", job, "--json").stdout)
    assert status["state"] == "running"
    assert [task["restarts"] if "restarts" in task else 0 for task in status["tasks"]] == [0, 0, 0]


def test_people_see_a_stack_once_with_its_tasks(gangrun, home, job):
    seen = command(gangrun, home, "stacks", job, "--timeout", "40s")
    assert seen.returncode == 0, seen.stderr
    assert "worker:0" in seen.stdout


def test_one_task_may_be_named_and_one_that_is_not_there_is_told(gangrun, home, job):
    seen = command(gangrun, home, "stacks", job, "worker:1", "worker:7", "--timeout", "40s", "--json")
    assert seen.returncode == 0, seen.stderr
    first, second = json.loads(seen.stdout)["tasks"]
    assert first["task"] == "worker:1" and len(first["processes"]) == 1
    assert second == {"task": "worker:7", "trouble": "the job has no such task"}


def test_of_a_stopped_process_it_is_told_that_it_stands(gangrun, home, job):
    tasks = json.loads(command(gangrun, home, "status", job, "--json").stdout)["tasks"]
    pid = tasks[2]["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        seen = command(gangrun, home, "stacks", job, "worker:2", "--timeout", "10s", "--json")
        (process,) = json.loads(seen.stdout)["tasks"][0]["processes"]
        assert process["state"] == "T"
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("words, said", [
    (["last", "--timeout", "2m"], "must be from"),
    (["last", "--timeout", "soon"], "--timeout"),
    (["last", "worker"], "worker"),
    (["no-such-job"], "no-such-job"),
    (["last", "worker:9"], "has no task worker:9"),
])
def test_wrong_input_is_named(gangrun, home, job, words, said):
    refused = command(gangrun, home, "stacks", *words)
    assert refused.returncode in (2, 4)
    assert said in refused.stderr


def test_a_job_that_has_ended_has_none(gangrun, home, job):
    assert command(gangrun, home, "kill", "--now", job).returncode == 0
    assert command(gangrun, home, "wait", job).returncode != 0
    refused = command(gangrun, home, "stacks", job)
    assert refused.returncode == 7, refused
    assert refused.stderr == f"gangrun: {job} has ended: killed\n"
