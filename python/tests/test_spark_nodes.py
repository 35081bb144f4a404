"""Nodes without Spark: the master, start tasks as threads of this process, and the nodes' processes."""

import dataclasses
import os
import sys
import threading

import pytest

from gangrun import _program, errors
from gangrun.spark import _nodes, _payload, _process, _runtime, _start
from gangrun.spark._master import Master
from waiting import LIMIT_S, wait_until


class Gang:
    """What a Cluster does, with this process as the only executor."""

    def __init__(self, folder, function, count, **changes):
        self.folder, self.failed, self.raised = folder, threading.Event(), []
        job = '{"name": "nodes", "on": "spark", "tasks": {"worker": {"instances": %d, "command": ["x"]}}}' % count
        (folder / "job.json").write_text(job)
        self.master = Master(["--host", "127.0.0.1", str(folder / "job.json")], self.failed.set)
        join = self.master.wait_for_join()
        nodes = _nodes.nodes_of(_nodes.template(count))
        plan = _start.Plan(job_id=self.master.id, host=join.host, port=join.port, fingerprint=join.fingerprint, secret=join.secret,
                           key=b"k" * 32, nodes=tuple(nodes), function=_payload.function_bytes(function, (str(folder),), {}, {}),
                           entry=None, meta={}, feed=False, memory_mib=16, to_the_end=True, shared_executor=True, limit_s=LIMIT_S)
        self.plan = dataclasses.replace(plan, **changes)

    def starter(self, index, attempt=0):
        runtime = _runtime.Runtime("", _program.find("gangrun-agent"), None)
        return _start.Starter(self.plan, self.plan.nodes[index], runtime, os.getpid(), _process.start_ticks(os.getpid()),
                              attempt=attempt, base=str(self.folder))

    def start(self, index, attempt=0):
        def run():
            try:
                self.starter(index, attempt).run()
            except Exception as error:
                self.raised.append(error)
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def scratch(self):
        return sorted(path.name for path in self.folder.glob("gangrun-*"))


@pytest.fixture
def gang(tmp_path):
    made = []

    def make(*given, **changes):
        made.append(Gang(tmp_path, *given, **changes))
        return made[-1]
    yield make
    for one in made:
        one.master.kill(20)


def writes_its_place(folder):
    from gangrun import task
    with open(os.path.join(folder, f"told-{task.current().index}"), "a") as file:
        file.write(f"{sys.argv[0]} {len(task.current().cluster_spec['worker'])}\n")


def test_nodes_start_once_together_and_leave_nothing(gang, monkeypatch):
    def writes_and_waits(folder):
        writes_its_place(folder)
        wait_until(lambda: os.path.exists(os.path.join(folder, "may end")), "the test's word")

    def stand_by(starter, gate, state):
        found.append(state)
        stands_by(starter, gate, state)

    found, stands_by = [], _start.Starter._stand_by
    monkeypatch.setattr(_start.Starter, "_stand_by", stand_by)
    one = gang(writes_and_waits, 2)
    tasks = [one.start(0), one.start(1)]
    wait_until(lambda: one.master.get("started/worker:0") and one.master.get("started/worker:1"), "the start of both")
    tasks += [one.start(0, attempt=1)]  # as Spark tries again, or speculates
    wait_until(lambda: found == ["there"], "the other attempt to find the node")
    (one.folder / "may end").touch()
    for task in tasks:
        task.join(LIMIT_S)
    assert one.master.wait_until(one.master.ended.is_set, LIMIT_S) and one.master.failure() is None, one.master.failure()
    assert one.raised == [] and one.scratch() == []
    assert [len((one.folder / f"told-{index}").read_text().splitlines()) for index in range(2)] == [1, 1]


def test_a_start_task_that_is_not_to_stay_ends_when_its_node_has_started(gang):
    def waits(folder):
        threading.Event().wait()
    one = gang(waits, 1, to_the_end=False)
    one.start(0).join(LIMIT_S)
    assert one.raised == [] and one.master.get("started/worker:0") and not one.master.ended.is_set()
    assert len(one.scratch()) == 1
    one.master.kill(20)
    assert one.master.ended.is_set() and one.master.failure() is None
    wait_until(lambda: one.scratch() == [], "the end of the node's folder")


def test_an_error_is_told_with_its_traceback_while_others_run(gang):
    def fails(folder):
        from gangrun import task
        if task.current().index == 1:
            threading.Thread(target=threading.Event().wait).start()  # Python would wait for it
            raise LookupError("no such row")
        threading.Event().wait()
    one = gang(fails, 2)
    tasks = [one.start(0), one.start(1)]
    assert one.failed.wait(LIMIT_S)
    failure = one.master.failure()
    assert isinstance(failure, errors.JobFailed) and failure.cause["task"] == "worker:1"
    assert isinstance(failure.__cause__, errors.RemoteTraceback) and "LookupError: no such row" in str(failure.__cause__)
    assert "_node.py" not in str(failure.__cause__)
    for task in tasks:
        task.join(LIMIT_S)
    assert one.raised == [] and one.scratch() == []


def test_two_nodes_on_one_executor_are_refused_with_the_setting(gang):
    one = gang(writes_its_place, 2, shared_executor=False)
    held = one.starter(0)._claim_executor()
    one.start(1).join(LIMIT_S)
    assert "set spark.task.cpus" in str(one.raised[0])
    held.close()


def test_keys_reach_the_nodes_and_their_absence_is_no_error(gang):
    def reads(folder):
        import http.client
        connection = http.client.HTTPConnection(os.environ["GANGRUN_RENDEZVOUS"], timeout=30)
        connection.request("GET", "/feed/1")
        answer = connection.getresponse()
        with open(os.path.join(folder, "said"), "wb") as file:
            file.write(answer.read())
    one = gang(reads, 1)
    assert one.master.get("started/worker:0") is None
    task = one.start(0)
    wait_until(lambda: one.master.get("started/worker:0"), "the start")
    one.master.put("feed/1", b"end")
    task.join(LIMIT_S)
    assert (one.folder / "said").read_bytes() == b"end"
    assert one.master.wait_until(one.master.ended.is_set, LIMIT_S)
    one.master.put("feed/2", b"late")  # nobody is there any more
    assert one.master.get("feed/1") is None


def test_a_job_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "job.json").write_text('{"name": "x", "on": "spark", "tasks": {"worker": {"instances": 0, "command": ["x"]}}}')
    master = Master(["--host", "127.0.0.1", str(tmp_path / "job.json")], lambda: None)
    with pytest.raises(errors.InvalidJob, match="instances"):
        master.wait_for_join()
