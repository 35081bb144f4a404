"""A job that runs under a master of an earlier release, with the commands of this one; and the other way round.

Each recorded/VERSION/running.json has the folder of such a job, and what its master was asked and has answered.
"""

import json
import os
import subprocess

import pytest

from integration.masters import LIMIT_S, RECORDED, Played, ask, detached, parts

# Of a released version, forever; of the one that is being made, as its master speaks today.
VERSIONS = sorted(path.parent.name for path in RECORDED.glob("*/running.json"))
KILLED = 5


@pytest.fixture(params=VERSIONS)
def recorded(request):
    return json.loads((RECORDED / request.param / "running.json").read_text())


@pytest.fixture
def master(recorded, home):
    played = Played(home / "jobs" / recorded["job"], recorded)
    yield played
    played.close()


def test_a_job_of_an_old_master_is_listed_and_told(master, recorded, run_gangrun):
    listed = json.loads(run_gangrun("ps", "--json").stdout)
    assert [(job["id"], job["name"], job["state"]) for job in listed] == [(recorded["job"], "running", "running")]
    tasks = json.loads(run_gangrun("status", "last", "--json").stdout)["tasks"]
    assert [(task["task"], task["state"], task["last_line"]) for task in tasks] == [
        ("chief:0", "running", "I am chief"), ("worker:0", "running", "I am worker")]
    assert "is still running" in run_gangrun("why", "last").stdout
    assert run_gangrun("logs", "last", "worker:0").stdout == "I am worker\n"
    assert set(master.asked) == {"GET /v1/status"}


def test_it_is_followed_and_waited_for_until_it_is_killed(master, gangrun, home, run_gangrun):
    environment = os.environ | {"GANGRUN_HOME": str(home)}
    followers = [subprocess.Popen([gangrun, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) for words in (["logs", "-f", "last"], ["wait", "last"])]
    try:
        assert {followers[0].stdout.readline().split("|")[0].strip() for _ in range(2)} == {"chief:0", "worker:0"}
        killed = run_gangrun("kill", "last")
        assert killed.status == 0, killed.stderr
        assert master.asked.count("POST /v1/stop") == 1
        said = [follower.communicate(timeout=LIMIT_S) for follower in followers]
    finally:
        for follower in followers:
            follower.kill()
            follower.wait()
    assert (followers[0].returncode, followers[1].returncode) == (0, KILLED), said
    assert [job["state"] for job in json.loads(run_gangrun("ps", "--json", "--all").stdout)] == ["killed"]


def kinds(value):
    """What a client may rely on in an answer: its members, and of which kind they are."""
    if isinstance(value, dict):
        return {name: kinds(member) for name, member in value.items()}
    if isinstance(value, list):
        return [kinds(value[0])] if value else []
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def missing(old, new, place=""):
    """The members that an old client knows and that are not there, or of another kind. More of them are no matter."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [text for name in old for text in (missing(old[name], new[name], f"{place}.{name}") if name in new
                                                  else [f"{place}.{name} is missing"])]
    if isinstance(old, list) and isinstance(new, list):
        return missing(old[0], new[0], place + "[]") if old and new else []
    return [] if old == new else [f"{place} is {new}, it was {old}"]


def test_what_old_commands_ask_is_answered_as_then(recorded, gangrun, agent, home, run_gangrun):
    with detached(gangrun, home) as folder:
        for exchange in recorded["exchanges"]:
            (status, old), (now, new) = parts(exchange["answer"]), parts(ask(folder, exchange["request"]))
            assert (now, missing(kinds(old), kinds(new))) == (status, []), exchange["request"]
        assert run_gangrun("wait", "last").status == KILLED
        assert json.loads(run_gangrun("status", "last", "--json").stdout)["cause"]["reason"] == "stopped"


def test_a_member_that_is_gone_or_changed_is_found():
    old = {"id": "a", "tasks": [{"pid": 1, "state": "running"}], "cause": None}
    assert missing(kinds(old), kinds(old | {"more": 1})) == []
    assert missing(kinds(old), kinds({"id": 7, "tasks": [{"pid": 2.5}], "cause": None})) == [
        ".id is number, it was str", ".tasks[].state is missing"]
