"""Functions for a map_fun inside its node."""

from __future__ import annotations

import getpass
import logging
import posixpath
import re
from typing import Any, Mapping, Sequence

from gangrun.spark._data_feed import DataFeed as DataFeed

logger = logging.getLogger("gangrun.spark")

# Known schemes. A path with another scheme is used as it is, with a warning.
SCHEMES = ("adl", "file", "gs", "hdfs", "oss", "s3", "s3a", "s3n", "swift", "viewfs", "wasb", "wasbs", "abfs", "abfss")
SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")


def absolute(path: str, default_fs: str, working_dir: str, user: str) -> str:
    """Return the full path or URL of `path` on the cluster.

    A path with a scheme is returned as it is. Others are on the default file system; a relative path starts there in the
    user's home folder (HDFS) or in the driver's working folder (local file system).
    """
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
    """Return the full path or URL of `path`, which is valid on every node."""
    return absolute(path, ctx.defaultFS, ctx.working_dir, getpass.getuser())


def start_cluster_server(ctx: Any, num_gpus: int = 1, rdma: bool = False) -> tuple[Any, Any]:
    """Return (ClusterSpec, Server) of TensorFlow for this node, for programs with TensorFlow 1 sessions.

    `num_gpus` is ignored: the visible GPUs are set before map_fun is called.
    """
    del num_gpus  # which GPUs are visible was decided before TensorFlow was imported
    import tensorflow as tf

    # An evaluator is no part of the training: a session would wait for its server.
    cluster = tf.train.ClusterSpec({name: addresses for name, addresses in ctx.cluster_spec.items()
                                    if name != "evaluator" or ctx.job_name == "evaluator"})
    protocol = "grpc+verbs" if rdma else "grpc"
    server = tf.distribute.Server(cluster, job_name=ctx.job_name, task_index=ctx.task_index, protocol=protocol)
    return cluster, server


def export_saved_model(sess: Any, export_dir: str, tag_set: str, signatures: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the graph of a TensorFlow 1 session as a SavedModel.

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
    """Same as DataFeed.next_batch, for older programs."""
    return DataFeed(mgr, qname_in=qname).next_batch(batch_size)


def batch_results(mgr: Any, results: Sequence[Any], qname: str = "output") -> None:
    """Same as DataFeed.batch_results, for older programs."""
    DataFeed(mgr, qname_out=qname).batch_results(results)


def terminate(mgr: Any, qname: str = "input") -> None:
    """Same as DataFeed.terminate, for older programs."""
    DataFeed(mgr, qname_in=qname).terminate()
