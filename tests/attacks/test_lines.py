"""What a task prints: on the terminal, in the files, in `logs`, `why` and `--json` it is only text."""

import json
import os
import re

import pytest
from said import usage_of

ESCAPES = re.compile(r"\x1b|[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
# Each is printed, and is then the last words of a task that fails.
LINES = {
    "clear the screen": b"\x1b[2J\x1b[H",
    "write the clipboard": b"\x1b]52;c;cm0gLXJmIC8=\x07",
    "set the title and ask for it": b"\x1b]0;rm -rf /\x07\x1b[21t",
    "ask what the terminal is": b"\x1b[c\x1b[>c\x1b[5n",
    "an endless command": b"\x1b]8;;http://evil.example/" + b"a" * 3000,
    "a device control": b"\x1bP$q\"p\x1b\\\x1bP+q544e\x1b\\",
    "eight-bit controls": b"\x9b2J\x9d0;x\x9c",
    "the same as UTF-8": "\u009b2J\u009d0;x\u009c".encode(),
    "an intermediate byte": b"\x1b(B\x1b[m\x1b#8",
    "a made-up end": b"\rgangrun: the job has succeeded\r",
    "a made-up line of another task": b"x\rworker:1 | done",
    "backspaces": b"harm\b\b\b\bless",
    "the other direction": "\u202egnp.exe\u2066x\u2069".encode(),
    "no UTF-8": b"\xff\xfe\xc0\x80\xed\xa0\x80",
    "NULs": b"a\x00b\x00",
    "a megabyte": b"m" * (1 << 20),
    "only a carriage return": b"\r\r\r",
    "many tabs": b"\t" * 5000,
    "formats": b"%s%n%x {} {0} ${HOME} $(id)",
    "markup": b"<script>alert(1)</script>[red]x[/red]",
    "JSON": b'","event":"end","exit_status":0}',
}


@pytest.fixture(scope="module")
def printed(gangrun, tmp_path_factory):
    """{name: (terminal, json events, logs, why)}: the job fails with the line as its last one."""
    import subprocess

    home, known = tmp_path_factory.mktemp("h"), {}

    def run(name):
        if name not in known:
            folder = tmp_path_factory.mktemp("l")
            (folder / "line").write_bytes(LINES[name] + b"\n")
            environment = os.environ | {"GANGRUN_HOME": str(home)}

            def call(*words):
                return subprocess.run([gangrun, *words], cwd=folder, env=environment, capture_output=True, timeout=60,
                                      stdin=subprocess.DEVNULL)

            words = ["-r", "worker:1", "--", "sh", "-c", "cat line; cat line >&2; exit 3"]
            shown = call("run", *words)
            known[name] = {"terminal": shown, "json": call("run", "--json", "--logs", *words), "logs": call("logs", "last"),
                           "why": call("why", "last"), "ps": call("history"), "status": call("status", "last")}
        return known[name]

    return run


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_only_text(printed, name):
    done = printed(name)
    assert done["terminal"].returncode == 1 and done["json"].returncode == 1
    for way in ("terminal", "why", "ps", "status"):
        text = done[way].stdout.decode() + done[way].stderr.decode()
        for line in text.splitlines():
            assert not ESCAPES.search(line), (way, line[:300])
        ends = [line for line in text.splitlines() if line.startswith("gangrun: ") and not line.startswith("gangrun:   | ")
                and "succeeded" in line]
        assert ends == [], (way, ends)
        assert all(line.startswith(("gangrun: ", "worker:0 | ")) for line in text.splitlines() if way == "terminal"), text[:500]
        assert len(text) < (3 << 20)
    events = [json.loads(line) for line in done["json"].stdout.splitlines()]
    assert [event["event"] for event in events].count("end") == 1 and events[-1]["exit_status"] == 1
    assert events[-1]["status"]["state"] == "failed"


def test_endless_lines_take_no_memory(gangrun, home, tmp_path):
    """A line without an end, and many of them: the job ends as it should, and the master stays small."""
    command = "head -c 200000000 /dev/zero | tr '\\0' x; i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done"
    status, said, memory = usage_of(gangrun, "run", "-r", "worker:1", "--", "sh", "-c", command, cwd=tmp_path, env=os.environ | {"GANGRUN_HOME": str(home)})
    assert status == 0 and "| 19999\n" in said, said[-3000:]
    assert memory < 300 * 1024, memory
