"""`gangrun.run(…, on="ssh")` with real sshds: functions, what comes back, and what is refused."""

import os
import pathlib
import sys

import pytest

from test_ssh_start import nothing_left

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def package(gangrun, home, monkeypatch, tmp_path):
    """The package of this checkout, called in a folder of the test's own."""
    monkeypatch.setenv("GANGRUN_BIN", os.path.dirname(gangrun))
    monkeypatch.setenv("GANGRUN_HOME", str(home))
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    monkeypatch.chdir(tmp_path)
    import gangrun
    return gangrun


def hosts_of(sshds, slots):
    return {"on": "ssh", "hosts": [f"{name}:{slots}" for name in sshds.hosts.names], "ssh_config": sshds.config}


class OutOfData(Exception):
    """Of this file, which the hosts need not have."""


def place_and_file(number):
    import gangrun
    from wine import NAME
    place = gangrun.task.current()
    return place.task, len(place.cluster_spec["worker"]), os.environ["GANGRUN_HOST"], number * 2, NAME, open(gangrun.task.file("data.csv")).read()


def fail():
    raise OutOfData("after 3 rows")


def test_one_sentence_says_where_commands_with_files_work(package, private, tmp_path):
    """There were two, and the other one spoke of the caller's folder."""
    (tmp_path / "data.csv").write_text("42")
    run = package.run({"worker": 1}, ["true"], files=["data.csv"], **hosts_of(private, 1))
    (note,) = [each for each in run.status()["notes"] if "tasks work" in each]
    assert note.startswith("tasks work in folders of their own") and f"; on each host they are in a copy of {tmp_path}" in note, note


@pytest.mark.parametrize("private", [False, True], ids=["shared", "private"])
def test_a_function_runs_on_all_hosts_with_its_arguments_and_files(package, make_sshds, home, tmp_path, private):
    sshds = make_sshds(3, private=private)
    (tmp_path / "wine.py").write_text("NAME = 'red'")
    (tmp_path / "table-7.csv").write_text("a,b")
    run = package.run({"worker": 6}, place_and_file, args=(21,), files={"wine.py": "wine.py", "data.csv": tmp_path / "table-7.csv"},
                      **hosts_of(sshds, 2))
    addresses = [sshds.hosts.address(name) for name in sshds.hosts.names]
    assert run.results == {f"worker:{index}": (f"worker:{index}", 6, addresses[index // 2], 42, "red", "a,b") for index in range(6)}
    nothing_left(sshds)
    assert list((home / "python").glob("run-*")) == []
    assert sorted(os.listdir(tmp_path)) == ["table-7.csv", "wine.py"]


def write():
    pathlib.Path("checkpoint").write_text("weights")
    return os.getcwd()


@pytest.mark.parametrize("private", [False, True], ids=["shared", "private"])
def test_what_a_function_writes_is_in_the_callers_folder_or_is_brought(package, make_sshds, tmp_path, private):
    """It worked in a folder below the staging folder, which was removed with its checkpoints."""
    sshds = make_sshds(1, private=private)
    (tmp_path / "wine.py").write_text("NAME = 'red'")
    run = package.run({"worker": 1}, write, files=["wine.py"], **hosts_of(sshds, 1))
    outputs = pathlib.Path(run.status()["folder"]) / "outputs"
    where = outputs / sshds.hosts.names[0] if private else tmp_path
    assert (where / "checkpoint").read_text() == "weights"
    assert outputs.exists() == private and (run.result == str(tmp_path)) != private
    assert sorted(os.listdir(tmp_path)) == (["wine.py"] if private else ["checkpoint", "wine.py"])
    nothing_left(sshds)


def test_an_exception_comes_back_and_so_does_a_refusal(package, make_sshds):
    sshds = make_sshds(1)
    with pytest.raises(OutOfData, match="after 3 rows"):
        package.run({"worker": 1}, fail, **hosts_of(sshds, 1))
    with pytest.raises(package.errors.CommandFailed, match="there is no host no-such-host.invalid"):
        package.run({"worker": 1}, fail, on="ssh", hosts=["no-such-host.invalid"], ssh_config=sshds.config)
    nothing_left(sshds)


def test_a_command_without_files_works_in_the_folder_that_is_shared(package, make_sshds, tmp_path):
    sshds = make_sshds(1)
    (tmp_path / "hosts").write_text(f"{sshds.hosts.names[0]} slots=1\n")
    (tmp_path / "here").write_text("it is")
    run = package.run({"worker": 1}, ["cat", "here"], on="ssh", hostfile="hosts", ssh_config=sshds.config)
    assert run.logs("worker:0") == "it is"


def test_a_detached_function_outlives_its_caller(package, make_sshds, home):
    """What it is to run is read by its master, which is another process."""
    sshds = make_sshds(2, private=True)
    run = package.run({"worker": 2}, lambda: sys.version_info[:2], detach=True, **hosts_of(sshds, 1))
    again = package.attach(run.id).wait()
    assert again.results == {f"worker:{index}": sys.version_info[:2] for index in range(2)}
    nothing_left(sshds)


def read_and_write():
    import gangrun
    from wine import NAME
    pathlib.Path("checkpoint").write_text(NAME)
    return NAME, open(gangrun.task.file("data.csv")).read()


@pytest.mark.parametrize("private", [False, True], ids=["shared", "private"])
def test_a_detached_function_has_the_files_that_its_call_named(package, make_sshds, tmp_path, private):
    """Its master, another process, sends them after the call has returned."""
    sshds = make_sshds(1, private=private)
    (tmp_path / "wine.py").write_text("NAME = 'red'")
    (tmp_path / "table-7.csv").write_text("a,b")
    run = package.run({"worker": 1}, read_and_write, files={"wine.py": "wine.py", "data.csv": tmp_path / "table-7.csv"}, detach=True,
                      **hosts_of(sshds, 1))
    again = package.attach(run.id).wait()
    assert again.result == ("red", "a,b")
    outputs = pathlib.Path(again.status()["folder"]) / "outputs"
    where = outputs / sshds.hosts.names[0] if private else tmp_path
    assert (where / "checkpoint").read_text() == "red"
    nothing_left(sshds)
