"""Where the processes of running tasks are, by jobs on this machine."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from waiting import wait_until

LIMIT_S = 60

WAITS = """
import os, pathlib, select, sys
pathlib.Path(sys.argv[1], os.environ["GANGRUN_TASK_INDEX"]).touch()
select.select([], [], [])
"""
# Programs in the tasks' PATH, in place of the real ones, which need rights. worker:1 is somewhere else than the others.
PY_SPY = """#!/bin/sh
case $(tr '\\0' '\\n' </proc/$3/environ) in *GANGRUN_TASK_INDEX=1*) at=odd_place;; *) at=usual_place;; esac
printf 'Process %s: python task.py\\nPython v3.11.2\\n\\nThread %s (idle): "MainThread"\\n    %s (task.py:4)\\n' $3 $3 $at
"""
EU_STACK = """#!/bin/sh
echo "#0 0x7f$2 select"
"""
HANGS = """#!/bin/sh
exec sleep 600
"""


def command(gangrun, home, *words):
    return subprocess.run([gangrun, *words], env=os.environ | {"GANGRUN_HOME": str(home)}, timeout=LIMIT_S, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL)


@pytest.fixture
def programs(tmp_path):
    """programs(name=script, …) are in the tasks' PATH."""

    def write(**scripts):
        for name, script in scripts.items():
            program = tmp_path / "bin" / name.replace("_", "-")
            program.parent.mkdir(exist_ok=True)
            program.write_text(script)
            program.chmod(0o755)

    return write


@pytest.fixture
def job(gangrun, home, tmp_path, programs):
    """A detached job of three tasks that wait."""
    programs(py_spy=PY_SPY, eu_stack=EU_STACK)
    (tmp_path / "task.py").write_text(WAITS)
    there = tmp_path / "there"
    there.mkdir()
    started = subprocess.run([gangrun, "run", "--detach", "--json", "-r", "worker:3", "-e", f"PATH={tmp_path}/bin",
                              "--", sys.executable, "task.py", str(there)],
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
        assert process["python"].startswith(f"Process {process['pid']}: "), process
        assert ("odd_place" in process["python"]) == (task["task"] == "worker:1")
        assert process["python_by"] == "py-spy" and process["native"] == f"#0 0x7f{process['pid']} select"
        assert "trouble" not in process
    status = json.loads(command(gangrun, home, "status", job, "--json").stdout)
    assert status["state"] == "running"
    assert [task["restarts"] if "restarts" in task else 0 for task in status["tasks"]] == [0, 0, 0]


def test_people_see_a_stack_once_with_its_tasks(gangrun, home, job):
    seen = command(gangrun, home, "stacks", job, "--timeout", "40s")
    assert seen.returncode == 0, seen.stderr
    assert re.fullmatch(r"""worker:1  (python[\d.]*) \(sleeps, [\d.]+ s of CPU\)
    Thread … \(idle\): "MainThread"
        odd_place \(task.py:4\)

worker:0,2  \1 \(sleeps, [\d.]+(?: to [\d.]+)? s of CPU\)
    Thread … \(idle\): "MainThread"
        usual_place \(task.py:4\)

""", seen.stdout), seen.stdout


def test_a_program_that_hangs_is_told_as_the_reason(gangrun, home, job, programs, tmp_path):
    """The master gave up at the same time, and only told that the agent did not answer."""
    programs(py_spy=HANGS, eu_stack=HANGS)
    seen = command(gangrun, home, "stacks", job, "--timeout", "6s")
    assert seen.returncode == 0, seen.stderr
    assert f"(not looked at within 6.0 s: {tmp_path}/bin/py-spy takes too long; allow more with --timeout)" in seen.stdout, seen.stdout
    assert "its agent did not answer" not in seen.stdout


def test_a_task_that_is_late_does_not_cost_the_others(gangrun, home, job, programs):
    programs(py_spy=PY_SPY.replace("at=odd_place", "exec sleep 600"), eu_stack=HANGS)
    seen = command(gangrun, home, "stacks", job, "--timeout", "6s")
    assert seen.returncode == 0, seen.stderr
    assert re.search(r"^worker:1  python[^\n]*\n(    [^\n]*\n)*    \(not looked at within 6.0 s: [^\n]*; allow more with --timeout\)$",
                     seen.stdout, re.MULTILINE), seen.stdout
    assert re.search(r"^worker:0,2  python[^\n]*\n[^\n]*\n        usual_place", seen.stdout, re.MULTILINE), seen.stdout


def test_people_wait_for_no_native_stack_that_is_not_shown(gangrun, home, job, programs, tmp_path):
    """gdb took most of the time, for stacks that nobody saw."""
    programs(eu_stack=f"#!/bin/sh\ntouch {tmp_path}/asked\n{EU_STACK}")
    assert command(gangrun, home, "stacks", job, "--timeout", "40s").returncode == 0
    assert not (tmp_path / "asked").exists()
    assert command(gangrun, home, "stacks", job, "--timeout", "40s", "--json").returncode == 0
    assert (tmp_path / "asked").exists()


def test_the_want_of_py_spy_is_told_once_where_only_the_interpreter_is_seen(gangrun, home, tmp_path, programs):
    programs(eu_stack=EU_STACK)
    python = tmp_path / "alone/python3"  # no py-spy is beside it
    python.parent.mkdir()
    python.symlink_to(os.path.realpath(sys.executable))
    (tmp_path / "task.py").write_text(WAITS)
    there = tmp_path / "there"
    there.mkdir()
    started = subprocess.run([gangrun, "run", "--detach", "-r", "worker:2", "--", python, "task.py", str(there)], cwd=tmp_path,
                             env=os.environ | {"GANGRUN_HOME": str(home), "PATH": f"{tmp_path}/bin"}, timeout=LIMIT_S, text=True, capture_output=True)
    assert started.returncode == 0, started.stderr
    try:
        wait_until(lambda: len(list(there.iterdir())) == 2, "the tasks", LIMIT_S)
        seen = command(gangrun, home, "stacks", "last", "--timeout", "40s")
        hint = "Python's own stacks need py-spy where the tasks run: pip install 'gangrun[stacks]'\n"
        assert seen.stdout.endswith("\n\n" + hint) and seen.stdout.count(hint) == 1, seen
        tasks = json.loads(command(gangrun, home, "stacks", "last", "--timeout", "40s", "--json").stdout)["tasks"]
        assert [task["processes"][0]["needs_py_spy"] for task in tasks] == [True, True]
    finally:
        command(gangrun, home, "kill", "--now", "last")


def test_one_task_may_be_named(gangrun, home, job):
    seen = command(gangrun, home, "stacks", job, "worker:1", "--timeout", "40s", "--json")
    assert seen.returncode == 0, seen.stderr
    (only,) = json.loads(seen.stdout)["tasks"]
    assert only["task"] == "worker:1" and len(only["processes"]) == 1


@pytest.mark.parametrize("words", [["stacks", "last", "worker:1", "worker:9"], ["logs", "last", "worker:9"],
                                   ["exec", "last", "worker:9", "--", "true"]], ids=lambda words: words[0])
def test_a_task_that_is_not_there_is_an_error_beside_others_too(gangrun, home, job, words):
    """`stacks` told it beside the stacks of the others, with status 0, and `logs` did not say which there are."""
    refused = command(gangrun, home, *words)
    assert refused.returncode == (125 if words[0] == "exec" else 4) and refused.stdout == ""
    assert refused.stderr == f"gangrun: {job} has no task worker:9; it has worker:0, worker:1, worker:2\n"


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
    (["last", "--timeout", "2m"], "at most 1 min"),
    (["last", "--timeout", "soon"], "--timeout"),
    (["last", "worker"], "worker"),
    (["no-such-job"], "no-such-job"),
    (["last", "worker:9"], "has no task worker:9; it has worker:0, worker:1, worker:2"),
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
