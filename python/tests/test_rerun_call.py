"""A past job submitted again, from Python."""

import pytest

import gangrun
from gangrun import errors


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_job_is_submitted_again_and_flags_win(folder):
    first = gangrun.run({"worker": 2}, ["sh", "-c", "echo $WORD"], env={"WORD": "one"}, display=False)
    again = gangrun.rerun(first.id, display=False)
    assert again.id != first.id and again.status()["state"] == "succeeded"
    assert again.logs() == "worker:0 | one\nworker:1 | one\n"
    other = gangrun.rerun(first.id, ["-r", "worker:1", "-e", "WORD=two"], display=False)
    assert other.logs("worker:0") == "two\n"
    detached = gangrun.rerun(other.id, detach=True)
    assert detached.wait().logs("worker:0") == "two\n"


def test_a_failure_is_raised_and_what_is_gone_is_named(folder):
    with pytest.raises(errors.JobFailed) as failed:
        gangrun.run({"worker": 1}, ["sh", "-c", "exit 3"], display=False)
    with pytest.raises(errors.JobFailed, match="exited with status 3"):
        gangrun.rerun(failed.value.job_id, display=False)
    (folder / "data").write_text("x")
    with_file = gangrun.run({"worker": 1}, ["cat", "data"], files=["data"], display=False)
    (folder / "data").unlink()
    with pytest.raises(errors.InvalidJob, match="which is gone"):
        gangrun.rerun(with_file.id, display=False)
    with pytest.raises(LookupError, match="no-such-job"):
        gangrun.rerun("no-such-job", detach=True)
