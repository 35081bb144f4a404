"""What a map_fun calls in its node."""

from __future__ import annotations

import getpass
import logging
import posixpath
import re
from typing import Any, Mapping, Sequence

from gangrun.spark._data_feed import DataFeed as DataFeed

logger = logging.getLogger("gangrun.spark")

# What begins so is complete; all other schemes are refused, as one that nobody has taught this what is relative to what.
SCHEMES = ("adl", "file", "gs", "hdfs", "oss", "s3", "s3a", "s3n", "swift", "viewfs", "wasb", "wasbs", "abfs", "abfss")
SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")


def absolute(path: str, default_fs: str, working_dir: str, user: str) -> str:
    """What a path means on the cluster: as it is with a scheme; else on the default file system, and there, if it is relative, in the
    user's home, or on a file system of hosts in the driver's folder."""
    given = SCHEME.match(path)
    if given:
        if given["scheme"].lower() not in SCHEMES:
            logger.warning("%s: the scheme is none that is known here (%s); the path is taken as it is", path, ", ".join(SCHEMES))
        return path
    if path.startswith("/"):
        return f"{default_fs}{path}"
    if default_fs.startswith(("hdfs://", "viewfs://")):
        return f"{default_fs}/user/{user}/{path}"
    if default_fs.startswith("file://"):
        return f"{default_fs}{posixpath.join(working_dir, path)}"
    logger.warning("%s: the default file system %s has no folder that it could be relative to; its root is taken", path, default_fs)
    return f"{default_fs}/{path}"


def hdfs_path(ctx: Any, path: str) -> str:
    """`path` as it is called everywhere on the cluster."""
    return absolute(path, ctx.defaultFS, ctx.working_dir, getpass.getuser())


def start_cluster_server(ctx: Any, num_gpus: int = 1, rdma: bool = False) -> tuple[Any, Any]:
    """(cluster spec, server) of TensorFlow for this node, for programs that drive TensorFlow 1's sessions."""
    del num_gpus  # which GPUs are visible was decided before TensorFlow was imported
    import tensorflow as tf

    # An evaluator is no part of the training: a session would wait for its server.
    cluster = tf.train.ClusterSpec({name: addresses for name, addresses in ctx.cluster_spec.items()
                                    if name != "evaluator" or ctx.job_name == "evaluator"})
    protocol = "grpc+verbs" if rdma else "grpc"
    server = tf.distribute.Server(cluster, job_name=ctx.job_name, task_index=ctx.task_index, protocol=protocol)
    return cluster, server


def export_saved_model(sess: Any, export_dir: str, tag_set: str, signatures: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes the graph of a session of TensorFlow 1 as a SavedModel.

    tag_set     the tags, separated by commas
    signatures  key → {'inputs': {name: tensor}, 'outputs': {name: tensor}, 'method_name': name}
    """
    import tensorflow as tf

    v1 = tf.compat.v1
    builder = v1.saved_model.builder.SavedModelBuilder(export_dir)
    found = {}
    for key, signature in signatures.items():
        inputs, outputs = ({name: v1.saved_model.utils.build_tensor_info(tensor) for name, tensor in signature[side].items()}
                           for side in ("inputs", "outputs"))
        found[key] = v1.saved_model.signature_def_utils.build_signature_def(inputs=inputs, outputs=outputs,
                                                                            method_name=signature["method_name"])
    builder.add_meta_graph_and_variables(sess, tag_set.split(","), signature_def_map=found, clear_devices=True)
    builder.save()


def next_batch(mgr: Any, batch_size: int, qname: str = "input") -> Any:
    """As DataFeed.next_batch, for programs older than that class."""
    return DataFeed(mgr, qname_in=qname).next_batch(batch_size)


def batch_results(mgr: Any, results: Sequence[Any], qname: str = "output") -> None:
    """As DataFeed.batch_results, for programs older than that class."""
    DataFeed(mgr, qname_out=qname).batch_results(results)


def terminate(mgr: Any, qname: str = "input") -> None:
    """As DataFeed.terminate, for programs older than that class."""
    DataFeed(mgr, qname_in=qname).terminate()
