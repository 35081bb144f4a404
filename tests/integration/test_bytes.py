"""Paths, words and values are bytes: nothing of a job of this machine needs them to be UTF-8."""

import json
import os
import subprocess

import pytest

WAIT_S = 60
ODD = b"\xff"


class Odd:
    """A user whose folders have names that are no UTF-8."""

    def __init__(self, gangrun, home):
        self.program = gangrun
        self.home, self.folder = (os.path.join(os.fsencode(home), name + ODD) for name in (b"h", b"w"))
        os.mkdir(self.folder)

    def __call__(self, *words, status=0):
        done = subprocess.run([self.program, *words], cwd=self.folder, env=os.environ | {"GANGRUN_HOME": os.fsdecode(self.home)},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S, check=False)
        assert done.returncode == status, done
        return done.stdout if status == 0 else done.stderr

    def json(self, *words):
        """What the command prints is UTF-8, and what Python makes of it names the same files."""
        return json.loads(self(*words, "--json").decode("utf-8", errors="strict"))

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()


@pytest.fixture
def odd(gangrun, home):
    return Odd(gangrun, home)


SAY = 'printf "%s\\n" "$(/bin/pwd)" "$VALUE" "$1" | tee "$1"'


@pytest.mark.parametrize("detached", [False, True])
def test_a_job_has_the_bytes_that_its_user_gave(odd, detached):
    odd("run", *(["--detach"] if detached else []), "-r", "worker:1", "-e", b"VALUE=v\xc3(", "--", "sh", "-c", SAY, "sh", b"a\xfe")
    odd("wait", "last")
    said = b"\n".join([odd.folder, b"v\xc3(", b"a\xfe", b""])
    assert odd.read(b"a\xfe") == said == odd("logs", "last", "worker:0")
    status = odd.json("status", "last")
    assert os.fsencode(status["folder"]) == os.path.join(odd.home, b"jobs", os.fsencode(status["id"]))
    with open(status["tasks"][0]["log_path"] + ".out", "rb") as log:
        assert log.read() == said
    assert [job["folder"] for command in ("ps", "history") for job in odd.json(command)] == [status["folder"]] * 2
    assert b"succeeded" in odd("why", "last") and odd.json("why", "last")["state"] == "succeeded"


def test_a_job_file_and_what_it_names_may_have_such_names(odd):
    for name in (b"data", b"job"):
        os.mkdir(os.path.join(odd.folder, name + ODD))
    path = os.path.join(odd.folder, b"job" + ODD, b"j" + ODD)
    spec = {"tasks": {"worker": {"env": {"VALUE": "\udcfe"}}}, "files": ["../data\udcff"],
            "command": ["sh", "-c", 'printf %s "$VALUE$1" > "$GANGRUN_RESULT_FILE"', "sh", "\udcff"]}
    with open(path, "w", encoding="ascii") as file:
        json.dump(spec, file)
    # The plan is itself a job file.
    plan = odd.json("run", path, "--dry-run")["job"]
    assert plan["command"] == spec["command"] and plan["tasks"]["worker"]["env"] == spec["tasks"]["worker"]["env"]
    with open(path, "w", encoding="ascii") as file:
        json.dump(plan | {"files": spec["files"]}, file)
    odd("run", path)
    odd("result", "last", "worker:0", "-o", b"r" + ODD)
    assert odd.read(b"r" + ODD) == b"\xfe\xff"


def test_what_cannot_be_found_is_told_in_texts(odd):
    said = odd("run", "-r", "worker:1", "-f", b"no\xff", "--", "true", status=2)
    assert b"there is no such file or folder" in said
    assert odd("run", "-r", "worker:1", "--image", "a", "--", "true", b"\xff", status=2).endswith(
        b"is not UTF-8, and engines of images take nothing else\n")
    odd("run", "--no-logs", "-r", "worker:1", "--", "sh", "-c", 'echo "$0" >&2; exit 3', ODD, status=1)
    cause = odd.json("status", "last")["cause"]
    assert cause["last_lines"] == ["\N{REPLACEMENT CHARACTER}"]
