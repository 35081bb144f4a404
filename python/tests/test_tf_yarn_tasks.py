"""What runs in a task, in tasks of this machine; with TensorFlow: test_tf_yarn_local.py in tests/python."""

import os
import pathlib
import re
import sys
import types

import pytest

from gangrun.tf_yarn import RunFailed, TaskSpec, run_on_yarn
from gangrun.tf_yarn.tasks import prelude, tensorboard_task

ONE = {"worker": TaskSpec(memory="64 MiB", vcores=1)}
MODULE = """
import pathlib
from gangrun.tf_yarn import _task_commons as commons
experiment = commons._get_experiment()
assert (commons.get_task_type(), commons.get_task_id(), commons.get_task_description()) == ("worker", 0, ("worker", 0))
assert commons.is_worker() and not commons.is_chief() and not commons.is_evaluator()
pathlib.Path(experiment).write_text(f"{__name__} {commons.get_task()} {commons.n_try()}")
"""


def run(experiment_fn, **more):
    return run_on_yarn(experiment_fn, ONE, on="local", custom_task_module="users_own", **more)


@pytest.fixture
def files(folder):
    (folder / "users_own.py").write_text(MODULE)
    return {"users_own.py": str(folder / "users_own.py")}


def test_a_module_of_the_users_own_runs_as_a_program_and_finds_the_experiment(folder, files, capsys):
    metrics = run(lambda: str(folder / "out"), files=files)
    assert (folder / "out").read_text() == "__main__ worker:0 0"
    assert list(metrics.container_duration) == ["worker:0"] and metrics.container_duration["worker:0"] is not None
    told = capsys.readouterr().err
    assert "worker:0 has succeeded" in told and re.search(r"worker:0  SUCCEEDED  127.0.0.1:\d+  ran \d+\.\d s", told)


def test_a_failed_try_is_tried_again(folder, files):
    first = folder / "first"

    def fails_once():
        if not first.exists():
            first.touch()
            raise ValueError("no wine today")
        return str(folder / "out")

    run(fails_once, files=files, nb_retries=1)
    assert (folder / "out").read_text().endswith(" 1")


def test_what_an_experiment_fn_raises_is_told(folder, files, capsys):
    def fails():
        raise ValueError("no wine today")

    with pytest.raises(RunFailed, match="(?s)worker:0 on .*Exception in task worker:0:.*in fails.*no wine today") as caught:
        run(fails, files=files)
    assert type(caught.value.__cause__) is ValueError
    assert "worker:0  FAILED" in capsys.readouterr().err


def test_the_hook_runs_before_the_python_of_the_task(folder, files):
    hook = f"echo hooked >> {folder}/hook; export FROM_HOOK='a\nb'"
    seen = folder / "seen"

    def tells():
        seen.write_text(os.environ["FROM_HOOK"])
        return str(folder / "out")

    run(tells, files=files, pre_script_hook=hook)
    assert seen.read_text() == "a\nb"
    assert (folder / "hook").read_text() == "hooked\n", "it runs once"
    assert (folder / "out").exists()


def test_a_hook_that_fails_fails_the_job(folder, files):
    with pytest.raises(RunFailed, match="pre_script_hook ended with status 3: exit 3"):
        run(lambda: str(folder / "out"), files=files, pre_script_hook="exit 3")


def test_libraries_of_cuda_are_found_by_the_loader(tmp_path):
    (tmp_path / "cuda/lib64").mkdir(parents=True)
    (tmp_path / "cuda/lib64/libcudart.so.12").touch()
    env = prelude.with_libraries({"LD_LIBRARY_PATH": "/old", "A": "b"}, tmp_path / "cuda")
    assert env == {"LD_LIBRARY_PATH": f"{tmp_path}/cuda/lib64:/old", "A": "b"}
    (tmp_path / "empty").mkdir()
    for name in ("empty", "not_there"):
        with pytest.raises(RuntimeError, match="cuda_runtime_hdfs_path: there is no library"):
            prelude.with_libraries({}, tmp_path / name)


class Estimator:
    model_dir = "/m"


class Experiment:
    estimator = Estimator()


def test_which_folder_tensorboard_shows(monkeypatch):
    assert tensorboard_task.model_dir(Experiment) == "/m"
    assert tensorboard_task.model_dir(Estimator) == "/m"
    with pytest.raises(RuntimeError, match="PosixPath has no model_dir; set TaskSpec"):
        tensorboard_task.model_dir(lambda: pathlib.Path("/"))
    monkeypatch.setenv("TB_MODEL_DIR", "/said")
    assert tensorboard_task.model_dir(lambda: 1 / 0) == "/said"
    assert tensorboard_task.words("/said", "4000", "--reload_interval '5'") == [
        "tensorboard", "--logdir", "/said", "--host", "127.0.0.1", "--port", "4000", "--reload_interval", "5"]


def test_tensorboard_is_that_of_this_python_or_of_the_path_or_said_to_be_missing(monkeypatch, tmp_path):
    """A node's Python may have the module where no program is on the PATH, and the other way round."""
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="TensorBoard is not installed here: .* has no module tensorboard, and the PATH"):
        tensorboard_task.program()
    (tmp_path / "tensorboard").write_text("")
    (tmp_path / "tensorboard").chmod(0o755)
    started = []
    monkeypatch.setattr(tensorboard_task.os, "execv", lambda *given: started.append(given))
    tensorboard_task.program()()
    assert started == [(str(tmp_path / "tensorboard"), sys.argv)]
    module = types.ModuleType("tensorboard.main")
    module.run_main = lambda: "shown"
    monkeypatch.setitem(sys.modules, "tensorboard", types.ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "tensorboard.main", module)
    assert tensorboard_task.program()() == "shown"
