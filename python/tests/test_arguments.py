"""Times and counts of the wrong type or size are refused here, by the names that the caller has given them."""

import fractions
import math
import numbers
import os
import pathlib
import threading

import pytest

import gangrun
from gangrun import _arguments, _kv
from gangrun._run import Run
from gangrun.spark import _cluster, _feeding


@pytest.fixture(autouse=True)
def no_agent(monkeypatch):
    """Who asks an agent all the same gets a RuntimeError."""
    for name in [name for name in os.environ if name.startswith("GANGRUN_") and name != "GANGRUN_HOME"]:
        monkeypatch.delenv(name)


WEEK = r"allowed: a number of seconds from 0 to 604800$"


@pytest.mark.parametrize("wait", [lambda timeout: _kv.kv.wait("k", timeout=timeout), lambda timeout: _kv.barrier(timeout=timeout)])
@pytest.mark.parametrize("timeout, kind, words", [
    ("5", TypeError, f"^timeout: '5' is of the type str; {WEEK}"), (True, TypeError, f"^timeout: True is of the type bool; {WEEK}"),
    ([5], TypeError, WEEK), (-1, ValueError, f"^timeout: -1 is out of range; {WEEK}"), (604801, ValueError, WEEK),
    (math.nan, ValueError, WEEK)])
def test_a_time_to_wait_is_a_number_of_seconds(wait, timeout, kind, words):
    with pytest.raises(kind, match=words):
        wait(timeout)


@pytest.mark.parametrize("timeout", [0, 5, 0.25, 604800, None, math.inf])
def test_times_that_can_be_are_taken(timeout):
    with pytest.raises(RuntimeError, match="GANGRUN_KV is not set"):
        _kv.kv.wait("k", timeout=timeout)


@pytest.mark.parametrize("tasks, kind, words", [
    ("2", TypeError, "^tasks: '2' is of the type str; allowed: a whole number from 1 to 100000$"), (2.0, TypeError, "^tasks: 2.0 is"),
    (True, TypeError, "^tasks: True"), (0, ValueError, "^tasks: 0 is out of range"), (100001, ValueError, "from 1 to 100000$")])
def test_the_tasks_of_a_barrier_are_a_whole_number(tasks, kind, words):
    with pytest.raises(kind, match=words):
        _kv.barrier(tasks=tasks)


def test_names_that_cannot_be_are_told_as_what_they_are():
    with pytest.raises(ValueError, match="^'' is not a barrier's name: one has from 1 to 200 printable ASCII characters"):
        _kv.barrier("")
    with pytest.raises(TypeError, match="^a barrier's name is a str, not int$"):
        _kv.barrier(5)
    with pytest.raises(TypeError, match="^prefix is a str, not int$"):
        _kv.kv.keys(5)


def test_waits_for_a_job_take_numbers():
    """With a text they failed where they waited; None and infinity are no limit."""
    run = Run(on="local", env={})
    for ask in (lambda: run.wait(timeout="5"), lambda: run.exec("worker:0", "true", timeout="5")):
        with pytest.raises(TypeError, match="^timeout: '5' is of the type str; allowed: a number of seconds$"):
            ask()
    with pytest.raises(ValueError, match="^timeout: nan is out of range"):
        run.wait(timeout=math.nan)
    assert _arguments.time_limit("timeout", None) is _arguments.time_limit("timeout", math.inf) is None
    assert _arguments.time_limit("timeout", threading.TIMEOUT_MAX * 2) is None
    assert (_arguments.time_limit("timeout", 5), _arguments.time_limit("timeout", -1)) == (5.0, -1.0)


def test_a_look_at_stacks_is_limited_as_its_caller_says():
    """The error was about --timeout 100000ms."""
    allowed = "allowed: a number of seconds from 0 to 60$"
    with pytest.raises(ValueError, match=f"^timeout: 100 is out of range; {allowed}"):
        Run(on="local", env={}).stacks(timeout=100)
    with pytest.raises(TypeError, match=f"^timeout: '5' is of the type str; {allowed}"):
        Run(on="local", env={}).stacks(timeout="5")


def test_the_limits_are_those_of_the_programs():
    source = pathlib.Path(__file__).parents[2] / "src"
    keys = (source / "wire/key_messages.h").read_text()
    assert f"kMaxBarrierTasks = {_kv._MAX_TASKS:_};".replace("_", "'") in keys.replace("_", "'")
    assert "kMaxKeyWait = std::chrono::hours(7 * 24);" in keys and _kv._MAX_TIMEOUT_S == 7 * 24 * 3600
    assert "kMaxQuestionLimit = std::chrono::minutes(1);" in (source / "cluster/question.h").read_text()
    assert gangrun._run.MAX_LOOK_S == 60


def test_a_command_beside_a_task_is_words_and_its_input_bytes():
    run = Run(on="local", env={})
    with pytest.raises(TypeError, match=r"^command: \['sleep', 5\] has a word that is no text"):
        run.exec("worker:0", ["sleep", 5])
    with pytest.raises(TypeError, match="^input: 5 is of the type int; allowed: str or bytes$"):
        run.exec("worker:0", "cat", input=5)


def test_flags_are_a_list():
    """Each letter was a flag."""
    for flags in ("-m", ["-m", 8]):
        with pytest.raises(TypeError, match="^flags: .* is no list of texts"):
            gangrun.rerun("last", flags)


def test_times_and_counts_of_spark_are_numbers():
    with pytest.raises(TypeError, match="^timeout: '5' is of the type str"):
        _cluster.run(None, print, timeout="5")
    with pytest.raises(TypeError, match="^feed_timeout: '5' is of the type str"):
        _feeding.Plan(job_id="j", key=b"", nodes=[], feed_timeout="5")
    for epochs, kind in (("2", TypeError), (2.5, TypeError), (0, ValueError)):
        with pytest.raises(kind, match="^epochs: .*; allowed: a whole number from 1 on$"):
            _feeding.train(None, None, epochs, _feeding.Plan(job_id="j", key=b"", nodes=[]))


@numbers.Integral.register
class Whole:
    """As NumPy has its integers: no int, but registered as whole."""

    def __init__(self, value):
        self.value = value

    def __int__(self):
        return self.value

    def __ge__(self, other):
        return self.value >= other

    def __le__(self, other):
        return self.value <= other


def test_numbers_of_other_libraries_are_numbers():
    assert _arguments.seconds("timeout", fractions.Fraction(1, 2)) == 0.5
    assert _arguments.count("tasks", Whole(3), 1) == 3
