"""What comes back from the tasks of a function: values, exceptions, figures."""

import json
import os
import pathlib
import sys
import threading

import pytest

import gangrun
from gangrun import TaskSpec, _result, errors, task


class OutOfData(Exception):
    """Defined where the user's script is, so it travels by value."""


class Picky(Exception):
    """Does not come out of its pickle again."""

    def __init__(self, left, right):
        super().__init__(f"{left} and {right}")


def double(number):
    return {"task": task.current().task, "value": number * 2}


def fail_with(kind):
    if kind == "own":
        raise OutOfData("after 3 rows")
    if kind == "picky":
        raise Picky(1, 2)
    if kind == "exit":
        sys.exit(5)
    {"rows": 1}["columns"]


def test_every_task_gives_back_what_it_returned(folder):
    run = gangrun.run({"chief": 1, "worker": 2}, double, args=(21,))
    assert run.result == {"task": "worker:0", "value": 42}
    assert run.results == {name: {"task": name, "value": 42} for name in ("chief:0", "worker:0", "worker:1")}
    assert gangrun.attach(run.id).results == run.results


def test_the_exception_of_a_task_is_raised_here(folder):
    with pytest.raises(KeyError, match="columns") as caught:
        gangrun.run({"worker": 1}, fail_with, args=("key",))
    assert caught.value.__cause__.task == "worker:0" and "in fail_with" in str(caught.value.__cause__)


def test_an_exception_of_the_users_own_script_is_the_same_class_here(folder):
    with pytest.raises(OutOfData, match="after 3 rows"):
        gangrun.run({"worker": 1}, fail_with, args=("own",))


def test_an_exception_that_cannot_travel_is_told_in_words(folder):
    with pytest.raises(errors.JobFailed, match=r'worker:0 on 127.0.0.1 exited with status 1 \(it raised "Picky: 1 and 2"\)') as caught:
        gangrun.run({"worker": 1}, fail_with, args=("picky",))
    assert "raise Picky(1, 2)" in str(caught.value.__cause__)


def test_a_function_that_exits_is_a_failed_job_and_no_exit_here(folder):
    with pytest.raises(errors.JobFailed, match="exited with status 5"):
        gangrun.run({"worker": 1}, fail_with, args=("exit",))


def test_what_cannot_be_sent_fails_only_who_asks_for_it(folder):
    run = gangrun.run({"worker": 1}, lambda: threading.Lock())
    with pytest.raises(errors.NoResult, match=r"worker:0 .* returned, a lock, cannot be pickled: TypeError"):
        run.result


def test_a_command_has_no_result(folder):
    run = gangrun.run({"worker": 1}, ["true"])
    assert run.results == {}
    with pytest.raises(LookupError, match="worker:0 has written no result"):
        run.result


def rank_fails(rank):
    if int(os.environ["GANGRUN_PROCESS"]) == rank:
        raise OutOfData(f"rank {rank}")
    threading.Event().wait(60)


def test_the_exception_of_any_process_of_a_task_is_its_exception(folder):
    with pytest.raises(OutOfData, match="rank 1"):
        gangrun.run({"worker": TaskSpec(processes=2)}, rank_fails, args=(1,), timeouts={"stop": 1})


def test_an_exception_wins_over_a_value_and_the_first_over_others(tmp_path):
    path = str(tmp_path / "result")
    _result.leave_value(path, b"value")
    _result.leave_exception(path, b"first")
    _result.leave_exception(path, b"second")
    _result.leave_value(path, b"late")
    assert (tmp_path / "result").read_bytes() == b"first"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result", "result.failed"]


class NoRoom(Exception):
    pass


def end_without_room(how):
    """As on a full disk, where its result would go."""
    os.environ["GANGRUN_RESULT_FILE"] = "/dev/null/result"
    if how == "raises":
        raise NoRoom("its own reason")
    return how


def test_what_cannot_be_kept_is_said_and_blames_nobody():
    done = gangrun.run({"worker": 1}, end_without_room, args=("returns",))
    said = pathlib.Path(done.status()["folder"], "logs/worker-0.err").read_text()
    assert "gangrun: what the function returned cannot be kept: " in said
    with pytest.raises(errors.NoResult):
        done.result
    with pytest.raises(errors.JobFailed) as raised:
        gangrun.run({"worker": 1}, end_without_room, args=("raises",))
    assert "NoRoom: its own reason" in str(raised.value.__cause__)


def report_and_wait(path):
    task.report(step=1, phase="warm")
    task.report(step=2, loss=float("nan"))
    while not os.path.exists(path):
        threading.Event().wait(0.02)
    task.report(step=3)


def test_figures_are_seen_while_the_task_runs_and_after(folder):
    from waiting import wait_until
    run = gangrun.run({"worker": 1}, report_and_wait, args=(str(folder / "go"),), block=False)
    wait_until(lambda: run.tasks[0].figures == {"step": 2, "phase": "warm", "loss": "nan"}, "the figures")
    (folder / "go").touch()
    assert run.wait().tasks[0].figures == {"step": 3, "phase": "warm", "loss": "nan"}


@pytest.mark.parametrize("figures, error, said", [
    ({"a": [1]}, TypeError, r"a: \[1\] is a list; allowed: numbers and texts"),
    ({"a": "x" * 257}, ValueError, "a: a text of 257 bytes; allowed: 256"),
    ({f"a{number}": 1 for number in range(65)}, ValueError, "more than 64 figures"),
])
def test_wrong_figures_are_told_where_they_are_made(monkeypatch, figures, error, said):
    monkeypatch.setattr(task, "_told", {})
    with pytest.raises(error, match=said):
        task.report(**figures)


def test_a_figure_that_cannot_be_published_ends_no_task(monkeypatch, tmp_path, capfd):
    """A full disk ended a training."""
    monkeypatch.setattr(task, "_told", {})
    monkeypatch.setattr(task, "_has_warned", False)
    monkeypatch.setenv("GANGRUN_FIGURES_FILE", str(tmp_path / "gone/figures"))
    for step in range(2):
        task.report(step=step)
    assert capfd.readouterr().err.count("gangrun: figures cannot be published: ") == 1
    (tmp_path / "gone").mkdir()
    task.report(step=2)
    assert json.loads((tmp_path / "gone/figures").read_text()) == {"step": 2}


def test_code_outside_of_a_task_is_told_so(monkeypatch):
    monkeypatch.delenv("GANGRUN_TASK_TYPE", raising=False)
    with pytest.raises(RuntimeError, match="this process is not in a task of gangrun"):
        task.current()
