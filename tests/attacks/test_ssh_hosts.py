"""Hosts behind ssh that are rogue: whatever they say is text, is bounded, and ends at most their part of the job."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import rogue_ssh
from living import processes_with
from said import assert_clean, assert_logs_clean, usage_of
from waiting import wait_until

MOST_MEMORY_KB = 300 * 1024


@pytest.fixture
def run_at_rogue(gangrun, home, tmp_path):
    """Runs a job at a host that behaves like that; `ssh` is a program of ours."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ssh").write_text(f'#!/bin/sh\nexec {sys.executable} {rogue_ssh.__file__} "$@"\n')
    (programs / "ssh").chmod(0o755)
    (tmp_path / "work").mkdir()

    def run(name, *words, command=("true",)):
        environment = os.environ | {"GANGRUN_HOME": str(home), "ROGUE": name, "PATH": f"{programs}:{os.environ['PATH']}",
                                    "XDG_CACHE_HOME": str(tmp_path / "cache")}
        return usage_of(gangrun, "run", "--on", "ssh", "--hosts", "rogue:1", "-r", "worker:1", *words, "--", *command,
                        cwd=tmp_path / "work", env=environment)

    yield run
    wait_until(lambda: not processes_with(f"GANGRUN_HOME={home}"), lambda: f"the end of {processes_with(f'GANGRUN_HOME={home}')}")


@pytest.mark.parametrize("name", [name for name in rogue_ssh.ROGUES if name != "keeper: writes without end"])
def test_a_rogue_host_does_no_harm(run_at_rogue, home, tmp_path, name):
    status, said, memory = run_at_rogue(name)
    # What it may spoil is its own part: the job has failed, or has run there in spite of all.
    assert status in (0, 1, 2, 3, 6, 7), said[-3000:]
    assert memory < MOST_MEMORY_KB, memory
    assert_clean(said)
    # Nothing has been written where it pointed to.
    assert [path.name for path in (tmp_path / "work").iterdir()] == []
    assert_logs_clean(home)


@pytest.fixture
def small_home(home):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=0700", "none", str(home)], check=True, timeout=30)
    yield home
    subprocess.run(["umount", "-l", str(home)], check=True, timeout=30)


def test_a_host_that_writes_without_end_leaves_room_on_the_disk(run_at_rogue, small_home, run_gangrun):
    """It filled the disk, on which other jobs' journals and lines are."""
    _, _, memory = run_at_rogue("keeper: writes without end")
    assert memory < MOST_MEMORY_KB, memory
    disk = os.statvfs(small_home)
    assert disk.f_bavail * disk.f_frsize > 2 << 20, disk
    told = run_gangrun("why", "last").stdout
    assert "more lines of the tasks on host rogue wait there until there is room" in told, told
    log = "".join(path.read_text() for path in small_home.glob("jobs/*/master.log"))
    assert "host rogue sends more of its logs than it may" in log, log[-3000:]


def test_what_agents_say_is_kept_up_to_a_limit_and_that_is_said(run_at_rogue, home):
    run_at_rogue("keeper: floods with logs")
    (log,) = home.glob("jobs/*/master.log")
    assert log.read_text().count("of what its agents say of themselves only the first 2 MiB are kept") == 1
    assert log.stat().st_size < 5 << 20


def test_what_agents_say_in_another_folder_is_not_taken_for_the_same(run_at_rogue, home):
    """It was left out up to the length of what had come from the folder that is gone."""
    run_at_rogue("keeper: another folder")
    (log,) = home.glob("jobs/*/master.log")
    assert "in the first folder, at length" in log.read_text()
    assert "in the second" in log.read_text()


def test_a_file_that_was_saved_anew_comes_whole_to_a_host_that_lost_its_folder(run_at_rogue, tmp_path):
    """The host got as many bytes of a longer one as the old one had."""
    (tmp_path / "work/train.py").write_text("print('old')\n")
    (tmp_path / "work/job.yaml").write_text("outputs: []\nfiles: [train.py]\ntasks: {worker: 1}\n")
    status, said, _ = run_at_rogue("keeper: another folder", "job.yaml", command=["python3", "train.py"])
    assert status == 0, said
    assert "worker:0 | saved anew, and longer than before" in said
    assert said.count("train.py has changed since the job began: host rogue gets it as it is now") == 1, said


def test_a_host_that_breaks_while_files_come_keeps_them_and_is_not_waited_for(run_at_rogue):
    """After its sixth login nothing ended the job; after Ctrl-C the files were removed there, without a word."""
    status, said, _ = run_at_rogue("keeper: breaks while files come", command=["sh", "-c", "echo kept > result"])
    assert status == 0, said
    found = re.search(r"stays in (rogue:)?(/\S+/work)", said)
    assert found and "not all brought" in said, said
    assert (pathlib.Path(found[2]) / "result").read_text() == "kept\n"


def test_what_it_knows_opens_nothing_of_another_job(run_at_rogue, victim):
    """The secret that its agents get is that of its own job."""
    run_at_rogue("keeper: a stream that speaks without the secret")
    victim.assert_well()
