"""gangrun.run on a real YARN cluster: functions, what comes back, and what ends them."""

import json
import os
import subprocess
import sys
import urllib.request

import pytest

from waiting import wait_until

ROOT_OF = "import gangrun, json, sys; run = gangrun.attach(sys.argv[1]); "
ATTACHED = ROOT_OF + "print(json.dumps([task.state for task in run.tasks])); run.kill()"


@pytest.fixture
def on_yarn(client, hadoop, tmp_path, monkeypatch):
    """The package, and what to give each run: the interpreter of the nodes, and little memory."""
    monkeypatch.chdir(tmp_path)
    client(hadoop)
    import gangrun
    python = gangrun.environments.NodePython("/usr/bin/python3")
    return lambda workers, main, **more: gangrun.run(
        {"worker": gangrun.TaskSpec(instances=workers, memory="128 MiB")}, main, on="yarn", environment=python, **more)


class OutOfData(Exception):
    """Of this file, which the nodes do not have."""


def place_and_file(number):
    import gangrun
    from wine import NAME
    place = gangrun.task.current()
    print("lines of", place.task, flush=True)
    return place.task, len(place.cluster_spec["worker"]), number * 2, NAME, open("data.csv").read()


def fail_at(index, seen):
    import gangrun
    import threading
    if gangrun.task.current().index == index:
        raise OutOfData("after 3 rows")
    threading.Event().wait(seen)


def wait_long():
    import threading
    threading.Event().wait(600)


@pytest.mark.gate
def test_every_task_returns_what_it_made_of_arguments_and_files(on_yarn, tmp_path):
    (tmp_path / "wine.py").write_text("NAME = 'red'")
    (tmp_path / "table-7.csv").write_text("a,b")
    lines = []
    run = on_yarn(2, place_and_file, args=(21,), files={"wine.py": "wine.py", "data.csv": tmp_path / "table-7.csv"},
                  on_line=lambda *line: lines.append(line))
    assert run.results == {f"worker:{index}": (f"worker:{index}", 2, 42, "red", "a,b") for index in (0, 1)}
    assert sorted(lines) == [(f"worker:{index}", "stdout", f"lines of worker:{index}") for index in (0, 1)]
    assert run.logs("worker:1") == "lines of worker:1\n" and run.id.startswith("application_")
    assert {task.host for task in run.tasks} <= {"127.0.0.2", "127.0.0.3"}


@pytest.mark.gate
def test_the_exception_of_a_task_ends_the_others_and_is_raised_here(on_yarn):
    from gangrun import errors
    with pytest.raises(OutOfData, match="after 3 rows") as caught:
        on_yarn(2, fail_at, args=(1, 600), timeouts={"stop": 1})
    remote = caught.value.__cause__
    assert isinstance(remote, errors.RemoteTraceback) and remote.task == "worker:1"
    assert 'raise OutOfData("after 3 rows")' in remote.text


@pytest.mark.gate
def test_another_process_attaches_to_a_run_and_ends_it(on_yarn):
    import gangrun
    from gangrun import errors
    run = on_yarn(1, wait_long, block=False)
    wait_until(lambda: [task.state for task in run.tasks] == ["running"], "the task to run", pause_s=0.1)
    assert run.url == gangrun.attach(run.id).url and run.url.endswith(f"/proxy/{run.id}/")
    with urllib.request.urlopen(run.url, timeout=30) as page:
        assert b"gangrun" in page.read()
    done = subprocess.run([sys.executable, "-c", ATTACHED, run.id], capture_output=True, text=True, timeout=120, env=os.environ)
    assert done.returncode == 0 and json.loads(done.stdout) == ["running"], done.stderr
    with pytest.raises(errors.JobKilled):
        run.wait(timeout=120)
