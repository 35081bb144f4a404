"""The same roll call by a peer, for bench/roll_call.py: one process is the server, another has all clients.

    python -c "import roll_call_peer; roll_call_peer.main()" reservation|tcpstore CLIENTS

Prints one JSON object with the figures of bench/roll_call.cc. All clients but one register first; the time
counts from the last one's connection until every client has all addresses. Nothing is encrypted.
"""

import json
import os
import resource
import socket
import sys
import threading
import time



def address(index: int) -> str:
    return f"10.{10 + index // 250}.{index % 250}.7:{30_000 + index * 7919 % 30_000}"


class Reservation:
    """TensorFlowOnSpark's reservation server: registration, then a poll every second."""

    def serve(self, count: int) -> tuple[str, int]:
        import logging
        logging.disable(logging.CRITICAL)
        from tensorflowonspark import reservation, util
        util.get_ip_address = lambda: "127.0.0.1"  # it asks a route to a public address
        return reservation.Server(count).start()

    def prepare(self) -> None:
        import logging
        logging.disable(logging.CRITICAL)
        import tensorflowonspark.reservation  # noqa: F401

    def register(self, server: tuple[str, int], index: int, count: int):
        from tensorflowonspark import reservation
        client = reservation.Client(server)
        client.register({"job_name": "worker", "task_index": index, "addr": address(index)})
        return client

    def spec(self, client, index: int, count: int) -> int:
        return len(client.await_reservations())


class TcpStore:
    """c10d's store: everyone sets a key, the first reads all and sets the spec, the others wait for that."""

    def serve(self, count: int) -> tuple[str, int]:
        from torch.distributed import TCPStore
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.store = TCPStore("127.0.0.1", port, count + 1, True, wait_for_workers=False)
        return "127.0.0.1", port

    def prepare(self) -> None:
        import torch.distributed  # noqa: F401

    def register(self, server: tuple[str, int], index: int, count: int):
        from torch.distributed import TCPStore
        store = TCPStore(*server, count + 1, False, wait_for_workers=False)
        store.set(f"worker/{index}", address(index))
        return store

    def spec(self, store, index: int, count: int) -> int:
        if index == 0:
            store.set("spec", json.dumps([store.get(f"worker/{peer}").decode() for peer in range(count)]))
        return len(json.loads(store.get("spec")))


PEERS = {"reservation": Reservation, "tcpstore": TcpStore}


def in_threads(count: int, work) -> None:
    """work(index) for all indexes, each in a thread of its own; fails when one of them does."""
    failures = []

    def guarded(index: int) -> None:
        try:
            work(index)
        except Exception as failure:  # noqa: BLE001 - told below
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def clients(peer, server: tuple[str, int], count: int) -> float:
    """Milliseconds from the last client's connection to the spec at all."""
    threading.stack_size(256 * 1024)
    peer.prepare()
    connected = {}
    for index in range(count - 1):
        connected[index] = peer.register(server, index, count)
    begin = [0.0]

    def one(index: int) -> None:
        if index == count - 1:
            begin[0] = time.monotonic()
            connected[index] = peer.register(server, index, count)
        if peer.spec(connected[index], index, count) != count:
            raise SystemExit(f"client {index} has another spec")

    in_threads(count, one)
    return (time.monotonic() - begin[0]) * 1000


def used() -> tuple[float, int]:
    """CPU in ms, and the largest that this process has been in bytes."""
    taken = resource.getrusage(resource.RUSAGE_SELF)
    return (taken.ru_utime + taken.ru_stime) * 1000, taken.ru_maxrss * 1024


def main() -> None:
    peer, count = PEERS[sys.argv[1]](), int(sys.argv[2])
    there, back = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        server = tuple(json.loads(os.read(there[0], 1000)))
        os.write(back[1], str(clients(peer, server, count)).encode())
        os._exit(0)
    os.close(back[1])
    peer.prepare()
    cpu, size = used()
    os.write(there[1], json.dumps(peer.serve(count)).encode())
    taken = os.read(back[0], 100)
    if not taken:
        sys.exit("the clients have failed")
    cpu_now, size_now = used()
    os.waitpid(child, 0)
    print(json.dumps({"agents": count, "last_report_to_spec_ms": float(taken),
                      "master_cpu_ms": cpu_now - cpu, "master_bytes": size_now - size}), flush=True)
    os._exit(0)  # their servers' threads do not end
