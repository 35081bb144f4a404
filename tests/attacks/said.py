"""What has to hold for everything that a command says, and for how much it needs, whoever has put words into it."""

import re
import subprocess
import sys

LIMIT_S = 150
MOST_SAID = 20_000
FAKE = "gangrun: the job has succeeded (FAKE)"
# Clears the screen, writes the clipboard, changes the character set and the direction, and makes up a line of ours.
EVIL = f"\x1b]52;c;aGk=\x07\x1b[2J\x1b(B\r\n{FAKE}\n\u202e\u2028\x9b2J"
ESCAPES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")


def assert_clean(said, secrets=(), most=MOST_SAID):
    """Of the output of commands."""
    assert len(said) < most, said[:3000]
    for line in said.splitlines():
        assert not ESCAPES.search(line), line[:500]
        assert not line.startswith(FAKE), line[:500]
    assert not [secret for secret in secrets if secret in said], said[:3000]
    assert not [word for word in ("Traceback", "terminate called", "bad_alloc", "runtime error") if word in said], said[:3000]


def assert_logs_clean(home, secrets=()):
    """Of the files that masters of this home write for people."""
    for log in home.rglob("master.log"):
        text = log.read_text(errors="replace")
        assert not ESCAPES.search(text) and len(text) < (4 << 20), text[:500]
        assert not [secret for secret in secrets if secret in text]


def usage_of(*words, **options):
    """(status, what is said, memory in KB) of a command; GNU's time would be one more program."""
    code = ("import json, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL);"
            "print('\\nusage', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode % 256)")
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, timeout=LIMIT_S, **options)
    out, _, usage = done.stdout.decode(errors="replace").rpartition("usage")
    return done.returncode, out + done.stderr.decode(errors="replace"), int(usage)
