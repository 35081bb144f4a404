"""The node's end of the feed, with feeders of this process."""

import json
import pickle
import queue
import secrets
import threading

import pytest
from gangrun.spark import _feed, _frames, _watch
from gangrun.spark._data_feed import DataFeed
from waiting import LIMIT_S, wait_until


KEY = secrets.token_bytes(32)
BREAK, WAIT, FLUSH, THE_END = "the feeder goes without a word", "until the test says so", "flush", "end"


class Sources(threading.Thread):
    """In place of Spark's workers: real feeders, one after another, which write what they were given. It tells what they got."""

    def __init__(self, node, name):
        super().__init__(daemon=True)
        self.node, self.core, self.name_of_node = node, node._core, name
        self.turns = queue.Queue()
        self.results, self.ends, self.refusals, self.done_with = [], [], [], []
        self.may_go_on = threading.Event()

    def run(self):
        for turn in iter(self.turns.get, None):
            if turn[0] in (FLUSH, THE_END):  # the driver's words
                self.node.flush() if turn[0] == FLUSH else self.node.end()
                continue
            try:
                self._take_turn(self.core.Feeder.connect(self.name_of_node, KEY, LIMIT_S, LIMIT_S), turn)
            except (self.core.Refused, self.core.NotThere, self.core.PeerGone) as error:
                self.refusals.append(str(error))

    def _take_turn(self, feeder, turn):
        for frame in turn:
            if frame == BREAK:
                return
            if frame == WAIT:
                self.may_go_on.wait(LIMIT_S)
                continue
            kind, content = frame
            feeder.write(kind, content)
            while kind == _frames.END_OF_PARTITION:
                frame = feeder.read(LIMIT_S)
                if frame.kind == _frames.RESULTS_END:
                    self.ends.append(int.from_bytes(bytes(frame), "little"))
                    break
                self.results += pickle.loads(bytes(frame))
            if kind == _frames.LOOK_BACK:
                self.done_with.append(feeder.read(LIMIT_S).kind)
        feeder.end()

    def give(self, *frames):
        """Each head begins a turn."""
        turns = []
        for frame in frames:
            if frame in (FLUSH, THE_END):
                turns.append(frame)
            elif frame[0] == _frames.HEAD:
                turns.append([frame])
            else:
                turns[-1].append(frame)
        for turn in turns:
            self.turns.put(turn if isinstance(turn, list) else [turn])


def rows(*values):
    return _frames.SPARK_ROWS, pickle.dumps(list(values))


def head(inference=False, feed_timeout=600, stream=False):
    return _frames.HEAD, _frames.Head(inference, feed_timeout, None, stream).encode()


LOOK_BACK = (_frames.LOOK_BACK, b"")
END = (_frames.END_OF_PARTITION, b"")


@pytest.fixture
def feed():
    """Makes a feed that gets these frames, and what stands for Spark; all end with the test."""
    made = []

    def make(*frames):
        name = f"test-{secrets.token_hex(8)}"
        source = _feed.open_feed(name, KEY, 16)
        sources = Sources(source, name)
        sources.give(*frames)
        sources.start()
        made.append((source, sources))
        return source, sources

    yield make
    for source, sources in made:
        source.end()
        sources.turns.put(None)
        sources.may_go_on.set()
        source.close()
        sources.join(LIMIT_S)
        assert not sources.is_alive()


def test_batches_span_frames_and_partitions_of_training(feed):
    source, _ = feed(head(), rows(1, 2, 3), head(), rows(4), head(), rows(5, 6, 7), THE_END)
    data = DataFeed(source)
    assert [data.next_batch(2), data.next_batch(2), data.next_batch(3)] == [[1, 2], [3, 4], [5, 6, 7]]
    assert not data.done_feeding
    assert data.next_batch(2) == [] and data.should_stop()


def test_a_partial_batch_is_delivered_when_the_driver_says_flush_and_no_earlier(feed):
    source, sources = feed(head(), rows(1, 2, 3))
    data = DataFeed(source)
    taken = []
    reader = threading.Thread(target=lambda: taken.append(data.next_batch(5)))
    reader.start()
    wait_until(lambda: source.rows_in == 3, "the rows to be read")
    assert not taken
    sources.give(FLUSH)
    reader.join(LIMIT_S)
    assert taken == [[1, 2, 3]] and not data.should_stop()
    sources.give(head(), rows(4, 5, 6, 7, 8))
    assert data.next_batch(5) == [4, 5, 6, 7, 8]


def test_a_flush_does_not_cut_what_is_already_there(feed):
    source, sources = feed(head(), rows(1, 2), rows(3, 4), rows(5), FLUSH)
    wait_until(lambda: source._flushes, "the flush")
    data = DataFeed(source)
    assert [data.next_batch(4), data.next_batch(4)] == [[1, 2, 3, 4], [5]]


def test_a_batch_of_a_stream_is_done_when_its_reader_comes_back(feed):
    """What is left of it is delivered at once, and the next feeder comes after that."""
    source, sources = feed(head(stream=True), rows(1, 2, 3), LOOK_BACK, head(stream=True), rows(4, 5), LOOK_BACK, THE_END)
    data = DataFeed(source)
    assert data.next_batch(2) == [1, 2] and data.next_batch(2) == [3]
    assert source.is_awaited and sources.done_with == []
    assert data.next_batch(2) == [4, 5]
    wait_until(lambda: sources.done_with == [_frames.DONE], "the first feeder's end")
    assert data.next_batch(2) == [] and data.should_stop() and not source.is_awaited
    wait_until(lambda: sources.done_with == [_frames.DONE] * 2, "the second one's")


def test_a_feeder_of_a_stream_that_goes_costs_the_node_nothing(feed):
    source, _ = feed(head(stream=True), rows(1), BREAK, head(stream=True), rows(1), LOOK_BACK, THE_END)
    data = DataFeed(source)
    assert data.next_batch(2) == [1, 1] and data.next_batch(2) == []


def test_rows_by_tensor(feed):
    source, _ = feed(head(), rows((1, "a"), (2, "b")), rows({"x": 4, "y": "c"}), THE_END)
    data = DataFeed(source, input_mapping={"y": "second", "x": "first"})
    assert data.next_batch(2) == {"first": [1, 2], "second": ["a", "b"]}
    assert data.next_batch(1) == {"first": [4], "second": ["c"]}
    assert data.next_batch(1) == {"first": [], "second": []}


def test_terminate_refuses_feeders_and_frees_a_reader_that_waits(feed):
    source, sources = feed(head(), rows(1), WAIT, rows(2), head(), rows(3))
    data = DataFeed(source)
    taken = []
    reader = threading.Thread(target=lambda: taken.append(data.next_batch(5)))
    reader.start()
    wait_until(lambda: source.rows_in == 1, "the reader to wait")
    data.terminate()
    reader.join(LIMIT_S)
    assert not reader.is_alive() and data.should_stop() and source.get("state") == "terminating"
    sources.give(head(), rows(4))  # the first one has its turn, and may be through before it hears
    sources.may_go_on.set()
    wait_until(lambda: len(sources.refusals) >= 2, "two feeders to be refused")
    assert all(_frames.SKIP in reason and "terminate()" in reason for reason in sources.refusals)


def test_inference_gives_back_one_result_for_each_row(feed):
    source, sources = feed(head(True), rows(1, 2, 3), END, head(True), END, head(True), rows(4), END, THE_END)
    data = DataFeed(source, train_mode=False)
    batches = []
    while not data.should_stop():
        batch = data.next_batch(2)
        batches.append(batch)
        data.batch_results([-value for value in batch])
    assert batches == [[1, 2], [3], [4], []]
    assert sources.results == [-1, -2, -3, -4]
    assert sources.ends == [3, 0, 1]


def test_the_end_of_a_partition_is_told_before_the_next_batch_is_asked_for(feed):
    source, sources = feed(head(True), rows(1, 2), END)
    data = DataFeed(source)
    batch = data.next_batch(2)
    wait_until(lambda: source.stats()["queued_bytes"], "the end of the partition")
    data.batch_results(batch)
    wait_until(lambda: sources.ends == [2], "the end of the results")


def test_results_may_come_in_other_portions_and_from_another_thread(feed):
    source, sources = feed(head(True), rows(1, 2, 3), END, THE_END)
    data = DataFeed(source)
    assert data.next_batch(8) == [1, 2, 3]
    reader = threading.Thread(target=data.next_batch, args=(8,))
    reader.start()
    data.batch_results([1])
    data.batch_results([2, 3])
    wait_until(lambda: sources.ends == [3], "the end of the results")
    reader.join(LIMIT_S)
    assert not reader.is_alive()


@pytest.mark.parametrize("frames, given, part", [
    ([head(True), rows(1, 2)], [1, 2, 3], "3 results for 2 rows"),
    ([head(), rows(1, 2)], [1, 2], "nothing waits for them"),
])
def test_results_that_nobody_asked_for_are_refused(feed, frames, given, part):
    source, _ = feed(*frames)
    data = DataFeed(source)
    assert data.next_batch(2) == [1, 2]
    with pytest.raises(ValueError, match=part):
        data.batch_results(given)


def test_results_for_a_feeder_that_has_gone_go_nowhere(feed):
    source, sources = feed(head(True), rows(1, 2), BREAK, head(True), rows(3), END)
    data = DataFeed(source)
    assert data.next_batch(8) == [1, 2]  # what a dead feeder has left is still a batch of its own
    assert data.next_batch(8) == [3]
    data.batch_results(["one", "two"])
    data.batch_results(["three"])
    wait_until(lambda: sources.ends == [1], "the end of the results")
    assert sources.results == ["three"]


def test_a_feeder_that_goes_while_results_are_written_costs_the_node_nothing(feed):
    source, sources = feed(head(True), rows(1, 2), rows(3, 4), BREAK, head(True), rows(5), END)
    data = DataFeed(source)
    batch = data.next_batch(2)
    wait_until(lambda: sources.turns.empty(), "the end of the first feeder")
    data.batch_results(batch)
    assert data.next_batch(2) == [5]
    data.batch_results([5])
    wait_until(lambda: sources.ends == [1], "the end of the results")
    assert sources.results == [5]


def test_a_broken_feeder_of_training_does_not_end_a_batch(feed):
    source, _ = feed(head(), rows(1), BREAK, head(), rows(1, 2))
    assert DataFeed(source).next_batch(3) == [1, 1, 2]


def returning(source):
    """A thread in which a node's function has returned, and what that raises."""
    raised = []

    def run():
        try:
            source.returned()
        except RuntimeError as error:
            raised.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


def test_who_returns_early_without_a_word_has_failed(feed):
    source, sources = feed(head(), rows(1, 2, 3), head(), WAIT, rows(4))
    wait_until(lambda: source.stats()["queued_bytes"], "the rows")
    thread, raised = returning(source)
    wait_until(lambda: source.is_done, "the refusal")
    sources.give(head(), rows(5))  # those before have their turn, and may be through before they hear
    sources.may_go_on.set()
    wait_until(lambda: sources.refusals, "a feeder to be refused")
    assert thread.is_alive() and _frames.FAIL in sources.refusals[0] and "has returned" in sources.refusals[0]
    source.end()
    thread.join(LIMIT_S)
    assert len(raised) == 1 and "left rows unread" in raised[0]


@pytest.mark.parametrize("terminates", [False, True])
def test_who_has_read_all_or_said_so_returns_well(feed, terminates):
    source, _ = feed(head(), rows(1, 2, 3), *([rows(4)] if terminates else []))
    data = DataFeed(source)
    data.next_batch(3)
    if terminates:
        data.terminate()
    thread, raised = returning(source)
    source.end()
    thread.join(LIMIT_S)
    assert not thread.is_alive() and raised == []


def test_a_node_that_fails_tells_its_feeders(feed):
    source, sources = feed()
    source.failed("worker:1 on host7 has failed")
    sources.give(head(), rows(1))
    wait_until(lambda: sources.refusals, "a feeder to be refused")
    assert "fail: worker:1 on host7 has failed" in sources.refusals[0]


@pytest.mark.parametrize("arguments, part", [
    ({"qname_in": "mine"}, "qname_in: 'mine'; allowed: 'input'"),
    ({"mgr": None}, "mgr: a NoneType; allowed: ctx.mgr"),
])
def test_what_a_data_feed_cannot_be(feed, arguments, part):
    with pytest.raises((ValueError, TypeError), match=part):
        DataFeed(**{"mgr": feed()[0], **arguments})


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_a_batch_has_a_whole_number_of_rows(feed, count):
    with pytest.raises(ValueError, match="batch_size: .*; allowed: a whole number from 1 on"):
        DataFeed(feed()[0]).next_batch(count)


def test_a_frame_of_another_version_is_told(feed):
    source, _ = feed(head(), (99, b""))
    with pytest.raises(RuntimeError, match="a frame of the kind 99"):
        DataFeed(source).next_batch(1)


def test_a_node_that_goes_on_without_taking_rows_is_ended_with_what_it_is_at(feed, monkeypatch):
    told = []
    monkeypatch.setattr(_watch, "fail", told.append)
    source, _ = feed(head(feed_timeout=0.5), rows(1), rows(2))
    DataFeed(source).next_batch(1)
    wait_until(lambda: told, "the end of its patience")
    assert "no progress for 0.5 s (feed_timeout)" in told[0]


def test_figures_are_those_of_the_task(feed, tmp_path, monkeypatch):
    path = tmp_path / "figures"
    monkeypatch.setenv("GANGRUN_FIGURES_FILE", str(path))
    source, _ = feed(head(), rows(1, 2, 3))
    DataFeed(source).next_batch(3)
    wait_until(lambda: path.exists() and json.loads(path.read_text()).get("rows_in") == 3, "the figures")
    assert json.loads(path.read_text()).keys() >= {"rows_in_per_s", "rows_out", "queued_mib", "waits_for"}
