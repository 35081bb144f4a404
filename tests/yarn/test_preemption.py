"""What YARN's scheduler takes back from a queue that has more than its share: the tasks are told before it does."""

import re

import pytest
from waiting import wait_until
from yarn.jobs import Jobs

# Long enough for a signal to arrive on a busy machine, before the scheduler does what it has told.
WAIT_MS = 6000
MONITOR = "yarn.resourcemanager.monitor.capacity.preemption"
# The scheduler looks twice a second, and takes at once all that the other queue is owed.
PREEMPTING = ["yarn.resourcemanager.scheduler.monitor.enable=true", f"{MONITOR}.monitoring_interval=500",
              f"{MONITOR}.max_wait_before_kill={WAIT_MS}", f"{MONITOR}.total_preemption_per_round=1.0",
              f"{MONITOR}.natural_termination_factor=1.0", f"{MONITOR}.max_ignored_over_capacity=0.0"]

# Says what it is told, and goes on until a file is there; with LEAVE it ends when it is told. The shell between has no handler.
TOLD = """
import json, os, select, signal, sys, time

def told(number, frame):
    with open(os.environ["GANGRUN_NOTICE_FILE"]) as file:
        notice = json.load(file)
    print("told by", signal.Signals(number).name, "of", notice["reason"], "in", notice["deadline"] - time.time(), "s", flush=True)
    if "LEAVE" in os.environ:
        sys.exit(42)

signal.signal(getattr(signal, os.environ["BY"]), told)
print("run", os.environ["GANGRUN_RESTARTS"], "told", os.path.exists(os.environ["GANGRUN_NOTICE_FILE"]), flush=True)
while not os.path.exists(sys.argv[1]):
    select.select([], [], [], 0.05)
"""
NOTICE = re.compile(r"(worker:\d+)\s*\| told by (\w+) of preemption in (\S+) s")


@pytest.fixture(scope="module")
def cluster(hadoop_of_module):
    """One node with room for the first job alone; each of the two queues owns half of it."""
    return hadoop_of_module(nodes=1, memory_mb=4096, vcores=16, set=PREEMPTING)


@pytest.fixture
def jobs(gangrun, agent, cluster, home, tmp_path):
    jobs = Jobs(gangrun, cluster, tmp_path, home)
    jobs.write("told.py", TOLD)
    yield jobs
    jobs.end_all()


def fill_and_take_back(jobs, *words, **variables):
    """A job with three quarters of the cluster, and one of the other queue that wants its half: what the first was told."""
    file = jobs.folder / "end"
    flags = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    first = jobs.submit(*words, "-r", "worker:3", "-m", "1g", "-f", "told.py", *flags, "--", "sh", "-c",
                        f"python3 told.py {file}; exit $?")
    jobs.wait_for_state(first, "running")
    wait_until(lambda: sum("told False" in line for line in jobs.lines(first)) == 3, "its tasks", pause_s=0.25)
    second = jobs.submit("-r", "worker:1", "-m", "1g", "--queue", "ml-gpu", "--", "true")
    jobs.wait_for_state(second, "succeeded")
    told = NOTICE.findall("\n".join(jobs.lines(first)))
    wait_until(lambda: sum(" run " in line for line in jobs.lines(first)) >= 4, "what was taken to come back", 120, pause_s=0.25)
    file.touch()
    ended = jobs.wait_for_state(first, "succeeded")
    return told, ended


def test_a_task_is_told_by_signal_and_file_and_no_restart_is_used_up(jobs):
    told, ended = fill_and_take_back(jobs, BY="SIGUSR1")
    assert [signal for _, signal, _ in told] == ["SIGUSR1"], told
    assert 0 < float(told[0][2]) <= WAIT_MS / 1000
    assert ended["restarts_used"] == 0
    # The others went on.
    assert {task["task"]: task["attempt"] for task in ended["tasks"]} == (
        {f"worker:{number}": 1 for number in range(3)} | {told[0][0]: 2})


def test_a_task_that_leaves_when_it_is_told_has_not_failed(jobs):
    jobs.write("job.yaml", "notice_signal: TERM\ntasks: {worker: {}}\ncommand: 'true'\n")
    told, ended = fill_and_take_back(jobs, "job.yaml", BY="SIGTERM", LEAVE=1)
    assert told and {signal for _, signal, _ in told} == {"SIGTERM"}, told
    assert ended["restarts_used"] == 0
