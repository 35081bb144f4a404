"""Kills the node or the feeder of a feed with SIGKILL at random points, and looks at what the other one has.

    feed.py [--rounds N] [--seed N]

The node has read a beginning of what was written, each frame once, in order and whole. When the feeder was killed the node
gets the mark that says so and serves the next feeder. When the node was killed the feeder fails at once, and a new node
of the same name starts. At the end no descriptor and no memory is left of either. GANGRUN_BIN is the folder of the programs.
"""

import argparse
import os
import pathlib
import random
import resource
import secrets
import select
import signal
import struct
import sys
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("GANGRUN_BIN", str(ROOT / "build/release/src"))

from gangrun import _native  # noqa: E402: of this checkout

LIMIT_S = 60.0
MEMORY_MIB = 2
HEAD = struct.Struct("<QI")  # number and checksum of what follows
core = _native.core()


class Wrong(Exception):
    """What must not be."""


def frame(number, chance):
    """Mostly small; some fill much of the ring, and a few are larger than it."""
    size = chance.choice([0, 10, 1000, 1000, 60_000, 300_000, 300_000, 3_000_000])
    body = chance.randbytes(min(size, 4096)) * (size // 4096 + 1)
    return HEAD.pack(number, zlib.crc32(body)) + body


def check(data, expected):
    number, checksum = HEAD.unpack(data[:HEAD.size])
    if number != expected or zlib.crc32(data[HEAD.size:]) != checksum:
        raise Wrong(f"frame {number} where {expected} is expected, or its bytes are other ones")


def write_until_killed(name, key, seed, told):
    """Frames and now and then a result to wait for; tells when it has the turn. Returns why it ended."""
    chance = random.Random(seed)
    feeder = core.Feeder.connect(name, key, LIMIT_S, LIMIT_S)
    os.write(told, b"t")
    try:
        for number in range(1 << 60):
            feeder.write(1, frame(number, chance))
            while (result := feeder.read(0)) is not None:
                check(memoryview(result), HEAD.unpack(memoryview(result)[:HEAD.size])[0])
    except core.PeerGone:
        return True
    return False


def read_frames(node, turn, until_broken, seed):
    """Checks what comes, keeps some frames for a while, answers some. Returns how many there were."""
    chance, expected, kept = random.Random(seed), 0, []
    while True:
        got = node.read(LIMIT_S)
        if got is None or got.feeder != turn:
            raise Wrong(f"no frame of turn {turn} came, but {got}")
        if got.kind == core.BROKEN:
            if not until_broken:
                raise Wrong(f"broken: {bytes(memoryview(got))!r}")
            return expected
        view = memoryview(got)
        check(view, expected)
        if chance.random() < 0.3:
            kept.append((view, expected))
        if len(kept) > 20:
            kept = kept[chance.randrange(20):]
        if chance.random() < 0.1:
            try:
                node.write(2, bytes(view[:50_000]) if len(view) < 50_000 else HEAD.pack(expected, 0), 0.0)
            except (core.PeerGone, TimeoutError):
                pass  # it is dead, or does not read: both are fine here
        for old, number in kept[:1]:
            check(old, number)
        expected += 1


def child(work):
    """A process that does the work and ends with 0 when that returns true."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if work() else 2
        except BaseException as error:  # told by its status; the parent says which round
            os.write(2, f"soak: {type(error).__name__}: {error}\n".encode())
        os._exit(status)
    return pid


def ended(pid):
    """The status of a child, which must end soon."""
    deadline = time.monotonic() + LIMIT_S
    descriptor = os.pidfd_open(pid)
    try:
        if not select.select([descriptor], [], [], deadline - time.monotonic())[0]:
            os.kill(pid, signal.SIGKILL)
            raise Wrong(f"process {pid} hangs")
    finally:
        os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def pause(chance):
    """A random time, mostly short."""
    select.select([], [], [], chance.choice([0.0, chance.random() * 0.002, chance.random() * 0.03]))


def kill_feeder(name, key, chance):
    node = core.Listener(name, key, MEMORY_MIB)
    seed = chance.randrange(1 << 30)
    told, tells = os.pipe()
    pid = child(lambda: write_until_killed(name, key, seed, tells))
    killer = child(lambda: (os.read(told, 1), pause(random.Random(seed)), os.kill(pid, signal.SIGKILL), True)[-1])
    count = read_frames(node, 1, True, seed)
    after = core.Feeder.connect(name, key, LIMIT_S, LIMIT_S)
    after.write(1, HEAD.pack(0, zlib.crc32(b"after")) + b"after")
    after.end()
    check(memoryview(node.read(LIMIT_S)), 0)
    os.close(told), os.close(tells)
    if ended(pid) != -signal.SIGKILL or ended(killer) != 0:
        raise Wrong("the feeder was not killed")
    node.close()
    return count


def kill_node(name, key, chance):
    seed = chance.randrange(1 << 30)
    ready, readies = os.pipe()

    def node():
        listener = core.Listener(name, key, MEMORY_MIB)
        os.write(readies, b"r")
        return read_frames(listener, 1, False, seed)

    pid = child(node)
    os.read(ready, 1)
    told, tells = os.pipe()
    feeder = child(lambda: write_until_killed(name, key, seed, tells))
    os.read(told, 1)
    pause(chance)
    os.kill(pid, signal.SIGKILL)
    since = time.monotonic()
    if ended(feeder) != 0 or ended(pid) != -signal.SIGKILL:
        raise Wrong("the feeder did not notice that its node had died")
    for descriptor in (ready, readies, told, tells):
        os.close(descriptor)
    core.Listener(name, key, MEMORY_MIB).close()  # the name is free
    return time.monotonic() - since


def left():
    maps = pathlib.Path("/proc/self/maps").read_text().count("gangrun-feed")
    return len(os.listdir("/proc/self/fd")), maps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = secrets.randbits(30) if options.seed is None else options.seed
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    chance, before, frames, slowest = random.Random(seed), left(), 0, 0.0
    for number in range(options.rounds):
        name, key = f"gangrun-soak-{os.getpid()}-{number}", secrets.token_bytes(32)
        try:
            if number % 2:
                frames += kill_feeder(name, key, chance)
            else:
                slowest = max(slowest, kill_node(name, key, chance))
        except Exception as error:
            sys.exit(f"soak: round {number} of seed {seed}: {type(error).__name__}: {error}")
    if left() != before:
        sys.exit(f"soak: descriptors and mappings were {before}, are {left()}")
    print(f"feed: {options.rounds} kills, {frames} frames of killed feeders read, each whole and in order; the death of a node "
          f"noticed after {1000 * slowest:.0f} ms at most")


if __name__ == "__main__":
    main()
