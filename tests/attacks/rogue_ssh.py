#!/usr/bin/python3
"""Stands for `ssh` and the host behind it: ROGUE says how it behaves. It gets the login script on its standard input.

"keeper:" ones run the script by a shell of this machine, whose keeper is a real one, and say something in its place or beside it.
"""

import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import threading

from said import EVIL

OUT = sys.stdout.buffer


def write(data, to=None):
    to = to or OUT
    to.write(data if isinstance(data, bytes) else data.encode())
    to.flush()


def frame(kind, content):
    return struct.pack(">I", 1 + len(content)) + kind.encode() + content


def message(op, **members):
    return frame("M", json.dumps({"op": op, **members}).encode())


def marker():
    """Of the script, which is read no further than to it."""
    got = b""
    while not (found := re.search(rb"printf '%s %s\\n' '?([^ ']+)'?", got)):
        piece = os.read(0, 4096)
        if not piece:
            sys.exit(0)
        got += piece
    return found[1].decode()


def drain():
    threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(0, 1 << 16), b"")], daemon=True).start()


def rest():
    """Until the client ends the connection."""
    while os.read(0, 1 << 16):
        pass


def says(word, what=""):
    mark = marker()
    drain()
    write(f"{mark} {word} {what}\n")


def as_keeper(*frames, then=rest):
    says("agent")
    for each in frames:
        write(each)
    then()


def flood(piece):
    while True:
        write(piece)


class Keeper:
    """A real one; `inject` gets each of its frames and gives what goes to the client instead.

    `ends_by_itself`: as on another machine, what kills `ssh` does not kill it.
    """

    def __init__(self, inject, ends_by_itself=False):
        self.child = subprocess.Popen(["/bin/sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=ends_by_itself)
        threading.Thread(target=self.pass_down, daemon=True).start()
        line = b""
        while not line.endswith(b" agent\n"):
            line = self.child.stdout.readline()
            if not line:
                return
            write(line)
        while True:
            head = self.child.stdout.read(4)
            if len(head) < 4:
                return
            content = self.child.stdout.read(struct.unpack(">I", head)[0])
            for piece in inject(chr(content[0]), content[1:]):
                piece.send() if isinstance(piece, WithoutEnd) else write(piece)

    def pass_down(self):
        while data := os.read(0, 1 << 16):
            self.child.stdin.write(data)
            self.child.stdin.flush()
        self.child.stdin.close()


class WithoutEnd:
    """Lines of its own task, whether somebody takes them or not."""

    def send(self):
        offset = 0
        while True:
            write(frame("L", struct.pack(">IBQ", 1, 0, offset) + b"y" * 65535 + b"\n"))
            offset += 65536


def changed(op, change):
    """Passes all on, but changes the messages with this op."""

    def inject(kind, content):
        if kind == "M":
            told = json.loads(content)
            if told["op"] == op:
                return change(told)
        return [frame(kind, content)]

    return lambda: Keeper(inject)


def with_members(op, **members):
    return changed(op, lambda told: [frame("M", json.dumps(told | members).encode())])


def without(op, *members):
    return changed(op, lambda told: [frame("M", json.dumps({key: value for key, value in told.items() if key not in members}).encode())])


def after(op, *frames):
    return changed(op, lambda told: [frame("M", json.dumps(told).encode()), *frames])


def instead(op, *frames):
    return changed(op, lambda told: list(frames))


def deaf():
    says("agent")
    os.close(1)
    signal.pause()


def killed():
    says("agent")
    os.kill(os.getpid(), signal.SIGKILL)


WHY = {"reason": "exit_status", "code": 0, "detail": EVIL}


def ended(agent, why=None, out_size=0, error_size=0):
    return message("ended", agent=agent, why=why or WHY, out_size=out_size, error_size=error_size)


def agents_say(offset, words):
    return frame("L", struct.pack(">IBQ", 0, 0, offset) + words)


def of_its_own(told):
    """Its greeting, as of a host that shares no folder with the client."""
    return frame("M", json.dumps(told | {"shares_folder": False}).encode())


def another_folder():
    """Its link breaks. At the second login the folder of the first one is gone, and what agents say begins anew; and the
    client's user has saved another train.py meanwhile."""
    known = pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "known"
    is_first = not known.exists()
    known.mkdir(parents=True, exist_ok=True)
    script = pathlib.Path("train.py")
    if not is_first and script.exists():
        script.write_text("print('saved anew, and longer than before')\n")

    def inject(kind, content):
        told = json.loads(content) if kind == "M" else {"op": ""}
        if told["op"] == "hello":
            return [of_its_own(told)]
        if told["op"] != "begun":
            return [frame(kind, content)]
        if is_first:
            write(frame(kind, content) + agents_say(0, b"in the first folder, at length\n"))
            os._exit(1)
        return [frame("M", json.dumps(told | {"run_folder": told["run_folder"] + "2"}).encode()), agents_say(0, b"in the second\n")]

    Keeper(inject, ends_by_itself=True)


def breaks_while_files_come():
    """At each question for the files of its own folder it sends what ends its connection."""

    def inject(kind, content):
        told = json.loads(content) if kind == "M" else {"op": ""}
        if told["op"] == "hello":
            return [of_its_own(told)]
        if told["op"] in ("output", "brought"):
            return [message("output", name="h", size=-5, is_executable=False)]
        return [frame(kind, content)] if kind != "F" else []

    Keeper(inject, ends_by_itself=True)


ROGUES = {
    # Before the marker, or instead of it.
    "ends at once": lambda: sys.exit(0),
    "ends with words": lambda: (write(EVIL, sys.stderr.buffer), sys.exit(255)),
    "ends with many words": lambda: (write(EVIL * 100_000, sys.stderr.buffer), sys.exit(1)),
    "prints words and ends": lambda: (drain(), write(EVIL), sys.exit(1)),
    "prints a megabyte and ends": lambda: (drain(), write(EVIL * 30_000), sys.exit(1)),
    "prints no line": lambda: (drain(), write(b"x" * (8 << 20)), sys.exit(1)),
    "prints zeros": lambda: (drain(), write(bytes(1 << 20)), sys.exit(1)),
    # With the marker.
    "another machine": lambda: (says("machine", EVIL), rest()),
    "a machine with a long name": lambda: (says("machine", "m" * (1 << 20)), rest()),
    "no folder": lambda: (says("folders", EVIL), rest()),
    "many folders": lambda: (says("folders", "f" * 60_000), rest()),
    "lost": lambda: (says("lost", EVIL), rest()),
    "a word that is none": lambda: (says("dance"), rest()),
    "the marker many times": lambda: [write(f"{mark} send\n") for mark in [marker()] for _ in range(4000)] and rest(),
    "the marker and the end": lambda: (says("agent"), sys.exit(0)),
    "killed": killed,
    "deaf": deaf,
    # Frames.
    "an empty frame": lambda: as_keeper(b"\0\0\0\0"),
    "a frame of 4 GiB": lambda: as_keeper(b"\xff\xff\xff\xffM"),
    "a frame that does not end": lambda: as_keeper(struct.pack(">I", 8 << 20) + b"M{", then=lambda: sys.exit(0)),
    "a frame of another kind": lambda: as_keeper(frame("?", b"x")),
    "a frame of the client's": lambda: as_keeper(frame("F", b"x")),
    "no JSON": lambda: as_keeper(frame("M", b"\x1b[2J")),
    "deep JSON": lambda: as_keeper(frame("M", b"[" * 1_000_000)),
    "a list": lambda: as_keeper(frame("M", b"[]")),
    "an unknown message": lambda: as_keeper(message("dance")),
    "a message of the client's": lambda: as_keeper(message("end", kept="nothing")),
    "a refusal": lambda: as_keeper(message("refused", detail=EVIL)),
    "a refusal of 8 MiB": lambda: as_keeper(message("refused", detail="r" * ((8 << 20) - 100))),
    "a log before all": lambda: as_keeper(frame("L", struct.pack(">IBQ", 1, 0, 0) + EVIL.encode())),
    "a stream before all": lambda: as_keeper(frame("O", struct.pack(">I", 1)), frame("S", struct.pack(">I", 1) + b"dx")),
    # A real keeper, and something wrong.
    "keeper: another version": with_members("hello", version="9.9.9"),
    "keeper: a version with words": with_members("hello", version=EVIL),
    "keeper: no version": without("hello", "version"),
    "keeper: an address that is none": with_members("hello", address=EVIL),
    "keeper: an address of 8 MiB": with_members("hello", address="a" * ((8 << 20) - 10_000)),
    "keeper: GPUs that are none": with_members("hello", gpus=EVIL),
    "keeper: a folder that leads out": with_members("hello", folder="../../../etc"),
    "keeper: a run folder that leads out": with_members("begun", run_folder="../../../../etc"),
    "keeper: a run folder with words": with_members("begun", run_folder=EVIL),
    "keeper: two greetings": changed("hello", lambda told: [frame("M", json.dumps(told).encode())] * 2),
    "keeper: greetings without an end": changed("hello", lambda told: flood(frame("M", json.dumps(told).encode()))),
    "keeper: an agent that nobody asked for": after("hello", message("allocated", agent=99, handle={})),
    "keeper: an end that nobody asked for": after("hello", ended(99)),
    "keeper: an end of another with lines": after("hello", ended(99, out_size=1 << 40, error_size=(1 << 64) - 1)),
    "keeper: an end before the start": instead("allocated", ended(1)),
    "keeper: an end with words": after("allocated", ended(1, why={"reason": "agent_ended", "detail": EVIL, "told": EVIL})),
    "keeper: an end with lines that never come": after("allocated", ended(1, out_size=(1 << 64) - 1, error_size=(1 << 64) - 1)),
    "keeper: an end of a size that is none": after("allocated", ended(1, out_size=-1)),
    "keeper: an end with an unknown reason": after("allocated", ended(1, why={"reason": EVIL})),
    "keeper: an end that comes twice": after("allocated", ended(1), ended(1)),
    "keeper: a wrong handle": with_members("allocated", handle=EVIL),
    "keeper: a log of another agent": after("allocated", frame("L", struct.pack(">IBQ", 77, 0, 0) + EVIL.encode())),
    "keeper: a log far behind": after("allocated", frame("L", struct.pack(">IBQ", 1, 0, 1 << 63) + EVIL.encode())),
    "keeper: a short log": after("allocated", frame("L", b"x")),
    "keeper: five thousand streams": after("allocated", *[frame("O", struct.pack(">I", 1000 + n)) for n in range(5000)]),
    "keeper: a stream that speaks without the secret": after(
        "allocated", frame("O", struct.pack(">I", 999)),
        frame("S", struct.pack(">I", 999) + b"dPOST /v1/stop HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")),
    "keeper: bytes of no stream": after("allocated", frame("S", struct.pack(">I", 12345) + b"dxxx")),
    "keeper: more bytes than a window": after(
        "allocated", frame("O", struct.pack(">I", 999)), *[frame("S", struct.pack(">I", 999) + b"d" + b"x" * 32768)] * 500),
    "keeper: floods with logs": after("allocated", *[frame("L", struct.pack(">IBQ", 0, 0, 64 * 1024 * n) + EVIL.encode() * 500)
                                                     for n in range(200)]),
    "keeper: writes without end": changed("allocated", lambda told: [frame("M", json.dumps(told).encode()), WithoutEnd()]),
    "keeper: another folder": another_folder,
    "keeper: a folder with words": with_members("hello", folder=f"/tmp/a\r{EVIL}"),
    "keeper: outputs with words": with_members("brought", left=[f"a\r{EVIL}"], left_files=1, left_bytes=1, missing=[f"b\r{EVIL}"],
                                               odd=[[f"c\r{EVIL}", EVIL]], odd_files=1, failure=f"d\r{EVIL}"),
    "keeper: breaks while files come": breaks_while_files_come,
    "keeper: removals with words": with_members("removed", left=f"a\r{EVIL}"),
    "keeper: waits with words": after("hello", message("waiting", reason=EVIL)),
}


if __name__ == "__main__":
    try:
        ROGUES[os.environ["ROGUE"]]()
    except BrokenPipeError:
        os._exit(1)
