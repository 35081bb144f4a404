"""What a process needs that runs TensorFlow by itself, in a task of Spark."""

from __future__ import annotations

import os
from typing import Sequence

from gangrun.tensorflowonspark import gpu_info


def single_node_env(num_gpus: int = 1, worker_index: int = -1, nodes: Sequence[str] = ()) -> None:
    """Decides which GPUs this process sees: at most `num_gpus`, which are its own until it ends; without any, none.

    worker_index  the number of this task among all
    nodes         the addresses of all, for its rank on this host: the first of a host prefers its first GPUs
    """
    rank = worker_index
    if 0 <= worker_index < len(nodes):
        hosts = [address.rpartition(":")[0] or address for address in nodes]
        rank = hosts[:worker_index].count(hosts[worker_index])
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpu_info.of_this_process(num_gpus, rank))


def get_ip_address() -> str:
    """The address by which other hosts reach this one, as far as it knows."""
    import socket

    from gangrun.spark import _start

    try:
        return _start.own_address("192.0.2.1", 9)[0]  # of the range for documents: any that leads out
    except OSError:
        return socket.gethostbyname(socket.getfqdn())
