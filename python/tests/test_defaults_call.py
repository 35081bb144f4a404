"""Files of defaults, from Python."""

import json
import pathlib

import pytest

import gangrun
from gangrun import _job, errors


@pytest.fixture
def defaults(tmp_path, monkeypatch):
    """The file of defaults of this test's user."""
    monkeypatch.setenv("GANGRUN_NO_DEFAULTS", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "gangrun.yaml"


@pytest.fixture
def prepared(monkeypatch):
    """What `run` prepares, which it does not start then: (request, job file)."""
    found = []

    def prepare(request, *rest):
        made = own(request, *rest)
        found.append((request, json.loads(pathlib.Path(made.path).read_text())))
        made.staging.remove()
        raise KeyboardInterrupt

    own = _job.prepare
    monkeypatch.setattr(_job, "prepare", prepare)

    def prepared(*arguments, **more):
        with pytest.raises(KeyboardInterrupt):
            gangrun.run(*arguments, **more)
        return found[-1]

    return prepared


def test_run_reads_them_unless_it_is_told_not_to(defaults):
    defaults.write_text("env: {WORD: default}\n")
    command = ["sh", "-c", "echo ${WORD:-none} ${GANGRUN_NO_DEFAULTS:-unset}"]
    assert gangrun.run({"worker": 1}, command, display=False).logs("worker:0") == "default unset\n"
    assert gangrun.run({"worker": 1}, command, env={"WORD": "own"}, display=False).logs("worker:0") == "own unset\n"
    assert gangrun.run({"worker": 1}, command, display=False, defaults=False).logs("worker:0") == "none unset\n"
    detached = gangrun.run({"worker": 1}, command, detach=True, defaults=False)
    assert detached.wait().logs("worker:0") == "none unset\n"
    again = gangrun.rerun(detached.id, detach=True)
    assert again.wait().logs("worker:0") == "none unset\n"


def test_a_job_that_names_no_place_is_prepared_for_that_of_a_default(defaults, folder, prepared):
    defaults.write_text("on: ssh\n")
    request, job = prepared({"worker": 2}, lambda: 1, hosts=["gpu1", "gpu2"])
    assert request.on == "ssh" and job["hosts"] == ["gpu1", "gpu2"] and "on" not in job
    assert job["tasks"]["worker"]["command"][:3] == ["/bin/sh", "-c", _job.BEGIN_THERE]
    request, job = prepared({"worker": 1}, ["true"], on="local")
    assert request.on == job["on"] == "local"
    request, job = prepared({"worker": 1}, ["true"], defaults=False)
    assert request.on == "local" and "on" not in job


def test_a_job_runs_at_the_place_of_a_default(defaults, folder, monkeypatch):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    defaults.write_text("on: yarn\n")
    with pytest.raises(errors.GangrunError, match="HADOOP_CONF_DIR is not set"):
        gangrun.run({"worker": 1}, ["true"], display=False)
    assert gangrun.run({"worker": 1}, ["echo", "here"], on="local", display=False).logs("worker:0") == "here\n"
    defaults.write_text("on: local\n")
    assert gangrun.run({"worker": 1}, lambda: "here", display=False).result == "here"


@pytest.mark.parametrize("place, said", [
    ("spark", "on: a file of defaults says 'spark', where `run` starts no jobs; allowed: on= with one of local, yarn, "),
    ("yran", "gangrun.yaml:1:5: on: 'yran' "),
])
def test_a_place_that_run_does_not_start_jobs_in_is_told(defaults, place, said):
    defaults.write_text(f"on: {place}\n")
    with pytest.raises(errors.InvalidJob, match=said):
        gangrun.run({"worker": 1}, ["true"])
