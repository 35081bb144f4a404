"""Archives of a job on a real cluster: brought once, unpacked by the nodes, each task type with its own."""

import json
import os
import pathlib
import re
import tarfile
import zipfile

import pytest

from waiting import wait_until

# Runs what the archive brings, so modes and links count, and shows what else there is.
SHOW = "env/bin/say; cat lib/data/x.txt; ls -d env lib only-ps 2>/dev/null | paste -sd ' '"
JOB = """
on: yarn
tasks:
  worker: {{memory: 128m}}
  ps: {{memory: 128m, policy: tracked, archives: {{env: ps.tgz, only-ps: {there}}}}}
archives: {{env: env.tar.gz, lib: lib.ZIP}}
command: {show}
"""


def pack(path, text):
    """An archive with a program, and a link to it."""
    folder = path.parent / f"{path.name}-content"
    (folder / "real").mkdir(parents=True)
    program = folder / "real/say"
    program.write_text(f"#!/bin/sh\necho {text}\n")
    program.chmod(0o755)
    (folder / "bin").mkdir()
    (folder / "bin/say").symlink_to("../real/say")
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, ".")


@pytest.fixture
def with_archives(jobs, hadoop, tmp_path):
    """A job file, and in `jobs.cache` a cache of the test's own."""
    pack(tmp_path / "env.tar.gz", "from the shared archive")
    pack(tmp_path / "ps.tgz", "from the archive of ps")
    with zipfile.ZipFile(tmp_path / "lib.ZIP", "w") as archive:
        archive.writestr("data/x.txt", f"unpacked {os.urandom(8).hex()}\n")
    with zipfile.ZipFile(tmp_path / "there.zip", "w") as archive:
        archive.writestr("y.txt", "y\n")
    put = hadoop.run("curl", "-s", "-S", "-f", "-L", "-T", tmp_path / "there.zip",
                     f"{hadoop.webhdfs_url}/tmp/{tmp_path.name}.zip?op=CREATE&overwrite=true")
    assert put.returncode == 0, put.stderr
    jobs.write("job.yaml", JOB.format(there=f"{hadoop.hdfs_url}/tmp/{tmp_path.name}.zip", show=SHOW))
    jobs.environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    return jobs


def test_each_type_finds_its_archives_and_nothing_is_brought_twice(with_archives, tmp_path):
    first = with_archives.run("job.yaml")
    assert first.returncode == 0, first.stderr
    lines = [line.split("|", 1) for line in first.stdout.splitlines() if "|" in line]
    said = {}
    for task, line in lines:
        said.setdefault(task.strip(), []).append(line.strip())
    assert said["worker:0"][0] == "from the shared archive", first.stdout
    assert said["worker:0"][1].startswith("unpacked ")
    assert said["worker:0"][2] == "env lib"
    assert said["ps:0"][0] == "from the archive of ps"
    assert said["ps:0"][2] == "env lib only-ps"
    for name in ("env.tar.gz", "ps.tgz", "lib.ZIP"):
        assert f"uploads {name} (" in first.stderr
    assert "uploads there.zip" not in first.stderr and f"uploads {tmp_path.name}.zip" not in first.stderr
    second = with_archives.run("job.yaml")
    assert second.returncode == 0, second.stderr
    assert "uploads" not in second.stderr
    # One that is made anew with other contents is another.
    pathlib.Path(tmp_path / "ps.tgz-content").rename(tmp_path / "old")
    pack(tmp_path / "ps.tgz", "from the new one")
    third = with_archives.run("job.yaml")
    assert third.returncode == 0, third.stderr
    uploads = [line for line in third.stderr.splitlines() if "uploads" in line]
    assert len(uploads) == 1 and uploads[0].startswith("gangrun: uploads ps.tgz ("), third.stderr
    assert "from the new one" in third.stdout


def test_a_dry_run_shows_them(with_archives, tmp_path):
    shown = with_archives.run("--dry-run", "job.yaml")
    assert shown.returncode == 0, shown.stderr
    assert f"  env/ of worker  from {tmp_path}/env.tar.gz" in shown.stdout.splitlines()
    assert f"  env/ of ps  from {tmp_path}/ps.tgz" in shown.stdout.splitlines()


def test_an_archive_that_is_not_there_is_told_before_the_job(with_archives, hadoop):
    url = f"{hadoop.hdfs_url}/tmp/no-such.zip"
    with_archives.write("job.yaml", JOB.format(there=url, show=SHOW))
    done = with_archives.run("job.yaml")
    assert done.returncode != 0
    assert "archives.only-ps" in done.stderr and "no-such.zip" in done.stderr, done.stderr


# As a large environment has, and more: nodes need some seconds for them.
MANY = 60_000


@pytest.mark.parametrize("command", ["status", "why"])
def test_a_container_that_still_unpacks_is_told_as_one(jobs, hadoop, tmp_path, command):
    """It looked like a task that does not report."""
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(MANY):
            archive.writestr(f"{number % 100}/{number}-{command}.txt", "x")
    jobs.environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    jobs.write("job.yaml", "tasks: {worker: {memory: 128m}}\narchives: {many: many.zip}\ncommand: 'test -d many'\n")
    job = jobs.submit("job.yaml")
    seen = []

    def tells():
        seen.append(jobs.order(command, job).stdout)
        assert json.loads(jobs.order("status", job, "--json").stdout)["state"] not in ("running", "succeeded", "failed"), seen
        told = re.search(r"nodes still fetch and unpack many\.zip for worker:0 on \S+ \((\d+) of (\d+) files there\)", seen[-1])
        return told and 0 <= int(told[1]) < int(told[2])

    wait_until(tells, lambda: f"the unpacking in {seen[-1:]}", 120)
    assert jobs.wait_for_state(job, "succeeded", "failed")["state"] == "succeeded"
