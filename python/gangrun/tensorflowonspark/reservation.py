"""What programs use to end a stream from outside: `Client(server_addr).request_stop()`."""

from __future__ import annotations

from typing import Any, Sequence

from gangrun import _refused
from gangrun.spark import _streams


class Client:
    """Of the cluster whose `cluster_meta["server_addr"]` it is given: (host, port).

    Nobody is connected to at that address, where only nodes are answered: the cluster is found by its job on this machine, of this
    user. Elsewhere, and for anybody else, it is not there.
    """

    def __init__(self, server_addr: Sequence[Any]) -> None:
        host, port = server_addr
        self.server_addr = (str(host), int(port))

    def request_stop(self) -> None:
        """Asks that the cluster's streams end: TFCluster.shutdown(ssc) then goes on. NoSuchJob where there is no such cluster."""
        _streams.request_stop_at(*self.server_addr)

    def close(self) -> None:
        """Nothing is open."""

    def __getattr__(self, name: str) -> Any:
        raise _refused.member("tensorflowonspark.reservation.Client", name, "there are request_stop and close; cluster.cluster_info of "
                              "TFCluster.run has what the nodes reported")


__getattr__ = _refused.names("tensorflowonspark.reservation", dict.fromkeys(
    ("Server", "Reservations", "MessageSocket"), "nodes report to the master of their own cluster, over TLS; TFCluster.run starts it, and "
    "cluster.cluster_info has what they reported"))
