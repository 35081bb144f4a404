"""The live table on a real (pseudo) terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
from redrawn import BAR

WAIT_S = 60


class Terminal:
    """A program on a terminal of its own, and what it has written."""

    def __init__(self, command, environment, folder, columns=80, rows=24):
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(self.master)
        self.text = ""
        self.process = subprocess.Popen(command, env=os.environ | {"TERM": "xterm"} | environment, cwd=folder,
                                        stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, pattern):
        deadline = time.monotonic() + WAIT_S
        while not re.search(pattern, self.text):
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"waited {WAIT_S} s for {pattern!r} in {self.text[-2000:]!r}"
            try:
                self.text += os.read(self.master, 65536).decode(errors="replace")
            except OSError:  # nobody is at the other end any more
                break
        return self.text

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=WAIT_S)
        os.close(self.master)


@pytest.fixture
def terminal(gangrun, home, tmp_path):
    opened = []

    def run(*arguments, environment=None, **size):
        opened.append(Terminal([str(gangrun), *arguments], {"GANGRUN_HOME": str(home)} | (environment or {}), tmp_path, **size))
        return opened[-1]

    yield run
    for one in opened:
        one.close()


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r", "")


def test_the_table_is_redrawn_in_place_and_stays(terminal):
    one = terminal("run", "-r", "worker:2", "--", "sh", "-c", "echo the last word")
    text = one.read_until(r"next: ")
    assert one.process.wait(timeout=WAIT_S) == 0
    assert "TASK " in plain(text) and "the last word" in plain(text)
    assert "succeeded" in text
    assert re.search(r"\x1b\[\d+A", text), "went back over the last frame"
    assert "\x1b[?" not in text, "no mode of the terminal is switched"
    assert termios.tcgetattr(one.master) == one.modes


def test_the_first_command_of_the_start_page_shows_what_the_page_says(terminal):
    one = terminal("run", "-r", "chief:1,worker:2", "--", "sh", "-c", 'echo "I am $GANGRUN_TASK_TYPE $GANGRUN_TASK_INDEX"')
    last_frame = plain(one.read_until(r"next: ")).split("TASK ")[-1]
    for line in ("chief:0  | I am chief 0", "worker:0 | I am worker 0", "worker:1 | I am worker 1"):
        assert line in last_frame


def test_tasks_that_do_not_fit_leave_room_for_their_lines(terminal):
    one = terminal("run", "-r", "worker:40", "--", "sh", "-c", "echo line of $GANGRUN_TASK_INDEX", rows=20)
    last_frame = plain(one.read_until(r"next: ")).split("worker (40)")[-1]
    assert last_frame.count(" | line of ") == 10


def test_lines_scroll_above_the_table_when_asked_for(terminal):
    one = terminal("run", "--logs", "-r", "worker:1", "--", "echo", "hello there")
    assert "worker:0 | hello there" in plain(one.read_until(r"next: "))


def test_no_line_is_wider_than_the_terminal(terminal):
    one = terminal("run", "-r", "worker:1", "--", "sh", "-c", "printf '%0300d\\n' 7", columns=60)
    text = one.read_until(r"after \d+")
    frames = plain(text.split(" succeeded after")[0])
    assert max(len(line) for line in frames.split("\n")) <= 60


def test_a_window_may_change_its_size(terminal):
    one = terminal("run", "-r", "worker:1", "--", "sh", "-c", "exec tail -f /dev/null")
    one.read_until(r"running")
    one.resize(40, 6)
    before = len(one.text)
    os.killpg(one.process.pid, signal.SIGWINCH)
    one.read_until(r"\x1b\[\d+A[\s\S]*\x1b\[\d+A[\s\S]*\x1b\[\d+A")
    os.kill(one.process.pid, signal.SIGTERM)
    one.read_until(r"next: ")
    assert len(one.text) > before and one.process.wait(timeout=WAIT_S) == 130


def test_ctrl_c_says_what_a_second_one_does(terminal):
    one = terminal("run", "-r", "worker:1", "--", "sh", "-c", "exec tail -f /dev/null")
    one.read_until(r"running")
    os.kill(one.process.pid, signal.SIGINT)
    assert "send it again to kill them at once" in plain(one.read_until(r"next: "))
    assert one.process.wait(timeout=WAIT_S) == 130


def test_a_task_cannot_write_to_the_terminal(terminal):
    one = terminal("run", "--logs", "-r", "worker:1", "--", "printf", r"a\033]0;title\007b\033[2Jc\a\n")
    text = one.read_until(r"next: ")
    assert "worker:0 | abc" in plain(text)
    assert "\x1b]" not in text and "\x1b[2J" not in text and "\x07" not in text


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_switched_off(terminal, environment):
    coloured = terminal("ps")
    assert "\x1b[1m" in coloured.read_until(r"CAUSE")
    one = terminal("ps", environment=environment)
    assert not re.search(r"\x1b\[\d*m", one.read_until(r"CAUSE"))


LINE_AND_BAR = 'print("begins", flush=True)' + BAR


def rows(text):
    """What such a text leaves on a terminal that is high enough."""
    lines = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).split("\n")
    return [row for row in (line.rstrip("\r").split("\r")[-1] for line in lines) if row]


@pytest.fixture
def bars(gangrun, home, tmp_path):
    """Starts a job whose tasks draw a progress bar until there is a file `go`."""
    def start(tasks):
        done = subprocess.run([gangrun, "run", "--detach", "-r", f"worker:{tasks}", "--", sys.executable, "-c", LINE_AND_BAR, "go"],
                              cwd=tmp_path, env=os.environ | {"GANGRUN_HOME": str(home)}, stdout=subprocess.PIPE, text=True, check=True, timeout=WAIT_S)
        return done.stdout.strip()

    return start


def test_logs_of_one_task_redraw_its_progress_bar_in_place(terminal, bars, tmp_path):
    one = terminal("logs", "-f", bars(1), "worker:0")
    text = one.read_until(r"(\rstep \d+\x1b\[K[\s\S]*){4}")
    assert len(rows(text)) == 2 and re.fullmatch(r"step \d+", rows(text)[-1]), text
    (tmp_path / "go").touch()
    text = one.read_until(r"all done\r\n")
    assert one.process.wait(timeout=WAIT_S) == 0
    assert rows(text) == ["begins", "all done"]


def test_logs_of_several_tasks_redraw_the_bar_that_moved_last_below_the_lines(terminal, bars, tmp_path):
    one = terminal("logs", "-f", bars(2))
    text = one.read_until(r"(?=[\s\S]*worker:0[^\n]*step)(?=[\s\S]*worker:1[^\n]*step)([\s\S]*?step \d+[^\n]*?\x1b\[K){4}")
    begins = {"worker:0 | begins", "worker:1 | begins"}
    assert len(rows(text)) == 3 and set(rows(text)[:2]) == begins, text
    assert re.fullmatch(r"worker:[01] \| step \d+", rows(text)[-1]), text
    (tmp_path / "go").touch()
    text = one.read_until(r"(all done\r\n[\s\S]*){2}")
    assert one.process.wait(timeout=WAIT_S) == 0
    assert set(rows(text)) == begins | {"worker:0 | all done", "worker:1 | all done"} and len(rows(text)) == 4, text


@pytest.mark.parametrize("words, expected", [((), {"step", "all done"}), (("--logs",), {"worker:0 | begins", "worker:0 | all done"})])
def test_attach_shows_progress_bars_in_the_table_only(terminal, bars, tmp_path, words, expected):
    one = terminal("attach", *words, bars(1))
    one.read_until(r"(step \d+[\s\S]*){3}")
    (tmp_path / "go").touch()
    text = plain(one.read_until(r"next: "))
    assert one.process.wait(timeout=WAIT_S) == 0
    assert all(word in text for word in expected), text
    assert not re.search(r"worker:0 \| step", text)


def test_attach_with_lines_only_redraws_a_progress_bar_in_place(terminal, bars, tmp_path):
    one = terminal("attach", "--quiet", bars(1))
    text = one.read_until(r"([^\n]*step \d+\x1b\[K){3}")
    assert len(rows(text)) == 2, text
    (tmp_path / "go").touch()
    text = one.read_until(r"all done\r\n")
    assert one.process.wait(timeout=WAIT_S) == 0
    assert rows(text) == ["worker:0 | begins", "worker:0 | all done"]


def test_a_pipe_gets_the_state_of_a_progress_bar_as_lines(gangrun, home, bars, tmp_path):
    with subprocess.Popen([gangrun, "logs", "-f", bars(1)], env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as logs:
        lines = iter(logs.stdout.readline, "")
        seen = [next(lines) for _ in range(2)]
        (tmp_path / "go").touch()
        seen += lines
    assert any(re.fullmatch(r"worker:0 \| step \d+\n", line) for line in seen), seen
    assert "worker:0 | all done\n" in seen and len(seen) <= 5, seen


@pytest.mark.parametrize("answer", ["y", "n"])
def test_rm_asks(terminal, run_gangrun, home, answer):
    assert run_gangrun("run", "-r", "worker:1", "--", "true").status == 0
    (job,) = (home / "jobs").iterdir()
    screen = terminal("rm", "last")
    assert job.name in screen.read_until("remove 1 job with all logs, results and outputs")
    os.write(screen.master, f"{answer}\n".encode())
    screen.read_until("removed " + job.name if answer == "y" else "nothing was removed")
    assert job.exists() == (answer == "n")
