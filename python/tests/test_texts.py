"""What tasks, hosts and servers say comes into exceptions as their words, and does nothing to a terminal."""

import io
import json
import urllib.error

import pytest

from gangrun import _program, _result, _texts, _web_hdfs, errors
from gangrun._run import Run

# To the clipboard, a cleared screen, another set of characters, and a line as of gangrun.
EVIL = "no\x1b]52;c;cm0gLXJm\x07\x1b[2J\x1b(B\r\ngangrun: the job has succeeded\u202e"
CLEAN = '"no gangrun: the job has succeeded\\x202e"'


def test_their_words_are_one_line_in_quotes():
    assert _texts.theirs(EVIL) == CLEAN
    assert _texts.theirs(" a\tb \u00e9\u00a0\u65e5 ") == '"a\tb \u00e9\u00a0\u65e5"'
    assert _texts.theirs('a "b" c') == "\"a 'b' c\""
    assert _texts.theirs("x" * 1000, 10) == '"' + "x" * 9 + '…"'
    assert _texts.harmless("\x1b") == "" and _texts.harmless("\x1b[") == "" and _texts.harmless("\x9b2J") == "\\x9b2J"


@pytest.mark.parametrize("count, text", [(0, "0 B"), (5, "5 B"), (1536, "1.5 KiB"), (99 * 1024 + 1000, "100 KiB"), ((1 << 20) - 1, "1 MiB"),
                                         (200 << 20, "200 MiB"), ((1 << 30) - 1, "1 GiB"), (3 << 29, "1.5 GiB")])
def test_a_size_has_the_unit_that_reads_well(count, text):
    assert _texts.size(count) == text


def test_lines_of_a_traceback_stay_lines():
    error = errors.RemoteTraceback(f"Traceback:\n  {EVIL}\n", "worker:0", "h", "j-1")
    assert "\x1b" not in str(error) and "\r" not in str(error) and str(error).startswith("in worker:0 of j-1 on h:\n\nTraceback:\n  no")


def test_what_the_program_says_is_clean():
    assert _program.sentence(f"gangrun: {EVIL}".encode()) == "no\\x0d\ngangrun: the job has succeeded\\x202e"


@pytest.mark.parametrize("state, kind", [("killed", errors.JobKilled), ("lost", errors.JobLost), ("failed", errors.JobFailed)])
def test_a_cause_is_one_clean_line(state, kind):
    status = {"id": "j-1", "state": state, "cause": {"sentence": EVIL, "reason": "exit_status"}}
    error = Run.__new__(Run)._exception_of(status)
    assert isinstance(error, kind) and str(error).endswith("no gangrun: the job has succeeded\\x202e"), str(error)


@pytest.mark.parametrize("cause, words", [("stopped by gangrun kill", "j-1 was stopped by gangrun kill"), ("the job was stopped", "j-1 was stopped"),
                                          ("worker:0 was stopped", "j-1 was stopped: worker:0 was stopped")])
def test_that_a_job_was_stopped_is_said_once(cause, words):
    status = {"id": "j-1", "state": "killed", "cause": {"sentence": cause, "reason": "stopped"}}
    assert str(Run.__new__(Run)._exception_of(status)) == words


def test_the_words_of_an_exception_that_cannot_be_here_are_in_quotes():
    outcome = {"type": "Strange", "message": EVIL, "body": None}
    error = _result.own_exception(outcome, errors.JobFailed("j-1: worker:0 exited with status 1"))
    assert str(error) == f'j-1: worker:0 exited with status 1 (it raised "Strange: {CLEAN[1:]})'


def test_what_a_name_node_says_is_in_quotes():
    body = io.BytesIO(json.dumps({"RemoteException": {"exception": "AccessControlException", "message": EVIL.replace("\n", "")}}).encode())
    error = _web_hdfs._as_error(urllib.error.HTTPError("http://nn/x", 403, "Forbidden", None, body), "/x")
    assert isinstance(error, PermissionError) and str(error).startswith('/x: the server says "no'), str(error)
