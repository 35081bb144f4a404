"""GPUs of a host's tasks. There are none where this is tested: a program that stands for nvidia-smi lists two."""

import os
import pathlib
import subprocess
import sys

import pytest

from gangrun.tensorflowonspark import TFSparkNode, gpu_info, util
from waiting import wait_until

PYTHON = pathlib.Path(gpu_info.__file__).resolve().parents[2]
LIMIT_S = 30
HOLD = "from gangrun.tensorflowonspark import gpu_info; print(gpu_info.get_gpus(1), flush=True); input()"


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A machine with two GPUs; `busy` in the folder has the UUIDs that somebody computes on, `hang` keeps nvidia-smi from answering."""
    program = tmp_path / "nvidia-smi"
    program.write_text('#!/bin/sh\ncd "${0%/*}"\n[ ! -e hang ] || exec sleep 60\n'
                       'case "$*" in *query-gpu=*) printf "0, GPU-a\\n1, GPU-b\\n" ;; *) cat busy ;; esac\n')
    program.chmod(0o755)
    (tmp_path / "busy").touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("GANGRUN_GPU_LOCKS", str(tmp_path / "locks"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(gpu_info, "LOCKS", str(tmp_path / "locks"))
    monkeypatch.setattr(gpu_info, "WAIT_S", 0)
    monkeypatch.setattr(gpu_info, "LOOK_S", 0.01)
    yield tmp_path
    gpu_info._give_back()


@pytest.fixture
def other():
    """other(): a further process that has taken a GPU, and which."""
    made = []

    def start():
        made.append(subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                     env={**os.environ, "PYTHONPATH": str(PYTHON)}))
        return made[-1], made[-1].stdout.readline().strip()

    yield start
    for process in made:
        process.communicate("\n", timeout=LIMIT_S)


def test_no_two_tasks_have_one_gpu_and_an_end_gives_it_back(host, other):
    (first, taken), own = other(), gpu_info.get_gpus(1)
    assert {taken, own} == {"0", "1"}
    assert gpu_info.get_gpus(1) == own, "a process may request again what it has"
    with pytest.raises(RuntimeError, match="num_gpus: 2, and of the 2 GPUs of this host 1 became free within 0 s"):
        gpu_info.get_gpus(2)
    first.kill()
    first.wait(LIMIT_S)
    assert gpu_info.get_gpus(2, format=gpu_info.AS_LIST) == ["0", "1"]


def test_a_task_waits_for_the_end_of_another(host, other, monkeypatch):
    monkeypatch.setattr(gpu_info, "WAIT_S", LIMIT_S)
    first, taken = other()
    asked = []
    monkeypatch.setattr(gpu_info, "_busy", lambda: asked.append(len(asked) == 3 and first.kill()) or set())
    assert sorted(gpu_info.get_gpus(2, format=gpu_info.AS_LIST)) == ["0", "1"] and len(asked) > 3


def test_what_others_compute_on_is_not_free_and_ranks_prefer_others(host):
    (host / "busy").write_text("GPU-a\n")
    assert gpu_info.get_gpus(1, 0) == "1"
    gpu_info._give_back()
    (host / "busy").write_text("")
    assert gpu_info.get_gpus(1, 1) == "1"


@pytest.mark.parametrize("index, gpu", [(0, "0"), (1, "0"), (2, "1")])
def test_the_rank_is_that_among_tasks_of_the_same_host(host, index, gpu):
    """10.0.0.1 is not the beginning of 10.0.0.10."""
    util.single_node_env(1, index, ["10.0.0.10:1", "10.0.0.1:1", "10.0.0.1:2"])
    assert os.environ["CUDA_VISIBLE_DEVICES"] == gpu


def test_more_than_there_are_is_told_at_once(host):
    with pytest.raises(RuntimeError, match="num_gpus: 3, and this host has 2"):
        gpu_info.get_gpus(3)


def test_an_nvidia_smi_that_does_not_answer_is_a_host_without(host, monkeypatch, caplog):
    (host / "hang").touch()
    monkeypatch.setattr(gpu_info, "NVIDIA_SMI_LIMIT_S", 0.2)
    assert not gpu_info.is_gpu_available() and "taken for one without GPUs" in caplog.text
    util.single_node_env()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""


def test_in_a_pod_only_spark_s_resources_count(host, monkeypatch):
    monkeypatch.setenv("SPARK_EXECUTOR_POD_IP", "10.0.0.1")
    assert gpu_info.of_this_process(1) == []
    monkeypatch.setattr(gpu_info, "of_spark", lambda: ["4", "5"])
    assert gpu_info.of_this_process(1) == ["4"] and gpu_info.get_gpus(2) == "4,5"


@pytest.mark.parametrize("given, words, job, seen", [
    ("4,5", {}, "worker", "4,5"), ("4,5", {"num_gpus": 1}, "worker", "4"), (None, {}, "worker", "0"), (None, {"num_gpus": 2}, "chief", "0,1"),
    (None, {}, "ps", ""), (None, {"num_gpus": 0}, "worker", "")])
def test_a_node_sees_what_it_was_given_else_what_it_takes(host, monkeypatch, given, words, job, seen):
    if given:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # so that what the call sets is undone
        del os.environ["CUDA_VISIBLE_DEVICES"]
    TFSparkNode._see_gpus(job, type("Args", (), words)())
    assert os.environ["CUDA_VISIBLE_DEVICES"] == seen


def test_a_lock_s_folder_is_a_folder(host):
    (host / "elsewhere").write_text("")
    (host / "locks").symlink_to(host / "elsewhere")
    with pytest.raises(RuntimeError, match="is not a folder"):
        gpu_info.get_gpus(1)


def test_a_process_that_holds_one_and_is_killed_leaves_no_lock(host, other):
    process, taken = other()
    process.kill()
    wait_until(lambda: process.poll() is not None, "the end of the process", LIMIT_S)
    assert gpu_info.get_gpus(2) == "0,1"
