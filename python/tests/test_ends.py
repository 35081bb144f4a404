"""Nothing of a job is left when the process that started it is interrupted, ends or is killed."""

import os
import signal
import subprocess
import sys

import pytest

import gangrun
from conftest import alive
from waiting import wait_until

BLOCKING = "import gangrun; gangrun.run({'worker': 2}, 'exec sleep 1000', timeouts={'stop': 5})"
LEAVING = """
import gangrun, sys
run = gangrun.run({'worker': 2}, 'exec sleep 1000', block=False)
sys.stdin.readline()
"""


@pytest.fixture
def caller(folder, home):
    """A process of Python that runs a script, with two tasks that run."""
    started = []

    def start(script):
        environment = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(gangrun.__file__))}
        started.append(subprocess.Popen([sys.executable, "-c", script], env=environment, stdin=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True))

        def tasks():
            return len([pid for pid in alive(home) if command(pid)[:2] == [b"sleep", b"1000"]]) == 2

        wait_until(tasks, "both tasks to run")
        return started[0]

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=60)


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as words:
            return words.read().split(b"\0")
    except OSError:
        return []


def gone(home, process):
    wait_until(lambda: not set(alive(home)) - {process.pid}, "the end of the job")


def test_ctrl_c_ends_the_job_and_is_raised_again(caller, home):
    process = caller(BLOCKING)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and said.rstrip().endswith("KeyboardInterrupt"), said
    assert not alive(home)
    assert not list(home.glob("python/run-*"))


def test_a_script_that_ends_ends_the_job_that_it_has_left(caller, home):
    process = caller(LEAVING)
    process.communicate("\n", timeout=60)
    assert process.returncode == 0
    gone(home, process)
    assert not list(home.glob("python/run-*"))


def test_a_killed_process_takes_the_job_with_it(caller, home):
    process = caller(LEAVING)
    process.kill()
    gone(home, process)


def test_a_thread_that_ends_leaves_the_job_alone(folder):
    import threading
    made = []
    thread = threading.Thread(target=lambda: made.append(gangrun.run({"worker": 1}, "test -e go || exec sleep 1000", block=False)))
    thread.start()
    thread.join()
    (run,) = made
    wait_until(lambda: run.tasks[0].state == "running", "the task to run")
    assert not run._stream.ended.wait(0.3)
    run.kill(now=True)
    with pytest.raises(gangrun.errors.JobKilled):
        run.wait()


def test_what_a_callback_raises_ends_the_job_and_is_raised_again(folder):
    def refuse(task, stream, line):
        raise ZeroDivisionError(f"{task} said {line}")

    with pytest.raises(ZeroDivisionError, match="worker:0 said hello"):
        gangrun.run({"worker": 1}, "echo hello; exec sleep 1000", on_line=refuse)


def test_a_time_limit_of_the_job_is_a_timeout(folder):
    with pytest.raises(TimeoutError, match=r"the job did not end within 300 ms \(timeouts.job\)") as caught:
        gangrun.run({"worker": 1}, "exec sleep 1000", timeouts={"job": "300 ms"})
    assert isinstance(caught.value, gangrun.errors.JobTimeout) and caught.value.status["state"] == "failed"
    assert caught.value.reason == "job_timeout"


def test_a_job_whose_program_is_killed_is_lost(folder):
    run = gangrun.run({"worker": 1}, "exec sleep 1000", block=False)
    wait_until(lambda: run.tasks[0].state == "running", "the task to run")
    run._stream.interrupt(signal.SIGKILL)
    with pytest.raises(ConnectionError, match=f"which watched {run.id}, was killed by SIGKILL, and the job with it"):
        run.wait()
    assert not run.running and run.status()["state"] == "lost"
