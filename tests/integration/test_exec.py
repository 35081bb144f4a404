"""Commands beside a running task, by jobs on this machine. The whole way: command, master, agent, helper."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from living import processes_with
from waiting import wait_until

LIMIT_S = 60
LEVELS = ["pid_namespace", "cgroup", "subreaper"]
# Ends when there is a file "end"; says by a file that it runs, and by which number its own namespace knows it.
WAITS = "echo $$ > new.$GANGRUN_TASK_INDEX; mv new.$GANGRUN_TASK_INDEX up.$GANGRUN_TASK_INDEX; while ! test -e end; do sleep 0.05; done; echo ended; exit ${STATUS:-0}"


class Job:
    def __init__(self, gangrun, home, folder):
        self.gangrun, self.home, self.folder = str(gangrun), home, folder
        self.id = None

    def environment(self):
        return os.environ | {"GANGRUN_HOME": str(self.home), "TERM": "xterm"}

    def command(self, *words, folder=None, **options):
        return subprocess.run([self.gangrun, *words], env=self.environment(), cwd=folder or self.folder, timeout=LIMIT_S,
                              capture_output=True, **({"stdin": subprocess.DEVNULL, "text": True} | options))

    def start(self, *flags, tasks=1, line=WAITS, folder=None):
        done = self.command("run", "--detach", "--json", "-r", f"worker:{tasks}", *flags, "--", "sh", "-c", line, folder=folder)
        assert done.returncode == 0, done.stderr
        self.id = json.loads(done.stdout.splitlines()[-1])["job"]
        wait_until(lambda: all((self.folder / f"up.{index}").exists() for index in range(tasks)), "the tasks", LIMIT_S)
        return self

    def exec(self, *words, **options):
        return self.command("exec", self.id, "worker:0", "--", *words, **options)

    def begun(self, *words, **options):
        return subprocess.Popen([self.gangrun, "exec", self.id, "worker:0", "--", *words], env=self.environment(),
                                cwd=self.folder, **({"stdin": subprocess.PIPE, "stdout": subprocess.PIPE,
                                                     "stderr": subprocess.PIPE, "text": True} | options))

    def status(self):
        return json.loads(self.command("status", "--json", self.id).stdout)

    def end(self):
        (self.folder / "end").touch()
        return self.command("wait", self.id)


@pytest.fixture
def job(gangrun, agent, home, tmp_path):
    job = Job(gangrun, home, tmp_path)
    yield job
    if job.id:
        job.command("kill", "--now", job.id)


@pytest.fixture
def marked(tmp_path):
    """A setting for processes that are looked for, and whether there are any."""
    setting = f"EXEC_TEST={tmp_path}"
    return setting, lambda: processes_with(setting)


def test_it_runs_where_the_task_runs(job):
    job.start("-e", "OF_THE_JOB=a b")
    script = 'echo "$OF_THE_JOB|$GANGRUN_TASK_INDEX|$PWD|$GANGRUN_RESULT_FILE$GANGRUN_FIGURES_FILE"; echo said >&2; exit 7'
    done = job.exec("sh", "-c", script)
    assert done.returncode == 7
    assert done.stdout == f"a b|0|{job.folder}|\n"
    assert done.stderr == "said\n"


@pytest.mark.parametrize("level", LEVELS)
def test_it_is_in_the_namespaces_of_the_task_at_each_level(job, level):
    job.start("--containment", level)
    # Each at the same place; the task itself is a process of them.
    ours = job.exec("sh", "-c", "readlink /proc/self/ns/pid /proc/self/ns/mnt; cat /proc/self/cgroup")
    assert ours.returncode == 0, ours.stderr
    pid = int((job.folder / "up.0").read_text())
    seen = job.exec("sh", "-c", f"readlink /proc/{pid}/ns/pid /proc/{pid}/ns/mnt; cat /proc/{pid}/cgroup")
    assert seen.stdout == ours.stdout


def test_words_and_bytes_come_as_they_are(job):
    job.start()
    done = job.exec("printf", "%s|", "a b", "", "*", b"\xff\xfe", "é\n", text=False)
    assert done.stdout == b"a b||*|\xff\xfe|\xc3\xa9\n|"
    every = bytes(range(256)) * 20_000
    assert job.exec("cat", text=False, input=every, stdin=None).stdout == every
    counted = job.exec("sh", "-c", "wc -c; head -c 3000000 /dev/zero >&2", text=False, input=every, stdin=None)
    assert int(counted.stdout) == len(every) and len(counted.stderr) == 3_000_000


@pytest.mark.parametrize("words, status, said", [
    (["no-such-program"], 127, "none of the folders of PATH"),
    (["./not-executable"], 126, "not executable"),
    (["sh", "-c", "kill -9 $$"], 137, ""),
    (["sh", "-c", "exit 255"], 255, ""),
    (["true"], 0, ""),
])
def test_the_status_is_the_commands(job, words, status, said):
    (job.folder / "not-executable").write_text("#!/bin/sh\n")
    job.start()
    done = job.exec(*words)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr and (said or not done.stderr)


@pytest.mark.parametrize("words, status, said", [
    (["exec", "no-such-job", "worker:0", "--", "true"], 125, "no-such-job"),
    (["exec", "last", "worker:7", "--", "true"], 125, "no task worker:7; it has worker:0, worker:1"),
    (["exec", "last", "--", "true"], 125, "name one of worker:0, worker:1"),
    (["exec", "worker:0", "true"], 2, "put -- before the command"),
    (["exec", "last", "worker:0", "true"], 2, "put -- before the command"),
])
def test_wrong_input_is_named(job, words, status, said):
    job.start(tasks=2)
    done = job.command(*words)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr


def test_an_only_task_needs_no_name_and_a_shell_no_command(job):
    job.start()
    done = job.command("exec", input="echo $GANGRUN_TASK_INDEX; exit 4\n", stdin=None)
    assert (done.returncode, done.stdout) == (4, "0\n"), done.stderr


def test_a_job_that_has_ended_has_no_place_for_it(job):
    job.start()
    job.end()
    done = job.exec("true")
    assert done.returncode == 125 and "has ended: succeeded" in done.stderr


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_that_it_started_outlives_it(job, level, marked):
    setting, found = marked
    job.start("--containment", level)
    started = "sleep 900 & setsid sleep 900 & (trap '' TERM HUP INT; setsid sh -c 'sleep 900; true') & sleep 0.2; exit 3"
    done = job.exec("env", setting, "sh", "-c", started)
    assert done.returncode == 3
    assert not found()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_with_the_user(job, level, number, marked):
    setting, found = marked
    job.start("--containment", level)
    begun = job.begun("env", setting, "sh", "-c", "trap '' TERM HUP INT; setsid sleep 900 & echo up; while :; do sleep 1; done")
    assert begun.stdout.readline() == "up\n"
    assert found()
    begun.send_signal(number)
    assert begun.wait(timeout=LIMIT_S) == (-9 if number == signal.SIGKILL else 128 + number)
    wait_until(lambda: not found(), lambda: f"the end of {found()}", LIMIT_S)
    assert job.status()["state"] == "running"
    begun.communicate()


def helpers(home):
    """Of commands beside tasks: each has a guardian, which is the parent."""
    found = {pid: words for pid, words in processes_with(f"GANGRUN_HOME={home}").items() if words[1:3] == ["beside", "agent"]}
    parents = {pid: int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in found}
    return {"helper" if parents[pid] in found else "guardian": pid for pid in found}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("which", ["helper", "guardian"])
def test_nothing_is_left_if_what_runs_it_is_killed(job, level, which, marked, home):
    setting, found = marked
    job.start("--containment", level)
    begun = job.begun("env", setting, "sh", "-c", "trap '' TERM HUP INT; setsid sleep 900 & echo up; while :; do sleep 1; done")
    assert begun.stdout.readline() == "up\n"
    os.kill(helpers(home)[which], signal.SIGKILL)
    _, err = begun.communicate(timeout=LIMIT_S)
    assert begun.returncode == 125 and "the command was ended: what ran it beside the task was killed" in err
    wait_until(lambda: not found() and not helpers(home), lambda: f"the end of {found()}", LIMIT_S)
    assert job.status()["state"] == "running"
    assert job.exec("true").returncode == 0


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_is_left_if_the_command_kills_all_that_runs_it(job, level, marked, home):
    setting, found = marked
    job.start("--containment", level)
    # Its own parent and the one above it, at once.
    script = ("sleep 900 & setsid sleep 900 & setsid sh -c 'sleep 900; true' & sleep 0.5; echo up; read line; "
              "read -r _ _ _ above _ </proc/$PPID/stat; kill -9 $above $PPID; sleep 900")
    begun = job.begun("env", setting, "sh", "-c", script)
    assert begun.stdout.readline() == "up\n"
    _, err = begun.communicate("go\n", timeout=LIMIT_S)
    assert begun.returncode == 125 and "the command was ended: what ran it beside the task was killed" in err
    assert not found() and not helpers(home)
    assert job.status()["state"] == "running"


def test_a_task_whose_folder_is_gone_starts_nothing(job):
    (job.folder / "there").mkdir()
    job.start(line=f"cd {job.folder}; {WAITS}", folder=job.folder / "there")
    (job.folder / "there").rmdir()
    done = job.exec("true")
    assert done.returncode == 126 and "cannot enter the working folder" in done.stderr, done


def kill_master(name):
    masters = subprocess.run(["pgrep", "-f", f"gangrun master .*{name}"], capture_output=True, text=True).stdout
    os.kill(min(map(int, masters.split())), signal.SIGKILL)


def test_the_next_master_is_waited_for(job):
    job.start()
    for _ in range(2):
        kill_master(job.id)
        done = job.exec("echo", "here")
        assert (done.returncode, done.stdout) == (0, "here\n"), done.stderr
        kill_master(job.id)
        looked = job.command("stacks", job.id, "--json", "--timeout", "40s")
        assert looked.returncode == 0, looked.stderr
        assert json.loads(looked.stdout)["tasks"][0]["processes"]
    assert job.end().returncode == 0


def test_it_ends_with_the_task(job, marked):
    setting, found = marked
    job.start()
    begun = job.begun("env", setting, "sh", "-c", "trap '' TERM HUP INT; echo up; while :; do sleep 1; done")
    assert begun.stdout.readline() == "up\n"
    assert job.end().returncode == 0
    _, err = begun.communicate(timeout=LIMIT_S)
    assert begun.returncode == 125 and err == "gangrun: the command was ended: worker:0 has ended\n"
    assert not found()


def test_a_job_that_is_stopped_does_not_wait_for_it(job, marked):
    setting, found = marked
    job.start("--timeout", "stop=40s")
    begun = job.begun("env", setting, "sh", "-c", "trap '' TERM HUP INT; echo up; while :; do sleep 1; done")
    assert begun.stdout.readline() == "up\n"
    before = time.monotonic()
    assert job.command("kill", job.id).returncode == 0
    job.command("wait", job.id)
    assert time.monotonic() - before < 20
    _, err = begun.communicate(timeout=LIMIT_S)
    assert begun.returncode == 125 and "worker:0 is to stop" in err
    assert not found()


def test_the_job_does_not_notice(job):
    job.start("-e", "STATUS=5")
    assert job.exec("sh", "-c", "echo not-the-task; kill -9 $$").returncode == 137
    status = job.status()
    assert status["state"] == "running" and status["tasks"][0].get("restarts", 0) == 0
    assert job.end().returncode == 1
    cause = json.loads(job.command("why", "--json", job.id).stdout)["cause"]
    assert (cause["task"], cause["code"] if "code" in cause else 5) == ("worker:0", 5)
    assert "not-the-task" not in job.command("logs", job.id).stdout


def test_several_run_at_once_and_no_more_than_there_may(job):
    job.start()
    many = [job.begun("sh", "-c", f"echo up; read line; echo {index} $line") for index in range(32)]
    try:
        assert [begun.stdout.readline() for begun in many] == ["up\n"] * 32
        refused = job.exec("true")
        assert refused.returncode == 125 and "32 commands run beside the task already" in refused.stderr
        for index, begun in enumerate(many):
            out, _ = begun.communicate("hello\n", timeout=LIMIT_S)
            assert (begun.returncode, out) == (0, f"{index} hello\n")
        assert job.exec("true").returncode == 0
    finally:
        for begun in many:
            begun.kill()
            begun.wait()


def test_a_reader_that_goes_ends_it(job, marked):
    setting, found = marked
    job.start()
    begun = job.begun("env", setting, "yes")
    begun.stdout.readline()
    begun.stdout.close()
    assert begun.wait(timeout=LIMIT_S) == 128 + signal.SIGPIPE
    wait_until(lambda: not found(), "the end of what it ran", LIMIT_S)
    begun.stdin.close(), begun.stderr.close()


def test_output_that_cannot_be_written_is_an_error(job):
    job.start()
    with open("/dev/full", "w") as full:
        done = subprocess.run([job.gangrun, "exec", "last", "worker:0", "--", "echo", "hi"], env=job.environment(),
                              stdout=full, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=LIMIT_S)
    assert done.returncode == 125
    assert "the output is incomplete: writing standard output: No space left on device" in done.stderr


def test_no_more_run_at_once_where_all_come_at_the_same_moment(job):
    job.start()
    many = [job.begun("sh", "-c", "echo up; read line") for _ in range(36)]
    try:
        said = [begun.stdout.readline() for begun in many]
        assert sorted(said) == [""] * 4 + ["up\n"] * 32, [begun.stderr.read() for begun, line in zip(many, said) if not line]
        for begun in [begun for begun, line in zip(many, said) if not line]:
            _, words = begun.communicate(timeout=LIMIT_S)
            assert begun.returncode == 125 and "32 commands run beside the task already" in words, words
    finally:
        for begun in many:
            begun.kill()
            begun.wait()


def test_an_interrupt_is_for_the_command(job):
    job.start()
    begun = job.begun("sh", "-c", "trap 'echo caught; exit 9' INT; echo up; while :; do sleep 0.1; done")
    assert begun.stdout.readline() == "up\n"
    begun.send_signal(signal.SIGINT)
    out, _ = begun.communicate(timeout=LIMIT_S)
    assert (begun.returncode, out) == (9, "caught\n")


class Terminal:
    """`gangrun exec` on a terminal of its own, and what has been written there."""

    def __init__(self, job, *words, rows=24, columns=80):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.slave)
        self.text = ""
        self.process = job.begun(*words, stdin=self.slave, stdout=self.slave, stderr=self.slave, text=False,
                                 preexec_fn=self.take)

    def take(self):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.master, text.encode())

    def read_until(self, pattern):
        deadline = time.monotonic() + LIMIT_S
        while not re.search(pattern, self.text):
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"waited {LIMIT_S} s for {pattern!r} in {self.text[-2000:]!r}"
            self.text += os.read(self.master, 65536).decode(errors="replace")
        return self.text

    def is_as_before(self):
        return termios.tcgetattr(self.slave) == self.modes


@pytest.fixture
def terminal(job):
    opened = []

    def run(*words, **size):
        opened.append(Terminal(job, *words, **size))
        return opened[-1]

    yield run
    for one in opened:
        with contextlib.suppress(ProcessLookupError):
            one.process.kill()
        one.process.wait()
        os.close(one.master)
        os.close(one.slave)


def test_on_a_terminal_the_command_has_one(job, terminal):
    job.start()
    one = terminal("sh", "-c", "test -t 0 && test -t 2 && stty size && echo $TERM; trap 'stty size' WINCH; "
                               "echo up; while ! test -e resized; do sleep 0.1; done; exit 6", rows=33, columns=99)
    assert "33 99" in one.read_until("up")
    assert "xterm" in one.text
    assert not one.is_as_before()
    one.resize(44, 111)
    one.read_until("44 111")
    (job.folder / "resized").touch()
    assert one.process.wait(timeout=LIMIT_S) == 6
    assert one.is_as_before()


def test_on_a_terminal_ctrl_c_goes_to_the_command(job, terminal):
    job.start()
    one = terminal("sh", "-c", "trap 'echo caught' INT; echo up; cat; echo behind; exit 8")
    one.read_until("up")
    one.type("typed\r")
    one.read_until("typed\r\n(.|\n)*typed")
    one.type("\x03")
    one.read_until("behind")
    assert "caught" in one.text
    assert one.process.wait(timeout=LIMIT_S) == 8
    assert one.is_as_before()
    assert job.status()["state"] == "running"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_terminal_is_given_back_whatever_happens(job, terminal, number, marked):
    setting, found = marked
    job.start()
    one = terminal("env", setting, "sh", "-c", "trap '' HUP TERM; echo up; while :; do sleep 1; done")
    one.read_until("up")
    assert not one.is_as_before()
    one.process.send_signal(number)
    one.process.wait(timeout=LIMIT_S)
    wait_until(one.is_as_before, "the terminal", LIMIT_S)
    wait_until(lambda: not found(), "the end of what it ran", LIMIT_S)


def test_it_is_given_back_when_the_task_ends(job, terminal):
    job.start()
    one = terminal("sh", "-c", "echo up; exec sleep 900")
    one.read_until("up")
    job.end()
    one.read_until("worker:0 has ended")
    assert one.process.wait(timeout=LIMIT_S) == 125
    assert one.is_as_before()


def test_a_shell_on_a_terminal_is_interactive(job, terminal):
    job.start("-e", "SHELL=/bin/sh", "-e", "PS1=prompt-$ ")
    one = terminal()
    one.read_until("prompt-|# |\\$ ")
    one.type("sleep 900 &\recho said-$((1 + 1))\r")
    one.read_until("said-2")
    one.type("exit 11\r")
    assert one.process.wait(timeout=LIMIT_S) == 11


def test_pipes_may_be_wanted_on_a_terminal(job, terminal):
    job.start()
    master, slave = pty.openpty()
    try:
        done = job.command("exec", "--no-terminal", job.id, "worker:0", "--", "sh", "-c", "test -t 0 || echo pipes", stdin=slave)
    finally:
        os.close(master), os.close(slave)
    assert done.stdout == "pipes\n"


