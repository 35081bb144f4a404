"""What tasks write in their containers: what `outputs` names goes to the job's folder on HDFS, is fetched and removed from there, and is
never just gone."""

import json
import os
import re
import signal
import stat

import pytest

from waiting import wait_until

from yarn import secured
from yarn.processes import processes

SECURE = pytest.param("privacy", marks=pytest.mark.secure)
decides = pytest.mark.parametrize("security", ["simple", SECURE])
# As every task of a type writes it: folders in folders, names with blanks and letters, an empty file, a program, links.
WRITE = r'''
mkdir -p 'model/deep er' && echo "weights of $GANGRUN_TASK_INDEX" > "model/deep er/wei ght.$GANGRUN_TASK_INDEX"
echo ü > model/größe; : > model/empty; echo 'echo ran' > model/run.sh; chmod +x model/run.sh
ln -s größe model/latest; ln -s 'deep er' model/deepest; mkdir -p model/runs/first; ln -s /etc/passwd model/passwd
echo scratch > scratch; echo said
'''


@pytest.fixture
def security():
    return "simple"


@pytest.fixture
def hadoop(request, security):
    return request.getfixturevalue("hadoop" if security == "simple" else "secured_hadoop")


def run(jobs, *words, command=WRITE, roles="worker:2"):
    """(what came of it, its id)"""
    done = jobs.run("-r", roles, "-m", "128m", *words, "--", "sh", "-c", command)
    return done, re.search(r"application_\d+_\d+", done.stderr).group()


def brought(folder):
    return {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}


def fetched(jobs, home, job, *words):
    done = jobs.order("fetch", job, *words)
    assert done.returncode == 0, done.stderr
    return brought(home / "outputs" / job)


def far_folder(jobs, job):
    """The names in the job's folder on HDFS; None where it is gone."""
    code, body = jobs.hadoop.http(f"{jobs.hadoop.webhdfs_url}/user/{secured.USER}/.gangrun/history/{job}?op=LISTSTATUS"
                                  f"&user.name={secured.USER}")
    if code == 404:
        return None
    assert code == 200, body
    return sorted(each["pathSuffix"] for each in json.loads(body)["FileStatuses"]["FileStatus"])


FILES = ["model/deep er/wei ght", "model/deepest/wei ght", "model/empty", "model/größe", "model/latest", "model/run.sh"]


@decides
def test_what_is_named_goes_to_hdfs_and_is_fetched(jobs, home, security):
    done, job = run(jobs, "--output", "model/", "--output", "nothing")
    assert done.returncode == 0, done.stderr
    assert "tasks work in the folders of their containers, which YARN removes at the end: what `outputs` names goes to hdfs://" in done.stderr
    here = fetched(jobs, home, job)
    expected = {f"worker-{index}/{name}{f'.{index}' if name.endswith('ght') else ''}" for index in (0, 1) for name in FILES}
    assert set(here) == expected
    assert here["worker-1/model/deep er/wei ght.1"].read_text() == "weights of 1\n"
    assert here["worker-0/model/latest"].read_text() == "ü\n" == here["worker-0/model/größe"].read_text()
    assert {stat.S_IMODE(path.stat().st_mode) for path in here.values()} == {0o644, 0o755}
    assert os.access(here["worker-0/model/run.sh"], os.X_OK)
    assert list((home / "outputs" / job).glob("worker-*/model/runs/first/")) != []
    # What was left out is named, in the run and later.
    sentence = 'outputs of worker:0 were not all kept: what cannot be brought: "model/passwd" (a link that leads out of the folder)'
    assert sentence in done.stderr and sentence in jobs.order("why", job).stdout
    assert {task["lost_outputs"] for task in jobs.status(job)["tasks"]} == {sentence.partition("kept: ")[2]}
    assert "gangrun: outputs: it has written no nothing" in done.stdout + done.stderr
    assert any("work in the folders of their containers" in note for note in jobs.status(job)["notes"])
    again = jobs.order("fetch", job, "--json")
    assert {(each["task"], each["name"], each["files"]) for each in json.loads(again.stdout)["outputs"]} == {
        ("worker-0", "model", len(FILES)), ("worker-1", "model", len(FILES))}


def test_nothing_is_brought_twice_and_what_has_changed_here_is(jobs, home, tmp_path):
    done, job = run(jobs, "--output", "model", roles="worker:1")
    first = jobs.order("fetch", job, "worker:0")
    assert "brings worker-0/model/" in first.stderr, first
    again = jobs.order("fetch", job, "worker-0", "--to", str(tmp_path / "here"))
    assert again.returncode == 0 and "brings" not in again.stderr, again.stderr
    assert sorted(brought(tmp_path / "here")) == sorted(brought(home / "outputs" / job))
    (home / "outputs" / job / "worker-0/model/größe").write_text("another")
    third = jobs.order("fetch", job)
    assert re.findall(r"brings (\S+)", third.stderr) == ["worker-0/model/größe"]
    assert (home / "outputs" / job / "worker-0/model/größe").read_text() == "ü\n"


def test_a_task_that_fails_leaves_its_outputs_and_so_do_those_that_are_stopped(jobs, home):
    command = 'mkdir model; trap "echo stopped > model/end; exit 0" TERM; echo begun > model/begun; ' \
              '[ "$GANGRUN_TASK_INDEX" = 0 ] && { echo failed > model/end; exit 3; }; while :; do sleep 0.1; done'
    done, job = run(jobs, "--output", "model", command=command)
    assert done.returncode == 1 and "worker:0" in done.stderr, done.stderr
    here = fetched(jobs, home, job)
    assert here["worker-0/model/end"].read_text() == "failed\n"
    assert here["worker-1/model/begun"].read_text() == "begun\n" and here["worker-1/model/end"].read_text() == "stopped\n"


def test_what_a_restarted_task_has_left_takes_the_place_of_what_it_left_before(jobs, home, tmp_path):
    mark = tmp_path / "failed"
    command = f'mkdir model; if [ ! -e {mark} ]; then touch {mark}; echo 1 > model/first; exit 1; fi; rm -rf model; mkdir model; echo 2 > model/second'
    done, job = run(jobs, "--output", "model", "--restarts", "1", command=command, roles="worker:1")
    assert done.returncode == 0, done.stderr
    assert set(fetched(jobs, home, job)) == {"worker-0/model/second"}


def test_what_is_over_the_limit_is_named_and_smaller_files_are_kept(jobs, home):
    command = "mkdir model; head -c 2000000 /dev/zero > model/big; echo small > model/small"
    done, job = run(jobs, "--output", "model", "--outputs-limit", "1m", command=command, roles="worker:1")
    assert done.returncode == 0, done.stderr
    assert "outputs of worker:0 were not all kept: over outputs_limit (1 MiB): model/big" in done.stderr
    assert set(fetched(jobs, home, job)) == {"worker-0/model/small"}


def test_only_types_that_have_outputs_leave_some(jobs, home):
    jobs.write("job.yaml", "outputs: [model/run.sh]\ntasks: {worker: , ps: {outputs: []}}\n")
    done = jobs.run("job.yaml", "-m", "128m", "--", "sh", "-c", WRITE)
    assert done.returncode == 0, done.stderr
    job = re.search(r"application_\d+_\d+", done.stderr).group()
    assert set(fetched(jobs, home, job)) == {"worker-0/model/run.sh"}


def test_without_outputs_the_run_says_that_the_folders_go(jobs):
    done, job = run(jobs, command="true", roles="worker:1")
    assert done.returncode == 0, done.stderr
    assert "which YARN removes at the end: write what is to stay to a file system that all see, or name it in `outputs`" in done.stderr
    assert jobs.order("fetch", job).stdout == "No outputs of this job have been fetched yet.\n"
    assert "work in the folders of their containers" in jobs.order("status", job).stdout


def test_a_quota_that_is_full_is_told_and_the_verdict_stands(jobs, home):
    """The folder of the job's outputs has room for no block: an administrator's quota."""
    command = f'mkdir model; echo 1 > model/a; : > model/empty; : > {jobs.folder}/ready; while [ ! -e {jobs.folder}/go ]; do sleep 0.1; done'
    job = jobs.submit("-r", "worker:1", "-m", "128m", "--output", "model", "--", "sh", "-c", command)
    wait_until(lambda: (jobs.folder / "ready").exists(), "the task to run", 120)
    outputs = f"/user/{secured.USER}/.gangrun/history/{job}/outputs"
    jobs.hadoop.run("hdfs", "dfs", "-mkdir", "-p", outputs)
    jobs.hadoop.run("hdfs", "dfsadmin", "-setSpaceQuota", "1m", outputs)
    (jobs.folder / "go").touch()
    status = jobs.wait_for_state(job, "succeeded", "failed")
    assert status["state"] == "succeeded", status
    (lost,) = [task["lost_outputs"] for task in status["tasks"]]
    assert lost.startswith("could not be written: model/a (") and "quota" in lost, lost
    assert set(fetched(jobs, home, job)) == {"worker-0/model/empty"}


def test_a_container_that_is_lost_is_told_to_have_left_nothing(jobs):
    command = f"mkdir model; echo 1 > model/a; : > {jobs.folder}/ready; exec sleep 1000"
    job = jobs.submit("-r", "worker:1", "-m", "128m", "--output", "model", "--", "sh", "-c", command)
    wait_until(lambda: (jobs.folder / "ready").exists(), "the task to run", 120)
    jobs.wait_for_state(job, "running")
    for pid in processes(f"{job}.worker.0"):
        os.kill(pid, signal.SIGKILL)
    status = jobs.wait_for_state(job, "failed")
    assert [task["lost_outputs"] for task in status["tasks"]] == ["its container ended before they were written"]


def test_rm_removes_a_job_that_has_ended_from_hdfs_and_from_here(jobs, home):
    done, job = run(jobs, "--output", "model", roles="worker:1")
    assert fetched(jobs, home, job) and "outputs" in far_folder(jobs, job)
    # Nobody sits before it.
    refused = jobs.order("rm", job)
    assert refused.returncode == 2 and "--yes" in refused.stderr and "outputs" in far_folder(jobs, job)
    removed = jobs.order("rm", "--yes", job)
    assert (removed.returncode, removed.stdout) == (0, f"removed {job}\n"), removed.stderr
    assert far_folder(jobs, job) is None and not (home / "outputs" / job).exists()
    assert jobs.order("fetch", job).stdout == "No outputs of this job have been fetched yet.\n"


def test_rm_refuses_a_job_that_has_not_ended_and_one_of_another_user(jobs, home):
    job = jobs.submit("-r", "worker:1", "-m", "128m", "--", "sleep", "1000")
    jobs.wait_for_state(job, "running")
    refused = jobs.order("rm", "--yes", job)
    assert refused.returncode != 0 and f"{job} has not ended; gangrun kill {job} ends it" in refused.stderr
    assert jobs.status(job)["state"] == "running"
    other = jobs.of("alice").order("rm", "--yes", job)
    assert other.returncode != 0 and f"{job} is a job of {secured.USER}, who alone can remove it" in other.stderr
    missing = jobs.order("rm", "--yes", job[:-4] + "9999")
    assert missing.returncode not in (0, 2), missing
