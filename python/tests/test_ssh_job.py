"""What a run on hosts that ssh reaches is made of, and what is refused. That it runs is in tests/ssh."""

import json
import os
import pathlib
import subprocess

import pytest

import gangrun
from gangrun import _job
from gangrun.environments import NodePython
from gangrun.errors import InvalidJob


def prepared_job(**request):
    prepared = _job.prepare(_job.Request(tasks={"worker": 2}, on="ssh", **request), progress=lambda text: None)
    return prepared, json.loads(pathlib.Path(prepared.path).read_text())


def test_files_lie_below_the_callers_folder_which_hosts_share_or_get(folder):
    (folder / "data.csv").write_text("a")
    prepared, job = prepared_job(main=lambda: 1, files=["data.csv"])
    assert job["on"] == "ssh"
    assert os.path.dirname(prepared.staging.folder) == str(folder)
    assert f"{prepared.staging.files}/data.csv" in job["files"]
    assert {os.path.dirname(path) for path in job["files"]} == {prepared.staging.files}
    prepared.staging.remove()
    assert os.listdir(folder) == ["data.csv"]


def test_what_killed_processes_have_left_there_is_removed_from_anywhere(folder, home, monkeypatch):
    prepared, _ = prepared_job(main=lambda: 1)
    prepared.staging._owner.close()  # as its end does
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    prepared, _ = prepared_job(main=lambda: 1)
    assert os.listdir(folder) == ["other"] and len(list(home.glob("python/run-*"))) == 1
    prepared.staging.remove()
    assert not list(home.glob("python/run-*"))


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("is_function", [True, False])
def test_where_a_task_works_there(folder, is_shared, is_function):
    """The shell's part of it, in the caller's folder or in a copy that has the files."""
    (folder / "data.csv").write_text("a")
    # A function's process gets the folder of the files as its last word.
    tell = ["sh", "-c", 'pwd; cat "${2:-.}/data.csv"; echo; echo 1 > own', "sh"]
    prepared, job = prepared_job(main=(lambda: 1) if is_function else tell, files=["data.csv"])
    command = job["tasks"]["worker"]["command"]
    if is_function:
        command = [*command[:6], *tell]
    copy = folder / "copy"
    copy.mkdir()
    (copy / "data.csv").write_text("a")
    there = folder if is_shared else copy
    environment = {"PATH": os.environ["PATH"], "GANGRUN_TASK_TYPE": "worker", "GANGRUN_TASK_INDEX": "1"}
    done = subprocess.run(command, cwd=there, env=environment, check=True, capture_output=True, text=True, timeout=60)
    tasks = pathlib.Path(prepared.staging.folder) / "tasks" if is_shared else copy / "gangrun-tasks"
    works_in = there if is_function else tasks / "worker-1"
    assert done.stdout == f"{works_in}\na\n" and (works_in / "own").exists()
    prepared.staging.remove()


@pytest.mark.parametrize("outputs, of_worker, listed", [
    (["model"], None, ["gangrun-tasks"]),
    (None, ["model"], ["gangrun-tasks"]),
    (["model"], [], []),
    ([], None, None),
    (None, None, None),
])
def test_outputs_of_a_command_with_files_are_looked_for_where_it_works(folder, outputs, of_worker, listed):
    """A host looked for them in the folder around, and brought nothing."""
    (folder / "data.csv").write_text("a")
    keys = {} if outputs is None else {"outputs": outputs}
    prepared = _job.prepare(_job.Request(tasks={"worker": gangrun.TaskSpec(outputs=of_worker)}, on="ssh", main=["true"],
                                         files=["data.csv"], keys=keys), progress=lambda text: None)
    job = json.loads(pathlib.Path(prepared.path).read_text())
    assert job["tasks"]["worker"].get("outputs") == listed
    prepared.staging.remove()


def test_a_command_begins_in_the_callers_folder(folder):
    prepared, job = prepared_job(main=["true"])
    assert job["tasks"]["worker"]["command"] == ["true"] and "files" not in job
    prepared.staging.remove()


def test_what_is_on_another_disk_than_the_staging_folder_is_copied(folder):
    """Hosts that share one disk need not share the other."""
    here, there = folder / "here", pathlib.Path("/dev/shm") / f"gangrun-test-{os.getpid()}"
    here.write_text("near")
    assert os.stat("/dev/shm").st_dev != os.stat(os.environ["GANGRUN_HOME"]).st_dev
    there.mkdir()
    try:
        (there / "deep").write_text("far")
        prepared, _ = prepared_job(main=["true"], files=[here, there])
        files = pathlib.Path(prepared.staging.files)
        assert (files / "here").is_symlink()
        copied = files / there.name
        assert not copied.is_symlink() and (copied / "deep").read_text() == "far"
        prepared.staging.remove()
        assert (there / "deep").exists()
    finally:
        (there / "deep").unlink()
        there.rmdir()


def test_paths_are_those_of_the_callers_folder(folder):
    """The program may be called in another one; hosts that nobody can reach are refused with what they are."""
    (folder / "hostfile").write_text("-x\n")
    for keys in ({"hostfile": "hostfile", "ssh_config": "config"}, {"job": {"ssh": {"hostfile": "hostfile"}}}):
        with pytest.raises(InvalidJob, match="hosts: '-x'"):
            gangrun.run({"worker": 1}, lambda: 1, on="ssh", **keys)


@pytest.mark.parametrize("arguments, said", [
    ({"on": "local", "hosts": ["gpu1"]}, "hosts: .* is only for hosts that ssh reaches; allowed with on='ssh'"),
    ({"on": "yarn", "hostfile": "hosts"}, "hostfile: 'hosts' is only for hosts that ssh reaches"),
    ({"ssh_config": "config"}, "ssh_config: 'config' is only for hosts that ssh reaches"),
    ({"on": "ssh", "hosts": "gpu1:8"}, "hosts: 'gpu1:8' is no list of hosts; allowed: .'gpu1:8', 'gpu2:8'."),
    ({"on": "ssh", "hosts": [8]}, "hosts: .8. is no list of hosts"),
    ({"on": "ssh", "hosts": ["gpu1:many"]}, "gpu1:many"),
    ({"on": "ssh"}, "hosts: none are named"),
    ({"on": "ssh", "hosts": ["gpu1"], "hostfile": "hosts"}, "is not allowed beside `hosts`"),
    ({"on": "ssh", "hosts": ["gpu1"], "files": ["hdfs://nn/x"]}, "hdfs://nn/x is on a cluster's file system; allowed with on='ssh': paths"),
    ({"on": "ssh", "hosts": ["gpu1"], "environment": "env.tar.gz"}, "hosts that ssh reaches unpack no archive such as env.tar.gz"),
    ({"on": "ssh", "hosts": ["gpu1"], "outputs": ["../model"]}, "outputs"),
])
def test_what_does_not_fit_is_refused_before_anything_starts(folder, arguments, said, monkeypatch):
    for name in ("SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidJob, match=said):
        gangrun.run({"worker": 1}, lambda: 1, **arguments)


def test_a_python_of_the_hosts_is_taken():
    prepared, job = prepared_job(main=lambda: 1, environment=NodePython("/opt/python/bin/python3"))
    assert "/opt/python/bin/python3" in job["tasks"]["worker"]["command"]
    prepared.staging.remove()
