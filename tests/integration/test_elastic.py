"""Spares and gangs that shrink, with real processes on this machine.

More than one process is needed: what is tested is what the others see when an agent is killed.
"""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

# Says what it was told, ends well when the gang has started anew, and waits for its agent's death
# until then.
TRAIN = ('echo "$GANGRUN_TASK_INDEX $WORLD_SIZE $GANGRUN_PORT" > "seen.$GANGRUN_GENERATION.$GANGRUN_TASK_INDEX"; '
         '[ $GANGRUN_GENERATION = 1 ] || exit 0; exec tail -f /dev/null')


class Job:
    """A job that runs, followed by what `gangrun run --json` prints."""

    def __init__(self, gangrun, home, folder, spec, variables):
        (folder / "job.yaml").write_text(json.dumps(spec))  # JSON is YAML
        self.process = subprocess.Popen(
            [gangrun, "run", "--json", "job.yaml"], cwd=folder, text=True,
            env=os.environ | {"GANGRUN_HOME": str(home)} | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.warnings = []
        self.status = None

    def follow(self, enough):
        """Reads until a status has what is looked for; the test's own limit ends a wait for ever."""
        for line in self.process.stdout:
            event = json.loads(line)
            if "warning" in event.get("event", ""):
                self.warnings.append(line)
            self.status = event.get("status", self.status)
            if self.status and enough(self.states()):
                return
        raise AssertionError(f"the job ended: {self.status} {self.process.stderr.read()}")

    def finish(self):
        for line in self.process.stdout:
            self.status = json.loads(line).get("status", self.status)
        return self.process.wait(timeout=30)

    def states(self):
        return {task["task"]: task["state"] for task in self.status["tasks"]}

    def agent_of(self, name):
        """The process id of the parent of the task's process: with containment `subreaper`, its agent."""
        pid = next(task["pid"] for task in self.status["tasks"] if task["task"] == name)
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.fixture
def start(gangrun, home, tmp_path):
    jobs = []

    def start_job(variables=None, **spec):
        jobs.append(Job(gangrun, home, tmp_path, {"containment": "subreaper", **spec}, variables or {}))
        return jobs[-1]

    yield start_job
    for job in jobs:
        if job.process.poll() is None:
            job.process.kill()
        job.process.wait(timeout=30)


def seen(folder, generation):
    """Place, world size and port of each process of a generation."""
    return sorted(path.read_text().split() for path in folder.glob(f"seen.{generation}.*"))


def runs_with(workers, spares):
    return lambda states: states == dict.fromkeys(workers, "running") | dict.fromkeys(spares, "spare")


def late_agent(agent, folder):
    """An agent's program that never comes to report once there is the file "late"."""
    program = folder / "late-agent"
    program.write_text(f'#!/bin/sh\n[ ! -e {folder}/late ] || exec tail -f /dev/null\nexec {agent} "$@"\n')
    program.chmod(0o755)
    return {"GANGRUN_AGENT": str(program)}


def test_a_spare_takes_the_place_of_a_killed_agent(start, agent, tmp_path):
    job = start(tasks={"worker": {"instances": 2, "spares": 1}}, command=TRAIN, restarts={"max": 1, "pause": 0},
                variables=late_agent(agent, tmp_path))
    job.follow(runs_with(["worker:0", "worker:1"], ["worker:2"]))
    # Its next agent would keep the place if it came before worker:0 has stopped.
    (tmp_path / "late").touch()
    ports = {task["task"]: task["address"].rpartition(":")[2] for task in job.status["tasks"]}
    os.kill(job.agent_of("worker:1"), signal.SIGKILL)
    assert job.finish() == 0, job.process.stderr.read()
    assert job.status["generation"] == 2
    assert job.status["restarts_used"] == 1
    assert job.states()["worker:0"] == job.states()["worker:2"] == "succeeded"
    assert seen(tmp_path, 2) == [["0", "2", ports["worker:0"]], ["1", "2", ports["worker:2"]]]
    attempts = {task["task"]: task["attempt"] for task in job.status["tasks"]}
    assert attempts == {"worker:0": 2, "worker:1": 2, "worker:2": 1}


def test_a_gang_goes_on_without_an_agent_that_is_lost_for_good(start, tmp_path):
    job = start(tasks={"worker": {"instances": 3, "min_instances": 2}}, command=TRAIN)
    job.follow(runs_with(["worker:0", "worker:1", "worker:2"], []))
    os.kill(job.agent_of("worker:1"), signal.SIGKILL)
    assert job.finish() == 0, job.process.stderr.read()
    assert job.status["generation"] == 2
    assert [place[:2] for place in seen(tmp_path, 2)] == [["0", "2"], ["1", "2"]]
    assert job.states() == {"worker:0": "succeeded", "worker:1": "failed", "worker:2": "succeeded"}


# It was two failures, of which the second failed the job: the end of its run, and its own.
def test_an_agent_that_is_sent_sigterm_is_one_failure(start):
    job = start(tasks={"worker": 3}, command=TRAIN, restarts={"max": 1, "scope": "gang"})
    job.follow(runs_with(["worker:0", "worker:1", "worker:2"], []))
    os.kill(job.agent_of("worker:1"), signal.SIGTERM)
    assert job.finish() == 0, job.process.stderr.read()
    assert (job.status["generation"], job.status["restarts_used"]) == (2, 1)


def test_a_command_that_fails_by_itself_fails_the_job(start):
    job = start(tasks={"worker": {"instances": 3, "min_instances": 1, "spares": 1}},
                command="[ $GANGRUN_TASK_INDEX != 1 ] || exit 5; exec tail -f /dev/null")
    assert job.finish() == 1
    assert job.status["cause"]["task"] == "worker:1"
    assert "status 5" in job.status["cause"]["sentence"]
