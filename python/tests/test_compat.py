"""Programs that say `import tf_yarn` and the like, without a change."""

import importlib
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

from gangrun import compat

PYTHON = pathlib.Path(compat.__file__).resolve().parents[1]


def script(folder, text, *words, name="script.py", env=None):
    """Runs a program as its user does."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return subprocess.run([sys.executable, "-m", "gangrun.compat", *(words or [name])], cwd=folder, capture_output=True,
                          text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(PYTHON), **(env or {})})


def test_both_names_are_one_module(answered):
    ours = importlib.import_module("gangrun.tf_yarn.pytorch.experiment")
    theirs = importlib.import_module("tf_yarn.pytorch.experiment")
    assert theirs is ours and sys.modules["tf_yarn"] is sys.modules["gangrun.tf_yarn"]
    assert importlib.import_module("tf_yarn.tensorflow.client") is importlib.import_module("gangrun.tf_yarn.client")
    assert ours.__spec__.name == ours.__name__ == "gangrun.tf_yarn.pytorch.experiment"
    assert importlib.import_module("tf_skein").YARNCluster is importlib.import_module("gangrun.tf_skein").YARNCluster


def test_what_was_pickled_by_the_old_name_is_found(answered):
    ours = importlib.import_module("gangrun.tf_yarn.pytorch.experiment")
    assert pickle.loads(b"ctf_yarn.pytorch.experiment\nDataLoaderArgs\n.") is ours.DataLoaderArgs


def test_a_module_that_we_do_not_have_is_told(answered):
    with pytest.raises(ModuleNotFoundError, match="gangrun answers the import of tf_yarn, but has nothing called tf_yarn.event"):
        importlib.import_module("tf_yarn.event")


def test_spark_is_answered_without_spark(answered):
    """Its modules import nothing of Spark before it is used."""
    theirs = importlib.import_module("tensorflowonspark.TFCluster")
    assert theirs is importlib.import_module("gangrun.tensorflowonspark.TFCluster") and theirs.InputMode.SPARK == 1
    from tensorflowonspark import TFNode
    assert TFNode is importlib.import_module("gangrun.tensorflowonspark.TFNode")
    with pytest.raises(ImportError, match="has nothing called tensorflowonspark.nothing"):
        importlib.import_module("tensorflowonspark.nothing")


def test_what_is_installed_goes_first_where_we_are_no_substitute(tmp_path, answered, monkeypatch):
    (tmp_path / "cluster_pack.py").write_text("real = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module("cluster_pack").real


def test_in_tasks_of_other_programs_all_that_is_installed_goes_first(tmp_path):
    (tmp_path / "tf_yarn.py").write_text("real = True\n")
    text = ("import sys; from gangrun import compat; compat.answer_imports(installed_first=True); import tf_yarn, tf_skein\n"
            "print(tf_yarn.real, tf_skein.__name__, compat.is_answering()); compat.answer_imports(); print(compat.is_answering())")
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(PYTHON)})
    assert done.stdout == "True gangrun.tf_skein False\nTrue\n", done.stderr


def test_a_script_sees_what_it_sees_without_us(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/beside.py").write_text("import tf_yarn.task_modules as found\n")
    text = ("import sys, pickle, os, beside, tf_yarn.task_modules\n"
            "def function(): pass\n"
            "print(sys.argv, __name__, os.path.relpath(__file__), function.__module__)\n"
            "print(beside.found is tf_yarn.task_modules, pickle.loads(pickle.dumps(function)) is function)\n"
            "print(os.path.relpath(sys.path[0]), [path for path in sys.path if path in ('', os.getcwd())])\n"
            "from gangrun import compat\nprint(compat.default_place())\n")
    done = script(tmp_path, text, "--on", "local", "inner/script.py", "--on", "x", name="inner/script.py")
    assert done.stdout.splitlines() == ["['inner/script.py', '--on', 'x'] __main__ inner/script.py __main__", "True True",
                                        "inner []", "local"], done


def test_a_module_runs_with_its_package(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package/__init__.py").touch()
    done = script(tmp_path, "import sys, tf_skein\nfrom . import __name__ as name\nprint(name, sys.argv[1:], __name__)",
                  "-m", "package.tool", "a", "-m", name="package/tool.py")
    assert done.stdout == "package ['a', '-m'] __main__\n", done.stderr


def test_a_script_s_tasks_answer_the_imports_too(tmp_path):
    """Of its own functions, and of the modules that it ships, whatever else is installed where the tasks run."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/tf_yarn.py").write_text("raise ImportError('the one that is installed')\n")
    (tmp_path / "shipped.py").write_text("from tf_yarn.task_modules import TaskModule\n")
    text = ("import gangrun, tf_yarn.task_modules\n"
            "def function(module):\n"
            "    import shipped, tf_yarn.task_modules\n"
            "    print('same', isinstance(module, shipped.TaskModule), tf_yarn.task_modules.__name__, flush=True)\n"
            "gangrun.run({'worker': 1}, function, args=(tf_yarn.task_modules.TaskModule('x'),), files=['shipped.py'],\n"
            "            on_line=lambda *line: print(*line))\n")
    done = script(tmp_path, text, env={"PYTHONPATH": f"{PYTHON}:{tmp_path}/elsewhere"})
    assert done.stdout == "worker:0 stdout same True gangrun.tf_yarn.task_modules\n", done.stderr


def test_what_a_script_ends_with_is_how_we_end(tmp_path):
    done = script(tmp_path, "import sys; sys.exit(7)")
    assert (done.returncode, done.stderr) == (7, "")
    done = script(tmp_path, "import tensorflowonspark.nothing")
    assert done.returncode == 1 and done.stderr.endswith("has nothing called tensorflowonspark.nothing\n")


def test_a_file_does_what_the_module_does(tmp_path):
    """For programs that start a file by a Python of theirs, which does not know gangrun; beside the script may be anything."""
    path = subprocess.run([sys.executable, "-m", "gangrun.compat", "--path"], capture_output=True, text=True, timeout=60, check=True,
                          env={**os.environ, "PYTHONPATH": str(PYTHON)}).stdout.strip()
    (tmp_path / "errors.py").write_text("mine = True\n")
    (tmp_path / "script.py").write_text("import sys, errors, tensorflowonspark\nprint(errors.mine, sys.argv, tensorflowonspark.__name__)\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, path, "script.py", "--path"], cwd=tmp_path, capture_output=True, text=True, timeout=60, env=environment)
    assert done.stdout == "True ['script.py', '--path'] gangrun.tensorflowonspark\n", done.stderr


@pytest.mark.parametrize("words, said", [
    (["--on", "mars", "x.py"], "--on: 'mars' is not a known place; allowed: local, yarn"),
    (["--of", "local"], "unknown option '--of'"),
    (["-m"], "-m needs a value"),
    (["--on=local"], "no script is named"),
    (["nowhere.py"], "can't open file 'nowhere.py'"),
])
def test_a_wrong_command_line_is_one_error(words, said, capsys):
    with pytest.raises(SystemExit) as caught:
        compat.main(words)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith(f"gangrun.compat: {said}")
