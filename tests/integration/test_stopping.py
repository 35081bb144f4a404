"""How the tasks of a job are told to stop, and what time they have: with real shells and programs below them."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest

from waiting import wait_until

WAIT_S = 60

# Told to stop, it saves when the test lets it.
TRAINER = """
import os, signal, sys

def stop(number, frame):
    open("told", "w").close()
    os.read(os.open("go", os.O_RDONLY), 1)
    open("saved", "w").close()
    sys.exit(0)

if os.path.exists("saved"):
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
open("up", "w").close()
while True:
    signal.pause()
"""

# Saves only with its helper, as a trainer with its data loader.
WITH_HELPER = """
import os, signal, sys

helper = os.fork()
if helper == 0:
    while True:
        signal.pause()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGUSR1])
open("up", "w").close()
number = signal.sigwait([signal.SIGTERM, signal.SIGUSR1])
open("told", "w").write(signal.Signals(number).name)
os.read(os.open("go", os.O_RDONLY), 1)
ended, _ = os.waitpid(helper, os.WNOHANG)
open("saved", "w").write("alone" if ended else "with its helper")
"""

# A shell that does not become what it runs.
BELOW_A_SHELL = ["sh", "-c", f"{sys.executable} trainer.py; true"]
# Fails when the test says so, once.
OTHER = ["sh", "-c", '[ -e saved ] || { read -r line <fail; exit "$line"; }']


class Job:
    """A started job, in a folder with FIFOs by which the test lets its tasks go on."""

    def __init__(self, process, folder):
        self.process = process
        self.folder = folder
        # Also for reading, so that nobody waits for the other end.
        self.fifos = {name: os.open(folder / name, os.O_RDWR) for name in ("go", "fail")}

    def has(self, name):
        assert self.process.poll() is None, self.process.stdout.read()
        return (self.folder / name).exists()

    def wait_for(self, name):
        wait_until(lambda: self.has(name), f"the file {name!r}")

    def say(self, name, text):
        os.write(self.fifos[name], text.encode())

    def end(self):
        output, _ = self.process.communicate(timeout=WAIT_S)
        return output


@pytest.fixture
def start(gangrun, home, tmp_path):
    """start({tasks…}, flag…) starts a job of this file in the folder of the test."""
    with contextlib.ExitStack() as stack:

        def run(spec, *flags, trainer=TRAINER):
            (tmp_path / "trainer.py").write_text(trainer)
            (tmp_path / "job.yaml").write_text(json.dumps(spec))  # JSON is YAML
            for name in ("go", "fail"):
                os.mkfifo(tmp_path / name)
            process = stack.enter_context(subprocess.Popen(
                [str(gangrun), "run", "--no-logs", *flags, "job.yaml"], cwd=tmp_path, stdin=subprocess.DEVNULL,
                env=os.environ | {"GANGRUN_HOME": str(home)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
            stack.callback(process.kill)
            job = Job(process, tmp_path)
            for fifo in job.fifos.values():
                stack.callback(os.close, fifo)
            return job

        yield run


@pytest.mark.parametrize("containment", ["auto", "subreaper"])
def test_a_trainer_below_a_shell_has_its_time_when_the_job_is_told_to_stop(start, containment):
    job = start({"tasks": {"worker": {}}, "command": BELOW_A_SHELL}, "--containment", containment)
    job.wait_for("up")
    job.process.send_signal(signal.SIGTERM)
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert (job.folder / "saved").exists(), output
    assert job.process.returncode == 130, output


def test_a_trainer_below_a_shell_has_its_time_when_another_task_fails(start):
    job = start({"tasks": {"worker": {"command": BELOW_A_SHELL}, "other": {"command": OTHER}}})
    job.wait_for("up")
    job.say("fail", "3\n")
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert (job.folder / "saved").exists(), output
    assert job.process.returncode == 1 and "other:0" in output


def test_a_trainer_below_a_shell_has_its_time_before_the_gang_starts_anew(start):
    job = start({"tasks": {"worker": {"command": BELOW_A_SHELL}, "other": {"command": OTHER}},
                 "restarts": {"max": 1, "scope": "gang"}})
    job.wait_for("up")
    job.say("fail", "3\n")
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert (job.folder / "saved").exists(), output
    assert job.process.returncode == 0, output


@pytest.mark.parametrize("command", [[sys.executable, "trainer.py"], BELOW_A_SHELL], ids=["program", "shell"])
@pytest.mark.parametrize(("flags", "number", "outcome"), [
    ([], "SIGTERM", "with its helper"),
    (["--stop-signal-to", "group"], "SIGTERM", "alone"),
    (["--stop-signal", "SIGUSR1"], "SIGUSR1", "with its helper"),
], ids=["default", "group", "usr1"])
def test_a_job_says_who_is_told_to_stop_and_how(start, command, flags, number, outcome):
    job = start({"tasks": {"worker": {}}, "command": command}, *flags, trainer=WITH_HELPER)
    job.wait_for("up")
    job.process.send_signal(signal.SIGTERM)
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert (job.folder / "told").read_text() == number, output
    assert (job.folder / "saved").read_text() == outcome, output
    assert job.process.returncode == 130, output


def test_what_is_left_of_a_task_is_killed_when_its_time_is_over(start, survivors):
    deaf = "trap '' TERM; echo up >up; while :; do tail -f /dev/null; done"
    job = start({"tasks": {"worker": {}}, "command": ["sh", "-c", f"sh -c \"{deaf}\" & wait; true"],
                 "env": {"MARKER": str(os.getpid())}}, "--timeout", "stop=300ms")
    job.wait_for("up")
    job.process.send_signal(signal.SIGTERM)
    output = job.end()
    assert job.process.returncode == 130, output
    assert survivors(f"MARKER={os.getpid()}") == []


def test_a_process_of_a_task_has_the_time_of_the_job_when_another_fails(start):
    script = f'[ $GANGRUN_PROCESS = 0 ] && exec {sys.executable} trainer.py; read -r line <fail; exit 3'
    job = start({"tasks": {"worker": {"processes": 2}}, "command": ["sh", "-c", script]}, "--timeout", "stop=10min")
    job.wait_for("up")
    job.say("fail", "3\n")
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert (job.folder / "saved").exists(), output
    assert job.process.returncode == 1, output
