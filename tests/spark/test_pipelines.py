"""Stages of Spark's ML and independent instances on real Spark, in one application with two executors; the last tests end one."""

import os
import pathlib
import signal

import pytest
from test_spark_faults import memory_files, nothing_left, until_gone
from waiting import wait_until

LIMIT_S = 60
# Stands for the program of that name on a machine with two GPUs: what it is asked here for, and that it was asked.
NVIDIA_SMI = """#!/bin/sh
echo "$*" >> "{folder}/asked"
case "$*" in
  *--query-gpu=index,uuid*) printf '0, GPU-{mark}-a\\n1, GPU-{mark}-b\\n' ;;
  *--query-compute-apps=gpu_uuid*) ;;
  *) exit 9 ;;
esac
"""


@pytest.fixture(scope="module")
def gpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpus")
    (folder / "nvidia-smi").write_text(NVIDIA_SMI.format(folder=folder, mark=folder.name))
    (folder / "nvidia-smi").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def driver(spark_driver, gpus):
    """A mistake in the rows is not tried three times more; the loss of an executor is no failure of that kind."""
    variables = {"PATH": f"{gpus}:{os.environ['PATH']}", "GANGRUN_GPU_LOCKS": str(gpus / "locks")}
    return spark_driver("pipelines.py", "local-cluster[2,1,1024]", {"spark.cores.max": "2", "spark.task.maxFailures": "2"},
                        variables=variables)


@pytest.fixture(scope="module")
def fitted(driver, tmp_path_factory):
    """What the estimator of the first test has told; the nodes have left models for the others in `folder`."""
    folder = tmp_path_factory.mktemp("fitted")
    return driver.run("fitted", str(folder), timeout=240) | {"folder": str(folder)}


def test_an_estimator_trains_and_its_model_has_learnt(fitted):
    found = fitted
    args = found["told"]["args"]
    assert found["told"]["mapping"] == {"x": "x_in", "y": "y_in"}
    assert (args["own"], args["batch_size"], args["steps"], args["cluster_size"], args["master_node"]) == (7, 50, 1000, 2, "chief")
    assert (found["rows"], found["exported"], found["kept"]) == (6000, "50", 7)
    types, ((first,), (second,)) = found["z"]
    assert types.endswith(":array<double>>")  # by the output's own name, which releases of Keras choose
    assert first == pytest.approx([3.14 + 1.618], abs=1e-3) and second == pytest.approx([2 * 3.14], abs=1e-3)


def test_rows_of_transform_keep_their_order_and_none_are_no_error(driver, fitted):
    found = driver.run("applied", fitted["folder"])
    assert found == {"types": "struct<b:array<double>,s:double>", "order": True, "vectors": [6.0, 6.0],
                     "empty": ["struct<b:array<double>,s:double>", []]}


def test_a_model_is_loaded_once_and_again_where_it_was_written_again(driver, fitted):
    first, again, written = driver.run("kept", fitted["folder"])
    assert len(first[1]) <= 2 and first[1] == again[1] == written[1], "one Python worker in each executor"
    assert not all(first[2]) and all(again[2]) and not all(written[2])
    assert again[0] == first[0] and written[0] == pytest.approx(2 * first[0], abs=0.01)


def test_mistakes_are_told_before_anything_starts(driver, fitted):
    found = driver.run("refused", fitted["folder"])
    assert found.pop("jobs") == []
    kind, text = found.pop("row")
    assert kind == "PythonException" and "the column 'y' and the tensor 'x': a row of it has the shape []" in text
    said = {"no tensor": "which the signature 'serving_default'", "not in the frame": "input_mapping: the DataFrame has no column 'q'; it has x, y",
            "no signature": "has no signature 'mine'; it has serving_default", "nothing mapped": "input_mapping: empty",
            "no export_dir": "export_dir: not set", "batch": "batch_size: 0; allowed: 1 and more",
            "too many nodes": "num_executors: 9 nodes need 9 executors", "no rows": "dataset: the DataFrame has no rows",
            "fit mapping": "input_mapping: the DataFrame has no column 'q'", "no epochs": "epochs: 0",
            "nowhere to export": "export_dir: not set, and export_fn needs it"}
    assert set(found) == set(said)
    for mistake, (kind, text) in found.items():
        assert kind == "InvalidJob" and said[mistake] in text, (mistake, text)


def test_instances_run_at_once_with_a_gpu_each(driver, gpus, tmp_path):
    """nvidia-smi is a stand-in: there is no GPU on the machine of the tests."""
    found = driver.run("parallel", str(tmp_path), 2, True, 2)
    assert found["said"] is None
    told = found["told"]
    assert {number: (one["executor_id"], one["num_workers"], one["path"]) for number, one in told.items()} == {
        "0": (0, 2, "file:///x"), "1": (1, 2, "file:///x")}
    assert sorted(one["gpus"] for one in told.values()) == ["0", "1"] and told["0"]["pid"] != told["1"]["pid"]
    assert "--query-gpu=index,uuid" in (gpus / "asked").read_text()


def test_without_a_barrier_there_may_be_more_instances_than_executors(driver, tmp_path):
    found = driver.run("parallel", str(tmp_path), 3, False)
    assert found["said"] is None and sorted(found["told"]) == ["0", "1", "2"]
    assert all(one["num_workers"] == 3 for one in found["told"].values())


def test_more_instances_than_executors_are_refused_with_a_barrier(driver, tmp_path):
    found = driver.run("parallel", str(tmp_path), 3, True)
    assert found["said"][0] == "InvalidJob" and "num_executors: 3" in found["said"][1] and not found["told"]


@pytest.mark.parametrize("use_barrier, way, parts", [
    (True, "error", ("ValueError: instance 1 is bad", "in instance")), (False, "error", ("ValueError: instance 1 is bad", "in instance")),
    (False, "kill", ("instance 1 on ", "was killed by signal 9")), (False, "exit", ("has failed:", "instance has had enough"))])
def test_an_instance_that_fails_is_told_with_its_traceback(driver, tmp_path, use_barrier, way, parts):
    found = driver.run("parallel", str(tmp_path), 2, use_barrier, 1, 1, way)
    assert all(part in found["said"][1] for part in parts), found


def test_an_executor_that_ends_while_rows_are_transformed_costs_no_row(driver, fitted, tmp_path):
    """As Spark promises: what ran there runs again elsewhere."""
    wait_until(lambda: len(driver.executors()) == 2, "two executors", LIMIT_S)
    driver.ask("slowly_transformed", fitted["folder"], str(tmp_path), 400)
    driver.until((tmp_path / "running").exists, "the tasks")
    os.kill(min(driver.executors()), signal.SIGKILL)
    (tmp_path / "go").touch()
    assert driver.answer() is True


def test_an_executor_that_ends_while_instances_run_ends_them_all(driver, tmp_path):
    """As Spark promises: it tries no barrier a second time whose tasks may have written something."""
    driver.ask("parallel", str(tmp_path), 2, True, 3)
    there = [tmp_path / "there-0", tmp_path / "there-1"]
    driver.until(lambda: all(path.exists() and path.read_text() for path in there), "the instances")
    first = {path.read_text() for path in there}
    os.kill(min(driver.executors()), signal.SIGKILL)
    wait_until(lambda: not any(pathlib.Path("/proc", pid).exists() for pid in first), "the end of both instances", LIMIT_S)
    kind, text = driver.answer()["said"]
    assert kind == "Py4JJavaError" and "ExecutorLostFailure" in text, text


def test_an_executor_that_ends_while_a_model_is_fitted_ends_the_fit(driver, spark_jobs, tmp_path):
    wait_until(lambda: len(driver.executors()) == 2, "the executor in the place of the one that was ended", LIMIT_S)
    driver.ask("fitting", str(tmp_path))
    driver.until((tmp_path / "fed").exists, "rows")
    (job,) = (path.name for path in spark_jobs.glob("jobs/spark-takes_rows_slowly-*"))
    os.kill(max(driver.executors()), signal.SIGKILL)
    kind, text = driver.answer()
    assert kind == "JobFailed" and "its executor" in text, (kind, text)
    nothing_left(job, driver.log.parent / "local")
    until_gone(memory_files)

