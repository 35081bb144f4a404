"""What a function in pods is made of, and what is refused. That it runs there is in tests/kubernetes."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import types

import pytest

import gangrun
from gangrun import _function, _job, _result
from gangrun.environments import NodePython, _start
from gangrun.errors import InvalidJob

OTHER_PYTHON = types.SimpleNamespace(version_info=(3, 99))


def prepared_job(**request):
    prepared = _job.prepare(_job.Request(tasks={"worker": 2}, on="kubernetes", **request), progress=lambda text: None)
    job = json.loads(pathlib.Path(prepared.path).read_text())
    prepared.staging.remove()
    return job


@pytest.fixture
def in_a_pod(folder, tmp_path_factory):
    """in_a_pod(**request): the finished process of a task in a folder with the job's files, and the file of its result."""

    def run(env=None, **request):
        prepared = _job.prepare(_job.Request(tasks={"worker": 1}, on="kubernetes", **request), progress=lambda text: None)
        job = json.loads(pathlib.Path(prepared.path).read_text())
        work = tmp_path_factory.mktemp("work")
        for path in job["files"]:
            (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, work)
        prepared.staging.remove()
        programs = tmp_path_factory.mktemp("bin")
        (programs / "python3").symlink_to(sys.executable)
        result = tmp_path_factory.mktemp("run") / "result"
        variables = {"PATH": str(programs), "GANGRUN_RESULT_FILE": str(result), **job["tasks"]["worker"].get("env", {}), **(env or {})}
        return subprocess.run(job["tasks"]["worker"]["command"], cwd=work, env=variables, capture_output=True, text=True, timeout=60), result

    return run


def test_a_function_runs_by_the_images_python_with_all_that_it_needs_beside_it(folder, in_a_pod):
    (folder / "wine.py").write_text("NAME = 'red'")
    (folder / "data.csv").write_text("a,b")

    def train(number):
        import gangrun
        import wine
        return number * 2, wine.NAME, open(gangrun.task.file("data.csv")).read(), os.environ["PYTHONPATH"].split(":")[2:]

    done, result = in_a_pod(main=train, args=(21,), files=["wine.py", "data.csv"], env={"PYTHONPATH": "/of/the/image"})
    assert done.returncode == 0, done.stderr
    outcome = _result.decode(result.read_bytes())
    import pickle
    assert pickle.loads(outcome["body"]) == (42, "red", "a,b", ["/of/the/image"])


def test_no_shell_is_needed(folder):
    command = prepared_job(main=lambda: 1)["tasks"]["worker"]["command"]
    assert command[:3] == ["python3", "-IS", "-c"] and "sh" not in " ".join(command[:3] + command[4:]).split()


def test_what_was_pickled_by_another_python_is_refused_with_both_versions(in_a_pod, monkeypatch):
    monkeypatch.setattr(_function, "sys", OTHER_PYTHON)
    done, result = in_a_pod(main=lambda: 1)
    assert done.returncode == 1
    own = "%d.%d" % sys.version_info[:2]
    assert f"the function was pickled by Python 3.99, and this task runs Python {own} " in done.stderr
    assert "use an environment or an image with Python 3.99" in _result.decode(result.read_bytes())["message"]


def test_a_function_by_its_name_runs_in_another_python(in_a_pod, monkeypatch):
    monkeypatch.setattr(_function, "sys", OTHER_PYTHON)
    done, _ = in_a_pod(main="platform:python_version")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("before, said", [
    ("import sys; sys.version_info = (3, 8, 1)\n", "gangrun: the image has Python 3.8, and functions need 3.9 or later; the job was made with Python "),
    ("import sys; sys.modules['zlib'] = None\n", "that lacks a part of its own library: import of zlib halted"),
])
def test_a_python_that_cannot_run_any_function_is_refused_in_one_line(before, said):
    words = _start.command_in_image(sys.executable, "the image")
    done = subprocess.run([*words[:3], before + words[3], *words[4:], "-c", "print('began')"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""


def test_another_python_of_the_image_is_taken():
    command = prepared_job(main=lambda: 1, environment=NodePython("/opt/python/bin/python3"))["tasks"]["worker"]["command"]
    assert command[0] == "/opt/python/bin/python3"


@pytest.mark.parametrize("main", [lambda: 1, ["true"]])
def test_that_an_agent_is_in_the_pod_needs_no_word(main):
    assert "kubernetes" not in prepared_job(main=main)
    given = {"agents": "image", "agent_image": "a"}
    assert prepared_job(main=main, keys={"kubernetes": given})["kubernetes"] == given


def test_a_function_without_an_agent_is_refused_with_the_reason():
    with pytest.raises(InvalidJob, match="'none' is not allowed with a function: an agent in its pod brings back what it returns"):
        gangrun.run({"worker": 1}, lambda: 1, on="kubernetes", kubernetes={"agents": "none"})


def test_an_archive_is_no_environment_of_a_pod():
    for main in (["python", "train.py"], lambda: 1):
        with pytest.raises(InvalidJob, match="a pod has the Python of its image, and unpacks no archive such as env.tar.gz"):
            prepared_job(main=main, environment="env.tar.gz")


def test_a_function_may_be_as_large_as_elsewhere(monkeypatch):
    """Config maps take 64 MiB; agents fetch what is larger."""
    monkeypatch.setattr(_function, "MAX_PICKLED_BYTES", 2 << 20)
    assert prepared_job(main=len, args=(bytes(1 << 20),))["files"]
    with pytest.raises(InvalidJob, match="allowed: 2 MiB .*Large data belongs into files="):
        prepared_job(main=len, args=(bytes(3 << 20),))


def test_types_with_tensorboard_and_commands_go_with_functions():
    tasks = {"worker": 1, "ps": gangrun.TaskSpec(policy="service"), "tensorboard": gangrun.TaskSpec(logdir="/logs")}
    prepared = _job.prepare(_job.Request(tasks=tasks, main={"worker": lambda: 1, "ps": ["serve"]}, on="kubernetes"), progress=lambda text: None)
    job = json.loads(pathlib.Path(prepared.path).read_text())
    prepared.staging.remove()
    assert job["tasks"]["ps"]["command"] == ["serve"] and "command" not in job["tasks"]["tensorboard"]
    assert job["tasks"]["worker"]["command"][-2] == "gangrun._task_main"
