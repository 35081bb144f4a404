"""What commands write, and where: outputs that are full, files that are no plain files."""

import json
import os
import re
import subprocess
import sys

import pytest

from redrawn import BAR
from waiting import wait_until

LIMIT_S = 60


@pytest.fixture
def command(gangrun, home, tmp_path):
    """Runs a command; its outputs are kept where they are not given."""

    def run(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **variables):
        return subprocess.run([gangrun, *words], cwd=tmp_path, env=os.environ | {"GANGRUN_HOME": str(home)} | variables,
                              stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, timeout=LIMIT_S)

    return run


@pytest.fixture
def full():
    with open("/dev/full", "wb") as file:
        yield file


LEAVES = ("sh", "-c", "echo a line; echo an error >&2; echo result > $GANGRUN_RESULT_FILE")
SENTENCE = b"gangrun: standard output: cannot be written: No space left on device\n"


def test_every_command_says_that_its_output_is_not_whole(command, full):
    assert command("run", "--", *LEAVES).returncode == 0
    for words in (("logs", "last"), ("logs", "-f", "last", "worker:0"), ("logs", "--json", "last"), ("result", "last"),
                  ("result", "last", "worker:0"), ("ps",), ("ps", "--json"), ("status", "last"),
                  ("status", "--json", "last"), ("why", "last"), ("history",), ("wait", "last"), ("attach", "last"),
                  ("run", "--dry-run", "--", "true"), ("run", "--json", "--", "true"), ("run", "--", *LEAVES),
                  ("completion", "bash"), ("version",), ("--help",)):
        done = command(*words, stdout=full)
        assert done.returncode == 7, words
        assert done.stderr.endswith(SENTENCE) and done.stderr.count(SENTENCE) == 1, (words, done.stderr)
    assert command("logs", "--stderr", "last", stderr=full).returncode == 7


def test_a_job_whose_lines_cannot_be_written_ends_as_it_would(command, full):
    assert command("run", "--", "sh", "-c", "echo a line; exit 3", stdout=full).returncode == 1
    assert b"succeeded" not in command("status", "last").stdout
    assert command("run", "--", *LEAVES, stdout=full).returncode == 7
    assert b"succeeded" in command("status", "last").stdout
    assert command("logs", "last", "worker:0").stdout == b"a line\n"


CLOSED = b"gangrun: standard output: cannot be written: Bad file descriptor\n"


@pytest.fixture
def closed(gangrun, home, tmp_path):
    """Runs a command with descriptors closed, as by `>&-`."""

    def run(closing, *words):
        return subprocess.run(["sh", "-c", f'exec "$@" {closing}', "sh", gangrun, *words], cwd=tmp_path, timeout=LIMIT_S,
                              env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL, capture_output=True)

    return run


# They said nothing, with status 0; or the number was that of another file, and its error was told.
def test_every_command_says_that_its_output_is_closed(command, closed):
    assert command("run", "--", *LEAVES).returncode == 0
    for words in (("logs", "last"), ("result", "last"), ("ps",), ("status", "last"), ("why", "last"), ("history",),
                  ("fetch", "last"), ("doctor",), ("version",), ("run", "--dry-run", "--", "true"), ("run", "--", *LEAVES)):
        done = closed(">&-", *words)
        assert done.returncode == 7 and done.stderr.endswith(CLOSED), (words, done)
    assert closed("<&- >&- 2>&-", "ps").returncode == 7


# The file that locks the job had been given the number 2, and got all that was said.
def test_what_is_said_to_a_closed_output_is_written_to_no_file_of_the_job(closed, home):
    done = closed("<&- >&- 2>&-", "run", "--", "sh", "-c", "echo LINE; echo ERR >&2; exit 2")
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    (folder,) = (path for path in (home / "jobs").iterdir() if not path.is_symlink())
    assert (folder / "logs" / "worker-0.out").read_text() == "LINE\n"
    assert (folder / "logs" / "worker-0.err").read_text() == "ERR\n"
    for lock in folder.glob("*.lock"):
        assert b"gangrun:" not in lock.read_bytes() and b"LINE" not in lock.read_bytes(), lock


def test_a_result_is_written_to_what_is_there(command, tmp_path):
    assert command("run", "--", *LEAVES).returncode == 0
    result = ("result", "last", "worker:0", "-o")
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.PIPE) as reader:
        assert command(*result, "fifo").returncode == 0
        assert reader.communicate(timeout=LIMIT_S)[0] == b"result\n"
    (tmp_path / "link").symlink_to("file")
    assert command(*result, "link").returncode == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "result\n"
    (tmp_path / "null").symlink_to("/dev/null")
    assert command(*result, "null").returncode == 0
    assert (tmp_path / "null").is_char_device()
    assert command(*result, "/dev/stdout").stdout == b"result\n"
    for path, why in (("/dev/full", b"No space left on device"), ("missing/file", b"No such file or directory"),
                      (str(tmp_path), b"Is a directory")):
        done = command(*result, path)
        assert done.returncode == 7 and done.stderr == b"gangrun: cannot write %b: %b\n" % (path.encode(), why)
    assert command("result", "last", "worker:7", "-o", "file").returncode == 4


WAITS = """
import os, select, sys
print(os.environ.get("PYTHONUNBUFFERED"))
while not os.path.exists("go"):
    select.select([], [], [], 0.05)
"""


def test_what_pythons_print_is_seen_at_once(gangrun, home, tmp_path):
    with subprocess.Popen([gangrun, "run", "-q", "--", sys.executable, "-c", WAITS], cwd=tmp_path, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, env=os.environ | {"GANGRUN_HOME": str(home)}) as process:
        assert process.stdout.readline() == b"worker:0 | 1\n"
        (tmp_path / "go").touch()
        assert process.wait(timeout=LIMIT_S) == 0


def test_who_says_how_python_writes_is_heard(command, tmp_path):
    (tmp_path / "go").touch()
    assert command("run", "-e", "PYTHONUNBUFFERED=0", "--", sys.executable, "-c", WAITS).stdout == b"worker:0 | 0\n"
    assert command("run", "--", sys.executable, "-c", WAITS, PYTHONUNBUFFERED="").stdout == b"worker:0 | \n"


LONG = "import sys; sys.stdout.write('x' * 300_000 + '\\n' + 'y' * 3_000_000 + '\\nno end')"


def lines_of(events):
    joined, lines = "", []
    for event in map(json.loads, events):
        if event["event"] == "line":
            joined += event["line"]
            if "partial" not in event:
                lines.append(joined)
                joined = ""
    return lines


def test_programs_get_whole_lines_and_one_task_its_own_bytes(command):
    expected = "x" * 300_000, "y" * 3_000_000, "no end"
    events = command("run", "--json", "--logs", "--", sys.executable, "-c", LONG).stdout.splitlines()
    assert lines_of(events) == list(expected)
    events = command("logs", "--json", "last").stdout.splitlines()
    assert lines_of(events) == list(expected) and "partial" not in json.loads(events[0])
    for words in ("logs", "last", "worker:0"), ("logs", "-f", "last", "worker:0"):
        assert command(*words).stdout.decode() == "\n".join(expected)


FILLS = "for i in range(30_000): print('a line of some length', i)"


def test_lines_that_no_disk_takes_are_counted_and_the_end_is_known(gangrun, tmp_path):
    """On a small tmpfs in a mount namespace of our own, where we may mount."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = ('mount -t tmpfs -o size=900k tmpfs "$1" || exit 77; export GANGRUN_HOME="$1"; shift\n'
              '"$@" > lines 2> told; echo $?; "$1" why last; "$1" status last')
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", disk, gangrun, "run", "--",
                           sys.executable, "-c", FILLS], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
                          cwd=tmp_path)
    if done.returncode == 77 or "unshare" in done.stderr:
        assert "permi" in done.stderr, "only where nothing may be mounted"
        return
    status, _, rest = done.stdout.partition("\n")
    assert status == "0" and "succeeded" in rest and "was lost" not in rest, done.stdout
    kept = len(re.findall(r"^worker:0 \| a line of some length \d+$", (tmp_path / "lines").read_text(), re.MULTILINE))
    found = re.search(r"warning: the log of worker:0 is incomplete: (\d+) lines could not be kept", (tmp_path / "told").read_text())
    # But for lines of which a part was kept.
    assert found and abs(kept + int(found[1]) - 30_000) <= 10


def test_a_progress_bar_is_seen_before_its_line_ends(gangrun, home, command, tmp_path):
    with subprocess.Popen([gangrun, "run", "-q", "--json", "--logs", "--", sys.executable, "-c", BAR, "go"], cwd=tmp_path,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=os.environ | {"GANGRUN_HOME": str(home)}) as run:
        events = (json.loads(line) for line in run.stdout)
        first = next(event for event in events if event["event"] == "line")
        assert first["redrawn"] and re.fullmatch(r"step \d+", first["line"])

        def last_line():
            return json.loads(command("status", "--json", "last").stdout)["tasks"][0]["last_line"]

        wait_until(lambda: re.fullmatch(r"step \d+", last_line()), "the bar in the status")
        (tmp_path / "go").touch()
        rest = [event for event in events if event["event"] == "line"]
        assert rest[-1]["line"] == "all done" and "redrawn" not in rest[-1]
    written = command("logs", "last", "worker:0").stderr
    assert written.startswith(b"\rstep 1\rstep 2\r") and written.endswith(b"\rall done\n")
