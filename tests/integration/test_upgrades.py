"""Jobs that earlier releases have left: each folder of recorded/ was the GANGRUN_HOME of one, without its jobs' secrets."""

import json
import pathlib
import shutil

import pytest

RECORDED = pathlib.Path(__file__).parent / "recorded"
WAS_AT = "/home/user/.gangrun"


@pytest.fixture(params=sorted(path.name for path in RECORDED.iterdir()))
def home(request, tmp_path):
    folder = tmp_path / "home"
    shutil.copytree(RECORDED / request.param / "jobs", folder / "jobs")
    for journal in folder.glob("jobs/*/journal/*"):
        journal.write_text(journal.read_text().replace(WAS_AT, str(folder)))
    return {"GANGRUN_HOME": str(folder)}


def test_a_job_that_has_ended_is_listed_and_explained(run_gangrun, home):
    """One of a chief and two workers, of which the last failed twice and was restarted once."""
    listed = json.loads(run_gangrun("ps", "--json", env=home).stdout)
    assert [(job["name"], job["state"], job["restarts_used"]) for job in listed] == [("failed", "failed", 1)]
    told = run_gangrun("why", "last", env=home)
    assert told.status == 0 and "worker:1 on 127.0.0.1 exited with status 3" in told.stdout, told.stderr
    assert "gangrun explain exit_status" in told.stdout
    tasks = json.loads(run_gangrun("status", "last", "--json", env=home).stdout)["tasks"]
    assert [(task["task"], task["state"]) for task in tasks] == [("chief:0", "succeeded"), ("worker:0", "succeeded"), ("worker:1", "failed")]


def test_its_output_and_results_are_there(run_gangrun, home):
    assert run_gangrun("logs", "last", "worker:1", env=home).stdout == "I am worker:1\n" * 2
    assert run_gangrun("result", "last", "chief:0", env=home).stdout == "done"


def test_it_cannot_be_stopped_again(run_gangrun, home):
    done = run_gangrun("kill", "last", env=home)
    assert done.status == 7 and "has ended already" in done.stderr
