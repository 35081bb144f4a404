"""How a run is shown."""

import os
import pty
import re
import subprocess
import sys
import types

import pytest

import gangrun
from gangrun import _display
from gangrun.errors import InvalidJob

STATUS = {"id": "wine-1", "state": "running", "elapsed_ms": 2500, "waiting_for": "", "cause": None, "tasks": [
    {"task": "worker:0", "state": "running", "address": "h:1", "attempt": 2, "memory_bytes": 3 << 30,
     "last_line": "<b>loss\x1b[2J</b>", "figures": {"loss": 0.123456789, "phase": "train"}},
    {"task": "worker:1", "state": "failed", "address": "", "exit": "exited with status 3", "last_line": ""}]}
SCRIPT = """
import gangrun
gangrun.run({"worker": 2}, ["sh", "-c", "echo one line; exit $GANGRUN_TASK_INDEX"])
"""


def test_nothing_is_shown_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(sys, "stdout", open(os.devnull, "w"))
    assert _display.kind_of(None, block=True) == "none"
    assert _display.kind_of(True, block=True) == "live" and _display.kind_of("lines", block=False) == "lines"
    with pytest.raises(InvalidJob, match="display: 'loud'; allowed: True, False, 'live'"):
        _display.kind_of("loud", block=True)


def test_what_tasks_write_can_do_nothing_in_a_notebook():
    shown = _display.to_html(STATUS)
    assert "&lt;b&gt;loss&lt;/b&gt;" in shown and "\x1b" not in shown
    assert "running (2)" in shown and "3 GiB" in shown and "loss=0.12346 phase=train" in shown and "exited with status 3" in shown


def test_of_many_tasks_those_with_trouble_are_shown():
    tasks = [{"task": f"worker:{number}", "state": "running"} for number in range(100)]
    tasks[77] = {"task": "worker:77", "state": "failed"}
    shown, rest = _display.rows({"tasks": tasks}, 10)
    assert len(shown) == 10 and tasks[77] in shown and rest == "and 90 more running"


def test_a_terminal_has_a_table_and_its_cursor_back(folder):
    leader, follower = pty.openpty()
    environment = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(gangrun.__file__)), "COLUMNS": "140", "LINES": "30",
                                "TERM": "xterm"}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdin=follower, stdout=follower, stderr=follower,
                               env=environment, start_new_session=True)
    os.close(follower)
    shown = b""
    try:
        while part := os.read(leader, 65536):
            shown += part
    except OSError:
        pass  # the last one that had the other end has closed it
    finally:
        os.close(leader)
    assert process.wait(timeout=60) == 1
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert re.search(r"worker:1 +failed +\S+:\d+ .*one line", plain), plain
    assert "JobFailed" in plain and "worker:1 on 127.0.0.1 exited with status 1" in plain
    assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l") >= 0


def test_a_notebook_has_one_output_that_is_renewed(folder, monkeypatch):
    """With what a kernel has to have; the real ones are too large for a test."""
    shown = []

    class Handle:
        def update(self, value):
            shown.append(value)

    kernel = types.SimpleNamespace(kernel=object())
    module = types.SimpleNamespace(HTML=str, display=lambda value, display_id: Handle())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel, display=module))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    run = gangrun.run({"worker": 1}, ["true"])
    assert shown and "succeeded" in shown[-1] and run.id in shown[-1] and run._repr_html_() == shown[-1]


def test_lines_are_printed_with_the_name_of_their_task(folder, capsys):
    gangrun.run({"worker": 1}, ["sh", "-c", "echo out; echo err >&2"], display="lines")
    out, err = capsys.readouterr()
    assert out == "worker:0 | out\n" and "worker:0 | err\n" in err
    assert re.search(r"^gangrun: \S+ succeeded, [1-9]\d*(\.\d)? m?s$", err, re.MULTILINE), err


@pytest.mark.parametrize("ms, words", [(0, "0 ms"), (412, "412 ms"), (4_190, "4.1 s"), (41_900, "41 s"), (60_000, "1 min"),
                                       (125_000, "2 min 5 s"), (3_600_000, "1 h"), (3_725_000, "1 h 2 min")])
def test_a_time_is_written_as_the_program_does(ms, words):
    assert _display.headline({"id": "wine-1", "state": "succeeded", "elapsed_ms": ms}) == f"wine-1 succeeded, {words}"
