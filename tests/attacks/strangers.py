"""All that strangers try at the port of a master, wherever it runs: the kinds of test_joining and test_http, at the same time.

`connect()` makes a connection of TLS, `plain()` one without it.
"""

import concurrent.futures
import contextlib
import os
import socket

import wire
from test_http import PLAIN, STRANGE
from test_joining import REPORTS, WITHOUT

AT_ONCE = 16


def try_all(kinds, attack):
    """Each kind by attack(name); the failure names it."""
    def one(name):
        try:
            attack(name)
        except AssertionError as error:
            error.add_note(f"the kind: {name}")
            raise

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as attackers:
        list(attackers.map(one, kinds))


def come_without_the_secret(connect, secret):
    words = {"secret": secret, "short": secret[:-1], "upper": secret.upper(), "other": os.urandom(32).hex()}

    def told(text):
        for key, value in words.items():
            text = text.replace("{" + key + "}", value)
        return text

    def attack(name):
        headers, path, body = WITHOUT[name]
        for method in ("GET", "POST", "DELETE"):
            status, answer = wire.ask(connect(), wire.request(method, told(path), None, told(body.decode()).encode(), [told(each) for each in headers]))
            assert status == 401 and secret.encode() not in answer, (method, answer)

    try_all(WITHOUT, attack)


def say_strange_bytes(connect, allowed=(b"HTTP/1.1 4", b"HTTP/1.0 4")):
    """They get no answer, or one that begins like these."""
    def attack(name):
        connection = connect()
        wire.say(connection, STRANGE[name])
        if not STRANGE[name]:
            with contextlib.suppress(OSError):
                connection.unwrap() if hasattr(connection, "unwrap") else connection.shutdown(socket.SHUT_WR)
        got = wire.read_all(connection)
        connection.close()
        assert not got or got.startswith(allowed), got[:500]
        assert b'"tasks"' not in got, got[:500]

    try_all(STRANGE, attack)


def speak_no_tls(plain):
    def attack(name):
        connection = plain()
        wire.say(connection, PLAIN[name])
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        assert b"HTTP" not in wire.read_all(connection)
        connection.close()

    try_all(PLAIN, attack)


def open_wrong_sessions(connect, secret):
    """By who knows the secret: no session but that of the task itself is one."""
    def attack(name):
        connection = connect()
        assert wire.open_channel(connection, secret) == b"101"
        wire.say(connection, wire.message(**REPORTS[name]))
        got = wire.read_all(connection)
        connection.close()
        assert b'"refused"' in got and b'"welcome"' not in got and secret.encode() not in got, got

    try_all(REPORTS, attack)
