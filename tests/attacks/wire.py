"""What attackers send: bytes over TLS and Unix sockets, HTTP and WebSocket written by hand."""

import base64
import contextlib
import json
import os
import socket
import ssl
import struct

LIMIT_S = 30


def tls_context():
    """Of somebody who does not care who answers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def tcp(port, source=None, host="127.0.0.1"):
    made = socket.create_connection((host, port), timeout=LIMIT_S, source_address=(source, 0) if source else None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def tls(port, source=None):
    return tls_context().wrap_socket(tcp(port, source))


def unix(path):
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(LIMIT_S)
    # A socket's path is short; a link to its folder is shorter.
    folder = os.open(os.path.dirname(path), os.O_PATH)
    try:
        made.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)
    return made


def read_all(connection, most=1 << 20):
    """Until the other side ends the connection, whichever way it does."""
    got = b""
    with contextlib.suppress(OSError):
        while len(got) < most:
            piece = connection.recv(1 << 16)
            if not piece:
                break
            got += piece
    return got


def say(connection, sent):
    """Whoever is refused may be gone before all is sent."""
    with contextlib.suppress(OSError):
        connection.sendall(sent)


def request(method="GET", path="/v1/status", secret=None, body=b"", headers=(), version="HTTP/1.1"):
    lines = [f"{method} {path} {version}", "Host: localhost", *headers]
    if secret is not None:
        lines.append(f"Authorization: Bearer {secret}")
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join([*lines, "Connection: close", "", ""])).encode("latin-1") + body


def ask(connection, sent):
    """(status, body); status 0 where no answer came."""
    say(connection, sent)
    got = read_all(connection)
    connection.close()
    head, _, body = got.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    return (int(words[1]) if len(words) > 1 and words[1].isdigit() else 0), body


def upgrade(path="/v1/agent", secret=None, key=None, version="13", more=()):
    key = base64.b64encode(os.urandom(16)).decode() if key is None else key
    return request("GET", path, secret, headers=["Upgrade: websocket", f"Sec-WebSocket-Key: {key}",
                                                f"Sec-WebSocket-Version: {version}", *more]).replace(b"Connection: close",
                                                                                                   b"Connection: Upgrade")


def open_channel(connection, secret, path="/v1/agent"):
    """The first bytes of the answer; b"101" where it is open."""
    say(connection, upgrade(path, secret))
    got = b""
    with contextlib.suppress(OSError):
        while b"\r\n\r\n" not in got:
            piece = connection.recv(1 << 12)
            if not piece:
                break
            got += piece
    return got.split(b" ")[1] if got.startswith(b"HTTP/1.1 ") else got


def frame(payload, opcode=1, final=True, mask=True, reserved=0, length=None):
    """One of RFC 6455; `length` is said whatever is true."""
    said = len(payload) if length is None else length
    head = bytes([(0x80 if final else 0) | reserved << 4 | opcode])
    bit = 0x80 if mask else 0
    if said < 126:
        head += bytes([bit | said])
    elif said < 1 << 16:
        head += bytes([bit | 126]) + struct.pack(">H", said)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", said)
    if not mask:
        return head + payload
    key = os.urandom(4)
    return head + key + bytes(byte ^ key[i % 4] for i, byte in enumerate(payload))


def message(**members):
    return frame(json.dumps(members).encode())


def report(task="worker:0", attempt=1, **changes):
    """What an agent says first."""
    told = {"type": "report", "protocol": 3, "task": task, "attempt": attempt, "address": "127.0.0.1:4711", "more_ports": [],
            "address_reason": "as an attacker says", "pid": 4100, "state": "waiting", "run_attempt": 0, "generation": 0,
            "user_pid": 0}
    return told | changes
