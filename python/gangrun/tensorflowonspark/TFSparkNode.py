"""The context object of a map_fun, and how map_fun is called in its node."""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any, Mapping, Optional, Sequence

from gangrun import _refused
from gangrun.spark import _node

# Task types that train.
WORKERS = ("chief", "master", "worker")


# The socket of this process's node, whose context has no tmp_socket any more. Programs write down the members of a context, and pickle it.
_reserved: list[socket.socket] = []


class TFNodeContext:
    """The `ctx` argument of a map_fun: describes the node.

    executor_id   the node's number among all nodes, starting at 0; also called `worker_num`
    job_name, task_index   the node's task type and its index in that type
    cluster_spec  task type → list of "host:port" addresses
    num_workers   number of nodes that train: chief, master and workers
    defaultFS     the default file system, such as "hdfs://nameservice"
    working_dir   the driver's working folder
    mgr           the node's row feed; use get_data_feed()
    """

    def __init__(self, executor_id: int = 0, job_name: str = "", task_index: int = 0,
                 cluster_spec: Optional[Mapping[str, Sequence[str]]] = None, defaultFS: str = "file://", working_dir: str = ".",
                 mgr: Any = None, tmp_socket: Optional[socket.socket] = None) -> None:
        self.worker_num = executor_id
        self.executor_id = executor_id
        self.job_name = job_name
        self.task_index = task_index
        self.cluster_spec = {name: list(addresses) for name, addresses in (cluster_spec or {}).items()}
        self.num_workers = sum(len(addresses) for name, addresses in self.cluster_spec.items() if name in WORKERS)
        self.defaultFS = defaultFS
        self.working_dir = working_dir
        self.mgr = mgr
        self.tmp_socket = tmp_socket

    def absolute_path(self, path: str) -> str:
        """Same as TFNode.hdfs_path."""
        from gangrun.tensorflowonspark import TFNode

        return TFNode.hdfs_path(self, path)

    def start_cluster_server(self, num_gpus: int = 1, rdma: bool = False) -> tuple[Any, Any]:
        """Same as TFNode.start_cluster_server."""
        from gangrun.tensorflowonspark import TFNode

        return TFNode.start_cluster_server(self, num_gpus, rdma)

    def export_saved_model(self, sess: Any, export_dir: str, tag_set: str, signatures: Mapping[str, Mapping[str, Any]]) -> None:
        """Same as TFNode.export_saved_model."""
        from gangrun.tensorflowonspark import TFNode

        TFNode.export_saved_model(sess, export_dir, tag_set, signatures)

    def get_data_feed(self, train_mode: bool = True, qname_in: str = "input", qname_out: str = "output",
                      input_mapping: Optional[Mapping[str, str]] = None) -> Any:
        """Return the TFNode.DataFeed of this node."""
        from gangrun.tensorflowonspark import TFNode

        return TFNode.DataFeed(self.mgr, train_mode, qname_in, qname_out, input_mapping)

    def release_port(self) -> None:
        """Give the node's port back to the system, so that any program can bind it now, whatever options it sets.

        A port that TENSORFLOW_PORT fixed stays reserved for the node: programs that set SO_REUSEADDR or SO_REUSEPORT can bind it.
        """
        for held in [self.tmp_socket, *_reserved]:
            if held is not None:
                _give_back(held)
                held.close()
        self.tmp_socket = None
        _reserved.clear()

    def _let_go(self) -> None:
        """What `release_port` of TFCluster.run does: nobody but the function may take the port, so it stays reserved until the
        function itself closes it."""
        if self.tmp_socket is not None:
            _reserved.append(self.tmp_socket)
            self.tmp_socket = None


def _give_back(held: socket.socket) -> None:
    """The agent has the same socket, so closing it here is not enough. A socket that ends to listen loses its port for
    everybody who has it, unless the port was requested by its number."""
    import ctypes

    # As connect(2) has it: an address of no family takes back what the socket was.
    no_address = ctypes.create_string_buffer(16)
    try:
        held.listen(0)
    except OSError:
        return  # somebody listens there already: the port is taken over
    ctypes.CDLL(None).connect(held.fileno(), no_address, len(no_address))


def _held() -> Optional[socket.socket]:
    """The socket that holds this node's port, as the agent hands it on (docs/variables.md)."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or int(os.environ.get("LISTEN_FDS", "0")) < 1:
        return None
    return socket.socket(fileno=3)


def _check_port() -> None:
    """A port that is fixed is open where others are not: no other one will do."""
    wanted, own = os.environ.get("TENSORFLOW_PORT"), os.environ.get("GANGRUN_PORT")
    if wanted and own and wanted != own:
        raise RuntimeError(f"TENSORFLOW_PORT: the port {wanted} of {socket.gethostname()} is in use; allowed: a free one, and one node on each "
                           "host")


def _all_addresses(place: Any, meta: Mapping[str, Any]) -> dict[str, list[str]]:
    """The whole cluster. In a task's own spec the evaluator is only seen by itself, as TensorFlow has it; here all have always seen it."""
    spec = {name: list(addresses) for name, addresses in place.cluster_spec.items()}
    if not meta["has_evaluator"]:
        return spec
    key = "places/evaluator"
    if place.type == "evaluator":
        _node.put(key, json.dumps(spec["evaluator"]).encode())
    else:
        spec["evaluator"] = json.loads(_node.get(key, meta["start_limit_s"]))
    return spec


def _see_gpus(job_name: str, tf_args: Any) -> None:
    """At most `num_gpus` of the arguments (1): of those that the environment names, by Spark's resources or the cluster's own
    settings, else free ones of this host. A parameter server takes none of them from the others."""
    from gangrun.tensorflowonspark import gpu_info

    given = getattr(tf_args, "num_gpus", None)
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        found = [name for name in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if name]
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(found if given is None else found[:given])
    elif gpu_info.is_gpu_available():
        wanted = 0 if job_name == "ps" else 1 if given is None else given
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpu_info.of_this_process(wanted))


def call(info: Mapping[str, Any], feed: Any, map_fun: Any, tf_args: Any) -> None:
    """Prepare the node's process and call map_fun."""
    from gangrun import task

    meta = info["meta"]
    place = task.current()
    _check_port()
    if not meta["has_master"]:
        # Estimator takes a cluster without one for an error, and such programs make it for themselves.
        os.environ.pop("TF_CONFIG", None)
    if isinstance(tf_args, list):
        sys.argv = list(tf_args)
    _see_gpus(place.type, tf_args)
    context = TFNodeContext(info["index"], place.type, place.index, _all_addresses(place, meta), meta["default_fs"],
                            meta["working_dir"], feed, _held())
    if meta["release_port"]:
        context._let_go()
    map_fun(tf_args, context)


__getattr__ = _refused.names("tensorflowonspark.TFSparkNode", dict.fromkeys(
    ("run", "train", "inference", "shutdown", "TFSparkNode"), "nodes are started, fed and stopped by TFCluster.run, and by train, inference and "
    "shutdown of the cluster that it returns"))
