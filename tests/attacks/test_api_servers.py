"""API servers of Kubernetes that are rogue: what they say is text, is bounded, and ends at most their job."""

import gzip
import os

import pytest
from rogue_api import TOKEN, RogueApi
from said import EVIL, assert_clean, assert_logs_clean, usage_of

MOST_MEMORY_KB = 400 * 1024


def with_length(length, body=b"{}"):
    def behave(talk):
        talk.begin(200, "Content-Type: application/json", f"Content-Length: {length}")
        talk.send(body)

    return behave


def endless(piece, *fields):
    def behave(talk):
        talk.begin(200, "Content-Type: application/json", *fields)
        talk.flood(piece)

    return behave


def refusing(status, message, *fields, reason="Forbidden", **more):
    return lambda talk: talk.refuse(status, reason, message, *fields, **more)


def answering(body, *fields, status=200):
    return lambda talk: talk.answer(status, body, *fields)


# Of a server of which nothing can be had. It may be asked again for as long as a start has.
HOPELESS = {
    "closes": lambda talk: None,
    "no HTTP": lambda talk: talk.send(EVIL),
    "a megabyte without a line": lambda talk: talk.send(b"x" * (1 << 20)),
    "a head that does not end": lambda talk: (talk.send("HTTP/1.1 200 OK\r\n"), talk.flood(b"A: " + b"b" * 1000 + b"\r\n")),
    "a field that does not end": lambda talk: (talk.send("HTTP/1.1 200 OK\r\nA: "), talk.flood(b"b" * 1000)),
    "a status that is none": lambda talk: talk.send("HTTP/1.1 999999999999 OK\r\n\r\n"),
    "a reason with words": lambda talk: talk.send(f"HTTP/1.1 400 {EVIL}\r\nContent-Length: 0\r\n\r\n"),
    "another protocol": lambda talk: talk.send("SSH-2.0-OpenSSH_9.2\r\n"),
    "a body that does not end": endless(b"[" * 65536),
    "chunks that do not end": endless(b"10000\r\n" + b" " * 65536 + b"\r\n", "Transfer-Encoding: chunked"),
    "a chunk of 16 EiB": endless(b"ffffffffffffffff\r\n" + b" " * 65536, "Transfer-Encoding: chunked"),
    "a chunk that is none": endless(b"-1\r\n", "Transfer-Encoding: chunked"),
    "a length of 8 EiB": with_length(2**63 - 1),
    "a length beyond that": with_length(2**64),
    "a negative length": with_length(-1),
    "two lengths": lambda talk: (talk.begin(200, "Content-Length: 2", "Content-Length: 200"), talk.send("{}")),
    "a length and chunks": lambda talk: (talk.begin(200, "Content-Length: 2", "Transfer-Encoding: chunked"), talk.send("0\r\n\r\n")),
    "less than it says": with_length(1000),
    "nothing": answering(""),
    "words": answering(EVIL),
    "a page": answering(f"<html><script>{EVIL}</script></html>", "Content-Type: text/html"),
    "half an object": answering('{"kind":"PodList","items":[{"metadata":'),
    "a number": answering("1e999"),
    "a list": answering("[]"),
    "null": answering("null"),
    "deep": answering(b"[" * 5_000_000),
    "deep objects": answering(b'{"a":' * 2_000_000),
    "bytes that are no UTF-8": answering(b'{"kind":"\xff\xfe\x80"}'),
    "another kind": answering({"kind": EVIL, "apiVersion": EVIL, "metadata": {"name": EVIL}}),
    "no metadata": answering({"kind": "Job", "apiVersion": "batch/v1"}),
    "metadata as text": answering({"kind": "Job", "apiVersion": "batch/v1", "metadata": EVIL, "items": EVIL}),
    "a name with words": answering({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": EVIL, "uid": EVIL, "resourceVersion": EVIL}}),
    "a bomb that is packed": answering(gzip.compress(b" " * (1 << 28)), "Content-Encoding: gzip"),
    "204": lambda talk: talk.begin(204),
    "an upgrade that nobody asked for": lambda talk: (talk.begin(101, "Upgrade: websocket"), talk.flood(b"\x82\x7e\xff\xff" + bytes(65535))),
    "many early answers": lambda talk: talk.flood("HTTP/1.1 100 Continue\r\n\r\n"),
    "not authorized, with words": refusing(401, EVIL, reason="Unauthorized"),
    "forbidden, with words": refusing(403, EVIL),
    "forbidden, with 8 MiB of words": refusing(403, "r" * (8 << 20)),
    "forbidden, with words in its details": refusing(403, EVIL, details={"kind": EVIL, "name": EVIL, "causes": [{"reason": EVIL, "message": EVIL}] * 1000}),
    "refused as a page": answering(EVIL * 1000, status=403),
    "invalid, with words": refusing(422, EVIL, reason="Invalid"),
    "there already, always": refusing(409, EVIL, reason="AlreadyExists"),
    "never there": refusing(404, EVIL, reason="NotFound"),
    "a status as text": refusing(403, EVIL, code=EVIL, reason=EVIL),
    "not now, for ever": refusing(503, EVIL, "Retry-After: 99999999999", reason="ServiceUnavailable"),
    "not now, before now": refusing(429, EVIL, "Retry-After: -1", reason="TooManyRequests"),
    "not now, at a date": refusing(429, EVIL, "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", reason="TooManyRequests"),
    "its own fault": refusing(500, EVIL, reason="InternalError"),
}


@pytest.fixture
def run_at_rogue(gangrun, home, tmp_path):
    """Runs a job at an API server that behaves so: (status, what is said, memory)."""
    made = []
    (tmp_path / "work").mkdir()

    def run(behave, *words, client=None, **certificate):
        made.append(RogueApi(tmp_path, behave, **certificate))
        config = made[-1].kubeconfig(tmp_path / "config", **(client or {}))
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        return usage_of(gangrun, "run", "--on", "kubernetes", "--kubeconfig", config, "--image", "any/image:1", "--agents", "none", "-r", "worker:1",
                        "--timeout", "allocation=3s", "--timeout", "roll_call=3s", *words, "--", "true",
                        cwd=tmp_path / "work", env=environment | {"GANGRUN_HOME": str(home)})

    run.servers = made
    yield run
    for server in made:
        server.close()


@pytest.mark.parametrize("name", HOPELESS)
def test_an_answer_of_a_rogue_server_does_no_harm(run_at_rogue, home, tmp_path, name):
    status, said, memory = run_at_rogue(HOPELESS[name])
    assert status in (1, 2, 3, 6, 7), said[-3000:]
    assert memory < MOST_MEMORY_KB, memory
    assert_clean(said, [TOKEN])
    assert list((tmp_path / "work").iterdir()) == []
    assert_logs_clean(home, [TOKEN])
