"""A past job submitted again, by jobs on this machine."""

import json
import os
import pathlib

import pytest



@pytest.fixture
def again(run_gangrun, tmp_path):
    """again(...) is `gangrun rerun` from another folder."""
    (tmp_path / "elsewhere").mkdir()

    def run(*words, **options):
        return run_gangrun("rerun", *words, cwd=tmp_path / "elsewhere", **options)

    return run


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.py").write_text("print('first')\n")
    (folder / "job.yaml").write_text(json.dumps({"tasks": {"worker": {"instances": 2}}, "files": ["train.py"],
                                                 "command": "echo $WORD in $PWD; python3 train.py"}))
    return folder


def ids(run_gangrun):
    return [job["id"] for job in json.loads(run_gangrun("ps", "--json").stdout)]


def lines(done):
    return sorted(line.split(" | ")[1] for line in done.stdout.splitlines() if " | " in line)


def test_it_is_a_new_job_with_the_file_the_flags_and_the_folder_of_the_old_one(run_gangrun, again, work):
    (work / "more.env").write_text("OTHER=1\n")
    first = run_gangrun("run", "-e", "WORD", "--env-file", "more.env", "job.yaml", cwd=work, env={"WORD": "of then"})
    (work / "more.env").unlink()
    assert first.status == 0, first
    done = again(env={"WORD": "of now"})
    assert done.status == 0, done
    assert lines(done) == ["first", "first", f"of then in {work}", f"of then in {work}"]
    assert len(set(ids(run_gangrun))) == 2
    # One that was started again is started again, too.
    assert lines(again()) == lines(done)


def test_flags_and_words_win(run_gangrun, again, work):
    first = run_gangrun("run", "-e", "WORD=a", "-r", "worker:2,evaluator:1", "-f", "train.py", "--", "sh", "-c", "echo $GANGRUN_TASK_TYPE $WORD",
                        cwd=work)
    assert lines(first) == ["evaluator a", "worker a", "worker a"]
    assert lines(again("-r", "worker:1", "-e", "WORD=b")) == ["evaluator b", "worker b"]
    plan = again("--dry-run", "-m", "300m", "--timeout", "job=3h", "--", "echo", "other", "words")
    assert plan.status == 0 and "300 MiB" in plan.stdout and "job 3 h" in plan.stdout and "other words" in plan.stdout
    assert len(ids(run_gangrun)) == 2


def test_a_changed_file_is_used_and_told_and_one_that_is_gone_is_named(run_gangrun, again, work):
    first = run_gangrun("run", "-e", "WORD=a", "job.yaml", cwd=work)
    assert first.status == 0, first
    (work / "train.py").write_text("print('second')\n")
    (work / "job.yaml").write_text("tasks: {worker: 7}\n")
    done = again()
    assert "second" in lines(done) and len(lines(done)) == 4, done
    (job, *_) = ids(run_gangrun)[1:]
    assert f"{work}/train.py has changed since {job} was submitted; it is used as it is now" in done.stderr
    assert f"job.yaml has changed since {job} was submitted; the job is as it was then" in done.stderr
    (work / "train.py").unlink()
    gone = again()
    assert gone.status == 2 and f"files: '{work}/train.py': there is no such file or folder" in gone.stderr
    for name in work.iterdir():
        name.unlink()
    work.rmdir()
    gone = again()
    assert gone.status == 2 and f"was started in {work}: it cannot be entered" in gone.stderr


def test_jobs_that_failed_were_killed_or_detached_are_started_again(run_gangrun, again, work):
    assert run_gangrun("run", "-r", "worker:1", "--", "sh", "-c", "exit 3", cwd=work).status == 1
    assert again().status == 1
    submitted = run_gangrun("run", "-d", "-r", "worker:1", "--", "sh", "-c", "test -e go || exec sleep 600; echo went", cwd=work)
    job = submitted.stdout.strip()
    assert run_gangrun("kill", "--now", job).status == 0
    run_gangrun("wait", job)
    (work / "go").touch()
    assert lines(again(job)) == ["went"]
    detached = again("--detach", "--json", job)
    assert run_gangrun("wait", json.loads(detached.stdout)["job"]).status == 0


def test_what_is_not_known_is_an_error(run_gangrun, again, work, home):
    assert again("no-such-job").status == 4
    run_gangrun("run", "-r", "worker:1", "--", "true", cwd=work)
    (job,) = ids(run_gangrun)
    record = pathlib.Path(home, "jobs", job, "run.json")
    assert os.stat(record).st_mode & 0o777 == 0o600
    record.write_text("{")
    assert again().status in (2, 7)
    record.unlink()
    done = again()
    assert done.status == 4 and "not known here by its flags and files" in done.stderr


@pytest.mark.parametrize("damage", ["{", "", "[]", '{"folder": 3}'])
def test_a_damaged_record_is_told_and_is_no_wrong_input(run_gangrun, again, work, home, damage):
    assert run_gangrun("run", "-r", "worker:1", "--", "true", cwd=work).status == 0
    (record,) = (home / "jobs").glob("*/run.json")
    record.write_text(damage)
    done = again()
    assert done.status == 7 and f"{record} is damaged: " in done.stderr and done.stderr.count("\n") == 1, done
