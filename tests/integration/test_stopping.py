"""How the tasks of a job are told to stop, what time they have, and what signals to ourselves do: with real shells and
programs below them."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys

import pytest

from living import processes_with
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

# Says what it is given notice of, and ends when the test lets it.
TOLD = """
import json, os, signal

def told(number, frame):
    with open(os.environ["GANGRUN_NOTICE_FILE"]) as file:
        reason = json.load(file)["reason"]
    with open("told.new", "w") as file:
        file.write(f"{signal.Signals(number).name} of {reason}")
    os.rename("told.new", "told")

signal.signal(signal.SIGUSR1, told)
open("up", "w").close()
os.read(os.open("go", os.O_RDONLY), 1)
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
# Of two signals that wait for the helper the one with the lower number ends it.
os.kill(helper, signal.SIGVTALRM)
_, status = os.waitpid(helper, 0)
open("saved", "w").write("with its helper" if os.WTERMSIG(status) == signal.SIGVTALRM else "alone")
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


# What a batch system sends, a terminal, a limit, and somebody who has his reasons.
ENDING = [signal.SIGQUIT, signal.SIGXCPU, signal.SIGALRM, signal.SIGABRT, signal.SIGPWR, signal.SIGRTMIN, signal.SIGRTMAX]


@pytest.mark.parametrize("number", ENDING, ids=lambda number: signal.Signals(number).name)
def test_every_signal_that_can_be_caught_ends_a_job_in_order(start, number, run_gangrun):
    job = start({"tasks": {"worker": {}}, "command": [sys.executable, "trainer.py"]})
    job.wait_for("up")
    job.process.send_signal(number)
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert (job.folder / "saved").exists(), output
    assert job.process.returncode == 130, output
    assert json.loads(run_gangrun("status", "--json", "last").stdout)["state"] == "killed"


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2], ids=lambda number: number.name)
@pytest.mark.parametrize("command", [[sys.executable, "trainer.py"], BELOW_A_SHELL], ids=["program", "shell"])
def test_a_warning_is_handed_on_to_the_tasks_and_ends_nothing(start, number, command):
    job = start({"tasks": {"worker": {}}, "command": command}, trainer=TOLD)
    job.wait_for("up")
    job.process.send_signal(number)
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert (job.folder / "told").read_text() == "SIGUSR1 of signal", output
    assert job.process.returncode == 0, output
    assert f"{number.name}: passed on to 1 task as a notice" in output


@pytest.mark.parametrize("number", [signal.SIGXFSZ, signal.SIGPIPE], ids=lambda number: number.name)
def test_an_output_that_cannot_be_written_ends_no_job(start, number):
    job = start({"tasks": {"worker": {}}, "command": [sys.executable, "trainer.py"]}, trainer=TOLD)
    job.wait_for("up")
    job.process.send_signal(number)
    # Signals come in the order of their numbers, where they are not ignored.
    job.process.send_signal(signal.SIGUSR1)
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert job.process.returncode == 0, output


def test_a_limit_of_the_size_of_files_ends_no_job(gangrun, home, tmp_path):
    limit = 256 * 1024
    command = ["sh", "-c", f"head -c {2 * limit} /dev/zero | tr '\\0' '\\n'; echo the end >&2"]
    done = subprocess.run([str(gangrun), "run", "-r", "worker:1", "--", *command], cwd=tmp_path, timeout=WAIT_S,
                          env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL, capture_output=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode == 0, done.stderr[-2000:]
    assert b"the end" in done.stderr


@pytest.fixture
def detached(gangrun, home, tmp_path, run_gangrun):
    """detached(trainer) starts a detached job and gives it, its supervisor and its master."""

    def run(trainer):
        (tmp_path / "trainer.py").write_text(trainer)
        os.mkfifo(tmp_path / "go")
        done = run_gangrun("run", "--detach", "-r", "worker:1", "--", *BELOW_A_SHELL, cwd=tmp_path)
        assert done.status == 0, done.stderr
        job = done.stdout.strip()
        wait_until(lambda: (tmp_path / "up").exists(), "the task to run")
        found = {words[1]: pid for pid, words in processes_with(f"GANGRUN_HOME={home}").items()
                 if words[0] == str(gangrun) and words[1] in ("supervise", "master")}
        return job, found

    return run


@pytest.mark.parametrize("whom", ["supervise", "master"], ids=["supervisor", "master"])
def test_a_detached_job_is_told_by_its_supervisor_and_by_its_master(detached, whom, tmp_path, run_gangrun):
    job, processes = detached(TOLD)
    os.kill(processes[whom], signal.SIGUSR2)
    wait_until(lambda: (tmp_path / "told").exists(), "the notice")
    assert (tmp_path / "told").read_text() == "SIGUSR1 of signal"
    os.kill(processes[whom], signal.SIGXFSZ)
    with open(tmp_path / "go", "w") as go:
        go.write("x")
    assert run_gangrun("wait", job).status == 0


def test_who_attaches_passes_a_warning_on(detached, gangrun, home, tmp_path):
    job, _ = detached(TOLD)
    attached = subprocess.Popen([str(gangrun), "attach", job], env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    first = attached.stdout.readline()
    attached.send_signal(signal.SIGUSR2)
    wait_until(lambda: (tmp_path / "told").exists(), "the notice")
    with open(tmp_path / "go", "w") as go:
        go.write("x")
    output, _ = attached.communicate(timeout=WAIT_S)
    assert attached.returncode == 0, first + output
    assert "SIGUSR2: passed on to the tasks as a notice" in output


@pytest.mark.parametrize("whom", ["supervise", "master"], ids=["supervisor", "master"])
def test_a_detached_job_is_ended_by_its_supervisor_and_by_its_master(detached, whom, tmp_path, run_gangrun):
    job, processes = detached(TRAINER)
    os.kill(processes[whom], signal.SIGQUIT)
    wait_until(lambda: (tmp_path / "told").exists(), "the task to be told")
    with open(tmp_path / "go", "w") as go:
        go.write("x")
    assert run_gangrun("wait", job).status == 5
    assert (tmp_path / "saved").exists()


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2], ids=lambda number: number.name)
def test_an_agent_tells_its_own_task(start, number, home):
    job = start({"tasks": {"worker": {}}, "command": [sys.executable, "trainer.py"]}, trainer=TOLD)
    job.wait_for("up")
    # The guardian, which hands it on, has the lower number.
    guardian = min(pid for pid, words in processes_with(f"GANGRUN_HOME={home}").items() if words[0].endswith("gangrun-agent"))
    os.kill(guardian, number)
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert job.process.returncode == 0, output


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGXCPU], ids=lambda number: number.name)
def test_an_agent_that_is_ended_lets_its_task_save(start, number, home):
    job = start({"tasks": {"worker": {}}, "command": [sys.executable, "trainer.py"]})
    job.wait_for("up")
    guardian = min(pid for pid, words in processes_with(f"GANGRUN_HOME={home}").items() if words[0].endswith("gangrun-agent"))
    os.kill(guardian, number)
    job.wait_for("told")
    job.say("go", "x")
    output = job.end()
    assert (job.folder / "saved").exists(), output
