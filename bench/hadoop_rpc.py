"""As much of Hadoop's RPC, by asyncio, as a NodeManager without containers speaks: both ends of it.

Messages are written and read by the numbers of their fields; a frame is four bytes of length and messages, each behind
its own length (src/hadoop/rpc_frames.h).
"""

import asyncio
import base64
import hashlib
import hmac
import os
import re
import struct
from collections.abc import Callable

CONTEXT_CALL, SASL_CALL = -3, -33
NEGOTIATE, INITIATE, SUCCESS = 1, 2, 0
REALM, URI = "default", "/default"


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def zigzag(number: int) -> int:
    return number << 1 if number >= 0 else (-number << 1) - 1


def message(*fields: tuple[int, object]) -> bytes:
    """From (number, value); a value is a number, or a text or bytes, which may be a message again."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(content)) + content
    return out


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data: bytes) -> dict[int, list]:
    """All values of a message by the number of their field, in their order."""
    found: dict[int, list] = {}
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        else:
            length, at = {2: lambda at: read_varint(data, at), 1: lambda at: (8, at), 5: lambda at: (4, at)}[key & 7](at)
            value, at = data[at:at + length], at + length
        found.setdefault(key >> 3, []).append(value)
    return found


def path(data: bytes, *numbers: int) -> object:
    """What stands in the first field of that number, in the first of the next number in that, and so on; or None."""
    value: object = data
    for number in numbers:
        values = fields(value).get(number)
        if values is None:
            return None
        value = values[0]
    return value


def frame(*messages: bytes) -> bytes:
    content = b"".join(varint(len(part)) + part for part in messages)
    return struct.pack(">I", len(content)) + content


async def read_frame(reader: asyncio.StreamReader) -> list[bytes]:
    """The messages of the next frame."""
    data = await reader.readexactly(struct.unpack(">I", await reader.readexactly(4))[0])
    messages, at = [], 0
    while at < len(data):
        length, at = read_varint(data, at)
        messages.append(data[at:at + length])
        at += length
    return messages


def request_header(call: int, client: bytes) -> bytes:
    return message((1, 2), (2, 0), (3, zigzag(call)), (4, client), (5, zigzag(-1 if call < 0 else 0)))


class Client:
    """Calls to one protocol of one daemon that believes names, one after the other."""

    def __init__(self, host: str, port: int, protocol: str, user: str) -> None:
        self.at, self.protocol, self.user = (host, port), protocol, user
        self.id, self.calls = os.urandom(16), 0

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(*self.at)
        context = message((2, message((1, self.user))), (3, self.protocol))
        self.writer.write(b"hrpc\x09\x00\x00" + frame(request_header(CONTEXT_CALL, self.id), context))

    async def call(self, method: str, request: bytes) -> bytes:
        head = message((1, method), (2, self.protocol), (3, 1))
        self.writer.write(frame(request_header(self.calls, self.id), head, request))
        self.calls += 1
        header, *body = await read_frame(self.reader)
        if path(header, 2):
            raise RuntimeError(f"{method}: {path(header, 4)} {path(header, 5)}")
        return body[0]


def response(call: int, body: bytes) -> bytes:
    return frame(message((1, call & 0xFFFFFFFF), (2, SUCCESS)), body)


class TokenLogin:
    """The server's side of DIGEST-MD5 (RFC 2831, md5-sess) with a token: identifier and key make the password."""

    def __init__(self, key: bytes) -> None:
        self.key, self.nonce = key, base64.b64encode(os.urandom(18)).decode()
        self.offer = ((1, "TOKEN"), (2, "DIGEST-MD5"), (3, ""), (4, "default"))

    def challenge(self) -> bytes:
        text = f'realm="{REALM}",nonce="{self.nonce}",qop="auth",charset=utf-8,algorithm=md5-sess'
        return message((2, NEGOTIATE), (4, message(*self.offer, (5, text))))

    def answer(self, token: bytes) -> bytes:
        """The proof that we know the password too, for a right answer to the challenge."""
        said = dict(re.findall(r'(\w+)="?([^",]*)"?', token.decode()))
        password = base64.b64encode(hmac.digest(self.key, base64.b64decode(said["username"]), "sha1")).decode()
        secret = hashlib.md5(f"{said['username']}:{REALM}:{password}".encode()).digest()
        session = hashlib.md5(secret + f":{self.nonce}:{said['cnonce']}".encode()).hexdigest()

        def proof(verb: str) -> str:
            action = hashlib.md5(f"{verb}:{URI}".encode()).hexdigest()
            return hashlib.md5(f"{session}:{self.nonce}:{said['nc']}:{said['cnonce']}:auth:{action}".encode()).hexdigest()

        if said["response"] != proof("AUTHENTICATE"):
            raise RuntimeError("a token has a wrong password")
        return message((2, SUCCESS), (3, f"rspauth={proof('')}"))


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: Callable[[], bytes],
                handle: Callable[[str, bytes], bytes]) -> None:
    """One connection of somebody with a token: handle(method, request) answers each call."""
    try:
        await reader.readexactly(7)
        login = TokenLogin(key())
        while True:
            header, *messages = await read_frame(reader)
            call = fields(header)[3][0]
            call = (call >> 1) ^ -(call & 1)
            if call == SASL_CALL:
                is_first = path(messages[0], 2) == NEGOTIATE
                answer = login.challenge() if is_first else login.answer(path(messages[0], 3))
                writer.write(response(call, answer))
            elif call >= 0:
                writer.write(response(call, handle(path(messages[0], 1).decode(), messages[1])))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
