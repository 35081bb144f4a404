"""Joining, and saying again what was said before: with no secret, with a wrong one, and with the right one at the wrong time.

All against one job, by TLS and by its Unix socket. Whoever has the secret may do everything, but a task has one session, runs
once, and is not what somebody says who comes later.
"""

import json
import os
import socket
import ssl

import pytest

import wire

# What a request without the secret looks like: (headers, path, body).
WITHOUT = {
    "nothing": ([], "/v1/status", b""),
    "an empty token": (["Authorization: Bearer "], "/v1/status", b""),
    "no token": (["Authorization: Bearer"], "/v1/status", b""),
    "no scheme": (["Authorization: {secret}"], "/v1/status", b""),
    "another scheme": (["Authorization: Basic {secret}"], "/v1/status", b""),
    "a digest": (["Authorization: Digest username=root, response={secret}"], "/v1/status", b""),
    "the token without its last digit": (["Authorization: Bearer {short}"], "/v1/status", b""),
    "the token and one digit more": (["Authorization: Bearer {secret}0"], "/v1/status", b""),
    "the token in capitals": (["Authorization: Bearer {upper}"], "/v1/status", b""),
    "the token twice": (["Authorization: Bearer {secret}{secret}"], "/v1/status", b""),
    "the token, a comma and another": (["Authorization: Bearer {secret}, Bearer x"], "/v1/status", b""),
    "another job's token": (["Authorization: Bearer {other}"], "/v1/status", b""),
    "zeros": (["Authorization: Bearer " + "0" * 64], "/v1/status", b""),
    "a long token": (["Authorization: Bearer " + "a" * 8000], "/v1/status", b""),
    "a wrong one before the right one": (["Authorization: Bearer x", "Authorization: Bearer {secret}"], "/v1/status", b""),
    "in the query": ([], "/v1/status?secret={secret}&token={secret}&access_token={secret}", b""),
    "in the path": ([], "/v1/{secret}/status", b""),
    "in a cookie": (["Cookie: secret={secret}"], "/v1/status", b""),
    "in a header of a proxy": (["Proxy-Authorization: Bearer {secret}", "X-Forwarded-User: root"], "/v1/status", b""),
    "in the body": ([], "/v1/join", b'{"secret":"{secret}"}'),
}


@pytest.mark.parametrize("way", ["tls", "unix"])
@pytest.mark.parametrize("name", WITHOUT)
def test_without_the_secret_everything_is_a_401(victim, name, way):
    headers, path, body = WITHOUT[name]
    words = {"secret": victim.secret, "short": victim.secret[:-1], "upper": victim.secret.upper(), "other": os.urandom(32).hex()}

    def told(text):
        for key, value in words.items():
            text = text.replace("{" + key + "}", value)
        return text

    body = told(body.decode()).encode()
    for method in ("GET", "PUT", "POST", "DELETE", "OPTIONS"):
        connection = wire.tls(victim.port) if way == "tls" else wire.unix(victim.socket)
        status, answer = wire.ask(connection, wire.request(method, told(path), None, body, [told(each) for each in headers]))
        assert status == 401, (method, answer)
        assert json.loads(answer) == {"error": {"code": "unauthenticated", "message": "not authorized"}}
    connection = wire.tls(victim.port) if way == "tls" else wire.unix(victim.socket)
    wire.say(connection, wire.upgrade().replace(b"\r\n\r\n", ("".join(f"\r\n{told(each)}" for each in headers) + "\r\n\r\n").encode()))
    assert wire.read_all(connection).startswith(b"HTTP/1.1 401")


def test_that_is_told_once_for_each_way(victim):
    for _ in range(20):
        wire.ask(wire.tls(victim.port), wire.request())
        wire.ask(wire.unix(victim.socket), wire.request())
    refusals = [line for line in victim.log().splitlines() if "refused a request" in line]
    assert len(refusals) == 2 and sum("by TLS" in line for line in refusals) == 1
    victim.assert_well()


def session(victim, *frames):
    """What the master answers to these in a session of its own, until it ends it; with the secret."""
    connection = wire.tls(victim.port)
    assert wire.open_channel(connection, victim.secret) == b"101"
    for each in frames:
        wire.say(connection, each)
    got = wire.read_all(connection)
    connection.close()
    return got


EXIT = {"success": False, "why": {"reason": "exit_status", "code": 3}, "port_lost": False, "last_lines": ["attacker"], "traceback": ""}
RUNNING = {"state": "running", "run_attempt": 1, "generation": 1, "user_pid": 1}
# What comes first in a session, beside the one that the task has.
REPORTS = {
    "a second session of a running task": wire.report(),
    "a second session that says it runs": wire.report(**RUNNING),
    "a second session that says it has ended":
        wire.report(state="exited", run_attempt=1, generation=1, ended_ms_ago=0, exit=EXIT),
    "the next attempt": wire.report(attempt=2),
    "attempt 0": wire.report(attempt=0),
    "a negative attempt": wire.report(attempt=-1),
    "the last attempt of all": wire.report(attempt=1_000_000),
    "an attempt after that": wire.report(attempt=1_000_001),
    "a run that is not the current one": wire.report(state="running", run_attempt=7, generation=1, user_pid=1),
    "a generation that is not published": wire.report(state="running", run_attempt=1, generation=9, user_pid=1),
    "a task that the job does not have": wire.report(task="worker:9"),
    "a type that the job does not have": wire.report(task="chief:0"),
    "a task that is none": wire.report(task="worker:-1"),
    "a task with a path": wire.report(task="../../etc:0"),
    "an old protocol": wire.report(protocol=2),
    "a new protocol": wire.report(protocol=4),
    "a protocol as text": wire.report(protocol="3"),
    "an address without a port": wire.report(address="127.0.0.1"),
    "a long address": wire.report(address="a" * 300 + ":1"),
    "too many ports": wire.report(more_ports=list(range(1, 70))),
    "a long reason": wire.report(address_reason="r" * 5000),
    "a member too many": wire.report(root=True),
    "no type": {key: value for key, value in wire.report().items() if key != "type"},
    "started first": {"type": "started", "attempt": 1, "generation": 1, "pid": 1},
    "exited first": {"type": "exited", "attempt": 1, "generation": 1, "ended_ms_ago": 0, "exit": EXIT},
    "a heartbeat first": {"type": "heartbeat", "memory_bytes": 1, "cpu_seconds": 1, "progress": True},
    "lines first": {"type": "log", "stream": "out", "lines": ["attacker"], "dropped": 0},
    "a lost port first": {"type": "port_lost", "attempt": 1, "generation": 1},
    "figures first": {"type": "figures", "attempt": 1, "generation": 1, "figures": {"attacker": 1}},
    "a result first": {"type": "result", "attempt": 1, "generation": 1, "offset": 0, "size": 1, "bytes": "00"},
    "a message of masters": {"type": "start", "attempt": 1, "restarts": 0, "cluster_spec": {"generation": 1, "tasks": {}}},
    "the farewell of the master": {"type": "end", "grace_ms": 0},
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_session_at_the_wrong_time_changes_nothing(victim, name):
    then = wire.message(type="exited", attempt=1, generation=1, ended_ms_ago=0, exit=EXIT)
    got = session(victim, wire.message(**REPORTS[name]), then, then)
    assert b'"refused"' in got, got
    assert b'"welcome"' not in got and b'"type":"start"' not in got
    assert b"MASTER" not in got and victim.secret.encode() not in got


@pytest.mark.parametrize("path, body, statuses", [
    ("/v1/tasks/worker/0", {"attempt": 1, "address": "127.0.0.1:666"}, (409,)),
    ("/v1/tasks/worker/0", {"attempt": 2, "address": "127.0.0.1:666"}, (409,)),
    ("/v1/tasks/worker/9", {"attempt": 1, "address": "127.0.0.1:666"}, (404,)),
    ("/v1/tasks/worker/0", {"attempt": 1, "address": "evil.example:0"}, (400, 409)),
    ("/v1/tasks/worker/0", {"attempt": 1}, (400,)),
    ("/v1/tasks/../../etc/passwd", {"attempt": 1, "address": "127.0.0.1:666"}, (404,)),
], ids=str)
def test_a_task_that_has_reported_does_not_report_again(victim, path, body, statuses):
    before = victim.status()["tasks"]
    status, _ = wire.ask(wire.tls(victim.port), wire.request("PUT", path, victim.secret, json.dumps(body).encode()))
    assert status in statuses
    assert [task["address"] for task in victim.status()["tasks"]] == [task["address"] for task in before]


def test_nobody_joins_a_job_that_waits_for_nobody(victim):
    body = json.dumps({"task": "worker:0", "attempt": 0, "executor": "x", "host": "127.0.0.1", "host_reason": "r"}).encode()
    status, answer = wire.ask(wire.tls(victim.port), wire.request("POST", "/v1/join", victim.secret, body))
    assert status == 404 and victim.secret.encode() not in answer


class Wiretap:
    """Passes one connection on to the victim, and keeps what the client has sent."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.to = self.listener.getsockname()[1], port

    def pass_on(self, sent):
        """What a client of TLS sends for these bytes, as it is on the wire."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = wire.tls_context().wrap_bio(incoming, outgoing)
        record = b""
        connection = wire.tcp(self.to)

        def flush():
            nonlocal record
            piece = outgoing.read()
            record += piece
            connection.sendall(piece)

        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                flush()
                incoming.write(connection.recv(1 << 16))
        tls.write(sent)
        flush()
        answer = connection.recv(1 << 16)
        connection.close()
        return record, answer


@pytest.mark.parametrize("part", [1.0, 0.9, 0.5, 0.1])
def test_a_recorded_connection_says_nothing_when_it_is_sent_again(victim, part):
    stop = wire.request("GET", "/v1/status", victim.secret)
    record, answer = Wiretap(victim.port).pass_on(stop)
    assert len(answer) > 100  # it was a good one
    connection = wire.tcp(victim.port)
    wire.say(connection, record[:int(len(record) * part)])
    connection.shutdown(socket.SHUT_WR)
    assert b"HTTP" not in wire.read_all(connection)


def test_no_session_of_tls_is_taken_up_again(victim):
    context = wire.tls_context()
    first = context.wrap_socket(wire.tcp(victim.port))
    wire.say(first, wire.request())
    wire.read_all(first)
    ticket = first.session
    first.close()
    assert ticket is None or not ticket.has_ticket


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_1], ids=str)
def test_older_versions_of_tls_are_refused(victim, newest):
    context = wire.tls_context()
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.maximum_version = newest
    with pytest.raises((ssl.SSLError, OSError)):
        context.wrap_socket(wire.tcp(victim.port))


def test_the_secret_of_an_ended_job_opens_no_other(victim, run_gangrun, home):
    assert run_gangrun("run", "-r", "worker:1", "--", "true").status == 0
    (folder,) = (home / "jobs").iterdir()
    old = (folder / "secret").read_text().strip()
    assert old != victim.secret
    status, _ = wire.ask(wire.tls(victim.port), wire.request(secret=old))
    assert status == 401


@pytest.mark.parametrize("by", ["ana\n2026-01-31T12:00:00.123Z info the job has succeeded", "\x1b]52;c;aGk=\x07", "\x1b[2J\x1b[H",
                                "\r\rgangrun: the job has succeeded", "\u202egnp.exe", "\x00\x01\x7f", "x" * 200, "\u2028\u2029"])
def test_who_asks_has_no_line_of_his_own_in_the_log(victim, by):
    for _ in range(2):
        status, _ = wire.ask(wire.tls(victim.port),
                             wire.request("POST", "/v1/notice", victim.secret, json.dumps({"by": by}).encode()))
        assert status == 202
    # Those of the agents have no time.
    assert all(line.startswith(("2", "gangrun-agent ")) for line in victim.log().splitlines()), victim.log()
    assert not any(line.endswith("the job has succeeded") for line in victim.log().splitlines())
    victim.assert_well()
