"""A command beside a running task, from Python."""

import subprocess

import pytest

import gangrun
from conftest import alive
from gangrun import errors
from waiting import wait_until


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    waits = "touch up.$GANGRUN_TASK_INDEX; while ! test -e end; do sleep 0.05; done"
    started = gangrun.run({"worker": 2}, ["sh", "-c", waits], block=False, display=False)
    wait_until(lambda: all((tmp_path / f"up.{index}").exists() for index in range(2)), "the tasks")
    yield started
    (tmp_path / "end").touch()
    assert started.wait().status()["state"] == "succeeded"


def test_words_and_lines_run_beside_the_task(run):
    done = run.exec("worker:1", ["sh", "-c", "echo $GANGRUN_TASK_INDEX; cat; echo said >&2; exit 3"], input="given")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"1\ngiven", b"said\n")
    line = run.exec("worker:0", "echo a | tr a b")
    assert (line.stdout, line.args) == (b"b\n", "echo a | tr a b")
    assert run.exec("worker:0", ["cat"], input=b"\xff\0").stdout == b"\xff\0"
    # The command's own, not gangrun's.
    assert run.exec("worker:0", "exit 125").returncode == 125
    missing = run.exec("worker:0", ["no-such-program"])
    assert missing.returncode == 127 and b"no-such-program" in missing.stderr


def test_one_that_takes_too_long_is_killed(run, home):
    before = len(alive(home))
    with pytest.raises(subprocess.TimeoutExpired) as late:
        run.exec("worker:0", "trap '' TERM; sleep 600; true", timeout=1)
    assert late.value.cmd == "trap '' TERM; sleep 600; true"
    with pytest.raises(subprocess.TimeoutExpired) as late:
        run.exec("worker:0", ["sleep", "600"], timeout=1)
    assert late.value.cmd == ["sleep", "600"]
    wait_until(lambda: len(alive(home)) <= before, "the end of the command")


def test_what_cannot_be_is_an_error(run):
    with pytest.raises(LookupError, match="no task worker:9"):
        run.exec("worker:9", "true")
    with pytest.raises(errors.InvalidJob):
        run.exec("worker:0", [])
    for ask in (lambda: run.exec("x", "true"), lambda: run.stacks("x")):
        with pytest.raises(errors.InvalidJob, match="'x' is not a task"):
            ask()
