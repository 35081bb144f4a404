"""Stacks of tasks that run a function, where there is no py-spy."""

import json
import os
import signal
import subprocess
import sys

import pytest

import gangrun
from gangrun import _run, _stacks
from waiting import wait_until

LIMIT_S = 60


@pytest.fixture(autouse=True)
def no_other_program(monkeypatch):
    """Neither py-spy nor eu-stack nor gdb is found."""
    monkeypatch.setenv("PATH", "/usr/gangrun-none")


def wait_there(path):
    import threading

    def odd_place():
        threading.Event().wait(600)

    threading.Thread(target=odd_place, daemon=True).start()
    open(f"{path}/{os.environ['GANGRUN_TASK_INDEX']}", "w").close()
    threading.Event().wait(600)


def fork_and_wait(path):
    import multiprocessing

    child = multiprocessing.get_context("fork").Process(target=wait_there, args=(path,), daemon=True)
    child.start()
    child.join()


def change_and_wait(path):
    """Another program in place of the function's, which has no handler."""
    os.execv(sys.executable, [sys.executable, "-c", f"import signal; open('{path}/0', 'w').close(); signal.pause()"])


def start(function, path, tasks=1):
    run = gangrun.run({"worker": tasks}, function, args=[str(path)], block=False, display=False)
    wait_until(lambda: len(os.listdir(path)) == tasks, "the functions", LIMIT_S)
    return run


def assert_goes_on(run):
    wait_until(lambda: run.status()["state"] == "running", "the news that it runs", LIMIT_S)
    assert pythons(run)["worker:0"]


def pythons(run):
    return {task: [one for one in looks if one.get("name", "").startswith("python")] for task, looks in run.stacks(timeout=20).items()}


def test_a_function_shows_its_stacks_and_goes_on(tmp_path):
    run = start(wait_there, tmp_path, 2)
    try:
        for _ in range(2):
            seen = pythons(run)
            assert set(seen) == {"worker:0", "worker:1"}
            for (process,) in seen.values():
                assert process["python_by"] == "faulthandler", process
                assert "in wait_there" in process["python"] and "in odd_place" in process["python"]
                assert "trouble" not in process
        assert_goes_on(run)
    finally:
        run.kill()


def test_a_process_that_it_forks_has_its_own(tmp_path):
    run = start(fork_and_wait, tmp_path)
    try:
        parent, child = sorted(pythons(run)["worker:0"], key=lambda one: one["pid"])
        assert "in fork_and_wait" in parent["python"] and "in wait_there" not in parent["python"]
        assert "in wait_there" in child["python"]
    finally:
        run.kill()


def test_a_program_in_its_place_gets_no_signal(tmp_path):
    run = start(change_and_wait, tmp_path)
    try:
        (process,) = pythons(run)["worker:0"]
        assert "python" not in process and "py-spy is not installed" in process["trouble"]
        assert_goes_on(run)
    finally:
        run.kill()


def test_processes_beyond_the_limit_are_told():
    assert _run._processes({"task": "worker:0", "processes": [{"pid": 9}], "not_shown": 44}) == [
        {"pid": 9}, {"trouble": "44 more processes are not shown"}]


def test_a_task_that_cannot_be_looked_at_says_why(tmp_path):
    run = start(wait_there, tmp_path)
    try:
        # Nobody answers in so short a time, or somebody does.
        (looks,) = run.stacks("worker:0", timeout=0.001).values()
        assert looks and all(look.get("trouble") or look.get("python") or look.get("native") or look.get("kernel") for look in looks), looks
    finally:
        run.kill()


def test_what_the_command_says_with_its_status_is_the_answer(tmp_path, monkeypatch):
    """The reason was lost where no task could be looked at."""
    program = tmp_path / "gangrun"
    answer = '{"tasks": [{"task": "done:0", "trouble": "it has ended"}]}'
    program.write_text(f"#!/bin/sh\necho '{answer}'\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("GANGRUN_BIN", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert gangrun._run.Run(on="local", env={}).stacks("done:0") == {"done:0": [{"trouble": "it has ended"}]}
    program.write_text("#!/bin/sh\necho 'gangrun: no' >&2\nexit 1\n")
    with pytest.raises(gangrun.errors.CommandFailed, match="^no$"):
        gangrun._run.Run(on="local", env={}).stacks()


def test_what_was_not_looked_at_in_time_keeps_its_reason_beside_the_others(tmp_path, monkeypatch):
    late = {"pid": 0, "name": "box-1", "state": "", "cpu_seconds": 0, "trouble": "not looked at within 2.0 s: docker exec did not answer in time"}
    seen = {"pid": 9, "name": "python3", "state": "S", "cpu_seconds": 1.5, "python": "main (train.py:3)", "python_by": "py-spy"}
    tasks = [{"task": "worker:0", "processes": [late, seen]}, {"task": "worker:1", "trouble": "not looked at within 2.0 s"}]
    program = tmp_path / "gangrun"
    program.write_text(f"#!/bin/sh\necho \"$@\" >{tmp_path}/words\necho '{json.dumps({'tasks': tasks})}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("GANGRUN_BIN", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert gangrun._run.Run(on="local", env={}).stacks(timeout=2) == {"worker:0": [late, seen], "worker:1": [{"trouble": "not looked at within 2.0 s"}]}
    assert "--timeout 2000ms" in (tmp_path / "words").read_text()


HAS_A_USE = """
import signal, sys
sys.path.insert(0, sys.argv[1])
signal.signal(signal.SIGURG, lambda *of: None)
own = signal.getsignal(signal.SIGURG)
from gangrun import _run, _stacks
_stacks.answer()
assert signal.getsignal(signal.SIGURG) is own
"""


def test_who_has_another_use_for_the_signal_keeps_it():
    package = os.path.dirname(os.path.dirname(gangrun.__file__))
    subprocess.run([sys.executable, "-c", HAS_A_USE, package], check=True, timeout=LIMIT_S)


def test_without_a_folder_for_the_fifo_nothing_happens(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    before = os.listdir("/proc/self/fd")
    _stacks._register()
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert signal.getsignal(_stacks.SIGNAL) == signal.SIG_DFL
