"""HTTP and WebSocket that are written wrongly on purpose, to the registry by TLS and to the page-less rest of it.

Whatever comes: no answer that only the secret opens, no crash, bounded memory, and the job goes on.
"""

import base64
import contextlib
import json
import socket
import struct
import threading

import pytest

import wire

CRLF = b"\r\n"

# Bytes from somebody without the secret.
STRANGE = {
    "nothing, and the end": b"",
    "one byte": b"G",
    "zeros": bytes(5000),
    "bytes of all values": bytes(range(256)) * 20,
    "no version": b"GET /v1/status\r\n\r\n",
    "version 0.9": b"GET /v1/status HTTP/0.9\r\n\r\n",
    "version 2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "version 9.9": b"GET /v1/status HTTP/9.9\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a method of control characters": b"G\x00T /v1/status HTTP/1.1\r\n\r\n",
    "a long method": b"A" * 50_000 + b" / HTTP/1.1\r\n\r\n",
    "a long target": b"GET /" + b"a" * 50_000 + b" HTTP/1.1\r\n\r\n",
    "a target without a slash": b"GET v1/status HTTP/1.1\r\n\r\n",
    "a target of another host": b"GET http://169.254.169.254/latest HTTP/1.1\r\n\r\n",
    "a target for a proxy": b"CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n",
    "an escape that is broken": b"GET /%zz HTTP/1.1\r\n\r\n",
    "an escaped NUL": b"GET /v1/status%00.html HTTP/1.1\r\n\r\n",
    "a way out of the tree": b"GET /v1/../../../../etc/passwd HTTP/1.1\r\n\r\n",
    "an escaped way out": b"GET /v1/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n\r\n",
    "a header without a colon": b"GET / HTTP/1.1\r\nnonsense\r\n\r\n",
    "a header without a name": b"GET / HTTP/1.1\r\n: x\r\n\r\n",
    "a header with a space in its name": b"GET / HTTP/1.1\r\nAuthorization : Bearer x\r\n\r\n",
    "a folded header": b"GET / HTTP/1.1\r\nAuthorization: Bearer\r\n x\r\n\r\n",
    "a header with a NUL": b"GET / HTTP/1.1\r\nX: a\x00b\r\n\r\n",
    "a long header": b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 20_000 + b"\r\n",
    "only line feeds": b"GET / HTTP/1.1\n\n",
    "a length that is no number": b"POST /v1/stop HTTP/1.1\r\nContent-Length: ten\r\n\r\n",
    "a negative length": b"POST /v1/stop HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "a length of 20 digits": b"POST /v1/stop HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "two lengths": b"POST /v1/stop HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a length and pieces": b"POST /v1/stop HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a piece without an end": b"POST /v1/stop HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    "a piece of no number": b"POST /v1/stop HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "pieces inside pieces": b"POST /v1/stop HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "a request inside a request": b"POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\nGET /v1/status HTTP/1.1\r\n\r\n    ",
    "a body before anybody wants it": b"POST /v1/stop HTTP/1.1\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n" + b"x" * 100_000,
    "an upgrade to something else": b"GET /v1/agent HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    "an upgrade without a key": b"GET /v1/agent HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "a request that is repeated": b"GET /v1/status HTTP/1.1\r\n\r\n" * 2000,
}


@pytest.mark.parametrize("way", ["tls", "unix"])
@pytest.mark.parametrize("name", STRANGE)
def test_strange_bytes_get_nothing(victim, name, way):
    connection = wire.tls(victim.port) if way == "tls" else wire.unix(victim.socket)
    wire.say(connection, STRANGE[name])
    with contextlib.suppress(OSError):
        if way == "unix":
            connection.shutdown(socket.SHUT_WR)
        else:
            connection.settimeout(wire.LIMIT_S)
            connection.unwrap() if not STRANGE[name] else None
    got = wire.read_all(connection)
    assert b" 200 " not in got and b" 101 " not in got and b'"tasks"' not in got, got[:500]
    assert not got or got.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), got[:500]
    connection.close()


PLAIN = {
    "HTTP without encryption": wire.request(),
    "zeros": bytes(5000),
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a record that is too long": b"\x16\x03\x01\xff\xff" + bytes(70_000),
    "a greeting without an end": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "an alert": b"\x15\x03\x03\x00\x02\x02\x28",
    "a greeting of 1995": b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + bytes(40),
    "data before a greeting": b"\x17\x03\x03\x00\x10" + bytes(16),
}


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_no_tls_gets_nothing(victim, name):
    connection = wire.tcp(victim.port)
    wire.say(connection, PLAIN[name])
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
    assert b"HTTP" not in wire.read_all(connection)
    connection.close()


@pytest.mark.parametrize("path, method, body, statuses", [
    ("/v1/stop", "POST", b"", (400,)),
    ("/v1/stop", "POST", b"[]", (400,)),
    ("/v1/stop", "POST", b'{"at_once":"yes"}', (400,)),
    ("/v1/stop", "POST", b'{"by":"' + b"x" * 5000 + b'"}', (413,)),
    ("/v1/stop", "POST", b'{"by":""}', (400,)),
    ("/v1/stop", "POST", b'{"by":"\xff"}', (400,)),
    ("/v1/stop", "POST", b'{"force":true}', (400,)),
    ("/v1/stop", "POST", b"[" * 2000, (400,)),
    ("/v1/stop", "POST", b'{"at_once":1e999}', (400,)),
    ("/v1/stop", "GET", b"", (405,)),
    ("/v1/ask", "POST", b'{"kind":7}', (400,)),
    ("/v1/ask", "GET", b"", (405,)),
    ("/v1/notice", "POST", b'{"by":7}', (400,)),
    ("/v1/notice", "PUT", b"{}", (405,)),
    ("/v1/cluster-spec?generation=0", "GET", b"", (400,)),
    ("/v1/cluster-spec?generation=x", "GET", b"", (400,)),
    ("/v1/cluster-spec?wait=99999999999", "GET", b"", (400,)),
    ("/v1/lines?from=-1", "GET", b"", (400,)),
    ("/v1/lines?wait_ms=99999999", "GET", b"", (400,)),
    ("/v1/rendezvous/a", "PUT", b"x", (400,)),
    ("/v1/rendezvous/" + "a" * 5000 + "/b", "PUT", b"x", (400,)),
    ("/v1/rendezvous/a/b", "PUT", b"x" * 300_000, (413,)),
    ("/v1/rendezvous/a/b", "DELETE", b"", (405,)),
    ("/v1/tasks/worker/0/0", "GET", b"", (404,)),
    ("/v1/tasks/worker/99999999999999999999", "GET", b"", (404,)),
    ("/v1/agent", "GET", b"", (426,)),
    ("/v2/status", "GET", b"", (404,)),
    ("/v1/status/", "GET", b"", (404,)),
], ids=str)
def test_with_the_secret_wrong_requests_are_errors(victim, path, method, body, statuses):
    status, answer = wire.ask(wire.tls(victim.port), wire.request(method, path, victim.secret, body))
    assert status in statuses, answer
    assert victim.secret.encode() not in answer


HELLO = wire.message(**wire.report(task="worker:9"))
# Frames in a session whose HTTP was right; all end it, or are refused.
FRAMES = {
    "no mask": wire.frame(json.dumps(wire.report()).encode(), mask=False),
    "a frame of bytes": wire.frame(json.dumps(wire.report()).encode(), opcode=2),
    "reserved bits": wire.frame(b"{}", reserved=7),
    "an unknown kind": wire.frame(b"{}", opcode=3),
    "an unknown kind of control": wire.frame(b"", opcode=11),
    "a continuation of nothing": wire.frame(b"{}", opcode=0),
    "a beginning inside a message": wire.frame(b"{", final=False) + wire.frame(b"}"),
    "a control frame in parts": wire.frame(b"x", opcode=9, final=False),
    "a long ping": wire.frame(b"x" * 200, opcode=9),
    "a length of 2^63": wire.frame(b"", length=1 << 63),
    "a length of a terabyte": wire.frame(b"x", length=1 << 40),
    "a message of 2 MiB": wire.frame(b"x" * (2 << 20)),
    "a message of 2 MiB in parts": wire.frame(b"x" * 1000, final=False) + wire.frame(b"x" * 1000, opcode=0, final=False) * 2100,
    "no JSON": wire.frame(b"attacker"),
    "no UTF-8": wire.frame(b'{"type":"\xff\xfe"}'),
    "deep JSON": wire.frame(b"[" * 100_000),
    "a list": wire.frame(b"[1,2]"),
    "a number": wire.frame(b"1e400"),
    "members twice": wire.frame(b'{"type":"report","type":"exited"}'),
    "an empty message": wire.frame(b""),
    "a farewell of one byte": wire.frame(b"x", opcode=8),
    "a farewell with a wrong code": wire.frame(struct.pack(">H", 1) + b"x", opcode=8),
    "a farewell of no UTF-8": wire.frame(struct.pack(">H", 1000) + b"\xff\xfe", opcode=8),
    "a made-up farewell": wire.frame(struct.pack(">H", 1000) + b"done", opcode=8),
}


@pytest.mark.parametrize("name", FRAMES)
def test_wrong_frames_end_their_session_only(victim, name):
    connection = wire.tls(victim.port)
    assert wire.open_channel(connection, victim.secret) == b"101"
    wire.say(connection, FRAMES[name])
    wire.say(connection, HELLO)
    got = wire.read_all(connection)
    assert b"welcome" not in got and b"start" not in got
    connection.close()
    victim.wait_for_ticks()


@pytest.mark.parametrize("change", [
    {"version": "7"}, {"key": ""}, {"key": "x"}, {"key": base64.b64encode(b"short").decode()}, {"path": "/v1/status"}, {"path": "/"},
    {"more": ["Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99"]},
], ids=str)
def test_wrong_upgrades_open_nothing_else(victim, change):
    connection = wire.tls(victim.port)
    wire.say(connection, wire.upgrade(secret=victim.secret, **change))
    # What follows is refused as a first message, where the upgrade is taken.
    wire.say(connection, HELLO)
    got = wire.read_all(connection)
    assert b"welcome" not in got and b"permessage-deflate" not in got
    connection.close()


def test_a_thousand_pings_are_no_trouble(victim):
    connection = wire.tls(victim.port)
    assert wire.open_channel(connection, victim.secret) == b"101"
    # Nobody reads the answers; who floods is cut off, or waits.
    connection.settimeout(5)
    with contextlib.suppress(OSError):
        for _ in range(1000):
            connection.sendall(wire.frame(b"x" * 120, opcode=9) * 10)
    victim.assert_well()
    connection.close()


def test_waiters_are_bounded_and_leave_when_they_go(victim):
    connections = [wire.tls(victim.port) for _ in range(100)]
    for each in connections:
        wire.say(each, wire.request("GET", "/v1/cluster-spec?generation=2&wait=60", victim.secret))
    victim.assert_well()
    for each in connections:
        each.close()
    victim.assert_well()


def test_many_at_once_get_their_answers(victim):
    statuses = []

    def go():
        statuses.append(wire.ask(wire.tls(victim.port), wire.request(secret=victim.secret))[0])

    threads = [threading.Thread(target=go) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(wire.LIMIT_S)
    assert statuses == [200] * 50
