"""Jobs of this machine by the package: what a notebook or a pipeline does."""

import html
import json
import os
import pathlib
import subprocess
import sys

import pytest

import gangrun
from conftest import alive
from gangrun import TaskSpec, _program, _staging, errors
from waiting import wait_until


def place():
    print("here is", gangrun.task.current().task, flush=True)


def say_and_fail():
    print("about to fail", flush=True)
    raise KeyError("no such column")


def hold(path):
    import os
    import select
    while not os.path.exists(path):
        select.select([], [], [], 0.02)


def test_a_function_runs_as_every_task_and_its_lines_are_told(folder):
    lines, states = [], []
    run = gangrun.run({"worker": 2, "chief": TaskSpec(memory="64 MiB")}, place,
                      on_line=lambda *line: lines.append(line), on_status=lambda status: states.append(status["state"]))
    assert sorted(lines) == [(task, "stdout", f"here is {task}") for task in ("chief:0", "worker:0", "worker:1")]
    assert states[-1] == run.status()["state"] == "succeeded" and run.id.startswith("place-")
    assert {(task.task, task.exit, task.exit_reason) for task in run.tasks} == {
        (name, "exited with status 0", "") for name in ("chief:0", "worker:0", "worker:1")}
    assert run.logs("worker:1") == "here is worker:1\n"
    assert not run.running and run.exception is None


def what_it_has(word):
    import os
    print(os.fsencode(word), flush=True)
    return os.getcwdb(), os.environb[b"VALUE"], os.fsencode(word)


def test_folders_words_and_values_are_bytes(folder, home, monkeypatch):
    odd = os.fsdecode(b"\xff")
    os.mkdir(f"w{odd}")
    monkeypatch.chdir(f"w{odd}")
    monkeypatch.setenv("GANGRUN_HOME", f"{home}/h{odd}")
    lines = []
    run = gangrun.run({"worker": 1}, what_it_has, args=[odd], env={"VALUE": odd}, on_line=lambda *line: lines.append(line))
    assert run.result == (os.getcwdb(), b"\xff", b"\xff")
    assert os.listdir(run.status()["folder"]) and run.status()["folder"].startswith(f"{home}/h{odd}/")
    pathlib.Path(f"data{odd}").write_bytes(b"1\n")
    run = gangrun.run({"worker": 1}, ["sh", "-c", 'cat "$1"', "sh", b"data\xff"], files=[b"data\xff"], name="cat",
                      on_line=lambda *line: lines.append(line))
    assert [line for _, _, line in lines] == ["b'\\xff'", "1"]


def test_a_long_line_is_one_line(folder):
    lines = []
    run = gangrun.run({"worker": 1}, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo next",
                      on_line=lambda task, stream, line: lines.append(line))
    assert lines == ["x" * 3_000_000, "next"] == list(run.logs("worker:0", follow=True))


def test_the_cause_of_a_failure_is_raised_with_the_remote_traceback(folder):
    with pytest.raises(Exception) as caught:
        gangrun.run({"worker": 1}, say_and_fail)
    remote = caught.value.__cause__
    assert isinstance(remote, errors.RemoteTraceback) and remote.task == "worker:0"
    assert 'raise KeyError("no such column")' in str(remote) and "_task_main" not in str(remote)


def test_a_command_that_fails_is_a_failed_job_with_its_cause(folder):
    with pytest.raises(errors.JobFailed, match=r"worker:0 on 127.0.0.1 exited with status 3") as caught:
        gangrun.run({"worker": 1}, [sys.executable, "-c", "import sys; sys.exit(3)"])
    assert caught.value.cause["task"] == "worker:0" and caught.value.status["state"] == "failed"
    assert caught.value.reason == caught.value.status["tasks"][0]["exit_reason"] == "exit_status"
    assert isinstance(caught.value, RuntimeError)


def leave(code):
    sys.exit(code)


def test_the_text_of_sys_exit_is_in_the_message(folder):
    """Python prints it and ends with 1: so it is a failure with words, and a number is a status without."""
    with pytest.raises(errors.JobFailed, match=r'exited with status 1 \(it raised "SystemExit: no data in /in"\)'):
        gangrun.run({"worker": 1}, leave, args=("no data in /in",))
    with pytest.raises(errors.JobFailed, match=r"exited with status 3$"):
        gangrun.run({"worker": 1}, leave, args=(3,))
    assert gangrun.run({"worker": 1}, leave, args=(0,)).status()["state"] == "succeeded"


def test_a_run_that_does_not_block_is_looked_at_and_killed(folder):
    run = gangrun.run({"worker": 2}, hold, args=(str(folder / "go"),), block=False)
    wait_until(lambda: [task.state for task in run.tasks] == ["running"] * 2, "both tasks to run")
    assert run.running and run.exception is None
    with pytest.raises(TimeoutError, match="it keeps running"):
        run.wait(timeout=0.05)
    run.kill()
    with pytest.raises(errors.JobKilled):
        run.wait()
    assert run.status()["state"] == "killed"


def test_a_run_that_does_not_block_is_waited_for(folder):
    run = gangrun.run({"worker": 1}, hold, args=(str(folder / "go"),), block=False)
    (folder / "go").touch()
    assert run.wait() is run and run.status()["state"] == "succeeded"
    assert not list(pathlib.Path(run.status()["folder"]).parents[1].glob("python/run-*"))


def counted():
    yield 1


@pytest.mark.parametrize("arguments, said", [
    (dict(main=hold), r"args: hold\(path\) cannot be called with them: missing a required argument: 'path'"),
    (dict(main=hold, args=(1, 2)), "too many positional arguments"),
    (dict(main=place, kwargs={"x": 1}), "got an unexpected keyword argument 'x'"),
    (dict(main=counted), "counted is a coroutine or generator function"),
])
def test_a_call_that_would_fail_in_every_task_is_refused(folder, home, arguments, said):
    with pytest.raises(errors.InvalidJob, match=said):
        gangrun.run({"worker": 1}, **arguments)
    assert not list(home.glob("jobs/*"))


@pytest.mark.parametrize("arguments, said", [
    (dict(main=[], on="local"), r"main: \[\] is a list"),
    (dict(main=["true"], on="mars"), "'mars' is not a known place; allowed: local, yarn"),
    (dict(main=["true"], args=(1,)), "args and kwargs are for functions"),
    (dict(main=["true"], files=["nowhere.py"]), "nowhere.py is not there"),
    (dict(main=["true"], env={"A": 1}), "env: 'A' is 1, a int"),
    (dict(main=["true"], job={"restart": 1}), "restart"),
    (dict(main=["true"], timeouts={"job": "2 moons"}), "timeouts.job: '2 moons'"),
])
def test_wrong_input_is_told_before_anything_starts(folder, home, arguments, said):
    with pytest.raises(errors.InvalidJob, match=said):
        gangrun.run({"worker": 1}, **arguments)
    assert not list(home.glob("jobs/*")) and not list(home.glob("python/run-*"))


def test_a_missing_program_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("GANGRUN_BIN", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match=f"GANGRUN_BIN: {tmp_path}/none has no program 'gangrun'"):
        gangrun.run({"worker": 1}, ["true"])


def say_and_hold(path):
    print("one", flush=True)
    hold(path)
    print("two", flush=True)


def test_lines_are_followed_until_the_end(folder):
    run = gangrun.run({"worker": 2}, say_and_hold, args=(str(folder / "go"),), block=False)
    own, every = run.logs("worker:0", follow=True), run.logs(follow=True)
    assert next(own) == "one" and next(every).endswith(" | one")
    (folder / "go").touch()
    assert list(own) == ["two"]
    assert sorted(line for line in every if line.endswith("two")) == ["worker:0 | two", "worker:1 | two"]
    run.wait()


def test_a_detached_job_goes_on_and_is_found_again(folder, home):
    """What it needs of the process that started it stays until its end, and is removed by the next one."""
    submitted = gangrun.run({"worker": 1}, hold, args=(str(folder / "go"),), detach=True)
    found = gangrun.attach(submitted.id)
    assert found.id == submitted.id and len(list(home.glob("python/run-*"))) == 1
    gangrun.run({"worker": 1}, ["true"])
    assert len(list(home.glob("python/run-*"))) == 1
    (folder / "go").touch()
    assert found.wait().status()["state"] == "succeeded" and submitted.wait() is submitted
    wait_until(lambda: not (home / "jobs" / found.id / "launch.json").exists(), "the end of the supervisor")
    gangrun.run({"worker": 1}, ["true"])
    assert not list(home.glob("python/run-*"))
    with pytest.raises(LookupError, match="there is no job 'nowhere'"):
        gangrun.attach("nowhere")


def test_what_killed_processes_have_left_is_removed(folder, home):
    left = _staging.Staging()
    left._owner.close()  # as its end does
    other = _staging.Staging()
    assert [str(path) for path in home.glob("python/run-*")] == [other.folder]
    other.remove()


KILLED = """
import gangrun
gangrun.run({"worker": 1}, ["sh", "-c", "echo weights > model; ln -s model best; : > up; exec tail -f /dev/null"], files=["data.csv"])
"""


def test_what_tasks_have_made_is_brought_though_the_program_was_killed(folder, home, capsys):
    """It was removed by the next program, without a word."""
    (folder / "data.csv").write_text("42")
    program = subprocess.Popen([sys.executable, "-c", KILLED], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(gangrun.__file__))})
    wait_until(lambda: list(home.glob("python/run-*/tasks/worker-0/up")), "the task to write")
    program.kill()
    program.wait(timeout=60)
    wait_until(lambda: not alive(home), "the end of the job")
    # The first one was killed while it brought them.
    (job,), (task,) = home.glob("jobs/*"), home.glob("python/run-*/tasks/worker-0")
    outputs = job / "outputs/worker-0"
    outputs.mkdir(parents=True)
    (task / "model").rename(outputs / "model")
    os.symlink("model", outputs / "best")
    _staging.Staging().remove()
    assert (outputs / "best").read_text() == "weights\n" and (outputs / "up").exists()
    assert f"that tasks have written in folders of their own are in {job}/outputs" in capsys.readouterr().err
    assert not list(home.glob("python/run-*"))


def test_files_have_their_names_in_a_folder_of_the_tasks_own(folder):
    (folder / "data-2026.csv").write_text("42")
    (folder / "tools").mkdir()
    (folder / "tools/__init__.py").write_text("UNIT = 'm'")
    run = gangrun.run({"worker": 2}, ["sh", "-c", "ls; cat data.csv; echo; touch own; python3 -c 'import tools; print(tools.UNIT)'"],
                      files={"data.csv": "data-2026.csv", "tools": "tools"})
    assert run.logs("worker:0") == "data.csv\ntools\n42\nm\n" == run.logs("worker:1")
    assert not (folder / "own").exists()


def read_and_write():
    import pathlib
    import tools
    pathlib.Path("checkpoint").write_text("weights")
    with open(gangrun.task.file("data.csv")) as file:
        return os.getcwd(), tools.UNIT, file.read()


def test_files_do_not_change_where_a_function_works(folder, home):
    """It worked in a folder of its own, which was removed with what it had written there."""
    (folder / "data-2026.csv").write_text("42")
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/tools.py").write_text("UNIT = 'm'")
    (folder / "tools.py").write_text("UNIT = 'the wrong one'")
    run = gangrun.run({"worker": 1}, read_and_write, files={"data.csv": "data-2026.csv", "tools.py": "elsewhere/tools.py"})
    assert run.result == (str(folder), "m", "42")
    assert (folder / "checkpoint").read_text() == "weights"
    assert not list(home.glob("python/run-*"))


def test_what_commands_write_in_their_own_folders_is_brought(folder, home, capsys):
    (folder / "data.csv").write_text("42")
    command = ["sh", "-c", "mkdir model && cp data.csv model/$GANGRUN_TASK_INDEX && ln -s model/$GANGRUN_TASK_INDEX best"]
    run = gangrun.run({"worker": 2}, command, files=["data.csv"])
    outputs = pathlib.Path(run.status()["folder"]) / "outputs"
    assert (outputs / "worker-0/model/0").read_text() == "42" == (outputs / "worker-1/model/1").read_text()
    assert f"4 files that tasks have written in folders of their own are in {outputs}" in capsys.readouterr().err
    assert sorted(os.listdir(folder)) == ["data.csv"]
    run = gangrun.run({"worker": 2}, command, files=["data.csv"], outputs=[])
    assert not (pathlib.Path(run.status()["folder"]) / "outputs").exists()
    assert not list(home.glob("python/run-*"))


@pytest.mark.parametrize("keys", [{}, {"outputs": ["model/", "runs", "out", "pipe"]}], ids=["all", "named"])
def test_links_and_empty_folders_come_from_own_folders_and_what_cannot_is_named(folder, home, capsys, keys):
    """They went without a word."""
    (folder / "data.csv").write_text("42")
    command = ["sh", "-c", 'mkdir -p ckpt runs/first; echo 1 > ckpt/w; ln -s "$PWD/ckpt" model; ln -s /etc/hostname out; mkfifo pipe']
    run = gangrun.run({"worker": 1}, command, files=["data.csv"], **keys)
    outputs = pathlib.Path(run.status()["folder"]) / "outputs/worker-0"
    assert os.readlink(outputs / "model") == "ckpt" and (outputs / "model/w").read_text() == "1\n"
    assert (outputs / "runs/first").is_dir()
    assert sorted(os.listdir(outputs)) == ["ckpt", "model", "runs"]
    (staging,) = home.glob("python/run-*")
    assert (staging / "tasks/worker-0/pipe").is_fifo()
    said = capsys.readouterr().err
    assert f"cannot all be brought, and stays in {staging}/tasks until `gangrun rm`: " in said
    assert '"worker-0/out" (a link that leads out of the folder), "worker-0/pipe" (a FIFO)' in said


def test_a_detached_job_says_what_cannot_be_brought(folder, home, capsys):
    """Nobody did, and with keep_folders nothing was brought."""
    (folder / "data.csv").write_text("42")
    for keep in (None, True):
        run = gangrun.run({"worker": 1}, ["sh", "-c", "echo 1 > w; mkfifo pipe"], files=["data.csv"], keep_folders=keep, detach=True).wait()
        outputs = pathlib.Path(run.status()["folder"]) / "outputs"
        said = capsys.readouterr().err
        assert f"gangrun: {run.id}: what tasks have made in folders of their own cannot all be brought, and stays in " in said
        assert '"worker-0/pipe" (a FIFO)' in said and f"gangrun: {run.id}: 1 file that tasks have written" in said
        assert (outputs / "worker-0/w").read_text() == "1\n"
    # Once.
    gangrun.run({"worker": 1}, ["true"], files=["data.csv"])
    assert "pipe" not in capsys.readouterr().err


def test_what_is_no_file_is_refused_by_what_it_is(folder):
    os.mkfifo(folder / "pipe")
    with pytest.raises(errors.InvalidJob, match="files: .*/pipe is a FIFO; allowed: files and folders"):
        gangrun.run({"worker": 1}, ["true"], files=["pipe"])


def test_what_is_named_is_brought_from_own_folders_and_nothing_else(folder):
    (folder / "data.csv").write_text("42")
    command = ["sh", "-c", "mkdir -p model/deep; echo 1 > model/deep/w; echo 2 > 'log 1'; echo 3 > model.tmp"]
    run = gangrun.run({"worker": 1, "other": TaskSpec(outputs=["log 1"])}, command, files=["data.csv"], outputs=["model/"])
    outputs = pathlib.Path(run.status()["folder"]) / "outputs"
    assert sorted(str(path.relative_to(outputs)) for path in outputs.rglob("*") if path.is_file()) == [
        "other-0/log 1", "worker-0/model/deep/w"]


@pytest.mark.parametrize("keep, fate", [(None, "are removed at the end"), (True, "stay until `gangrun rm`")])
def test_the_run_says_where_commands_with_files_work(folder, capsys, keep, fate):
    """What they wrote was not where they were called, and nothing said so."""
    (folder / "data.csv").write_text("42")
    run = gangrun.run({"worker": 1}, ["true"], files=["data.csv"], keep_folders=keep)
    (note,) = run.status()["notes"]
    assert note.startswith("tasks work in folders of their own") and fate in note
    assert capsys.readouterr().err.count(f"gangrun: {note}") == 1
    assert html.escape(note) in run._repr_html_()
    why = subprocess.run([_program.find(), "why", run.id], check=True, capture_output=True, text=True, timeout=60).stdout
    assert "work in folders of their own" in why
    if keep:
        subprocess.run([_program.find(), "rm", "--yes", run.id], check=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("main, files", [(place, ["data.csv"]), (["true"], None)], ids=["a function", "without files"])
def test_nothing_is_said_where_tasks_work_in_the_callers_folder(folder, capsys, main, files):
    (folder / "data.csv").write_text("42")
    run = gangrun.run({"worker": 1}, main, files=files)
    assert "notes" not in run.status() and "work in" not in capsys.readouterr().err


def test_a_detached_job_says_in_its_status_where_its_commands_work(folder):
    (folder / "data.csv").write_text("42")
    run = gangrun.run({"worker": 1}, ["touch", "own"], files=["data.csv"], detach=True)
    run.wait()
    assert [note for note in run.status()["notes"] if "folders of their own" in note]


def test_files_do_not_change_where_a_detached_function_works(folder, home):
    (folder / "data-2026.csv").write_text("42")
    (folder / "tools.py").write_text("UNIT = 'm'")
    run = gangrun.run({"worker": 1}, read_and_write, files={"data.csv": "data-2026.csv", "tools.py": "tools.py"}, detach=True)
    run.wait()
    assert run.result == (str(folder), "m", "42")
    assert (folder / "checkpoint").read_text() == "weights"


@pytest.mark.parametrize("limit, kept", [("1 GiB", "1 GiB"), (64, "64 MiB")])
def test_the_limit_of_outputs_is_a_key_of_the_job(folder, limit, kept):
    run = gangrun.run({"worker": 1}, ["true"], outputs_limit=limit)
    assert json.loads((pathlib.Path(run.status()["folder"]) / "job.json").read_text())["outputs_limit"] == kept


def test_a_limit_of_outputs_that_is_no_amount_of_memory_is_refused(folder):
    with pytest.raises(errors.InvalidJob, match="outputs_limit: 'much' is not an amount of memory"):
        gangrun.run({"worker": 1}, ["true"], outputs_limit="much")


def test_folders_are_kept_until_their_job_is_removed(folder, home):
    (folder / "data.csv").write_text("42")
    run = gangrun.run({"worker": 1}, ["touch", "own"], files=["data.csv"], keep_folders=True)
    (kept,) = home.glob("python/run-*")
    assert (kept / "files/data.csv").read_text() == "42"
    other = _staging.Staging()
    assert kept.exists()
    other.remove()
    subprocess.run([_program.find(), "rm", "--yes", run.id], check=True, capture_output=True, timeout=60)
    assert not kept.exists()


def test_two_files_of_one_name_are_refused(folder):
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "x.py").touch()
    with pytest.raises(errors.InvalidJob, match=r"a/x.py and .*/b/x.py would both be called 'x.py'"):
        gangrun.run({"worker": 1}, ["true"], files=["a/x.py", "b/x.py"])
