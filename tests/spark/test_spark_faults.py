"""Whatever breaks, on real Spark: the driver has the first cause, and nothing is left."""

import contextlib
import json
import os
import pathlib
import re
import signal

import pytest
from clusters.spark.fixtures import scratch_of
from spark.remains import held, left_of, memory_files, nothing_left, until_gone
from waiting import wait_until

LIMIT_S = 60
TENSORFLOW, SPARK = 0, 1
# Why a node is gone, as the driver is told it, and what else is in the error.
CAUSES = {
    "error": ("KeyError: 'no such word: zebra'", "in break_node"),
    "exit": ("exited with status 7",),
    "sys.exit": ("exited with status 5",),
    "kill": ("killed by signal 9",),
    "segfault": ("killed by signal 11",),
    "memory": ("MemoryError", "in break_node"),
    "kernel": ("out of memory",),
}
GROUP_BYTES = 1 << 30


@pytest.fixture(scope="module")
def driver(spark_driver):
    """With Spark's default: a task has four attempts."""
    return spark_driver("faults.py")


@pytest.fixture(scope="module")
def strict_driver(spark_driver):
    return spark_driver("faults.py", options={"spark.task.maxFailures": "1"})


def check(driver, folder, way, when, mode):
    found = driver.run("broken", str(folder), way, when, mode)
    print(f"{way}, {when}, mode {mode}: raised {found['late_s']} s after it happened")
    assert found["kind"] == "JobFailed" and "worker:1" in found["text"], found
    for part in CAUSES[way]:
        assert part in found["trace"], found["trace"]
    # Nobody has started a node again.
    assert {task: len(pids) for task, pids in found["started"].items()} == {"worker:0": 1, "worker:1": 1, "worker:2": 1}
    nothing_left(found["id"], driver.log.parent / "local")
    jobs, total = driver.run("quiet")
    assert not jobs and total == 4950


@pytest.mark.parametrize("way", ["error", "exit", "sys.exit", "kill", "memory"])
def test_while_rows_are_fed(driver, tmp_path, way):
    check(driver, tmp_path, way, "feeding", SPARK)


def test_a_node_that_returns_while_it_is_fed(driver, tmp_path):
    """It has not failed, but its rows have nobody who wants them: that is told by who feeds them."""
    found = driver.run("broken", str(tmp_path), "returns", "feeding", SPARK)
    assert found["kind"] == "JobFailed"
    assert "worker:1" in found["text"] and "its function has returned while rows were being fed" in found["text"], found
    assert found["after"] is not None
    nothing_left(found["id"], driver.log.parent / "local")


@pytest.mark.parametrize("way", ["error", "kill"])
def test_after_rows_were_fed(driver, tmp_path, way):
    check(driver, tmp_path, way, "after", SPARK)


@pytest.mark.parametrize("way", ["exit", "segfault"])
def test_in_the_background_between_two_calls(driver, tmp_path, way):
    check(driver, tmp_path, way, "background", SPARK)


@pytest.mark.parametrize("way", ["error", "exit", "kill", "memory"])
def test_nodes_that_read_their_data_themselves(driver, tmp_path, way):
    check(driver, tmp_path, way, "alone", TENSORFLOW)


def descendants_of(pid):
    found, last = {pid}, {pid}
    while last := children_of(last) - found:
        found |= last
    return found


@pytest.fixture
def small_memory(driver):
    """Puts the driver, its executors and what they start into a group whose memory the kernel limits; false where this user may
    make no such group."""
    own = dict(line.split(":", 2)[1:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines())
    if "memory" in own:
        parent, limit = pathlib.Path("/sys/fs/cgroup/memory" + own["memory"]), "memory.limit_in_bytes"
    else:  # version 2: only the root has groups and processes
        parent, limit = pathlib.Path("/sys/fs/cgroup"), "memory.max"
    group = parent / f"gangrun-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / limit).write_text(str(GROUP_BYTES))
        for _ in range(2):  # what was started meanwhile too
            for pid in descendants_of(driver.process.pid):
                (group / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        print(f"no group with a limit: {error}")
        yield False
    else:
        yield True
    if group.exists():
        for pid in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                (parent / "cgroup.procs").write_text(pid)
        wait_until(lambda: not (group / "cgroup.procs").read_text(), "the end of what was in the group", LIMIT_S)
        group.rmdir()


@pytest.mark.parametrize("when, mode", [("feeding", SPARK), ("alone", TENSORFLOW)])
def test_a_node_that_the_kernel_ends_for_its_memory(driver, small_memory, tmp_path, when, mode):
    # Where nobody can limit a group's memory, what is left to see is that the kernel's silence is not taken for such an end.
    check(driver, tmp_path, "kernel" if small_memory else "kill", when, mode)


@pytest.mark.parametrize("way, when, mode", [("error", "feeding", SPARK), ("kill", "feeding", SPARK), ("error", "after", SPARK),
                                             ("error", "alone", TENSORFLOW), ("kill", "alone", TENSORFLOW)])
def test_where_spark_tries_nothing_twice(strict_driver, tmp_path, way, when, mode):
    check(strict_driver, tmp_path, way, when, mode)


def test_who_feeds_a_dead_node_fails_by_itself(strict_driver, tmp_path):
    told, after = strict_driver.run("feeders_of_a_dead_node", str(tmp_path))
    # The others end with worker:0, and their feeders too: whose error is the first that Spark hears of is chance.
    assert re.search(r"worker:\d has gone while it was fed", told["trace"]), told
    assert after["kind"] == "JobFailed" and "worker:0" in after["text"] and "killed by signal 9" in after["text"], after


def test_two_applications_of_one_machine_do_not_meet(driver, strict_driver, tmp_path):
    drivers = {"a": (driver, 0, 3000), "b": (strict_driver, 1000000, 1003000)}
    for name, (one, first, last) in drivers.items():
        (tmp_path / name).mkdir()
        one.ask("sums", str(tmp_path / name), first, last)
    for name in drivers:
        drivers[name][0].until((tmp_path / name / "there").exists, f"the nodes of {name}")
    for name in drivers:
        (tmp_path / name / "go").touch()
    for one, first, last in drivers.values():
        assert one.answer() == 2 * sum(range(first, last))


def children_of(pids):
    """The processes whose parent is one of these."""
    found = set()
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) in pids:
                found.add(int(entry.name))
        except OSError:
            continue  # it ended while it was looked at
    return found


# Three workers with two cores each; an application has three executors of one core, where it does not say otherwise.
@pytest.fixture(scope="module")
def cluster(spark_cluster):
    return spark_cluster(cores=2)


# With each event: what Spark tells of its tasks may else be ten seconds old.
EAGER = {"spark.ui.liveUpdate.period": "0", "spark.speculation": "true", "spark.speculation.interval": "50ms",
         "spark.speculation.multiplier": "1.01", "spark.speculation.quantile": "0", "spark.speculation.minTaskRuntime": "50ms"}
DYNAMIC = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "true", "spark.cores.max": "6"}
ALL_THREE = {"spark.dynamicAllocation.minExecutors": "3", "spark.dynamicAllocation.maxExecutors": "3"}


@contextlib.contextmanager
def application(spark_driver, cluster, options):
    """One that ends at once: the workers have room for one."""
    driver = spark_driver("faults.py", cluster, options)
    try:
        yield driver
    finally:
        status = driver.close()
    assert status == 0
    wait_until(lambda: not cluster.executors(), "the end of the application", LIMIT_S)


def test_executors_of_two_cores_that_stay_are_fed_and_a_ps_keeps_its_own(spark_driver, cluster, tmp_path):
    """Spark speculates as eagerly as it can: a copy of the lasting start task would free the executor of the ps for rows."""
    options = EAGER | DYNAMIC | ALL_THREE | {"spark.executor.cores": "2", "spark.task.cpus": "2"}
    with application(spark_driver, cluster, options) as driver:
        found = driver.run("fed_beside_ps", str(tmp_path))
    # A copy of a task that feeds brings its rows once more.
    assert found["sum"] >= 2 * sum(range(3000)) and found["active"] == [1], found
    assert {task: len(pids) for task, pids in found["started"].items()} == {"ps:0": 1, "worker:0": 1, "worker:1": 1}


@pytest.mark.parametrize("options, setting, allowed", [
    (DYNAMIC | {"spark.scheduler.minRegisteredResourcesRatio": "0"}, "spark.dynamicAllocation.enabled: 'true'", "'false' with spark.executor.instances=3"),
    # Without spark.executor.cores an executor has all cores of its worker.
    (DYNAMIC | ALL_THREE, "spark.executor.cores: not set", "set spark.task.cpus to the cores of an executor (2)"),
])
def test_executors_that_would_have_two_nodes_or_go_are_refused_at_once(spark_driver, cluster, tmp_path, options, setting, allowed):
    with application(spark_driver, cluster, options) as driver:
        if ALL_THREE.items() <= options.items():
            driver.run("quiet")  # they have come
        found = driver.run("refused", str(tmp_path), 3)
    assert found["kind"] == "InvalidJob" and setting in found["text"] and allowed in found["text"], found


def test_a_shutdown_leaves_nothing(spark_driver, cluster, tmp_path):
    with application(spark_driver, cluster, {}) as driver:
        driver.ask("sums", str(tmp_path), 0, 3000, True)
        (tmp_path / "go").touch()
        driver.until((tmp_path / "info").exists, "rows in all nodes")
        told = json.loads((tmp_path / "info").read_text())
        assert len(left_of(told["id"])) >= 6 and scratch_of(cluster.folder / "local") and all(map(held, told["ports"]))
        assert len(memory_files()) >= 3
        (tmp_path / "end").touch()
        assert driver.answer() == 2 * sum(range(3000))
        nothing_left(told["id"], cluster.folder / "local")
        until_gone(memory_files)
        until_gone(lambda: list(filter(held, told["ports"])))
        assert not [path for path in cluster.local_files() if told["id"] in path]


def fed(driver, cluster, folder):
    """The id and the ports of a cluster of nodes, now that they are being fed."""
    driver.ask("feeding", str(folder))
    driver.until((folder / "id").exists, "the nodes")
    told = json.loads((folder / "id").read_text())
    wait_until(lambda: len(memory_files()) >= 6, "shared memory of three feeders and their nodes", LIMIT_S)
    return told["id"], [node["port"] for node in told["info"]]


def test_an_executor_that_is_killed_ends_the_others_and_leaves_nothing(spark_driver, cluster, tmp_path):
    with application(spark_driver, cluster, {}) as driver:
        job, ports = fed(driver, cluster, tmp_path)
        assert len(left_of(job)) >= 6 and all(map(held, ports))
        os.kill(min(cluster.executors()), signal.SIGKILL)
        found = driver.answer()
        assert found["kind"] == "JobFailed" and "its executor" in found["text"], found
        nothing_left(job, cluster.folder / "local")
        until_gone(memory_files)
        until_gone(lambda: list(filter(held, ports)))


def test_a_driver_that_is_killed_leaves_nothing(spark_driver, cluster, tmp_path):
    driver = spark_driver("faults.py", cluster)
    job, ports = fed(driver, cluster, tmp_path)
    assert all(map(held, ports))
    os.kill(driver.process.pid, signal.SIGKILL)
    nothing_left(job, cluster.folder / "local")
    until_gone(memory_files)
    until_gone(lambda: list(filter(held, ports)))
    wait_until(lambda: not cluster.executors(), "the end of the executors", LIMIT_S)


@pytest.fixture(scope="module")
def speculative(spark_driver, cluster):
    """On the standalone cluster, and there until the last test. A task that takes longer than a moment gets a second copy, where an executor is free."""
    return spark_driver("faults.py", cluster, EAGER | {"spark.speculation.task.duration.threshold": "100ms"})


def test_a_speculative_copy_starts_no_second_node_and_keeps_the_first_ones_executor(speculative, tmp_path):
    # Another executor gets the copy of the task. Of more tasks than an executor runs Spark makes no copies before some of them
    # have ended.
    found = speculative.run("copied", str(tmp_path))
    assert {task: len(pids) for task, pids in found["started"].items()} == {"worker:0": 1}
    assert found["active"] == [2] and found["host"] not in found["given"] and found["states"] == ["succeeded"], found


def test_a_copy_that_would_keep_an_executor_from_its_rows_is_refused(speculative, tmp_path):
    found = speculative.run("refused", str(tmp_path), 3, 1)
    assert found["kind"] == "InvalidJob" and "spark.speculation.task.duration.threshold: '100ms'" in found["text"], found


def start_tasks(cluster):
    """Spark's Python workers: children of the daemons which are children of the executors."""
    return children_of(children_of(set(cluster.executors())))


def test_a_start_task_that_is_tried_again_starts_no_second_node(speculative, cluster, tmp_path):
    speculative.ask("started_once", str(tmp_path), 3, 0, 3)
    speculative.until((tmp_path / "running").exists, "the nodes")
    for pid in start_tasks(cluster):
        os.kill(pid, signal.SIGKILL)
    found = speculative.answer()
    assert {task: len(pids) for task, pids in found["started"].items()} == {"worker:0": 1, "worker:1": 1, "worker:2": 1}
    assert found["states"] == ["succeeded"] * 3


def test_more_nodes_than_executors(speculative, tmp_path):
    found = speculative.run("too_few", str(tmp_path))
    assert "3 of 4 have joined" in found["text"] or "at most 3" in found["text"], found


def test_more_executors_than_fed_nodes(speculative, tmp_path):
    found = speculative.run("too_many", str(tmp_path))
    assert found["kind"] == "InvalidJob" and "the application has 3 executors" in found["text"], found
