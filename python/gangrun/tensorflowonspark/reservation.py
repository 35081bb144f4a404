"""Stop the streams of a cluster from another process: `Client(server_addr).request_stop()`."""

from __future__ import annotations

from typing import Any, Sequence

from gangrun import _refused
from gangrun.spark import _streams


class Client:
    """A client of the cluster with this `cluster_meta["server_addr"]`, a pair (host, port).

    It does not connect to that address. It finds the cluster's job on this machine, so it works only on the driver's machine
    and as the driver's user.
    """

    def __init__(self, server_addr: Sequence[Any]) -> None:
        host, port = server_addr
        self.server_addr = (str(host), int(port))

    def request_stop(self) -> None:
        """Ask the cluster's streams to stop, so that TFCluster.shutdown(ssc) continues.

        Raises NoSuchJob if there is no such cluster.
        """
        _streams.request_stop_at(*self.server_addr)

    def close(self) -> None:
        """Do nothing; there is no open connection."""

    def __getattr__(self, name: str) -> Any:
        raise _refused.member("tensorflowonspark.reservation.Client", name, "there are request_stop and close; cluster.cluster_info of "
                              "TFCluster.run has what the nodes reported")


__getattr__ = _refused.names("tensorflowonspark.reservation", dict.fromkeys(
    ("Server", "Reservations", "MessageSocket"), "nodes report to the master of their own cluster, over TLS; TFCluster.run starts it, and "
    "cluster.cluster_info has what they reported"))
