"""Run a TensorFlow cluster on the executors of a Spark application: `run` and `TFCluster`."""

from __future__ import annotations

import getpass
import logging
import os
import random
import sys
from typing import Any, Callable, Optional, Sequence

from gangrun import _arguments, errors
from gangrun.spark import _checks, _cluster, _nodes, _streams

logger = logging.getLogger("gangrun.spark")

# The error message of this process's last cluster under the key 'error'; empty if it did not fail.
tf_status: dict[str, str] = {}

QUEUES = ("input", "output", "error")


class InputMode:
    """How the nodes get their data: TENSORFLOW: they read it themselves; SPARK: Spark feeds them."""

    TENSORFLOW = 0
    SPARK = 1


class Server:
    """The cluster's master, for programs that ask whether the nodes have ended or that stop a stream."""

    def __init__(self, cluster: _cluster.Cluster) -> None:
        self._cluster = cluster
        self._stopped = False

    @property
    def done(self) -> bool:
        """Whether the nodes have ended, or somebody has asked them to stop."""
        cluster = self._cluster
        return self._stopped or cluster.master.ended.is_set() or (cluster.has_streams and cluster.streams.is_asked)

    def stop(self) -> None:
        """Ask the cluster to stop. The nodes get no more rows, except those that a stream has already delivered."""
        if not self._stopped:
            self._stopped = True
            if self._cluster.has_streams:
                self._cluster.streams.ask()
            else:
                self._cluster.end_feed()


class TFCluster:
    """A running cluster, returned by `run`."""

    sc: Any = None
    defaultFS: Optional[str] = None
    working_dir: Optional[str] = None
    num_executors: Optional[int] = None
    nodeRDD: Any = None
    cluster_id: Optional[int] = None
    cluster_info: list[dict[str, Any]] = []
    cluster_meta: dict[str, Any] = {}
    input_mode: Optional[int] = None
    queues: Sequence[str] = ()
    server: Any = None

    def __init__(self, cluster: _cluster.Cluster, meta: dict[str, Any], input_mode: int, queues: Sequence[str]) -> None:
        self.cluster, self.meta, self.cluster_meta = cluster, meta, meta
        self.sc, self.nodeRDD = cluster.sc, cluster.node_rdd
        self.cluster_id, self.defaultFS, self.working_dir = meta["id"], meta["default_fs"], meta["working_dir"]
        self.num_executors, self.input_mode, self.queues = meta["num_executors"], input_mode, list(queues)
        self.cluster_info = cluster.records()
        self.server = Server(cluster)

    def train(self, dataRDD: Any, num_epochs: int = 0, feed_timeout: float = 600, qname: str = "input") -> None:
        """Feed the rows of an RDD or DataFrame to the nodes, `num_epochs` times; 0 means 10 times.

        Each batch of a DStream is fed once, when it arrives. `feed_timeout` is the time in seconds that a node may go without
        taking any row. Raises AssertionError for wrong arguments, and the error of a node that failed.
        """
        assert self.input_mode == InputMode.SPARK, "train() is for a cluster with InputMode.SPARK"
        assert qname in self.queues, f"qname: {qname!r} is none of the queues: {', '.join(self.queues)}"
        assert num_epochs >= 0, f"num_epochs: {num_epochs} is less than 0"
        with _StatusOf(self.cluster):
            epochs = 1 if _streams.is_dstream(dataRDD) else num_epochs or 10
            self.cluster.train(dataRDD, epochs, feed_timeout, qname)

    def inference(self, dataRDD: Any, feed_timeout: float = 600, qname: str = "input") -> Any:
        """Return an RDD of the nodes' results, one for each row. It is computed lazily, when Spark needs it."""
        assert self.input_mode == InputMode.SPARK, "inference() is for a cluster with InputMode.SPARK"
        assert qname in self.queues, f"qname: {qname!r} is none of the queues: {', '.join(self.queues)}"
        with _StatusOf(self.cluster):
            return self.cluster.inference(dataRDD, feed_timeout, qname)

    def shutdown(self, ssc: Any = None, grace_secs: float = 0, timeout: float = 259200) -> None:
        """End the feed, wait for the nodes to finish, and raise the error of a node that failed.

        ssc         a StreamingContext or StreamingQuery: wait for its end first, or stop it in order once the server is done
        grace_secs  ignored: nodes always get the time to finish by themselves
        timeout     seconds until the nodes are killed (default: 3 days); 0 or less: no limit
        """
        del grace_secs
        limit = _arguments.time_limit("timeout", timeout)
        with _StatusOf(self.cluster):
            self.cluster.shutdown(limit if limit and limit > 0 else None, ssc)

    def tensorboard_url(self) -> Optional[str]:
        """Return the URL of TensorBoard, or None if it does not run."""
        for node in self.cluster_info:
            if node["tb_port"]:
                host = f"[{node['host']}]" if ":" in node["host"] else node["host"]
                return f"http://{host}:{node['tb_port']}"
        return None


class _StatusOf:
    """Keeps in `tf_status` what a call has raised because of a node."""

    def __init__(self, cluster: Optional[_cluster.Cluster]) -> None:
        self._cluster = cluster

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, frames: Any) -> None:
        if isinstance(error, errors.GangrunError):
            tf_status["error"] = str(error)


def run(sc: Any, map_fun: Callable[..., Any], tf_args: Any, num_executors: int, num_ps: int, tensorboard: bool = False,
        input_mode: int = InputMode.TENSORFLOW, log_dir: Optional[str] = None, driver_ps_nodes: bool = False,
        master_node: Optional[str] = None, reservation_timeout: float = 600, queues: Sequence[str] = QUEUES,
        eval_node: bool = False, release_port: bool = True) -> TFCluster:
    """Start `map_fun(tf_args, ctx)` in one process (a node) beside each of `num_executors` executors, all together.

    sc               a SparkContext or SparkSession
    tf_args          parsed arguments (argparse), or a list of words, which becomes sys.argv in the nodes
    num_executors    number of nodes, including ps, master and evaluator
    num_ps           how many of them are parameter servers
    tensorboard      run TensorBoard beside worker:0 (or the master), on `log_dir`
    input_mode       InputMode.TENSORFLOW: nodes read the data; InputMode.SPARK: train() and inference() feed them
    driver_ps_nodes  run the parameter servers on the driver's machine
    master_node      the type of the first worker: 'chief' or 'master'
    reservation_timeout  seconds until all nodes must have started
    queues           the queue names that train() and inference() accept
    eval_node        make one node an evaluator
    release_port     close the process's own hold on the node's port before map_fun is called; not necessary for TensorFlow

    Returns when all nodes are about to call map_fun. Raises the error of a node, or of Spark, if the start fails.
    """
    if driver_ps_nodes and input_mode != InputMode.TENSORFLOW:
        raise Exception("driver_ps_nodes: parameter servers run beside the driver only with InputMode.TENSORFLOW")
    if eval_node and input_mode != InputMode.TENSORFLOW:
        raise Exception("eval_node: there is an evaluator only with InputMode.TENSORFLOW")
    template = _nodes.template(num_executors, num_ps, master_node, eval_node)
    context = _checks.context_of(sc)
    default_fs = _default_fs(context)
    meta: dict[str, Any] = {"id": random.getrandbits(64), "cluster_template": template, "num_executors": num_executors,
                            "default_fs": default_fs, "working_dir": os.getcwd(), "release_port": release_port,
                            "reservation_timeout": reservation_timeout}
    told = {"default_fs": default_fs, "working_dir": os.getcwd(), "user": getpass.getuser(), "has_master": bool(master_node),
            "release_port": release_port, "num_nodes": num_executors, "has_evaluator": eval_node, "start_limit_s": reservation_timeout}
    request = _cluster.Request(
        function=map_fun, args=(tf_args,), kwargs={}, template=template, name=_cluster.name_for(map_fun),
        entry="gangrun.tensorflowonspark.TFSparkNode:call", meta=told, feed=input_mode == InputMode.SPARK,
        busy=input_mode == InputMode.TENSORFLOW, on_driver=template.get("ps", ()) if driver_ps_nodes else (),
        reservation_timeout=reservation_timeout, board=_board(log_dir, told) if tensorboard else None,
        ports=os.environ.get("TFOS_SERVER_PORT", ""), host=os.environ.get("TFOS_SERVER_HOST", ""))
    tf_status.clear()
    with _StatusOf(None):
        cluster = _cluster.Cluster(context, request)
    meta["server_addr"] = (cluster.plan.host, cluster.plan.port)
    made = TFCluster(cluster, meta, input_mode, queues)
    for node in made.cluster_info:
        logger.info("%s", node)
    url = made.tensorboard_url()
    if url is not None:
        logger.info("TensorBoard: %s", url)
    return made


def _default_fs(sc: Any) -> str:
    """As Hadoop has it, with a local one written as the others are: without the slash of the root."""
    found = str(sc._jsc.hadoopConfiguration().get("fs.defaultFS"))
    return found[:-1] if found.startswith("file://") and len(found) > len("file://") and found.endswith("/") else found


# $1 the Python, $2 the folder.
_BOARD = """\
"$1" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("tensorboard.main"))' 2>/dev/null &&
  exec "$1" -m tensorboard.main --logdir "$2" --bind_all --port PORT
command -v tensorboard >/dev/null && exec tensorboard --logdir "$2" --bind_all --port PORT
echo "gangrun: TensorBoard is not installed here: $1 has no module tensorboard, and the PATH has no program tensorboard" >&2
exit 127
"""


def _board(log_dir: Optional[str], told: dict[str, Any]) -> dict[str, Any]:
    from gangrun.tensorflowonspark import TFNode

    where = TFNode.absolute(log_dir, told["default_fs"], told["working_dir"], told["user"]) if log_dir else "tensorboard_"
    port = os.environ.get("TENSORBOARD_PORT")
    number = port or '"$GANGRUN_PORT"'
    number = number if port is None or port.isdigit() else "0"
    script = _BOARD.replace("--port PORT", f"--port {number}")
    return {"command": ["/bin/sh", "-c", script, "sh", sys.executable, where], "environment": {},
            "port": int(port) if port and port.isdigit() else 0}
