"""Hosts behind ssh that are rogue: whatever they say is text, is bounded, and ends at most their part of the job."""

import os
import re
import subprocess
import sys

import pytest

import rogue_ssh
from living import processes_with
from waiting import wait_until

LIMIT_S = 150
MOST_MEMORY_KB = 300 * 1024
MOST_SAID = 20_000
ESCAPES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def run_at_rogue(gangrun, home, tmp_path):
    """Runs a job at a host that behaves like that; `ssh` is a program of ours."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ssh").write_text(f'#!/bin/sh\nexec {sys.executable} {rogue_ssh.__file__} "$@"\n')
    (programs / "ssh").chmod(0o755)
    (tmp_path / "work").mkdir()

    def run(name, *words):
        environment = os.environ | {"GANGRUN_HOME": str(home), "ROGUE": name, "PATH": f"{programs}:{os.environ['PATH']}",
                                    "XDG_CACHE_HOME": str(tmp_path / "cache")}
        # GNU's time would be one more program: the shell's child tells how much it needed.
        code = ("import json, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL);"
                "print('\\nusage', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode % 256)")
        done = subprocess.run([sys.executable, "-c", code, gangrun, "run", "--on", "ssh", "--hosts", "rogue:1", "-r", "worker:1", *words,
                               "--", "true"], cwd=tmp_path / "work", env=environment, capture_output=True, timeout=LIMIT_S)
        return done

    yield run
    wait_until(lambda: not processes_with(f"GANGRUN_HOME={home}"), lambda: f"the end of {processes_with(f'GANGRUN_HOME={home}')}")


@pytest.mark.parametrize("name", rogue_ssh.ROGUES)
def test_a_rogue_host_does_no_harm(run_at_rogue, home, tmp_path, name):
    done = run_at_rogue(name)
    out, _, usage = done.stdout.decode().rpartition("usage")
    said = out + done.stderr.decode(errors="replace")
    # What it may spoil is its own part: the job has failed, or has run there in spite of all.
    assert done.returncode in (0, 1, 2, 3, 6, 7), said[-3000:]
    assert int(usage) < MOST_MEMORY_KB, usage
    assert len(said) < MOST_SAID, said[:3000]
    for line in said.splitlines():
        assert not ESCAPES.search(line), line[:500]
        assert not line.startswith(rogue_ssh.FAKE), line[:500]
    assert "Traceback" not in said and "terminate called" not in said and "bad_alloc" not in said
    # Nothing has been written where it pointed to.
    assert [path.name for path in (tmp_path / "work").iterdir()] == []
    for log in home.rglob("master.log"):
        text = log.read_text(errors="replace")
        assert not ESCAPES.search(text) and len(text) < (4 << 20), text[:500]


def test_what_it_knows_opens_nothing_of_another_job(run_at_rogue, victim):
    """The secret that its agents get is that of its own job."""
    run_at_rogue("keeper: a stream that speaks without the secret")
    victim.assert_well()
