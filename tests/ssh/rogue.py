"""A host that is none of gangrun's: what stands at the other end of `ssh`, whatever it is told. A test's fake ssh runs it.

rogue.py WHAT: reads the login script, says that it becomes the keeper, and then does WHAT.
"""

import json
import struct
import sys

MiB = 1 << 20


def frame(kind, content):
    return struct.pack(">IB", len(content) + 1, ord(kind)) + content


def message(op, **members):
    return frame("M", json.dumps({"op": op, **members}).encode())


def log(agent, offset, content):
    return frame("L", struct.pack(">I?Q", agent, False, offset) + content)


def hello(**others):
    members = {"version": "1", "network": "n", "address": "10.0.0.9", "address_reason": "as ssh reached it", "own_addresses": [],
               "shares_folder": False, "gpus": {"maker": "nvidia", "list": []}, "containment": "subreaper", "containment_lack": "",
               "engine": "", "engine_lack": "there is none", "system": "Linux", "folder": "/x", "free_bytes": 1 << 40}
    return message("hello", **(members | others))


def ended(agent, out_size=0, error_size=0):
    return message("ended", agent=agent, why={"reason": "agent_ended"}, out_size=out_size, error_size=error_size)


BEGUN = message("begun", run_folder="x")
AFTER_BEGIN = {
    # Where what the job has there is to be removed.
    "leaves": BEGUN,
    "begins twice": 2 * BEGUN,
    "waits without end": BEGUN + b"".join(message("waiting", reason=str(number)) for number in range(5000)),
    # Its own agent is 2.
    "ends others": BEGUN + b"".join(ended(number) for number in (1, 3, 4, 5)),
    "ends others with lines": BEGUN + b"".join(ended(number, 1 << 40, (1 << 64) - 1) for number in (1, 3, 4, 5)),
    "answers without end": BEGUN + 5000 * message("pong"),
    "writes logs of others": BEGUN + b"".join(log(number, 0, b"of a rogue\n") for number in range(1, 9)),
    "leaves out a part": BEGUN + b"".join(log(number, 1 << 40, b"x") for number in range(1, 9)),
    "sends a file": BEGUN + frame("F", b"x"),
    "opens without end": BEGUN + b"".join(frame("O", struct.pack(">I", number)) for number in range(20_000)),
    "opens one again": BEGUN + 5000 * frame("O", struct.pack(">I", 7)),
    "greets twice": hello(),
    "says nothing known": message("dance"),
}
TEXT = "\x1b]52;c;cm0gLXJm\x07\x1b[2J\nworker:0 succeeded\ngangrun: rogue-1 succeeded\r\x1b(B" + 8 * MiB * "x"
AS_HELLO = {
    "refuses": message("refused", detail=TEXT[:-4096]),
    "goes on after its hello": 2 * hello(),
    "has a wrong address": hello(address="10.0.0.9\nMASTER_PORT=1"),
}


def wait_for(lines, *ops):
    """What has come, with one of these messages in it."""
    said = b""
    while not any(b'"op":"%s"' % op in said for op in ops) and (more := lines.read1(1 << 16)):
        said += more
    return said


def main(what):
    lines = sys.stdin.buffer
    first = b""
    while b"gangrun-" not in first:
        first = lines.readline()
    # "say() { printf '%s %s\n' MARKER "$*"; }": the only word that begins so.
    (marker,) = [word.strip("'") for word in first.decode().split() if word.strip("'").startswith("gangrun-")]
    out = sys.stdout.buffer
    if what == "repeats its marker":
        out.write(f"{marker} send\n".encode() * 4000)
    else:
        out.write(f"{marker} agent\n".encode())
        out.write(AS_HELLO.get(what, hello()))
    out.flush()
    if what == "removes for long":
        # A keeper that hears nothing takes its client for gone.
        wait_for(lines, b"remove")
        wait_for(lines, b"ping")
        out.write(message("removed", folders=1, left=""))
        out.flush()
    if what in AFTER_BEGIN:
        is_removal = b'"op":"remove"' in wait_for(lines, b"begin", b"remove")
        out.write(message("leaving") if is_removal else AFTER_BEGIN[what])
        out.flush()
    # Takes all that comes, to the end.
    while lines.read(1 << 16):
        pass


main(sys.argv[1])
