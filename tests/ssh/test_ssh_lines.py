"""Lines that come late, or never, after the end of their task: all that is missing is counted, and said."""

import datetime
import json
import re
import signal
import subprocess

import pytest

from ssh_job import LIMIT_S, wait_for_nothing
from waiting import wait_until

# 5,600,004 bytes, and ends while most of them are still on their way.
WRITES = "seq 100000 899999"
WRITTEN = 7 * 800_000


def make_slow(name, rate, latency):
    subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "32kbit", "latency", latency],
                   check=True, timeout=30)


@pytest.fixture
def slow_sshds(make_sshds):
    """One host, whose lines are slow to come."""
    sshds = make_sshds(1)
    make_slow(sshds.hosts.names[0], "1mbit", "400ms")
    return sshds


@pytest.fixture
def job_with_late_lines(slow_sshds, start, run_gangrun):
    """A job whose task and agent have ended, and whose lines are still coming."""
    job = start(slow_sshds, 1, "-r", "worker:1", "--timeout", "master_lost=1h", command=WRITES)

    def has_ended():
        assert job.process.poll() is None, job.said()[-2000:]
        asked = run_gangrun("status", "last", "--json", timeout=LIMIT_S)
        return asked.status == 0 and json.loads(asked.stdout)["waiting_for"] == "the lines and files that its tasks have written"

    wait_until(has_ended, "the end of the agent", LIMIT_S)
    return job


def assert_missing_are_counted(job, name):
    said = (job.folder / "err").read_text()
    missing = re.search(rf"the last (\d+) bytes that worker:0 wrote on host {name} have not come, and are lost", said)
    assert missing, said
    (log,) = job.home.glob("jobs/*/logs/worker-0.out")
    kept = log.read_bytes()
    assert int(missing[1]) == WRITTEN - len(kept) > 0, (missing[0], len(kept))
    # What is there is what it wrote first.
    assert kept == "".join(f"{number}\n" for number in range(100_000, 900_000)).encode()[:len(kept)]


def test_after_silence_the_missing_lines_are_counted_and_said(slow_sshds, job_with_late_lines, run_gangrun):
    """A task that had written 50 MB kept 34 of them, with status 0 and without a word."""
    job, (name,) = job_with_late_lines, slow_sshds.hosts.names
    slow_sshds.hosts.cut(name)
    # The task itself has succeeded.
    assert job.wait() == 0, job.said()[-2000:]
    assert_missing_are_counted(job, name)
    # Whoever looks later is told so too.
    assert "have not come, and are lost" in run_gangrun("why", "last").stdout
    slow_sshds.hosts.mend(name)


def test_ctrl_c_ends_the_wait_for_lines(slow_sshds, job_with_late_lines):
    job, (name,) = job_with_late_lines, slow_sshds.hosts.names
    job.process.send_signal(signal.SIGINT)
    assert job.wait() in (0, 130), job.said()[-2000:]
    assert_missing_are_counted(job, name)
    wait_for_nothing(slow_sshds)


def test_lines_that_a_removed_folder_takes_along_are_told(private, start, run_gangrun, tmp_path):
    """A cleaner removed the job's folder on the host: lines were missing, with status 0 and without a word."""
    job = start(private, 1, "-r", "worker:2", "-f", "train.py", command="echo first; exec sleep 1000")
    wait_until(lambda: job.said().count("first") == 2, job.said, LIMIT_S)
    one, two = private.hosts.names
    (folder,) = private.run_folders(one)
    path = private.cache(one) / "gangrun/jobs" / folder
    # At once: a cleaner takes some files before others.
    path.rename(tmp_path / "gone")
    wait_until(lambda: "was removed while the job ran" in (job.folder / "err").read_text(), job.said, LIMIT_S)
    run_gangrun("kill", "last")
    job.wait()
    said = (job.folder / "err").read_text()
    assert re.search(rf"host {one}'s folder {path} was removed while the job ran; lines of worker:\d after the first 6 bytes are missing", said), said
    assert f"host {one} was not brought, and is lost: {path}/work is gone" in said, said
    assert f"host {two}'s folder" not in said


def test_a_task_that_writes_without_end_over_the_slowest_link_is_not_lost(make_sshds, run_on_ssh, start, run_gangrun):
    """Heartbeats waited behind all that it had written: it was restarted, uncounted, again and again."""
    sshds = make_sshds(1)
    (name,) = sshds.hosts.names
    # The host has the program from here on.
    assert run_on_ssh(sshds, 1, "-r", "worker:1", "--", "true").status == 0
    make_slow(name, "64kbit", "5s")
    job = start(sshds, 1, "-r", "worker:1", "--timeout", "master_lost=10s",
                command='while ! test -e go; do seq 100000 100999; sleep 0.05; echo "$GANGRUN_GENERATION" >> tick.0; done')

    def kept():
        logs = [path for path in job.home.glob("jobs/*/logs/worker-0.out") if path.stat().st_size > 0]
        return logs[0].read_text() if logs else ""

    def lasts_two_leases():
        assert job.process.poll() is None and "no answer from the master" not in job.said(), job.said()[-2000:]
        # For which the link takes 25 s.
        return len(kept()) > 200_000

    wait_until(lasts_two_leases, "a link that has carried lines for two leases", LIMIT_S)
    # The newest line comes with a heartbeat, past all that waits.
    (task,) = json.loads(run_gangrun("status", "last", "--json").stdout)["tasks"]
    assert task["last_line"].isdigit(), task
    subprocess.run(["tc", "-n", name, "qdisc", "del", "dev", "eth0", "root"], check=True, timeout=30)
    job.let_end()
    assert set(job.ticks(0)) == {"1"}, job.said()[-2000:]
    written = "".join(f"{number}\n" for number in range(100_000, 101_000))
    assert kept() == written * len(job.ticks(0))
    wait_for_nothing(sshds)


def time_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_lines_have_the_times_at_which_they_came(make_sshds, start, run_gangrun):
    job = start(make_sshds(1), 1, "-r", "worker:1", command="echo before; while ! test -e go; do sleep 0.05; done; echo after")
    wait_until(lambda: "before" in run_gangrun("logs", "last").stdout, lambda: f"the first line: {job.said()}", LIMIT_S)
    written = json.loads(run_gangrun("logs", "-t", "--json", "last").stdout)["time"]
    wait_until(lambda: datetime.datetime.now(datetime.timezone.utc) - time_of(written) > datetime.timedelta(milliseconds=150), "another time")
    (job.folder / "go").touch()
    assert job.wait() == 0, job.said()
    timed = run_gangrun("logs", "--timestamps", "last").stdout.splitlines()
    assert [line.split(" ", 1)[1] for line in timed] == ["worker:0 | before", "worker:0 | after"], timed
    early, late = (line.split(" ", 1)[0] for line in timed)
    assert early == written and time_of(late) > time_of(early), timed
    assert run_gangrun("logs", "--since", late, "last").stdout == "worker:0 | after\n"


@pytest.mark.parametrize("returns", ["soon", "never"])
def test_a_lost_host_that_returns_does_not_write_into_the_next_runs_lines(make_sshds, start, returns):
    """Its late lines were put over those of the run that succeeded, and what was missing was not told."""
    sshds = make_sshds(2)
    first, second = sshds.hosts.names
    job = start(sshds, 1, "-r", "worker:1", "--timeout", "master_lost=2s", "--restarts", "1", command=(
        'i=0; while ! test -e go; do echo "$GANGRUN_GENERATION $i"; i=$((i + 1)); sleep 0.01; done; echo "$GANGRUN_GENERATION end"'))

    def lines(generation):
        logs = list(job.home.glob("jobs/*/logs/worker-0.out"))
        return [line for line in "".join(log.read_text() for log in logs).splitlines() if line.startswith(f"{generation} ")]

    wait_until(lambda: len(lines(1)) > 20, job.said, LIMIT_S)
    sshds.hosts.cut(first)
    wait_until(lambda: len(lines(2)) > 20, job.said, LIMIT_S)
    if returns == "soon":
        sshds.hosts.mend(first)
    # What was written between the cut and the end of the lease.
    told = re.compile(rf"gangrun: (\d+ bytes that worker:0 wrote on host {first} came when its next run had begun, and are not in "
                      rf"its log|what worker:0 wrote on host {first} after it was not reached any more is lost)")
    wait_until(lambda: told.search(job.said()), job.said, LIMIT_S)
    job.let_end()
    own = [line.split()[1] for line in lines(2)]
    assert own == [str(number) for number in range(len(own) - 1)] + ["end"]
    (log,) = job.home.glob("jobs/*/logs/worker-0.out")
    whole = log.read_text().splitlines()
    assert len(whole) == len(lines(1)) + len(lines(2)) and whole[-len(own):] == lines(2)
    assert len(told.findall(job.said())) == 1, job.said()
    wait_for_nothing(sshds, [second])
