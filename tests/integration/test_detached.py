"""Detached jobs: the terminal is free at once, and the master may die without the tasks noticing.

More than one process is needed: what is tested is what one process does after another was killed.
"""

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from waiting import wait_until

WAIT_S = 60

# Counts on, a line each step, and ends when it is told to.
COUNTING = """
n=0
echo $$ >> "$OUT/pids.$GANGRUN_TASK_INDEX"
while [ ! -e "$OUT/done" ]; do n=$((n + 1)); echo "step $n"; echo $n > "$OUT/step.$GANGRUN_TASK_INDEX"; sleep 0.05; done
"""


def processes(*words):
    """The pids of living processes whose command line has all the words."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue  # it ended while we looked
        if state != "Z" and all(any(word in part for part in line) for word in words):
            found.append(int(entry.name))
    return found


def alone(pids):
    """Without children of theirs, which look the same until they have executed their program."""
    def parent(pid):
        try:
            return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return 0

    return [pid for pid in pids if parent(pid) not in pids]


class Job:
    def __init__(self, run_gangrun, home, out, job_id):
        self.run, self.home, self.out, self.id = run_gangrun, home, out, job_id
        self.folder = str(home / "jobs" / job_id)

    def status(self):
        done = self.run("status", "--json", self.id)
        assert done.status == 0, done.stderr
        return json.loads(done.stdout)

    def master(self):
        return alone(processes("gangrun", "master", self.folder))

    def supervisor(self):
        return alone(processes("gangrun", "supervise", self.folder))

    def agents(self):
        return processes("gangrun-agent", f"{self.id}.")

    def step(self, index=0):
        path = self.out / f"step.{index}"
        text = path.read_text().strip() if path.exists() else ""
        return int(text or 0)

    def pids(self):
        return {path.name: path.read_text().split() for path in sorted(self.out.glob("pids.*"))}

    def moves_on(self, index=0):
        before = self.step(index)
        wait_until(lambda: self.step(index) > before + 1, "the task to make steps")

    def finish(self):
        (self.out / "done").touch()
        return self.run("wait", self.id)


@pytest.fixture
def detach(run_gangrun, home, tmp_path):
    jobs = []

    def start(*arguments, command=COUNTING, tasks=2):
        done = run_gangrun("run", "--detach", "-r", f"worker:{tasks}", *arguments, "--", "sh", "-c", command,
                           env={"OUT": str(tmp_path)})
        assert done.status == 0, done.stderr
        job = Job(run_gangrun, home, tmp_path, done.stdout.strip())
        jobs.append(job)
        wait_until(lambda: all(job.step(i) > 0 for i in range(tasks)), "all tasks to run")
        return job

    yield start
    for job in jobs:
        run_gangrun("kill", "--now", job.id)
        # What the next command would bring back is ended for good.
        for pid in job.supervisor() + job.master() + job.agents():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def test_it_gives_the_terminal_back_and_ends_by_itself(detach):
    job = detach()
    assert len(job.master()) == 1
    assert len(job.supervisor()) == 1
    assert job.status()["state"] == "running"
    assert job.finish().status == 0
    wait_until(lambda: not job.master() + job.supervisor() + job.agents(), "everything to end")
    assert not (Path(job.folder) / "environment").exists()
    assert not (Path(job.folder) / "launch.json").exists()


def test_what_cannot_start_says_so_and_leaves_nothing(run_gangrun, home, tmp_path):
    done = run_gangrun("run", "--detach", "--", "true", env={"GANGRUN_AGENT": str(tmp_path / "no-agent")})
    assert done.status != 0
    assert "no-agent" in done.stderr
    assert not list(home.glob("jobs/*"))


def test_the_environment_is_private(detach):
    job = detach()
    for name in ("environment", "launch.json", "secret"):
        assert (Path(job.folder) / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("level", ["pid_namespace", "cgroup", "subreaper"])
def test_a_killed_master_comes_back_and_the_tasks_do_not_notice(detach, level):
    job = detach("--containment", level)
    pids = job.pids()
    (old,) = job.master()
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: job.master() not in ([], [old]), "another master")
    job.moves_on()
    status = job.status()
    assert status["state"] == "running"
    assert {task["state"] for task in status["tasks"]} <= {"starting", "running", "lost"}
    wait_until(lambda: {task["state"] for task in job.status()["tasks"]} == {"running"}, "news of all tasks")
    assert job.finish().status == 0
    assert job.pids() == pids, "no task was started twice"
    assert job.status()["restarts_used"] == 0


def test_what_tasks_leave_is_kept_by_the_next_master(detach, run_gangrun):
    job = detach(command=COUNTING + '\nprintf "of $GANGRUN_TASK_INDEX" > "$GANGRUN_RESULT_FILE"')
    (old,) = job.master()
    os.kill(old, signal.SIGKILL)
    assert job.finish().status == 0
    assert [run_gangrun("result", job.id, f"worker:{i}").stdout for i in (0, 1)] == ["of 0", "of 1"]


@pytest.mark.programs
def test_many_masters_one_after_another(detach):
    job = detach()
    pids = job.pids()
    for _ in range(5):
        (old,) = wait_until(job.master, "a master")
        wait_until(lambda: job.status()["state"] == "running", "the master to answer")
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: job.master() not in ([], [old]), "another master")
    job.moves_on()
    assert job.finish().status == 0
    assert job.pids() == pids
    # One that was killed at once has written nothing.
    assert 2 <= len(list((Path(job.folder) / "journal").iterdir())) <= 6


def test_without_a_supervisor_the_next_command_brings_the_master_back(detach):
    job = detach()
    pids = job.pids()
    for pid in job.supervisor() + job.master():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not job.master(), "the master to be gone")
    job.moves_on()
    assert job.status()["state"] == "running"
    assert len(job.master()) == 1
    assert len(job.supervisor()) == 1
    assert job.finish().status == 0
    assert job.pids() == pids


def test_the_first_status_of_the_next_master_is_true(detach):
    """It was the one from the job's first moments, in which no task had started."""
    job = detach("-r", "done:1", command='[ "$GANGRUN_TASK_TYPE" = done ] && echo 1 > "$OUT/step.9" && exit 0\n' + COUNTING)
    wait_until(lambda: {task["task"]: task["state"] for task in job.status()["tasks"]}["done:0"] == "succeeded", "the end of done:0")
    for pid in job.supervisor() + job.master():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not job.master(), "the master to be gone")
    status = job.status()
    assert {task["task"]: task["state"] for task in status["tasks"]}["done:0"] == "succeeded", status
    assert job.finish().status == 0


def test_tasks_without_any_master_end_with_their_lease(detach):
    # Long enough for the tasks to run beside a load until their master is killed.
    job = detach("--timeout", "master_lost=3s")
    for pid in job.supervisor() + job.master():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not job.agents(), "the agents to end")
    status = job.status()
    assert status["state"] == "lost"
    assert status["cause"]["sentence"] == "its master was killed"
    assert job.run("wait", job.id).status == 6
    assert not job.master()


@pytest.mark.parametrize(("status", "state", "states"), [(0, "succeeded", {"succeeded"}), (3, "failed", {"failed", "stopped"})])
def test_tasks_that_ended_without_any_master_are_what_they_were(detach, tmp_path, status, state, states):
    """The job was told as lost, though its agents had left how its tasks had ended."""
    job = detach("--timeout", "master_lost=3s", command=f"{COUNTING} exit {status}")
    for pid in job.supervisor() + job.master():
        os.kill(pid, signal.SIGKILL)
    (tmp_path / "done").touch()
    wait_until(lambda: not job.agents(), "the agents to end")
    told = job.status()
    assert told["state"] == state, told
    # Whoever fails after the first one counts as stopped for that.
    assert {task["state"] for task in told["tasks"]} == states, told
    assert "disappeared before it recorded" in told["notes"][0], told
    assert ("exited with status 3" in str(told["cause"])) == bool(status), told
    assert job.run("wait", job.id).status == (1 if status else 0)


def test_a_failure_while_no_master_was_there_is_the_cause(detach, tmp_path):
    command = COUNTING + '[ "$GANGRUN_TASK_INDEX" = 1 ] || exec tail -f /dev/null; echo "no more wine" >&2; exit 3'
    job = detach(command=command)
    supervisor = job.supervisor()
    for pid in supervisor + job.master():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not job.master(), "the master to be gone")
    (tmp_path / "done").touch()
    last = Path(job.folder) / "logs/worker-1.err"
    wait_until(lambda: last.exists() and "no more wine" in last.read_text(), "the task to fail")
    assert job.run("wait", job.id).status == 1
    cause = job.status()["cause"]
    assert cause["task"] == "worker:1"
    assert "exited with status 3" in cause["sentence"]
    assert cause["last_lines"] == ["no more wine"]


def test_an_agent_that_died_with_the_master_is_found_dead(detach):
    job = detach()
    victims = job.agents()
    (old,) = job.master()
    for pid in [old, *victims]:
        with contextlib.suppress(ProcessLookupError):  # a guardian may go with the agent that was killed before it
            os.kill(pid, signal.SIGKILL)
    assert job.run("wait", job.id).status == 1
    status = job.status()
    assert status["state"] == "failed"
    assert status["cause"]["task"].startswith("worker:")
    wait_until(lambda: not job.master() + job.supervisor() + job.agents(), "everything to end")


def test_kill_reaches_a_master_that_was_replaced(detach):
    job = detach()
    (old,) = job.master()
    os.kill(old, signal.SIGKILL)
    assert job.run("kill", job.id).status == 0
    assert job.run("wait", job.id).status == 5
    wait_until(lambda: not job.agents(), "the agents to end")




def test_attach_shows_everything_since_the_start(detach, gangrun, home, tmp_path):
    job = detach()
    job.moves_on()
    attached = subprocess.Popen([gangrun, "attach", job.id], env=os.environ | {"GANGRUN_HOME": str(home)},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    (old,) = job.master()
    os.kill(old, signal.SIGKILL)
    job.moves_on()
    (tmp_path / "done").touch()
    out, err = attached.communicate(timeout=WAIT_S)
    assert attached.returncode == 0, err
    for index in range(2):
        steps = [int(line.split()[-1]) for line in out.splitlines() if line.startswith(f"worker:{index} ")]
        assert steps == list(range(1, job.step(index) + 1)), "every line once, in order"
    assert "succeeded" in err


def test_leaving_an_attached_job_does_not_end_it(detach, gangrun, home):
    job = detach()
    attached = subprocess.Popen([gangrun, "attach", job.id], env=os.environ | {"GANGRUN_HOME": str(home)},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert attached.stdout.readline()
    attached.send_signal(signal.SIGINT)
    _, err = attached.communicate(timeout=WAIT_S)
    assert attached.returncode == 130
    assert "keeps running" in err
    job.moves_on()
    assert job.finish().status == 0


def test_why_and_history(detach, run_gangrun):
    job = detach()
    assert "worker:0" in run_gangrun("why", job.id).stdout
    assert job.id not in run_gangrun("history").stdout
    assert job.finish().status == 0
    assert "succeeded" in run_gangrun("why", job.id).stdout
    (listed,) = json.loads(run_gangrun("history", "--since", "1h", "--json").stdout)
    assert (listed["id"], listed["state"]) == (job.id, "succeeded")
    assert json.loads(run_gangrun("history", "--state", "failed", "--json").stdout) == []
    assert run_gangrun("history", "--state", "running").status == 2


def test_restarts_are_counted_across_masters(detach, tmp_path):
    command = """
echo 1 > "$OUT/step.$GANGRUN_TASK_INDEX"; echo $$ >> "$OUT/pids.$GANGRUN_TASK_INDEX"
while [ ! -e "$OUT/fail.$GANGRUN_RESTARTS" ]; do sleep 0.02; done; exit 7
"""
    job = detach("--restarts", "1:task", command=command, tasks=1)
    (tmp_path / "fail.0").touch()
    wait_until(lambda: len(job.pids()["pids.0"]) == 2, "the restart")
    (old,) = job.master()
    os.kill(old, signal.SIGKILL)
    (tmp_path / "fail.1").touch()
    assert job.run("wait", job.id).status == 1
    assert job.status()["restarts_used"] == 1
    assert len(job.pids()["pids.0"]) == 2
