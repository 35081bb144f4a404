"""Helpers for single-node TensorFlow in a Spark task."""

from __future__ import annotations

import os
from typing import Sequence

from gangrun.tensorflowonspark import gpu_info


def single_node_env(num_gpus: int = 1, worker_index: int = -1, nodes: Sequence[str] = ()) -> None:
    """Set CUDA_VISIBLE_DEVICES to at most `num_gpus` GPUs, reserved for this process until it ends; to none if there are none.

    worker_index  the index of this task among all tasks
    nodes         the addresses of all tasks; from them follows the rank on this host: lower ranks prefer lower GPUs
    """
    rank = worker_index
    if 0 <= worker_index < len(nodes):
        hosts = [address.rpartition(":")[0] or address for address in nodes]
        rank = hosts[:worker_index].count(hosts[worker_index])
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpu_info.of_this_process(num_gpus, rank))


def get_ip_address() -> str:
    """Return the IP address at which other hosts can reach this host, as far as it can be determined."""
    import socket

    from gangrun.spark import _start

    try:
        return _start.own_address("192.0.2.1", 9)[0]  # of the range for documents: any that leads out
    except OSError:
        return socket.gethostbyname(socket.getfqdn())
