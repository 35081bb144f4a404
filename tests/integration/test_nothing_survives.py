"""P2: when a job has ended, nothing that it started is alive, whatever was killed and when.

More than one process is needed: what is tested is what outlives the death of another process.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from living import processes_with
from waiting import wait_until

LEVELS = ["pid_namespace", "cgroup", "subreaper"]

# Forks twice, leaves its session and ignores SIGTERM, as does the process that stays.
STUBBORN = r"""
trap '' TERM HUP INT
setsid sh -c 'trap "" TERM HUP INT; sh -c "trap \"\" TERM HUP INT; exec tail -f /dev/null" & exec tail -f /dev/null' &
echo $$ > "$OUT/pid.$GANGRUN_TASK_INDEX"
exec tail -f /dev/null
"""


def processes_of(marker: str) -> dict[int, list[str]]:
    """Living processes with MARKER=marker in their environment: pid to command line."""
    return processes_with(f"MARKER={marker}")


@pytest.fixture
def marker(request) -> str:
    return f"{request.node.name}-{os.getpid()}-{time.monotonic_ns()}"


def start_job(gangrun, home, tmp_path, marker, level, tasks=2, command=STUBBORN, options=()):
    environment = os.environ | {"GANGRUN_HOME": str(home), "OUT": str(tmp_path), "MARKER": marker}
    process = subprocess.Popen(
        [gangrun, "run", "--containment", level, "--timeout", "stop=1s", "-r", f"worker:{tasks}",
         *options, "--", "sh", "-c", command],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    def all_up():
        assert process.poll() is None, process.stderr.read()
        # Three for each task; a shell that has not become one yet would be missed by those who look for it.
        return len(user_processes(processes_of(marker))) == 3 * tasks
    wait_until(all_up, "all tasks to run")
    return process


def ours(processes: dict[int, list[str]], role: str) -> list[int]:
    """Processes of gangrun-agent: "task" for agents (and their guardians), "starter" for one (and its guardian)."""
    return sorted(pid for pid, words in processes.items() if words[0].endswith("gangrun-agent") and words[1] == role)


def user_processes(processes: dict[int, list[str]]) -> list[int]:
    return sorted(pid for pid, words in processes.items() if words[0] == "tail")


def guardians(processes: dict[int, list[str]], client: int) -> list[int]:
    children = Path(f"/proc/{client}/task/{client}/children").read_text().split()
    return sorted(set(map(int, children)) & set(processes))


def assert_nothing_left(marker):
    wait_until(lambda: not processes_of(marker), f"the end of {processes_of(marker)}", 20)


VICTIMS = ["client", "guardian", "starter", "agent", "user process", "agent and guardian of a task", "all"]
# Each victim at the level that a machine mostly has, and each level with those whose death it has to answer.
IN_THE_GATE = {("pid_namespace", victim) for victim in VICTIMS} | {
    (level, victim) for level in ("cgroup", "subreaper") for victim in ("guardian", "agent")}
# Only a PID namespace has a starter.
CASES = [(level, victim) for level in LEVELS for victim in VICTIMS if level == "pid_namespace" or victim != "starter"]


def cases(all_of_them, in_the_gate):
    return [pytest.param(*case, marks=() if case in in_the_gate else pytest.mark.programs) for case in all_of_them]


@pytest.mark.parametrize("level, victim", cases(CASES, IN_THE_GATE))
def test_sigkill(gangrun, home, tmp_path, marker, level, victim):
    process = start_job(gangrun, home, tmp_path, marker, level)
    alive = processes_of(marker)
    # Two tasks, each with an agent and three stubborn processes; and a guardian for each agent, or for their starter.
    guards = guardians(alive, process.pid)
    assert len(guards) == (1 if level == "pid_namespace" else 2), alive
    inner = [pid for pid in ours(alive, "task") if pid not in guards]
    assert len(inner) == 2, alive
    starters = [pid for pid in ours(alive, "starter") if pid not in guards]
    assert len(starters) == (1 if level == "pid_namespace" else 0), alive
    victims = {
        "client": [process.pid],
        "guardian": guards[:1],
        "starter": starters,
        "agent": inner[:1],
        "user process": user_processes(alive)[:1],
        "agent and guardian of a task": [guards[0], inner[0]],
        "all": [process.pid, *guards, *starters, *inner],
    }[victim]
    if level == "subreaper" and len(victims) > 1:
        # What this level does not promise (process/containment.h): nobody is left who could kill. The
        # processes are ended here, one at a time, so that each death is answered.
        victims = victims[:1]
    for pid in victims:
        # The death of one may have taken the next already.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    status = process.wait(timeout=30)
    assert_nothing_left(marker)
    if process.pid in victims:
        assert status == -signal.SIGKILL
    else:
        assert status == 1, process.stderr.read()


@pytest.mark.parametrize("level", [pytest.param(level, marks=() if level == "subreaper" else pytest.mark.programs) for level in LEVELS])
def test_a_killed_guardian_is_one_failure(gangrun, home, tmp_path, marker, level):
    process = start_job(gangrun, home, tmp_path, marker, level, command=f"test $GANGRUN_GENERATION = 2 && exit\n{STUBBORN}",
                        options=["--restarts", "1:gang", "--restart-pause", "0s"])
    os.kill(guardians(processes_of(marker), process.pid)[0], signal.SIGKILL)
    _, words = process.communicate(timeout=60)
    assert process.returncode == 0, words
    assert "worker:0 on 127.0.0.1 lost its agent, which" in words and "restart 1 of 1" in words
    assert_nothing_left(marker)


@pytest.mark.parametrize("level, presses", cases([(level, presses) for level in LEVELS for presses in (1, 2)],
                                                 {("pid_namespace", 1), ("subreaper", 2)}))
def test_ctrl_c(gangrun, home, tmp_path, marker, level, presses):
    process = start_job(gangrun, home, tmp_path, marker, level)
    for _ in range(presses):
        process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert_nothing_left(marker)


@pytest.mark.parametrize("level, status", cases([(level, status) for level in LEVELS for status in (0, 3)],
                                                {("pid_namespace", 0), ("cgroup", 3), ("subreaper", 0)}))
def test_ordinary_end_takes_what_was_left_behind(gangrun, home, tmp_path, marker, level, status):
    last = STUBBORN.rindex("exec tail")
    command = STUBBORN[:last] + f"exit {status}\n"
    environment = os.environ | {"GANGRUN_HOME": str(home), "OUT": str(tmp_path), "MARKER": marker}
    done = subprocess.run(
        [gangrun, "run", "--containment", level, "-r", "worker:2", "--", "sh", "-c", command],
        env=environment, capture_output=True, text=True, timeout=60,
    )
    assert done.returncode == (0 if status == 0 else 1), done.stderr
    assert_nothing_left(marker)


FAILS = """
import os, subprocess
def test_fails(gangrun, home):
    job = subprocess.Popen([gangrun, "run", "-r", "worker:2", "--", "sh", "-c", "echo ready; exec tail -f /dev/null"],
                           env=os.environ | {"GANGRUN_HOME": str(home)}, stdout=subprocess.PIPE)
    assert job.stdout.readline() == b"nothing like that"
"""


@pytest.mark.programs
def test_a_test_that_fails_leaves_no_job_either(tmp_path, marker):
    (tmp_path / "test_fails.py").write_text(FAILS)
    environment = os.environ | {"MARKER": marker, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", "test_fails.py"],
                          cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert "worker:0 | ready" in done.stdout or "worker:1 | ready" in done.stdout, done.stdout + done.stderr
    assert "1 failed" in done.stdout and "error" not in done.stdout
    assert processes_of(marker) == {}
