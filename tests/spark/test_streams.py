"""Streams of real Spark in real nodes: no batch is lost, whoever dies, and their end is asked for from outside."""

import json
import os
import pathlib
import signal

import pytest
from clusters.spark.fixtures import RELEASE, DriverError, scratch_of
from living import processes_of
from waiting import wait_until

BATCH = 10
FIRST = 1_700_000_000
TWO = {"spark.cores.max": "2"}
LIMIT_S = 60
START_LIMIT_S = 240  # of an application and its first query, on a machine with much else to do


@pytest.fixture(scope="module")
def start(spark_driver):
    """start(release=RELEASE): an application with two executors."""
    return lambda release=RELEASE: spark_driver("streams.py", "local-cluster[2,1,1024]", TWO, release)


@pytest.fixture(scope="module")
def driver(start):
    return start()


def had(folder):
    """The ids of all rows that the nodes were done with."""
    return sorted(int(line) for path in pathlib.Path(folder).glob("had-*") for line in path.read_text().split())


def bring(folder, number):
    """A batch of the stream: one file."""
    (folder / "in").mkdir(exist_ok=True)
    rows = "".join(json.dumps({"value": number * BATCH + place}) + "\n" for place in range(BATCH))
    (folder / "new").write_text(rows)
    os.utime(folder / "new", (FIRST + number, FIRST + number))  # Spark takes the older ones first
    (folder / "new").rename(folder / "in" / f"{number}.json")


def committed(folder):
    """The batches that Spark's checkpoint has as done."""
    return sorted(int(path.name) for path in (folder / "checkpoint/commits").glob("[0-9]*"))


def job_of(driver, folder):
    driver.until((folder / "cluster").exists, "the nodes")
    return json.loads((folder / "cluster").read_text())["id"]


def nothing_left(driver, job):
    wait_until(lambda: not processes_of(job), f"the end of the processes of {job}", LIMIT_S)
    folder = driver.log.parent / "local"
    wait_until(lambda: not scratch_of(folder), f"the end of {scratch_of(folder)}", LIMIT_S)


def test_a_dstream_is_fed_until_somebody_asks_for_its_end(driver, tmp_path):
    found = driver.run("dstream", str(tmp_path), 4, 50, True)
    (nobody, why), (status, said) = found["told"]
    assert nobody == 1 and "NoSuchJob: no cluster of this user at 127.0.0.1:1" in why
    assert status == 0, said
    # What has come when the end is asked for is fed; and what is fed is fed once.
    whole = found["had"]
    assert whole == list(range(len(whole))) and len(whole) in (50, 100, 150, 200)
    assert found["done"] and found["states"] == ["succeeded"] * 2


def test_a_node_that_wants_no_more_ends_the_stream(driver, tmp_path):
    found = driver.run("dstream", str(tmp_path), 4, 50, False, {"enough": 20})
    assert found["states"] == ["succeeded"] * 2 and len(found["had"]) >= 20 and len(set(found["had"])) == len(found["had"])


def test_an_error_of_a_node_ends_a_dstream_with_its_cause(driver, tmp_path):
    with pytest.raises(DriverError) as caught:
        driver.run("dstream", str(tmp_path), 4, 50, False, {"bad": 17})
    assert caught.value.kind == "JobFailed" and "ValueError: this row is bad: 17" in caught.value.text


def test_a_context_from_a_checkpoint_says_that_its_nodes_are_gone(driver):
    with pytest.raises(DriverError) as caught:
        driver.run("restored")
    assert "spark-gone was the cluster of another run" in caught.value.text


def test_what_is_no_stream_is_refused(driver, tmp_path):
    writer, frame = driver.run("refused", str(tmp_path))
    assert "TypeError" in writer and "allowed: the writeStream of a DataFrame" in writer
    assert "TypeError" in frame and "gangrun.spark.train_stream feeds its writeStream" in frame


@pytest.fixture(scope="module")
def newest(start):
    return start("4")


def test_a_query_that_is_asked_to_end_is_committed_as_far_as_it_was_fed(newest, tmp_path):
    """By a node that wants no more, or from outside. Batches still come then: those are for the next start, and no row comes twice."""
    for number in range(6):
        bring(tmp_path, number)
    for options, stop_after in (({"enough": BATCH}, None), ({}, 3 * BATCH)):
        found = newest.run("query", str(tmp_path), options, stop_after, timeout=START_LIMIT_S)
        done = committed(tmp_path)
        assert found["had"] == list(range(len(done) * BATCH)) and done and not found["active"]
    found = newest.run("query", str(tmp_path), {}, 6 * BATCH)
    assert found["had"] == list(range(6 * BATCH)) and committed(tmp_path) == list(range(6))


def test_an_executor_that_is_killed_ends_the_query_with_one_cause(newest, tmp_path):
    driver = newest
    bring(tmp_path, 0)
    (tmp_path / "hold").touch()
    driver.ask("query", str(tmp_path), {"hold": 5})
    job = job_of(driver, tmp_path)
    driver.until(lambda: (tmp_path / "holding").exists(), "the batch")
    os.kill(driver.executors()[0], signal.SIGKILL)
    with pytest.raises(DriverError) as caught:
        driver.answer()
    assert caught.value.kind == "JobFailed" and "executor" in caught.value.text, caught.value.text
    assert committed(tmp_path) == []
    nothing_left(driver, job)


def test_a_query_whose_driver_is_killed_loses_no_batch_and_repeats_one_at_most(start, driver, tmp_path):
    # In the middle of the second batch.
    bring(tmp_path, 0)
    bring(tmp_path, 1)
    (tmp_path / "hold").touch()
    driver.ask("query", str(tmp_path), {"hold": BATCH + 5, "size": 3})
    first = job_of(driver, tmp_path)
    driver.until(lambda: committed(tmp_path) == [0] and (tmp_path / "holding").exists(), "the second batch")
    os.kill(driver.process.pid, signal.SIGKILL)
    again = start()
    nothing_left(driver, first)
    before = had(tmp_path)
    assert before[:BATCH] == list(range(BATCH)) and set(before) < set(range(2 * BATCH))
    # Between two batches.
    (tmp_path / "hold").unlink()
    (tmp_path / "cluster").unlink()
    again.ask("query", str(tmp_path), {"size": 3})
    second = job_of(again, tmp_path)
    again.until(lambda: committed(tmp_path) == [0, 1], "the second batch once more")
    rows = had(tmp_path)
    assert rows[:BATCH] == list(range(BATCH)) and sorted(set(rows)) == list(range(2 * BATCH))
    assert [row for row in before if row >= BATCH] == sorted(row for row in set(rows) if rows.count(row) == 2)
    os.kill(again.process.pid, signal.SIGKILL)
    third = start()
    nothing_left(again, second)
    bring(tmp_path, 2)
    found = third.run("query", str(tmp_path), {"size": 3}, len(rows) + BATCH)
    assert found["had"] == sorted([*rows, *range(2 * BATCH, 3 * BATCH)]) and not found["active"]
    assert committed(tmp_path) == [0, 1, 2]
