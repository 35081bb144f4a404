"""gangrun.run with functions in pods: what they get, what comes back, and what is refused."""

import os
import pathlib
import signal
import sys
import types

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "python")]


@pytest.fixture
def in_pods(jobs, monkeypatch):
    """in_pods(workers, main, ...): gangrun.run in the test's namespace, from its user's folder; `in_pods.jobs` looks at it."""
    monkeypatch.chdir(jobs.folder)
    for name in (*jobs.kubectl.environment, "GANGRUN_HOME"):
        monkeypatch.setenv(name, jobs.environment[name])
    monkeypatch.setenv("GANGRUN_BIN", os.path.dirname(jobs.gangrun))
    import gangrun

    def run(workers, main, kubernetes=None, **more):
        tasks = {"worker": gangrun.TaskSpec(instances=workers, memory="128 MiB", processes=more.pop("processes", 1))}
        return gangrun.run(tasks, main, on="kubernetes", image=more.pop("image", jobs.image), display=False,
                           kubernetes={"namespace": jobs.kubectl.namespace, **(kubernetes or {})}, **more)

    run.jobs = jobs
    return run


class OutOfData(Exception):
    """Of this file, which no image has."""


def place_and_file(number):
    import gangrun
    from wine import NAME
    place = gangrun.task.current()
    gangrun.task.report(rows=number)
    print("lines of", place.task, flush=True)
    with open(gangrun.task.file("data.csv")) as data:
        return place.task, len(place.cluster_spec["worker"]), number * 2, NAME, data.read()


def fail_at(index, seen):
    import gangrun
    import threading
    if gangrun.task.current().index == index:
        raise OutOfData("after 3 rows")
    threading.Event().wait(seen)


def meet():
    import gangrun
    place = gangrun.task.current()
    gangrun.task.kv.put(f"from/{place.index}", place.task)
    gangrun.task.barrier("all")
    return sorted(gangrun.task.kv.get(key).decode() for key in gangrun.task.kv.keys("from/"))


def fail_first():
    import gangrun
    place = gangrun.task.current()
    if place.n_try == 0:
        sys.exit(3)
    return place.n_try, os.getppid()


def size_of(name):
    import gangrun
    return os.path.getsize(gangrun.task.file(name))


def wait_long():
    import threading
    threading.Event().wait(600)


@pytest.mark.gate
def test_every_task_returns_what_it_made_of_arguments_and_files(in_pods):
    in_pods.jobs.write("wine.py", "NAME = 'red'")
    in_pods.jobs.write("table-7.csv", "a,b")
    lines = []
    run = in_pods(2, place_and_file, args=(21,), files={"wine.py": "wine.py", "data.csv": "table-7.csv"},
                  on_line=lambda *line: lines.append(line))
    assert run.results == {f"worker:{index}": (f"worker:{index}", 2, 42, "red", "a,b") for index in (0, 1)}
    assert run.result[0] == "worker:0" and run.logs("worker:1") == "lines of worker:1\n"
    assert sorted(lines) == [(f"worker:{index}", "stdout", f"lines of worker:{index}") for index in (0, 1)]
    assert [task.figures for task in run.tasks] == [{"rows": 21}] * 2
    assert in_pods.jobs.left() == []


@pytest.mark.gate
def test_the_exception_of_a_task_ends_the_others_and_is_raised_here(in_pods):
    from gangrun import errors
    with pytest.raises(OutOfData, match="after 3 rows") as caught:
        in_pods(2, fail_at, args=(1, 600), timeouts={"stop": 1})
    remote = caught.value.__cause__
    assert isinstance(remote, errors.RemoteTraceback) and remote.task == "worker:1"
    assert "in fail_at\n" in remote.text and remote.text.endswith("OutOfData: after 3 rows\n")
    assert in_pods.jobs.left() == []


def test_another_python_in_the_image_is_refused_with_both_versions(in_pods, monkeypatch):
    from gangrun import _function
    own = "%d.%d" % sys.version_info[:2]
    monkeypatch.setattr(_function, "sys", types.SimpleNamespace(version_info=(3, 99)))
    with pytest.raises(RuntimeError, match=f"pickled by Python 3.99, and this task runs Python {own} .*an image with Python 3.99"):
        in_pods(1, meet)


def test_an_image_without_python_is_named_as_the_cause(in_pods):
    from gangrun import errors
    with pytest.raises(errors.JobFailed, match="python3"):
        in_pods(1, meet, image="localhost/busybox:1")


def test_tasks_of_functions_have_the_keys_and_barriers_of_their_job(in_pods):
    run = in_pods(2, meet)
    assert run.results == {f"worker:{index}": ["worker:0", "worker:1"] for index in (0, 1)}


def test_a_function_starts_again_in_its_pod_and_several_processes_share_one(in_pods):
    run = in_pods(1, fail_first, restarts={"scope": "task", "max": 2}, processes=2)
    assert run.result == (1, 1), "the agent is process 1"


def test_arguments_that_one_config_map_does_not_hold_arrive(in_pods):
    in_pods.jobs.write("large.bin", "x" * (3 << 20))
    run = in_pods(1, size_of, args=("large.bin",), files=["large.bin"])
    assert run.result == 3 << 20
    run = in_pods(1, len, args=(os.urandom(2 << 20),))
    assert run.result == 2 << 20


def test_files_that_no_config_maps_hold_arrive(in_pods):
    in_pods.jobs.write("large.bin", "x" * (66 << 20))
    run = in_pods(2, size_of, args=("large.bin",), files=["large.bin"])
    assert run.results == {f"worker:{index}": 66 << 20 for index in (0, 1)}


def test_ctrl_c_in_the_caller_ends_the_pods(in_pods):
    pressed = []

    def press(status):
        if not pressed and [task["state"] for task in status["tasks"]] == ["running"] * 2:
            pressed.append(status["id"])
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_pods(2, wait_long, on_status=press)
    finally:
        signal.signal(signal.SIGINT, before)
    assert in_pods.jobs.status(pressed[0])["state"] == "killed" and in_pods.jobs.left() == []
