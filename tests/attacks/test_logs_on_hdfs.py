"""The logs of a job that has ended, as they lie on HDFS, changed by somebody who may write there.

`gangrun logs` says that they are damaged, or shows what stands in them as text; it needs no more memory than it says, and takes no
other's lines for those of the job.
"""

import getpass
import os

import pytest
from said import EVIL, assert_clean, usage_of
from tfile import MAGIC, integer, java_text, log, record, text, tfile
from yarn.jobs import Jobs

from waiting import wait_until

# 256 MiB of lines, which may be one, and what a text takes while it grows.
MOST_MEMORY_KB = 700 * 1024
CONTAINER = b"container_1_0001_01_000002"
LARGE = 300 << 20
WORDS = EVIL.encode("utf-8", "surrogatepass")


def of_worker(content, **more):
    return tfile(record(CONTAINER, log(b"worker-0.out", content)), **more)


GOOD = of_worker(b"one line\n")
# (the file, what has to be said)
DAMAGED = {
    "nothing": b"",
    "words": WORDS * 100,
    "zeros": bytes(100_000),
    "only its first bytes": MAGIC,
    "half of it": GOOD[:len(GOOD) // 2],
    "without its first bytes": GOOD[16:],
    "an index beyond all": of_worker(b"x\n", offset=2**63 - 1),
    "an index before all": of_worker(b"x\n", offset=0),
    "another index": of_worker(b"x\n", name=WORDS),
    "another way to pack": of_worker(b"x\n", method=b"lzo\x1b[2J"),
    "more blocks than there are": of_worker(b"x\n", count=2**40),
    "fewer than no blocks": of_worker(b"x\n", count=-1),
    "a block that is larger than the file": of_worker(b"x\n", packed=2**40),
    "a block of less than nothing": of_worker(b"x\n", packed=-5),
    "a block that unpacks to more than it says": of_worker(b"x" * 10_000, raw=10),
    "a block that unpacks to less than it says": of_worker(b"x\n", raw=2**40),
    "a key beyond all": tfile(integer(2**30) + b"k"),
    "a key that is no text": tfile(text(b"\xff\xff" + b"k") + integer(1) + b"v"),
    "a value beyond all": tfile(text(java_text(CONTAINER)) + integer(2**40) + b"v"),
    "values without an end": tfile(text(java_text(CONTAINER)) + (integer(-1) + b"\x00") * 100_000),
    "a length that is none": tfile(record(CONTAINER, log(b"worker-0.out", b"x\n", b"NaN"))),
    "a negative length": tfile(record(CONTAINER, log(b"worker-0.out", b"x\n", b"-1"))),
    "a length beyond all": tfile(record(CONTAINER, log(b"worker-0.out", b"x\n", b"9" * 30))),
    "a length that is more than there is": tfile(record(CONTAINER, log(b"worker-0.out", b"x\n", b"99999999999"))),
    "a line without an end": of_worker(b"x" * LARGE),
    "empty lines": of_worker(b"\n" * LARGE),
}
SHOWN = {
    "words in a line": of_worker(WORDS + b"\n"),
    "names with words": tfile(record(CONTAINER, log(WORDS, b"FAKE\n") + log(b"../../worker-0.out", b"theirs\n") + log(b"worker-0.out", b"own\n"))),
    "a container with words": tfile(record(WORDS, log(b"worker-0.out", b"own\n"))),
    "tasks that the job has not": tfile(record(CONTAINER, b"".join(log(f"worker-{number}.out".encode(), b"x\n") for number in range(5000)))),
    "no logs": tfile(record(b"VERSION", b"\x00\x00\x00\x01")),
    "no UTF-8": of_worker(bytes(range(128, 256)) + b"\n"),
}


@pytest.fixture(scope="module")
def cluster(hadoop_of_module):
    return hadoop_of_module(nodes=1, native=True)


@pytest.fixture(scope="module")
def logged(cluster, gangrun, agent, tmp_path_factory):
    """(jobs, a job that has ended, the path of its logs on HDFS)"""
    jobs = Jobs(gangrun, cluster, tmp_path_factory.mktemp("w"), tmp_path_factory.mktemp("h"))
    job = jobs.submit("-r", "worker:1", "-m", "128m", "--", "echo", "from the task")
    cluster.wait_for_application(job)

    def path():
        listed = cluster.run("hdfs", "dfs", "-ls", "-R", f"/tmp/logs/{getpass.getuser()}").stdout
        found = [words[-1] for line in listed.splitlines() if (words := line.split()) and job in line and line.startswith("-") and not line.endswith(".tmp")]
        return found[0] if found else None

    return jobs, job, wait_until(path, "the aggregated logs", pause_s=0.5)


@pytest.mark.parametrize("name", [*DAMAGED, *SHOWN])
def test_logs_that_somebody_has_changed_do_no_harm(logged, cluster, tmp_path, name):
    jobs, job, path = logged
    (tmp_path / "file").write_bytes((DAMAGED | SHOWN)[name])
    done = cluster.run("hdfs", "dfs", "-put", "-f", tmp_path / "file", path)
    assert done.returncode == 0, done.stderr
    status, said, memory = usage_of(jobs.gangrun, "logs", job, cwd=jobs.folder, env=jobs.environment)
    assert memory < MOST_MEMORY_KB, memory
    assert_clean(said, most=1 << 20)
    if name in DAMAGED:
        assert status != 0 and os.path.basename(path) in said or "over 256 MiB" in said, said
        assert "FAKE" not in said.replace("gangrun: the job has succeeded (FAKE)", ""), said
    else:
        assert status == 0, said
        assert "theirs" not in said, said
    for words in (("status", job), ("why", job)):
        told = jobs.order(*words)
        assert told.returncode == 0, told.stderr
        assert_clean(told.stdout + told.stderr)


def test_of_a_tail_only_that_is_kept(logged, cluster, tmp_path):
    jobs, job, path = logged
    (tmp_path / "file").write_bytes(of_worker(b"\n" * (50 << 20) + b"the last\n"))
    assert cluster.run("hdfs", "dfs", "-put", "-f", tmp_path / "file", path).returncode == 0
    status, said, memory = usage_of(jobs.gangrun, "logs", job, "--tail", "2", cwd=jobs.folder, env=jobs.environment)
    assert status == 0 and "the last" in said and said.count("\n") < 10, said[:1000]
    assert memory < MOST_MEMORY_KB // 4, memory
