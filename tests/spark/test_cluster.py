"""Nodes on real Spark: a whole way from run() to shutdown(), in both modes, on local-cluster, on a standalone cluster and in one JVM."""

import json
import os
import re
import socket
import subprocess

import pytest

from clusters.spark.fixtures import ROOT, scratch_of, spark_python
from living import processes_of, processes_with
from spark.remains import held, left_of, memory_files, nothing_left, until_gone
from waiting import wait_until


@pytest.fixture(scope="module")
def driver(spark_driver):
    return spark_driver("nodes.py")


@pytest.mark.gate
def test_a_function_runs_in_every_node_and_returns_from_each(driver):
    found = driver.run("places", 3)
    assert [node["task"] for node in found] == ["worker:0", "worker:1", "worker:2"]
    assert len({json.dumps(node["spec"]) for node in found}) == 1 and len(found[0]["spec"]["worker"]) == 3
    assert all(node["given"] == 7 and node["more"] == "x" for node in found)
    # A node's agent has joined from an executor, and has the job's keys and barriers.
    assert all(node["keys"] == ["place/worker:0", "place/worker:1", "place/worker:2"] for node in found)
    assert driver.run("leftovers") == {"jobs": [], "threads": []}


@pytest.mark.gate
def test_nodes_have_their_context_and_ps_end_with_the_others(driver, tmp_path):
    found = driver.run("tensorflow_mode", str(tmp_path), 3, {"num_ps": 1, "master_node": "chief"})
    assert sorted(found["told"]) == ["chief:0", "ps:0", "worker:0"]
    spec = {name: [f"{node['host']}:{node['port']}" for node in found["info"] if node["job_name"] == name]
            for name in ("chief", "worker", "ps")}
    for number, task in enumerate(["ps:0", "chief:0", "worker:0"]):
        ctx = found["told"][task]["ctx"]
        assert ctx["cluster_spec"] == spec and ctx["executor_id"] == ctx["worker_num"] == number and ctx["num_workers"] == 2
        assert json.loads(found["told"][task]["config"])["task"] == {"type": task[:-2], "index": 0}
        assert found["told"][task]["path"] == f"{ctx['defaultFS']}{ctx['working_dir']}/model"
    assert found["meta"]["cluster_template"] == {"ps": [0], "chief": [1], "worker": [2]} and found["done"]
    assert [node["executor_id"] for node in found["info"]] == [0, 1, 2] and found["url"] is None
    wait_until(lambda: not processes_of(found["id"]), "the end of the nodes")


def test_parameter_servers_run_beside_the_driver_and_everybody_sees_the_evaluator(driver, tmp_path):
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    # The variable is that of nodes beside the driver; an executor's own is set by spark.executorEnv.
    found = driver.run("tensorflow_mode", str(tmp_path), 4, {"num_ps": 1, "driver_ps_nodes": True, "eval_node": True},
                       {"TENSORFLOW_PORT": str(port)})
    assert [node["port"] == port for node in found["info"]] == [True, False, False, False]
    assert sorted(found["told"]) == ["evaluator:0", "ps:0", "worker:0", "worker:1"]
    spec = {name: [f"{node['host']}:{node['port']}" for node in found["info"] if node["job_name"] == name]
            for name in ("evaluator", "ps", "worker")}
    assert [node["ctx"]["cluster_spec"] for node in found["told"].values()] == [spec] * 4
    assert {node["ctx"]["num_workers"] for node in found["told"].values()} == {2}
    assert found["told"]["ps:0"]["cwd"] == str(driver.log.parent) and found["told"]["worker:0"]["config"] is None


@pytest.mark.gate
@pytest.mark.parametrize("nodes, options", [(3, {"num_ps": 0}), (3, {"num_ps": 1})])
def test_every_row_reaches_a_node_once_in_each_epoch(driver, tmp_path, nodes, options):
    found = driver.run("spark_mode", str(tmp_path), nodes, options)["told"]
    fed = [node for task, node in found.items() if task.startswith("worker")]
    assert len(found) == nodes and sum(node["total"] for node in fed) == 2 * sum(range(3000))
    assert driver.run("leftovers") == {"jobs": [], "threads": []}


@pytest.mark.gate
def test_inference_gives_one_result_for_each_row_in_order(driver):
    assert driver.run("inference", 3, 1000) == [2 * row for row in range(1000)]


@pytest.mark.gate
@pytest.mark.parametrize("mode", [0, 1])
def test_an_error_of_a_node_is_raised_with_its_traceback(driver, mode):
    with pytest.raises(Exception) as caught:
        driver.run("failing", 3, mode)
    assert caught.value.kind == "JobFailed" and "worker:1" in caught.value.text
    assert "in raises" in caught.value.trace and "ValueError: this row is bad: 17" in caught.value.trace
    wait_until(lambda: driver.run("leftovers") == {"jobs": [], "threads": []}, "the end of the cluster's jobs")


@pytest.mark.gate
def test_a_node_that_leaves_its_rows_behind_has_failed(driver, tmp_path):
    with pytest.raises(Exception) as caught:
        driver.run("leaving", str(tmp_path), 3)
    assert caught.value.kind == "JobFailed" and "worker:1 has ended with status 0" in caught.value.text


def test_a_shutdown_that_takes_too_long_ends_the_nodes(driver):
    found = driver.run("shutdown_timeout", 3)
    assert "did not end within 1 s of shutdown()" in found["said"]
    wait_until(lambda: not processes_of(found["id"]), "the end of the nodes")


@pytest.mark.gate
def test_a_shutdown_leaves_nothing(driver, tmp_path):
    local = driver.log.parent / "local"
    (tmp_path / "rows").mkdir()
    driver.ask("fed_and_told", str(tmp_path), 3)
    driver.until((tmp_path / "info").exists, "rows in all nodes")
    told = json.loads((tmp_path / "info").read_text())

    def memory():
        return memory_files({*processes_of(told["id"]), *processes_with(f"SPARK_LOCAL_DIRS={local}")})

    assert len(left_of(told["id"])) >= 6 and scratch_of(local) and all(map(held, told["ports"])) and len(memory()) >= 3
    (tmp_path / "end").touch()
    assert sum(node["total"] for node in driver.answer().values()) == 2 * sum(range(3000))
    nothing_left(told["id"], local)
    until_gone(memory)
    until_gone(lambda: list(filter(held, told["ports"])))


def test_tensorboard_runs_beside_a_node_until_the_end(driver, tmp_path):
    found = driver.run("wait_for_page", str(tmp_path), 1)
    assert found == {"status": 200, "after": "URLError"}


def test_executors_that_do_not_come_are_told_with_those_that_did(driver, tmp_path):
    with pytest.raises(Exception) as caught:
        driver.run("missing", str(tmp_path), 3)
    assert caught.value.kind == "JobTimeout" and "timeouts.allocation" in caught.value.text
    assert re.search(r"no executor has joined for worker:\d.*; [0-2] of 3 have joined", caught.value.text), caught.value.text


@pytest.mark.gate
def test_what_the_settings_rule_out_is_refused_at_once(driver):
    with pytest.raises(Exception) as caught:
        driver.run("places", 4)
    assert caught.value.kind == "InvalidJob" and "by the master 'local-cluster[3,1,1024]' there are at most 3" in caught.value.text


def test_an_unchanged_program_trains_in_one_jvm_and_fails_with_the_first_error(tmp_path):
    environment = {**os.environ, "GANGRUN_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT / "python"), "SPARK_LOCAL_IP": "127.0.0.1",
                   "SPARK_LOCAL_DIRS": str(tmp_path), "PYSPARK_PYTHON": str(spark_python("3.5"))}
    environment.setdefault("GANGRUN_BIN", str(ROOT / "build/release/src"))
    done = subprocess.run([spark_python("3.5"), "-m", "gangrun.compat", ROOT / "tests/spark/programs/unchanged.py", "--output",
                           tmp_path], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert sum(int((tmp_path / f"worker-{index}").read_text()) for index in range(2)) == 2 * sum(range(1000)), done.stderr
    assert done.returncode == 1 and "ValueError: cannot train on 17" in done.stderr and "in main_fun" in done.stderr, done.stderr
    wait_until(lambda: not list(tmp_path.glob("**/gangrun-*")), "the end of the files of the nodes")


def test_nodes_live_on_a_standalone_cluster_of_the_newest_spark(spark_cluster, spark_driver, tmp_path):
    """The workers' hosts have an address each: the nodes know each other by them."""
    driver = spark_driver("nodes.py", spark_cluster(release="4"))
    found = driver.run("tensorflow_mode", str(tmp_path), 3, {"num_ps": 1, "master_node": "chief"})
    assert sorted(found["told"]) == ["chief:0", "ps:0", "worker:0"]
    assert len({node["host"] for node in found["info"]}) == 3, found["info"]
    (tmp_path / "rows").mkdir()
    found = driver.run("spark_mode", str(tmp_path / "rows"), 3, {"num_ps": 1})
    assert sum(node.get("total", 0) for node in found["told"].values()) == 2 * sum(range(3000))
    with pytest.raises(Exception) as caught:
        driver.run("failing", 3, 1)
    assert caught.value.kind == "JobFailed" and "ValueError: this row is bad: 17" in caught.value.trace
