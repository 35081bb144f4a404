"""Connections that say nothing, or almost nothing: whoever has no secret has a share of the connections only."""

import contextlib
import socket
import threading

import pytest

import wire
from waiting import wait_until

DESCRIPTORS = 256
MANY = 600


def open_many(port, count, sent=b"", source=None):
    """Raw connections; those that are turned away count, too."""
    connections = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            connections.append(wire.tcp(port, source))
            wire.say(connections[-1], sent)
    return connections


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], ids=["silent", "half a greeting"])
def test_half_open_connections_leave_room(make_victim, sent):
    victim = make_victim(descriptors=DESCRIPTORS)
    connections = open_many(victim.port, MANY, sent)
    try:
        victim.assert_well()  # asks for the status by the Unix socket
        # Somebody with another address gets in by TLS, and so does one of the same address in the end.
        assert wire.ask(wire.tls(victim.port, "127.0.0.2"), wire.request(secret=victim.secret))[0] == 200

        def gets_in():
            with contextlib.suppress(OSError):
                return wire.ask(wire.tls(victim.port), wire.request(secret=victim.secret))[0] == 200
            return False

        wait_until(gets_in, "a way in", wire.LIMIT_S)
        crowd = [line for line in victim.log().splitlines() if "have not shown the job's secret" in line]
        assert len(crowd) == 1 and "from 127.0.0.1" in crowd[0], victim.log()
    finally:
        for each in connections:
            each.close()
    victim.let_end()


def test_many_sources_get_no_more_than_the_share(make_victim):
    victim = make_victim(descriptors=DESCRIPTORS)
    connections = []
    threads = [threading.Thread(target=lambda n=n: connections.extend(open_many(victim.port, 30, source=f"127.0.1.{n}")))
               for n in range(1, 21)]
    for thread in threads:
        thread.start()
    victim.assert_well()
    for thread in threads:
        thread.join(wire.LIMIT_S)
    victim.assert_well()
    for each in connections:
        each.close()
    victim.let_end()


def test_slow_requests_do_not_wait_for_their_bodies(victim):
    """A head without the secret is answered before its body has come."""
    connections = [wire.tls(victim.port) for _ in range(20)]
    for each in connections:
        wire.say(each, b"POST /v1/stop HTTP/1.1\r\nContent-Length: 200000\r\n\r\n")
    for each in connections:
        assert wire.read_all(each).startswith(b"HTTP/1.1 401")
        each.close()


def test_where_an_address_is_named_only_that_one_listens(victim):
    for other in ("127.0.0.2", "127.7.7.7"):
        with pytest.raises(OSError):
            socket.create_connection((other, victim.port), timeout=5)
