"""Rows of a real Spark in real nodes: all of them, once, in order, of every kind."""

import pytest
from clusters.spark.fixtures import RELEASE, DriverError

SIZES = (0, 1, 5, 0, 100, 7)


@pytest.fixture(scope="module")
def three(spark_driver):
    """An application with three executors."""
    return spark_driver("rows.py")


def single(spark_driver, release=RELEASE):
    return spark_driver("rows.py", "local-cluster[1,1,1024]", {"spark.cores.max": "1"}, release)


@pytest.fixture(scope="module")
def one(spark_driver):
    return single(spark_driver)


def test_no_row_is_lost_or_comes_twice_or_out_of_order(three):
    """Each partition came whole and in order, to one node."""
    nodes = three.run("partitions")
    expected = [(part, place) for part, size in enumerate(SIZES) for place in range(size)] * 8
    assert sorted(tuple(row) for node in nodes for row in node) == sorted(expected)
    for node in nodes:
        position = 0
        while position < len(node):
            part = node[position][0]
            assert node[position:position + SIZES[part]] == [[part, place] for place in range(SIZES[part])]
            position += SIZES[part]


def test_rows_of_every_kind_arrive_as_they_are(one):
    sent, unopened, made = one.run("kinds")
    assert unopened == sent
    assert made == sent


@pytest.mark.parametrize("release", sorted({RELEASE, "4"}))
def test_rows_of_a_data_frame_arrive_as_spark_would_give_them(one, spark_driver, release):
    driver = one if release == RELEASE else single(spark_driver, release)
    sent, arrived = driver.run("frame_kinds")
    assert arrived == sent


def test_a_row_larger_than_the_ring(one):
    assert one.run("large_row", 100) == [100 << 20, 1 << 20, 100 << 20]


def test_terminate_stops_the_producers_at_once(three):
    had, made = three.run("terminated")
    assert had == [3, 3, 3]
    assert made < 10 ** 8


def test_a_ring_that_is_full_makes_the_producer_wait(one):
    most, rows, waits = one.run("backpressure")
    assert waits and rows == 400
    assert most <= 8 << 20


def test_the_rest_of_a_batch_comes_when_all_is_fed(one):
    assert one.run("flushed") == ["10", "7"]


def test_inference_gives_a_result_for_each_row_in_order(three):
    found = three.run("inferred")
    assert found.pop("taken") == [20_000, 20_002, 20_004, 40_000, 40_002]
    assert found.pop("again") == 1060
    assert all(found.values()), found


def test_more_results_than_rows_are_an_error_of_the_node(one):
    with pytest.raises(DriverError) as caught:
        one.run("inferred_wrongly")
    assert "10 results for 5 rows of this partition" in caught.value.trace


def test_a_node_that_takes_nothing_for_too_long_says_what_it_is_at(one):
    with pytest.raises(DriverError) as caught:
        one.run("hung")
    assert "no progress for 3 s (feed_timeout)" in caught.value.trace and "in hangs" in caught.value.trace


def test_a_node_may_compute_for_longer_than_feed_timeout_and_its_rows_are_shown(one):
    figures, had = one.run("slow")
    assert had == [100] and figures.keys() >= {"rows_in", "rows_in_per_s", "rows_out", "queued_mib", "waits_for"}


def test_no_memory_for_the_ring_is_told_by_who_has_none(one):
    with pytest.raises(DriverError) as caught:
        one.run("without_memory")
    assert "no memory for a ring of 192 MiB" in caught.value.trace


def test_rows_may_be_declined(one):
    assert one.run("left", True) == [3]


def test_rows_left_without_a_word_are_an_error(one):
    with pytest.raises(DriverError) as caught:
        one.run("left", False)
    assert "feed.terminate() says that no more are wanted" in caught.value.trace


@pytest.mark.parametrize("what, part", [
    ("list", "data: a builtins.list; allowed: an RDD or a DataFrame"),
    ("epochs", "epochs: 0 is out of range; allowed: a whole number from 1 on"),
    ("queue", "qname: 'mine'; allowed: 'input'"),
])
def test_what_cannot_be_fed_is_refused(one, what, part):
    with pytest.raises(DriverError) as caught:
        one.run("refused", what)
    assert part in caught.value.text


def test_rows_that_nobody_takes_are_an_error_that_names_the_settings(one):
    with pytest.raises(DriverError) as caught:
        one.run("nobody_there")
    assert "none of worker:0 runs in this executor" in caught.value.trace and "spark.task.cpus" in caught.value.trace
