"""What is told of a job whose records are all that is left of it, or are damaged, or had no room on their disk."""

import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

import pytest

from living import processes_with, signal_all, state_of
from waiting import wait_until

LIMIT_S = 60
LINES = 6_000
# More than the disk has room for.
FILLS = f"for i in range({LINES}): print('a line of some length', 'x' * {{}}, i)"


# With GANGRUN_HOME on a tmpfs in a mount namespace of our own. What is told goes elsewhere.
ON_A_SMALL_DISK = """
mount -t tmpfs -o size=$SIZE tmpfs "$DISK" || exit 77
export GANGRUN_HOME="$DISK"
"$@" > said 2> told
"$GANGRUN" wait last; echo $? > status
"$GANGRUN" logs last > lines 2> logged
"$GANGRUN" status --json last > shown
"$GANGRUN" why last > why
"""


@pytest.mark.parametrize("way", ["attached", "detached"])
@pytest.mark.parametrize("size, filling", [("1m", 200), ("8m", 1500)])
def test_a_job_that_succeeded_on_a_tiny_disk_is_told_so(gangrun, tmp_path, size, filling, way):
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh", gangrun, "run",
                           *(["--detach"] if way == "detached" else []), "--", sys.executable, "-c", FILLS.format(filling)],
                          env=os.environ | {"SIZE": size, "DISK": str(disk), "GANGRUN": str(gangrun)}, cwd=tmp_path,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode == 77 or "unshare" in done.stderr:
        assert "permi" in done.stderr, "only where nothing may be mounted"
        return
    told, status, lines, logged, shown, why = ((tmp_path / name).read_text() for name in
                                               ("told", "status", "lines", "logged", "shown", "why"))
    shown = json.loads(shown)
    assert (status, shown["state"]) == ("0\n", "succeeded"), (told, shown)
    kept = len(re.findall(r"^worker:0 \| a line of some length x* \d+$", lines, re.MULTILINE))
    missing = re.fullmatch(r"gangrun: warning: (the log of worker:0 is incomplete: (\d+) lines could not be kept: .*)\n", logged)
    # But for lines of which a part was kept.
    assert missing and abs(kept + int(missing[2]) - LINES) <= 10, logged
    assert shown["tasks"][0]["incomplete_log"] in missing[1] and missing[1] in why
    assert way == "detached" or missing[1] in told


STUBBORN = """
if [ "$GANGRUN_TASK_INDEX" = 0 ]; then echo "no more wine" >&2; exit 3; fi
trap "" TERM; while :; do sleep 1; done
"""


def test_a_job_that_is_killed_with_all_its_processes_has_the_failure_that_is_recorded(gangrun, run_gangrun, home, tmp_path):
    with subprocess.Popen([gangrun, "run", "-q", "-r", "worker:2", "--", "sh", "-c", STUBBORN], cwd=tmp_path, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=os.environ | {"GANGRUN_HOME": str(home)}):
        wait_until(lambda: list(home.glob("jobs/*/journal/*.jsonl")), "the journal")
        (journal,) = home.glob("jobs/*/journal/*.jsonl")
        wait_until(lambda: '"state":"stopping"' in journal.read_text(), "the failure to be recorded")

        # None may see how another is killed.
        def stop():
            left = processes_with(f"GANGRUN_HOME={home}")
            signal_all(left, signal.SIGSTOP)
            return all(state_of(pid) in "TtZX" for pid in left)

        def end():
            left = processes_with(f"GANGRUN_HOME={home}")
            signal_all(left, signal.SIGKILL)
            return not left

        wait_until(stop, "all its processes to stand still")
        wait_until(end, "the end of all its processes")
    status = json.loads(run_gangrun("status", "--json", "last").stdout)
    assert status["state"] == "failed", status
    assert status["cause"]["task"] == "worker:0" and status["cause"]["last_lines"] == ["no more wine"]
    # Its end is recorded where it was killed before its master.
    assert [task["state"] for task in status["tasks"]] in (["failed", "lost"], ["failed", "stopped"])
    assert status["ended"] and "before it recorded" in status["notes"][0]
    assert run_gangrun("wait", "last").status == 1
    (listed,) = json.loads(run_gangrun("history", "--state", "failed", "--json").stdout)
    assert listed["id"] == status["id"]


def a_fifo(path):
    os.mkfifo(path)


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
        made.bind(path.name)


def a_folder(path):
    path.mkdir()


def a_device(path):
    path.symlink_to("/dev/zero")


def a_newer_journal(path):
    path.write_text('{"n":0,"kind":"header","format":"gangrun","version":99}\n')


def damage(path):
    path.write_text("damaged\n")


# Where it is in the job's folder, and whether the job can be told of without it.
READ_FILES = {"journal/000001.jsonl": False, "job.json": False, "journal": False, "secret": True, "master.lock": True,
              "supervisor.lock": True, "launch.json": True, "logs/worker-0.out": True, "results/worker-0": True}


@pytest.mark.parametrize("make", [a_fifo, a_socket, a_folder, a_device, damage, a_newer_journal], ids=lambda make: make.__name__)
def test_a_job_that_cannot_be_read_is_named_and_nobody_waits_for_it(run_gangrun, home, tmp_path, make):
    assert run_gangrun("run", "--name", "good", "--", "echo", "well done", cwd=tmp_path).status == 0
    assert run_gangrun("run", "--name", "bad", "--", "true", cwd=tmp_path).status == 0
    (bad,) = home.glob("jobs/bad-*")
    for name, is_known in READ_FILES.items():
        path = bad / name
        if name == "journal" and make is a_folder or make is a_newer_journal and name != "journal/000001.jsonl":
            continue
        kept = tmp_path / "kept"
        path.parent.mkdir(exist_ok=True)
        if there := path.exists():
            path.rename(kept)
        make(path)
        for command in ("ps",), ("history",):
            listed = json.loads(run_gangrun(*command, "--json").stdout)
            assert [job["state"] for job in listed] == ["succeeded" if is_known else "unreadable", "succeeded"], (name, listed)
            shown = run_gangrun(*command)
            assert (shown.status, "unreadable" in shown.stdout) == (0, not is_known), (name, shown)
        for command in "status", "why", "fetch":
            done = run_gangrun(command, bad.name)
            assert done.status == (0 if is_known else 7), (name, done)
            assert is_known or done.stderr.count("\n") == 1 and str(path) in done.stderr, (name, done)
        for words in ("logs", bad.name), ("wait", bad.name), ("result", bad.name), ("kill", bad.name), ("attach", bad.name):
            assert run_gangrun(*words).status in (0, 7), (name, words)
        assert "well done" in run_gangrun("logs", "good").stdout
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        if there:
            kept.rename(path)
    assert [job["state"] for job in json.loads(run_gangrun("ps", "--json").stdout)] == ["succeeded", "succeeded"]


def test_a_job_that_has_run_is_unreadable_without_its_journal(run_gangrun, home, tmp_path):
    """It was told as never started, or as lost."""
    assert run_gangrun("run", "--", "echo", "well done", cwd=tmp_path).status == 0
    (journal,) = home.glob("jobs/*/journal/*")
    for remove in journal.write_text, lambda _: journal.unlink(), lambda _: journal.parent.rmdir():
        remove("")
        assert [job["state"] for job in json.loads(run_gangrun("ps", "--json").stdout)] == ["unreadable"]
        for command in "status", "why", "fetch":
            done = run_gangrun(command, "last")
            assert done.status == 7 and "the job's journal is gone or empty" in done.stderr, done


def test_ps_names_a_job_whose_master_does_not_answer(gangrun, run_gangrun, home, tmp_path):
    assert run_gangrun("run", "-d", "--name", "mute", "--", "sh", "-c", "echo said; touch up; while :; do sleep 1; done", cwd=tmp_path).status == 0
    wait_until((tmp_path / "up").exists, "the task")
    assert run_gangrun("run", "--name", "good", "--", "true", cwd=tmp_path).status == 0
    (master,) = [pid for pid, words in processes_with(f"GANGRUN_HOME={home}").items() if "master" in words]
    os.kill(master, signal.SIGSTOP)
    try:
        # All at once, as each waits for as long.
        with concurrent.futures.ThreadPoolExecutor(6) as asking:
            asked = {words: asking.submit(run_gangrun, *words.split()) for words in (
                "ps --json", "ps", "status mute", "status mute --json", "logs mute", "kill mute")}
        done = {words: answer.result() for words, answer in asked.items()}
        listed = {job["name"]: job for job in json.loads(done["ps --json"].stdout)}
        assert listed["good"]["state"] == "succeeded"
        # As it has recorded it.
        assert listed["mute"]["state"] == "running" and "does not answer within" in listed["mute"]["notes"][0], listed
        shown = done["ps"]
        assert shown.status == 0 and "mute" in shown.stdout and "good" in shown.stdout, shown
        assert re.search(r"mute-\S+ +running .*≥ .* its master does not answer; as of 20\S+Z\n", shown.stdout), shown
        assert "good" not in "".join(line for line in shown.stdout.splitlines() if "does not answer" in line), shown
        # It was an error alone.
        for one in done["status mute"], done["status mute --json"]:
            assert one.status == 7 and re.fullmatch(r"gangrun: the master of mute-\S+ does not answer within .+ s\n", one.stderr), one
            assert "running" in one.stdout and "this is the last status that it has recorded, at 20" in one.stdout, one
        # There was no line.
        told = done["logs mute"]
        assert told.status == 7 and told.stdout == "worker:0 | said\n" and "does not answer within" in told.stderr, told
        # That was 124, and nothing said that the request counts.
        told = done["kill mute"]
        assert told.status == 7 and "does not answer within 5.0 s; it stops the job if it goes on" in told.stderr, told
        # One that follows outlives the silence: that was status 7.
        follower = subprocess.Popen([gangrun, "logs", "-f", "mute"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    env=os.environ | {"GANGRUN_HOME": str(home)})
        assert follower.stdout.readline() == "worker:0 | said\n"
    finally:
        os.kill(master, signal.SIGCONT)
    with follower:
        assert (follower.communicate(timeout=LIMIT_S), follower.returncode) == (("", ""), 0)
    assert run_gangrun("wait", "mute").status == 5


def test_kill_now_goes_around_a_stopped_master(run_gangrun, home, tmp_path):
    """It waited for the answer, and the tasks ran on."""
    assert run_gangrun("run", "-d", "--name", "stuck", "--", "sh", "-c", "touch up; while :; do sleep 1; done", cwd=tmp_path).status == 0
    wait_until((tmp_path / "up").exists, "the task")
    (master,) = [pid for pid, words in processes_with(f"GANGRUN_HOME={home}").items() if "master" in words]
    os.kill(master, signal.SIGSTOP)
    told = run_gangrun("kill", "--now", "stuck")
    assert told.status == 0 and told.stdout == "", told
    assert re.fullmatch(rf"gangrun: the master of stuck-\S+ \(process {master}\) did not answer within 5.0 s and was killed; "
                        r"the next one ends the job\n", told.stderr), told
    # The next one has recorded who ended it.
    assert run_gangrun("wait", "stuck").status == 5
    (job,) = json.loads(run_gangrun("ps", "--json").stdout)
    assert job["state"] == "killed" and "gangrun kill by" in job["cause"]["sentence"], job
    wait_until(lambda: not processes_with(f"GANGRUN_HOME={home}"), lambda: f"the end of {processes_with(f'GANGRUN_HOME={home}')}")


def test_kill_now_goes_around_a_stopped_command(gangrun, run_gangrun, home, tmp_path):
    """As after Ctrl-Z: on this machine the command is the job's master."""
    with subprocess.Popen([gangrun, "run", "--name", "stuck", "--", "sh", "-c", "touch up; while :; do sleep 1; done"], cwd=tmp_path,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"GANGRUN_HOME": str(home)}) as command:
        wait_until((tmp_path / "up").exists, "the task")
        os.kill(command.pid, signal.SIGSTOP)
        told = run_gangrun("kill", "--now", "stuck")
        command.kill()
    assert command.returncode == -signal.SIGKILL
    assert told.status == 0 and told.stderr.endswith(f"(process {command.pid}) did not answer within 5.0 s and was killed; its tasks have ended with it\n"), told
    assert [job["state"] for job in json.loads(run_gangrun("ps", "--json").stdout)] == ["lost"]
    wait_until(lambda: not processes_with(f"GANGRUN_HOME={home}"), lambda: f"the end of {processes_with(f'GANGRUN_HOME={home}')}")


def test_a_detached_job_whose_folder_is_removed_ends(run_gangrun, home, tmp_path):
    """It ran on, listed nowhere."""
    assert run_gangrun("run", "-d", "--", "sh", "-c", "while :; do sleep 1; done", cwd=tmp_path).status == 0
    (folder,) = home.glob("jobs/*")
    # Its processes may write there meanwhile.
    wait_until(lambda: shutil.rmtree(folder, ignore_errors=True) or not folder.exists(), "the removal of the folder")
    wait_until(lambda: not processes_with(f"GANGRUN_HOME={home}"), lambda: f"the end of {processes_with(f'GANGRUN_HOME={home}')}")
    assert json.loads(run_gangrun("ps", "--json").stdout) == []


# What is there when the signal comes: the later, the further has the submission come.
STEPS = ["master.lock", "job.json", "key.pem", "launch.json", "environment", "supervisor.lock", "journal/000001.jsonl", "master.sock"]


SIGNALS = {signal.SIGTERM: "SIGTERM", signal.SIGHUP: "the loss of its terminal"}


@pytest.mark.parametrize("number", SIGNALS, ids=[number.name for number in SIGNALS])
@pytest.mark.parametrize("step", STEPS)
def test_a_client_that_is_ended_while_it_submits_leaves_no_lost_job(gangrun, run_gangrun, home, tmp_path, step, number):
    with subprocess.Popen([gangrun, "run", "--detach", "--", "sh", "-c", "while :; do sleep 1; done"], cwd=tmp_path, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=os.environ | {"GANGRUN_HOME": str(home)}) as client:
        wait_until(lambda: list(home.glob(f"jobs/*/{step}")) or client.poll() is not None, step, pause_s=0)
        client.send_signal(number)
        out, err = client.communicate(timeout=LIMIT_S)
    if client.returncode == 0:
        # It had done its work.
        assert out.strip() in {job.name for job in home.glob("jobs/*")}
        assert run_gangrun("kill", "--now", "last").status == 0
    else:
        assert client.returncode == 130 and err.count("\n") == 1, (client.returncode, err)
        assert "the job is not started" in err or "is being stopped" in err, err
        assert f"gangrun: {SIGNALS[number]}: " in err, err
    wait_until(lambda: not processes_with(f"GANGRUN_HOME={home}"), "the end of all processes")
    states = [job["state"] for job in json.loads(run_gangrun("ps", "--json").stdout)]
    assert states in ([], ["killed"]), (states, err)
    assert client.returncode == 0 or not states or f"stopped by {SIGNALS[number]}." in run_gangrun("why", "last").stdout, run_gangrun("why", "last")
    assert states or not list(home.glob("jobs/*")), "a folder without a job"


@pytest.mark.parametrize("step", STEPS)
def test_a_client_that_is_killed_while_it_submits_leaves_no_lost_job(gangrun, run_gangrun, home, tmp_path, step):
    with subprocess.Popen([gangrun, "run", "--detach", "--", "sh", "-c", "while :; do sleep 1; done"], cwd=tmp_path, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=os.environ | {"GANGRUN_HOME": str(home)}) as client:
        wait_until(lambda: list(home.glob(f"jobs/*/{step}")) or client.poll() is not None, step, pause_s=0)
        client.kill()
        client.communicate(timeout=LIMIT_S)

    def is_known():
        """The job is not there, was never started, or runs."""
        jobs = json.loads(run_gangrun("ps", "--json").stdout)
        states = [job["state"] for job in jobs]
        assert states in ([], ["failed"], ["allocating"], ["roll_call"], ["running"]), jobs
        return processes_with(f"GANGRUN_HOME={home}") == {} or states == ["running"]

    wait_until(is_known, "what has become of the job")
    (listed,) = json.loads(run_gangrun("ps", "--json").stdout) or [None]
    if listed is not None and listed["state"] == "failed":
        assert "never started" in run_gangrun("why", "last").stdout
    elif listed is not None:
        assert run_gangrun("kill", "--now", "last").status == 0
        wait_until(lambda: not processes_with(f"GANGRUN_HOME={home}"), "the end of all processes")
