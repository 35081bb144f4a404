"""Hadoop's TFile, in which YARN keeps the logs of one node, written as it is or not quite: docs/protocols has the format."""

import gzip
import struct

MAGIC = b"\xd1\x11\xd3\x68\x91\xb5\xd7\xb6\x39\xdf\x41\x40\x92\xba\xe1\x50"


def integer(value):
    """As Hadoop's Utils.writeVLong writes it."""
    if -32 <= value < 128:
        return struct.pack("b", value) if value < 0 else bytes([value])
    for count, limit, base in ((1, 20, -52), (2, 16, -88), (3, 8, -112)):
        high = value >> (8 * count)
        if -limit <= high < limit:
            return struct.pack("b", high + base) + (value & (256**count - 1)).to_bytes(count, "big")
    for count in range(4, 9):
        if -(256**count) // 2 <= value < 256**count // 2:
            return struct.pack("b", count - 129) + (value & (256**count - 1)).to_bytes(count, "big")
    raise ValueError(value)


def text(value):
    return integer(len(value)) + value


def java_text(value):
    return struct.pack(">H", len(value)) + value


def log(name, content, length=None):
    """One log of a container. Its length is a text, too."""
    return java_text(name) + java_text(str(len(content)).encode() if length is None else length) + content


def record(key, value):
    return text(java_text(key)) + integer(len(value)) + value


def tfile(*blocks, raw=None, packed=None, count=None, offset=None, method=b"gz", name=b"data:BCFile.index"):
    """A file of these blocks of records. What is given besides stands there instead of what is true."""
    made, regions = bytearray(MAGIC), b""

    def append(content):
        body = gzip.compress(content, 6, mtime=0) if method == b"gz" else content
        place = integer(len(made)) + integer(len(body) if packed is None else packed) + integer(len(content) if raw is None else raw)
        made.extend(body)
        return place

    for block in blocks:
        regions += append(block)
    index = text(method) + integer(len(blocks) if count is None else count) + regions
    raw = packed = None  # the index itself is true
    entry = text(name) + text(method) + append(index)
    start = len(made) if offset is None else offset
    made.extend(integer(1) + entry + struct.pack(">Q", start) + b"\x00\x01\x00\x00" + MAGIC)
    return bytes(made)
