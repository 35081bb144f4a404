"""What gangrun.spark decides before it talks to Spark, and what a node is told: no Spark is needed for it."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import types
import zipfile

import pytest

from gangrun import _function, errors
from gangrun.spark import _checks, _cluster, _feeding, _nodes, _payload, _process, _start, _streams, _told
from gangrun.tensorflowonspark import TFCluster, TFNode, TFSparkNode


@pytest.mark.parametrize("given, found", [
    ((1,), {"worker": [0]}),
    ((5, 2, None, False), {"ps": [0, 1], "worker": [2, 3, 4]}),
    ((5, 1, "chief", True), {"ps": [0], "chief": [1], "evaluator": [2], "worker": [3, 4]}),
    ((1, 0, "master"), {"master": [0]}),
])
def test_nodes_get_their_types_in_this_order(given, found):
    assert _nodes.template(*given) == found
    assert [node.index for node in _nodes.nodes_of(found)] == list(range(given[0]))


@pytest.mark.parametrize("given", [(2, 3), (1, 1), (1, 0, "chief", True), (2, 1, None, True)])
def test_numbers_that_do_not_fit_are_asserted(given):
    with pytest.raises(AssertionError, match="the cluster has"):
        _nodes.template(*given)


@pytest.mark.parametrize("given, said", [((0,), "num_executors: 0"), ((2, -1), "num_ps: -1"), ((2, 0, "ps"), "'ps' is the type"),
                                         ((2, 0, "a b"), "'a b' is not a task type"), (("2",), "num_executors: '2'")])
def test_wrong_arguments_are_named(given, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        _nodes.template(*given)


def test_ps_and_evaluator_take_no_rows_and_tensorboard_stands_beside_worker_0():
    nodes = _nodes.nodes_of(_nodes.template(4, 1, "chief", True))
    assert [node.task for node in nodes if node.takes_rows] == ["chief:0", "worker:0"]
    assert _nodes.beside_tensorboard(nodes).task == "worker:0"
    assert _nodes.beside_tensorboard(_nodes.nodes_of(_nodes.template(2, 1, "chief"))).task == "chief:0"


@pytest.mark.parametrize("words, said", [
    ({"driver_ps_nodes": True, "input_mode": 1}, "driver_ps_nodes"), ({"eval_node": True, "input_mode": 1}, "eval_node"),
])
def test_modes_that_do_not_go_together_are_refused_before_spark_is_asked(words, said):
    with pytest.raises(Exception, match=said):
        TFCluster.run(None, print, [], 3, 1, **words)


def conf(master, **keys):
    return {"spark.master": master, **{f"spark.{name.replace('_', '.')}": value for name, value in keys.items()}}


@pytest.mark.parametrize("given", [
    conf("local[3]"), conf("local[4,2]"), conf("local-cluster[3,1,1024]"), conf("local-cluster[3, 2, 1024]", task_cpus="2"),
    conf("spark://h:7077", executor_cores="4", task_cpus="4"), conf("yarn", executor_instances="3", executor_cores="1"),
    {**conf("yarn"), "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "3",
     "spark.dynamicAllocation.maxExecutors": "3"},
])
def test_settings_that_nodes_can_live_with(given):
    _checks.check(given, 3)


@pytest.mark.parametrize("given, slots, said", [
    (conf("local[2]"), 2, "the master 'local[2]' runs 2 tasks at once; allowed: local[3] or more"),
    (conf("local"), 1, "runs 1 tasks at once"),
    (conf("local[*]"), 2, "the master 'local[*]' runs 2 tasks at once"),
    (conf("local-cluster[2,1,1024]"), None, "3 nodes need 3 executors, and by the master 'local-cluster[2,1,1024]' there are at most 2"),
    (conf("local-cluster[3,2,1024]"), None, "spark.task.cpus: 1 with 2 cores in each executor lets it run 2 tasks at once"),
    (conf("yarn", executor_instances="2"), None, "by spark.executor.instances there are at most 2"),
    (conf("spark://h:7077", executor_cores="2", task_cpus="2", cores_max="4"), None, "by spark.cores.max=4 with 2 cores an executor"),
    ({**conf("yarn"), "spark.dynamicAllocation.enabled": "true"}, None, "allowed: 'false' with spark.executor.instances=3"),
    (conf("spark://h:7077"), 12, "set spark.task.cpus to the cores of an executor (4)"),
    (conf("yarn", executor_cores="1", task_cpus="2"), None, "no task can run"),
])
def test_settings_that_they_cannot_live_with_are_named(given, slots, said):
    with pytest.raises(errors.InvalidJob, match=re.escape(said)):
        _checks.check(given, 3, slots, 3)


@pytest.mark.parametrize("given, found", [(conf("local"), 1), (conf("local[3]"), 3), (conf("local-cluster[2,1,512]"), 2),
                                          (conf("yarn", executor_instances="5"), 5), (conf("spark://h:7077"), None)])
def test_the_number_of_executors_is_expected_by_the_settings(given, found):
    assert _checks.expected(given) == found


def test_surplus_executors_are_refused_where_rows_are_fed():
    given = conf("spark://h:7077", executor_cores="1")
    _checks.check(given, 3, 4, 4)
    with pytest.raises(errors.InvalidJob, match="3 nodes, and the application has 4 executors"):
        _checks.check(given, 3, 4, 4, fed=True)


def test_the_context_is_found_in_a_session():
    context = types.SimpleNamespace(_jsc=object())
    assert _checks.context_of(context) is context
    assert _checks.context_of(types.SimpleNamespace(sparkContext=context)) is context
    session = type("SparkSession", (), {"_jsc": object(), "sparkContext": property(lambda _: context)})()
    assert _checks.context_of(session) is context
    for wrong, said in ((types.SimpleNamespace(_jsc=None), "has been stopped"), (7, "int has no SparkContext")):
        with pytest.raises(errors.InvalidJob, match=said):
            _checks.context_of(wrong)


@pytest.mark.parametrize("default_fs, path, found", [
    ("hdfs://n:8020", "hdfs://other/x", "hdfs://other/x"), ("file://", "s3a://b/x", "s3a://b/x"),
    ("hdfs://n:8020", "/x/y", "hdfs://n:8020/x/y"), ("file://", "/x/y", "file:///x/y"),
    ("hdfs://n:8020", "x/y", "hdfs://n:8020/user/ann/x/y"), ("viewfs://c", "x", "viewfs://c/user/ann/x"),
    ("file://", "x/y", "file:///home/x/y"), ("wasb://c@a", "x", "wasb://c@a/x"),
])
def test_paths_are_made_what_the_whole_cluster_calls_them(default_fs, path, found, monkeypatch):
    monkeypatch.setattr(TFNode.getpass, "getuser", lambda: "ann")
    ctx = TFSparkNode.TFNodeContext(0, "worker", 0, {}, default_fs, "/home")
    assert TFNode.hdfs_path(ctx, path) == ctx.absolute_path(path) == found


def test_a_map_fun_is_called_with_its_place(monkeypatch):
    spec = {"chief": ["a:1"], "worker": ["b:2", "c:3"], "ps": ["d:4"]}
    for name, value in {"GANGRUN_TASK_TYPE": "worker", "GANGRUN_TASK_INDEX": "1", "GANGRUN_CLUSTER_SPEC": json.dumps(spec),
                        "TF_CONFIG": "{}"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["before"])
    seen = []
    info = {"index": 3, "meta": {"default_fs": "file://", "working_dir": "/w", "has_master": True, "has_evaluator": False,
                                 "release_port": True}}
    TFSparkNode.call(info, None, lambda args, ctx: seen.append((args, vars(ctx), list(sys.argv))), ["--steps", "5"])
    args, members, argv = seen[0]
    assert (args, argv) == (["--steps", "5"],) * 2 and "TF_CONFIG" in os.environ
    assert members == {"worker_num": 3, "executor_id": 3, "job_name": "worker", "task_index": 1, "cluster_spec": spec, "num_workers": 3,
                       "defaultFS": "file://", "working_dir": "/w", "mgr": None, "tmp_socket": None}
    info["meta"]["has_master"] = False
    TFSparkNode.call(info, None, lambda args, ctx: None, None)
    assert "TF_CONFIG" not in os.environ
    monkeypatch.setenv("TENSORFLOW_PORT", "4711")
    monkeypatch.setenv("GANGRUN_PORT", "40123")
    with pytest.raises(RuntimeError, match="TENSORFLOW_PORT: the port 4711 of .* is in use"):
        TFSparkNode.call(info, None, lambda args, ctx: None, None)


def test_a_port_that_is_given_back_can_be_bound_by_anybody():
    """The agent has the same socket: a plain bind after ctx.release_port() still found the address in use."""
    with socket.socket() as of_the_agent, socket.socket() as plain:
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            of_the_agent.setsockopt(socket.SOL_SOCKET, option, 1)
        of_the_agent.bind(("0.0.0.0", 0))
        port = of_the_agent.getsockname()[1]
        with pytest.raises(OSError):
            plain.bind(("127.0.0.1", port))
        ctx = TFSparkNode.TFNodeContext(0, "worker", 0, {}, "file://", "/home", None, of_the_agent.dup())
        # What run() does: nobody but the function may take it.
        ctx._let_go()
        assert ctx.tmp_socket is None
        with pytest.raises(OSError):
            plain.bind(("127.0.0.1", port))
        ctx.release_port()
        ctx.release_port()
        plain.bind(("127.0.0.1", port))
        plain.listen()


@pytest.mark.parametrize("given, port", [("", None), ("4711", 4711), ("0", None), ("65536", None), ("4711-4720", None)])
def test_a_port_that_is_fixed_is_one(monkeypatch, given, port):
    monkeypatch.setenv("TENSORFLOW_PORT", given)
    if given and not port:
        with pytest.raises(RuntimeError, match=f"TENSORFLOW_PORT: '{given}' is not a port; allowed: 1 to 65535"):
            _start.fixed_port()
    else:
        assert _start.fixed_port() == port


def test_a_payload_brings_function_and_place_to_a_node(tmp_path):
    beside = tmp_path / "beside_the_script.py"
    beside.write_text("def double(n):\n    return 2 * n\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import beside_the_script
        function = _payload.function_bytes(lambda n: beside_the_script.double(n), (4,), {}, {})
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("beside_the_script", None)
    called, args, kwargs = _function.load(_payload.node_payload({"task": "worker:0"}, function))
    assert (called.__module__, args[0], kwargs) == ("gangrun.spark._node", {"task": "worker:0"}, {})
    users, args, _ = _function.load(args[1])
    assert users(*args) == 8  # its module is nowhere any more


def test_what_cannot_be_pickled_is_named():
    lock = threading.Lock()
    with pytest.raises(errors.InvalidJob, match="because of the variable 'lock'"):
        _payload.function_bytes(lambda: lock, (), {}, {})
    with pytest.raises(errors.InvalidJob, match="map_fun: 7 is a int; allowed: a function"):
        _payload.function_bytes(7, (), {}, {})


def test_modules_that_spark_brings_are_known(tmp_path):
    with zipfile.ZipFile(tmp_path / "deps.zip", "w") as archive:
        archive.writestr("package/inner.py", "")
        archive.writestr("alone.py", "")
    found = _payload.modules_of([str(tmp_path / "deps.zip"), "/x/one.py", str(tmp_path / "missing.egg")])
    assert sorted(found) == ["alone.py", "one.py", "package"]


def test_a_process_outside_of_spark_has_no_executor():
    _process.executor_process.cache_clear()
    with pytest.raises(RuntimeError, match="is a JVM: this runs in no executor of Spark"):
        _process.executor_process()


def test_sockets_of_different_nodes_have_different_names():
    names = {_process.feed_name(*what) for what in [("job", 7, 100, "worker:0"), ("job", 7, 100, "worker:1"), ("job", 7, 101, "worker:0"),
                                                    ("job", 71, 0, "worker:0"), ("other", 7, 100, "worker:0")]}
    assert len(names) == 5 and all(len(name) < 100 for name in names)
    assert len(_process.feed_name("x" * 200, 4194304, 10**12, "worker:9999")) < 100


def test_a_node_has_the_worker_s_surroundings_and_none_of_spark_s_secrets(monkeypatch):
    monkeypatch.setenv("PYTHON_WORKER_FACTORY_SECRET", "s3cret")
    monkeypatch.setenv("GANGRUN_TASK_TYPE", "other")
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    monkeypatch.setattr(sys, "path", ["", "/spark/files", *sys.path[2:], "/appended"])
    found = _start.environment({"CUDA_VISIBLE_DEVICES": "1"})
    assert "PYTHON_WORKER_FACTORY_SECRET" not in found and "GANGRUN_TASK_TYPE" not in found
    assert found["HADOOP_CONF_DIR"] == "/etc/hadoop" and found["CUDA_VISIBLE_DEVICES"] == "1"
    path = found["PYTHONPATH"].split(":")
    assert path[:2] == [os.getcwd(), "/spark/files"] and "/appended" not in path  # it comes behind, by the node itself
    done = subprocess.run([sys.executable, "-c", "import sys; print(sys.path.index('/spark/files') < len(sys.path) - 1)"], env=found,
                          capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True\n"


def test_a_gate_tells_of_the_start_and_the_end_of_a_node():
    gate = _start.Gate()
    node = socket.socket(socket.AF_UNIX)
    node.connect("\0" + gate.name)
    gate.wait(5)
    node.sendall(b"start")
    gate.wait(5)
    assert not gate.has_started
    node.sendall(b"ed\n")
    gate.wait(5)
    assert gate.has_started and not gate.is_over
    node.close()
    gate.wait(5)
    assert gate.is_over
    gate.close()


def test_an_error_of_spark_s_is_told_by_its_last_error_of_python():
    text = ("An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n"
            ": org.apache.spark.SparkException: Job aborted due to stage failure\n"
            "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"worker.py\", line 1\n"
            "RuntimeError: worker:0 could not join: no such host\n\n\tat org.apache.spark.Executor(Executor.scala:1)\n")
    assert _told.said_by(Exception(text)) == "RuntimeError: worker:0 could not join: no such host"
    assert _told.said_by(Exception("Job 3 cancelled\n\tat x")) == "Job 3 cancelled"


@pytest.mark.parametrize("said", [
    "Python in worker has different version (3, 10) than that in driver 3.11, PySpark cannot run with different minor versions.",
    "Python in worker has different version: 3.10 than that in driver: 3.11, PySpark cannot run with different minor versions."])
def test_another_python_of_the_executors_is_told_with_both(said):
    text = f"Job aborted\npyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] {said}\nPlease check\n\tat x"
    assert _told.said_by(Exception(text)).startswith("the driver has Python 3.11 and the executors have 3.10; allowed: the same")


def frame_of(version, kind):
    field = types.SimpleNamespace(name="v", json=lambda: f'{{"name":"v","type":{kind}}}',
                                  dataType=types.SimpleNamespace(simpleString=lambda: "vector"))
    return types.SimpleNamespace(sparkSession=types.SimpleNamespace(version=version), schema=types.SimpleNamespace(fields=[field]))


def test_a_column_that_an_old_spark_cannot_give_as_arrow_is_named():
    vector = '{"class":"x","type":"udt"}'
    for version, kind in (("3.3.4", '"double"'), ("3.4.0", vector), ("4.3.0", vector), ("10.0.0-SNAPSHOT", vector)):
        _feeding._check_types(frame_of(version, kind))
    with pytest.raises(TypeError, match=r"the column v of type vector takes Spark 3\.4 or newer; allowed: DataFrame\.rdd, or "):
        _feeding._check_types(frame_of("3.3.4", vector))


class OldContext:
    """Of a Spark before 3.5: its jobs have no tags."""

    def __init__(self, group):
        self.properties = {"spark.jobGroup.id": group}

    def getLocalProperty(self, name):
        return self.properties.get(name)

    def setLocalProperty(self, name, value):
        self.properties[name] = value

    def setJobGroup(self, group, description, interruptOnCancel):
        self.properties["spark.jobGroup.id"] = group


@pytest.mark.parametrize("of_the_query, during", [("run of a query", "run of a query"), (None, "of the cluster")])
def test_jobs_of_a_batch_can_be_cancelled_where_spark_has_no_tags(of_the_query, during):
    context, groups = OldContext(of_the_query), set()
    with _streams._named(context, "of the cluster", groups):
        assert groups == {during} == {context.properties["spark.jobGroup.id"]}
    assert not groups and context.properties["spark.jobGroup.id"] == of_the_query


class Query:
    """A streaming query. It ends with the error of a batch as Spark tells it: in other words."""

    def __init__(self, batch=None):
        self.id, self.isActive, self.lastProgress, self.status = f"query {id(self)}", True, None, {"isTriggerActive": False}
        self.batch, self.error = batch, None

    def foreachBatch(self, batch):
        self.batch = batch
        return self

    def start(self):
        return self

    def awaitTermination(self, seconds):
        self.bring()
        if self.error:
            raise self.error
        return False

    def bring(self):
        try:
            self.batch(types.SimpleNamespace(columns=[]), 1)
        except Exception:
            self.error = RuntimeError("the query has ended")

    def exception(self):
        return self.error

    def stop(self):
        self.isActive = False


@pytest.fixture
def fed(monkeypatch):
    """The streams of a cluster that takes each batch, until its end was requested."""
    master = types.SimpleNamespace(put=lambda *_: None, get=lambda _: None, ended=threading.Event(), status={})
    cluster = types.SimpleNamespace(id="fed", plan=types.SimpleNamespace(host="h", port=1), master=master, check=lambda: None,
                                    has_failed=False, _is_fed=False, _feed_plan=lambda *_, **__: object())

    def raise_cause(error):
        raise error

    cluster._raise_cause = raise_cause
    monkeypatch.setattr(_feeding, "_is_frame", lambda data: True)
    return _streams.Streams(cluster)


def test_a_batch_that_comes_too_late_ends_its_query_in_order_whatever_spark_calls_it(fed):
    query = fed.start_query(Query(), 1)
    fed.ask()
    fed.await_end(query)
    assert str(query.error) == "the query has ended"


def test_an_error_of_another_query_is_not_taken_for_that(fed):
    late, broken = fed.start_query(Query(), 1), fed.start_query(Query(), 1)
    fed.ask()
    late.bring()
    assert late.error
    broken.batch = lambda *_: 1 / 0
    with pytest.raises(RuntimeError, match="the query has ended"):
        fed.await_end(broken)


def test_the_log_s_line_has_the_rows_of_each_node():
    status = {"tasks": [{"task": "worker:0", "state": "running", "policy": "tracked",
                         "figures": {"rows_in": 12000, "rows_in_per_s": 1500.4, "queued_mib": 2.5, "waits_for": "rows"}},
                        {"task": "ps:0", "state": "running", "policy": "service"},
                        {"task": "tensorboard:0", "state": "running", "policy": "sidecar"}]}
    assert _told.line(status) == ("worker:0 running, 1,500 rows/s in (12,000 in all), 2.5 MiB queued, waits for rows; ps:0 running")


def test_a_driver_without_a_home_keeps_its_jobs_with_its_application(tmp_path, monkeypatch):
    conf = {}
    context = types.SimpleNamespace(_temp_dir=str(tmp_path / "spark"), getConf=lambda: conf)
    monkeypatch.delenv("GANGRUN_HOME")
    (tmp_path / "nobody").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    _cluster._find_home(context)
    assert os.environ["GANGRUN_HOME"] == str(tmp_path / "spark/gangrun/home") and os.path.isdir(os.environ["GANGRUN_HOME"])
    monkeypatch.delenv("GANGRUN_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    _cluster._find_home(context)
    assert "GANGRUN_HOME" not in os.environ
    conf["spark.submit.deployMode"] = "cluster"  # on a node that is nobody's home
    _cluster._find_home(context)
    assert os.environ["GANGRUN_HOME"] == str(tmp_path / "spark/gangrun/home")
