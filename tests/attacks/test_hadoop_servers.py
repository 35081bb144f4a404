"""Servers of Hadoop that are rogue: a ResourceManager that speaks its RPC wrongly, a NameNode whose WebHDFS answers as it likes.

What they say is text, is bounded, and ends at most the command. No cluster is needed.
"""

import json
import os
import struct

import pytest
from rogue_server import RogueServer
from said import EVIL, assert_clean, usage_of

MOST_MEMORY_KB = 400 * 1024
LIMIT_S = 60
NO_ANSWER = 124
SITE = "<configuration>{}</configuration>"
PROPERTY = "<property><name>{}</name><value>{}</value></property>"


def flood(connection, piece):
    while True:
        connection.sendall(piece)


# Protobuf as far as it is needed here.

def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def delimited(message):
    return varint(len(message)) + message


def frame(*messages):
    content = b"".join(map(delimited, messages))
    return struct.pack(">I", len(content)) + content


def header(status=0, call=0, **error):
    numbers = {"name": 4, "text": 5, "detail": 6}
    return field(1, call) + field(2, status) + field(3, 9) + b"".join(field(numbers[key], value) for key, value in error.items())


def then(*pieces):
    """Reads what the client sends first, and says this."""
    def behave(connection):
        connection.recv(1 << 16)
        for piece in pieces:
            connection.sendall(piece)
        while connection.recv(1 << 16):
            pass

    return behave


def for_ever(piece):
    return lambda connection: (connection.recv(1 << 16), flood(connection, piece))


def error(name="org.apache.hadoop.yarn.exceptions.YarnException", text=EVIL, status=1, detail=1):
    return then(frame(header(status, name=name, text=text, detail=detail)))


MANAGERS = {
    "closes": lambda connection: None,
    "words": then(EVIL.encode()),
    "HTTP": then(b"HTTP/1.1 404 Not Found\r\nContent-type: text/plain\r\n\r\nIt looks like you are making an HTTP request\r\n"),
    "SSH": then(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "zeros without an end": for_ever(bytes(65536)),
    "words without an end": for_ever(b"x" * 65536),
    "a frame of 4 GiB": for_ever(b"\xff\xff\xff\xff" + b"x" * 65536),
    "a frame of 127 MiB": for_ever(struct.pack(">I", 127 << 20) + b"x" * 65536),
    "a frame that does not end": then(struct.pack(">I", 1000) + b"x"),
    "an empty frame": then(struct.pack(">I", 0)),
    "a frame of junk": then(struct.pack(">I", 100) + os.urandom(100)),
    "a header of a wrong size": then(struct.pack(">I", 5) + varint(2**60)[:5]),
    "a varint without an end": then(struct.pack(">I", 20) + b"\xff" * 20),
    "another call": then(frame(header(call=77), b"")),
    "another call, without an end": for_ever(frame(header(call=77), b"")),
    "a success of nothing": then(frame(header())),
    "a success of junk": then(frame(header(), os.urandom(1000))),
    "a success of zeros": then(frame(header(), bytes(1 << 20))),
    "a deep success": then(frame(header(), field(1, field(1, field(1, field(1, b"")))) * 1000)),
    "an error with words": error(),
    "an error of a class with words": error(name=EVIL),
    "a fatal error with words": error(status=2),
    "an error of 8 MiB": error(text="e" * (8 << 20)),
    "an error of many lines": error(text="\n".join(["\tat " + EVIL] * 10_000)),
    "an error that is none": error(status=7, detail=99),
    "standby, for ever": error(name="org.apache.hadoop.ipc.StandbyException"),
    "no right, with words": error(name="org.apache.hadoop.security.AccessControlException"),
    "authentication that nobody asked for": then(frame(header(call=2**32 - 33), field(2, 3) + field(3, EVIL.encode("utf-8", "surrogatepass")))),
}


def http(status, body=b"", *fields, reason="X", length=None):
    body = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass") if isinstance(body, str) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} {reason}", "Content-Type: application/json", f"Content-Length: {len(body) if length is None else length}", *fields]
    return then(("\r\n".join([*lines, "", ""])).encode("utf-8", "surrogatepass") + body)


def remote(name, text, status=403):
    return http(status, {"RemoteException": {"exception": name, "javaClassName": "org.apache.hadoop." + name, "message": text}})


NAME_NODES = {
    "closes": lambda connection: None,
    "words": then(EVIL.encode()),
    "a head without an end": lambda connection: (connection.sendall(b"HTTP/1.1 200 OK\r\n"), flood(connection, b"A: " + b"b" * 1000 + b"\r\n")),
    "a body without an end": for_ever(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b" " * 65536 + b"\r\n"),
    "8 EiB": http(200, b"{}", length=2**63 - 1),
    "a negative length": http(200, b"{}", length=-1),
    "less than it says": http(200, b"{}", length=500),
    "nothing": http(200),
    "a page": http(200, f"<html><script>{EVIL}</script>"),
    "a list": http(200, "[]"),
    "a depth": http(200, b"[" * 1_000_000),
    "a number": http(200, "1e999"),
    "words for a home": http(200, {"Path": EVIL}),
    "a home that leads out": http(200, {"Path": "/../../../etc"}),
    "a home that is none": http(200, {"Path": 7}),
    "a home of 1 MiB": http(200, {"Path": "/" + "h" * (1 << 20)}),
    "no right, with words": remote("security.AccessControlException", EVIL),
    "standby, with words": remote("ipc.StandbyException", EVIL),
    "an error of 8 MiB": remote("hdfs.protocol.FSLimitException", "e" * (8 << 20), 500),
    "an error of a class with words": remote(EVIL, EVIL, 500),
    "an error as a page": http(500, EVIL * 1000),
    "not authorized, with words": http(401, EVIL, f"WWW-Authenticate: {'x' * 5000}"),
    "not authorized, by Kerberos": http(401, b"", "WWW-Authenticate: Negotiate"),
    "a redirect to itself": http(307, b"", "Location: /webhdfs/v1/?op=GETHOMEDIRECTORY"),
    "a redirect with words": http(307, b"", "Location: \x1b[2J"),
    "a redirect to a file": http(307, b"", "Location: file:///etc/passwd"),
    "a reason with words": http(500, b"", reason="\x1b[2J"),
    "a cookie with words": http(200, {"Path": "/user/x"}, "Set-Cookie: hadoop.auth=\x1b[2J"),
}


@pytest.fixture
def at_rogue(gangrun, home, tmp_path):
    """at_rogue(manager, name_node) runs commands against servers that behave so."""
    made = []
    (tmp_path / "work").mkdir()
    conf = tmp_path / "conf"
    conf.mkdir()

    def run(words, manager, name_node):
        made.extend([RogueServer(manager, LIMIT_S), RogueServer(name_node, LIMIT_S)])
        rm, nn = made[-2].port, made[-1].port
        properties = {"core-site.xml": {"fs.defaultFS": "hdfs://127.0.0.1:1"},
                      "hdfs-site.xml": {"dfs.namenode.http-address": f"127.0.0.1:{nn}"},
                      "yarn-site.xml": {"yarn.resourcemanager.address": f"127.0.0.1:{rm}", "yarn.resourcemanager.webapp.address": f"127.0.0.1:{nn}",
                                        "yarn.resourcemanager.connect.max-wait.ms": "2000", "yarn.resourcemanager.connect.retry-interval.ms": "500"}}
        for name, values in properties.items():
            (conf / name).write_text(SITE.format("".join(PROPERTY.format(*each) for each in values.items())))
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        environment |= {"HADOOP_CONF_DIR": str(conf), "YARN_CONF_DIR": str(conf), "GANGRUN_HOME": str(home), "HADOOP_USER_NAME": "alice"}
        return usage_of(gangrun, *words, cwd=tmp_path / "work", env=environment)

    run.servers = made
    yield run
    for server in made:
        server.close()
    assert list((tmp_path / "work").iterdir()) == []


RUN = ("run", "--on", "yarn", "-r", "worker:1", "--", "true")


@pytest.mark.parametrize("name", MANAGERS)
def test_a_rogue_resource_manager_does_no_harm(at_rogue, name):
    status, said, memory = at_rogue(("ps", "--on", "yarn"), MANAGERS[name], NAME_NODES["words for a home"])
    assert status in (*range(1, 8), NO_ANSWER) or "success" in name, said[:3000]
    assert at_rogue.servers[0].count
    assert memory < MOST_MEMORY_KB, memory
    # A success may be of a thousand jobs.
    assert_clean(said, most=1 << 20)


@pytest.mark.parametrize("name", NAME_NODES)
def test_a_rogue_name_node_does_no_harm(at_rogue, name):
    status, said, memory = at_rogue(RUN, MANAGERS["an error with words"], NAME_NODES[name])
    assert at_rogue.servers[1].count
    assert status in (*range(1, 8), NO_ANSWER), said[:3000]
    assert memory < MOST_MEMORY_KB, memory
    assert_clean(said)
