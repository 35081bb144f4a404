"""Commands about jobs that run or have ended, with real processes."""

import datetime
import fcntl
import json
import os
import signal
import subprocess

import pytest

from waiting import wait_until

WAIT_S = 60
FOREVER = "exec tail -f /dev/null"


def time_of(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)


@pytest.fixture
def start(gangrun, home, tmp_path):
    """Starts `gangrun run` in the background; what still runs at the end of the test is killed."""
    running = []

    def run(*arguments, **options):
        process = subprocess.Popen(
            [str(gangrun), "run", *arguments], env=os.environ | {"GANGRUN_HOME": str(home)}, cwd=tmp_path,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        running.append(process)
        return process

    yield run
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=WAIT_S)


@pytest.fixture
def status(run_gangrun):
    def ask(job="last"):
        done = run_gangrun("status", "--json", job)
        return json.loads(done.stdout) if done.status == 0 else None

    return ask


def is_running(status):
    def ask():
        now = status()
        return now if now and now["all_started_ms"] >= 0 else None

    return ask


def test_the_output_of_tasks_keeps_its_streams(run_gangrun):
    done = run_gangrun("run", "-r", "worker:2", "--", "sh", "-c", "echo out; echo err >&2; printf end")
    assert done.status == 0
    assert sorted(done.stdout.splitlines()) == sorted(
        f"worker:{i} | {word}" for i in range(2) for word in ("out", "end"))
    assert {f"worker:{i} | err" for i in range(2)} <= set(done.stderr.splitlines())
    assert all(line.startswith(("gangrun: ", "worker:")) for line in done.stderr.splitlines())
    assert "succeeded" in done.stderr and "next: gangrun logs sh-" in done.stderr


def test_no_output_is_lost_however_much_there_is(run_gangrun):
    done = run_gangrun("run", "-r", "worker:2", "--", "seq", "50000")
    assert done.status == 0
    for task in ("worker:0", "worker:1"):
        lines = [line.split(" | ")[1] for line in done.stdout.splitlines() if line.startswith(task)]
        assert lines == [str(i) for i in range(1, 50001)]


def test_tasks_do_not_get_our_standard_input(run_gangrun):
    done = run_gangrun("run", "-r", "worker:1", "--", "sh", "-c", "cat; echo end", stdin="secret\n")
    assert done.stdout == "worker:0 | end\n"


def test_quiet_says_nothing_of_a_success(run_gangrun):
    done = run_gangrun("run", "-q", "-r", "worker:1", "--", "echo", "hi")
    assert (done.status, done.stdout, done.stderr) == (0, "worker:0 | hi\n", "")
    done = run_gangrun("run", "-q", "--no-logs", "-r", "worker:1", "--", "false")
    assert done.status == 1 and done.stdout == "" and "exited with status 1" in done.stderr


def test_a_failure_says_why_and_what_next(run_gangrun):
    done = run_gangrun("run", "--no-logs", "-r", "worker:1", "--", "sh", "-c", "echo 'no data' >&2; exit 3")
    assert done.status == 1
    assert "exited with status 3" in done.stderr
    assert "| no data" in done.stderr
    assert "next: gangrun logs sh-" in done.stderr and "worker:0" in done.stderr.splitlines()[-1]


def test_commands_find_an_ended_job(run_gangrun, status):
    run_gangrun("run", "--name", "first", "-r", "worker:2", "--", "sh", "-c", "echo $GANGRUN_TASK_INDEX; echo bad >&2")
    run_gangrun("run", "--name", "second", "-r", "worker:1", "--", "false")
    jobs = json.loads(run_gangrun("ps", "--json").stdout)
    assert [(job["name"], job["state"]) for job in jobs] == [("second", "failed"), ("first", "succeeded")]
    table = run_gangrun("ps").stdout.splitlines()
    assert len(table) == 3 and table[0].startswith("JOB") and table[1].startswith("second-")
    assert status("fir")["id"] == jobs[1]["id"]
    assert status()["id"] == jobs[0]["id"]
    assert run_gangrun("wait", "first").status == 0
    assert run_gangrun("wait", "second").status == 1
    assert run_gangrun("status", "").status == 4
    logs = run_gangrun("logs", "first")
    assert (logs.stdout, logs.stderr) == ("worker:0 | 0\nworker:1 | 1\n", "worker:0 | bad\nworker:1 | bad\n")
    assert run_gangrun("logs", "first", "worker:1").stdout == "1\n"
    assert run_gangrun("logs", "--stderr", "first", "worker:1").stdout == ""
    lines = [json.loads(line) for line in run_gangrun("logs", "--json", "first", "worker:0").stdout.splitlines()]
    assert [(line["stream"], line["line"]) for line in lines] == [("stdout", "0"), ("stderr", "bad")]
    assert run_gangrun("logs", "first", "ps:0").status == 4
    killed = run_gangrun("kill", "first")
    assert killed.status != 0 and "has ended already" in killed.stderr


def test_logs_follow_until_the_job_ends(gangrun, run_gangrun, start, status, home, tmp_path):
    flag = tmp_path / "go"
    os.mkfifo(flag)
    start("-r", "worker:1", "--", "sh", "-c", f'echo before; cat "{flag}"; echo after')
    wait_until(is_running(status), "the job to run")
    follower = subprocess.Popen([str(gangrun), "logs", "-f", "last"], env=os.environ | {"GANGRUN_HOME": str(home)},
                                stdout=subprocess.PIPE, text=True)
    assert follower.stdout.readline() == "worker:0 | before\n"
    flag.write_text("go\n")
    assert follower.stdout.read().splitlines() == ["worker:0 | go", "worker:0 | after"]
    assert follower.wait(timeout=WAIT_S) == 0
    assert run_gangrun("logs", "--tail", "1", "last").stdout == "worker:0 | after\n"


def test_lines_have_their_times_and_old_logs_say_that_they_have_none(run_gangrun, start, status, home, tmp_path):
    flag = tmp_path / "go"
    os.mkfifo(flag)
    process = start("-r", "worker:1", "--", "sh", "-c", f'echo before; cat "{flag}"')
    wait_until(lambda: "before" in run_gangrun("logs", "last").stdout, "the first line")
    written = json.loads(run_gangrun("logs", "-t", "--json", "last").stdout)["time"]
    wait_until(lambda: datetime.datetime.now(datetime.timezone.utc) - time_of(written) > datetime.timedelta(milliseconds=150), "another time")
    flag.write_text("go\n")
    assert process.wait(timeout=WAIT_S) == 0
    timed = run_gangrun("logs", "--timestamps", "last").stdout.splitlines()
    assert [line[len(written):] for line in timed] == [" worker:0 | before", " worker:0 | go"] and timed[0].startswith(written), timed
    late = timed[1].split()[0]
    assert time_of(late) > time_of(written)
    assert run_gangrun("logs", "--since", late, "last").stdout == "worker:0 | go\n"
    assert run_gangrun("logs", "--since", "1h", "-t", "last", "worker:0").stdout == f"{written} before\n{late} go\n"
    assert "--since" in run_gangrun("logs", "--since", "yesterday", "last").stderr
    for file in home.glob("jobs/*/logs/*.times"):
        file.unlink()
    old = run_gangrun("logs", "-t", "last")
    assert [line.split() for line in old.stdout.splitlines()] == [["-", "worker:0", "|", "before"], ["-", "worker:0", "|", "go"]]
    assert "lines of worker:0 have no times" in old.stderr
    old = run_gangrun("logs", "--since", late, "last")
    assert old.stdout == "worker:0 | before\nworker:0 | go\n" and "lines of worker:0 have no times" in old.stderr


def test_kill_ends_a_job_with_a_status_of_its_own(run_gangrun, start, status):
    process = start("-r", "worker:2", "--", "sh", "-c", FOREVER)
    job = wait_until(is_running(status), "the job to run")
    assert run_gangrun("wait", "--timeout", "100ms", job["id"]).status == 124
    assert run_gangrun("kill", job["id"]).status == 0
    assert run_gangrun("wait", job["id"]).status == 5
    process.wait(timeout=WAIT_S)
    assert process.returncode == 5
    assert "gangrun kill by" in status(job["id"])["cause"]["sentence"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_job_cleanly(start, status, number):
    # What the shell left behind would keep the time that it has to stop.
    stop = r'trap "echo stopped; kill -KILL \$!; exit 0" TERM; tail -f /dev/null & echo ready; wait'
    process = start("-r", "worker:1", "--", "sh", "-c", stop)
    assert process.stdout.readline() == "worker:0 | ready\n"  # a task that runs may not have set its trap yet
    process.send_signal(number)
    out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    assert "send it again to kill them at once" in err and "worker:0 | stopped" in out
    assert status()["state"] == "killed"


def test_a_second_signal_ends_the_job_at_once(start, status):
    process = start("--timeout", "stop=10min", "-r", "worker:1", "--", "sh", "-c", f'trap "" TERM; echo ready; {FOREVER}')
    assert process.stdout.readline() == "worker:0 | ready\n"
    process.send_signal(signal.SIGINT)
    wait_until(lambda: status()["state"] == "stopping", "the job to stop")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=WAIT_S)
    assert process.returncode == 130


def test_an_ignored_signal_stays_ignored(start, status, run_gangrun):
    process = start("-r", "worker:1", "--", "sh", "-c", FOREVER,
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_until(is_running(status), "the job to run")
    process.send_signal(signal.SIGHUP)
    assert run_gangrun("wait", "--timeout", "300ms", "last").status == 124
    assert process.poll() is None


def test_a_job_whose_client_was_killed_is_lost(run_gangrun, start, status):
    process = start("-r", "worker:1", "--", "sh", "-c", FOREVER)
    wait_until(is_running(status), "the job to run")
    process.kill()
    process.wait(timeout=WAIT_S)
    lost = status()
    assert lost["state"] == "lost"
    assert lost["cause"]["sentence"] == "its master was killed"
    assert run_gangrun("wait", "last").status == 6
    assert json.loads(run_gangrun("ps", "--json").stdout)[0]["state"] == "lost"


def test_a_reader_that_goes_does_not_end_the_job(start, status, tmp_path):
    process = start("-r", "worker:1", "--", "sh", "-c", f'seq 100000; echo done > "{tmp_path}/done"')
    process.stdout.readline()
    process.stdout.close()
    process.stderr.close()
    assert process.wait(timeout=WAIT_S) == 0
    assert (tmp_path / "done").exists() and status()["state"] == "succeeded"
    process.stdout = process.stderr = None


@pytest.mark.programs
def test_a_reader_that_takes_nothing_does_not_hold_the_job_up(start, status, tmp_path):
    """The master lives in this process: a pipe that is full must not stop it."""
    process = start("-r", "worker:1", "--", "sh", "-c", f'seq 1000000; seq 100000 >&2; echo done > "{tmp_path}/done"')
    wait_until(lambda: (status() or {}).get("state") == "succeeded", "the job to end")
    assert (tmp_path / "done").exists() and process.poll() is None
    out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0
    assert out.splitlines()[-1] == "worker:0 | 1000000" and out.count("\n") == 1000000
    assert sum(line.startswith("worker:0 | ") for line in err.splitlines()) == 100000


def test_json_is_one_object_a_line(run_gangrun):
    done = run_gangrun("run", "--json", "--logs", "-r", "worker:2", "--", "echo", "hi")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.stderr == ""
    assert events[-1]["event"] == "end" and events[-1]["exit_status"] == 0
    assert events[-1]["status"]["state"] == "succeeded"
    assert sum(event["event"] == "line" and event["line"] == "hi" for event in events) == 2
    silent = run_gangrun("run", "--json", "-r", "worker:1", "--", "echo", "hi").stdout
    assert '"line"' not in silent


def test_a_registry_served_by_tls_has_a_private_certificate(start, status, home):
    process = start("--serve-tls", "-r", "worker:1", "--", "sh", "-c", FOREVER)
    job = wait_until(is_running(status), "the job to run")
    folder = home / "jobs" / job["id"]
    for name in ("key.pem", "certificate.pem", "secret"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=WAIT_S)
    assert "served by TLS" in err


def test_jobs_that_have_ended_are_removed_with_all_that_is_kept_of_them(run_gangrun, start, status, home):
    for _ in range(2):
        assert run_gangrun("run", "-r", "worker:1", "--", "true").status == 0
    ids = sorted(path.name for path in (home / "jobs").iterdir())
    asked = run_gangrun("rm", *ids)
    assert asked.status == 2 and "rm asks before it removes, and there is no terminal to answer on; say --yes" in asked.stderr
    assert run_gangrun("rm", "nobody").status == 4, "it said --yes before it looked"
    # One of several that cannot be removed, and none is.
    assert run_gangrun("rm", "--yes", ids[0], "nobody").status == 4
    lives = start("-r", "worker:1", "--", "sh", "-c", FOREVER)
    wait_until(lambda: (status() or {}).get("state") == "running", "the job")
    refused = run_gangrun("rm", "--yes", "last")
    assert refused.status == 7 and "has not ended; gangrun kill" in refused.stderr, refused
    assert lives.poll() is None
    removed = run_gangrun("rm", "--yes", *ids, ids[0])
    assert removed.status == 0 and removed.stdout == "".join(f"removed {each}\n" for each in ids), removed
    assert not {path.name for path in (home / "jobs").iterdir()} & set(ids)


# Between its last status and its master's end `rm` said that it had not ended, and `fetch` that there was nothing.
def test_the_master_of_an_ended_job_is_waited_for_until_it_has_left(gangrun, run_gangrun, home, tmp_path):
    assert run_gangrun("run", "-r", "worker:1", "--", "true").status == 0
    (job,) = (home / "jobs").iterdir()
    for words, said in ((("fetch", "last"), "No outputs of this job"), (("rm", "--yes", "last"), f"removed {job.name}")):
        with open(job / "master.lock", "r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)  # as its master has it
            with subprocess.Popen([gangrun, *words], cwd=tmp_path, env=os.environ | {"GANGRUN_HOME": str(home)}, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
                assert command.stderr.readline().startswith(f"gangrun: waits for the master of {job.name}, which records its end; ")
                fcntl.lockf(lock, fcntl.LOCK_UN)
                out, err = command.communicate(timeout=WAIT_S)
                assert (command.returncode, err) == (0, "") and out.startswith(said), (words, out, err)
    assert not job.exists()


def test_fetch_says_that_a_job_has_not_ended(run_gangrun, start, status):
    start("-r", "worker:1", "--", "sh", "-c", FOREVER)
    wait_until(lambda: (status() or {}).get("state") == "running", "the job")
    assert run_gangrun("fetch", "last").stdout == "No outputs of this job have been fetched yet: it has not ended.\n"


def test_a_job_whose_record_is_damaged_can_be_removed(run_gangrun, home):
    assert run_gangrun("run", "-r", "worker:1", "--", "true").status == 0
    (job,) = (home / "jobs").iterdir()
    for path in list((job / "journal").rglob("*")) if (job / "journal").is_dir() else [job / "journal"]:
        if path.is_file():
            path.write_bytes(b"nonsense")
    (job / "job.json").write_text("{")
    removed = run_gangrun("rm", "--yes", "--json", job.name)
    assert removed.status == 0 and json.loads(removed.stdout) == {"removed": [job.name]}, removed
    assert not job.exists()
