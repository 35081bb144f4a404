"""A keeper on two pipes, as sshd runs it, and the client's end of them."""

import json
import os
import select
import struct
import subprocess
import time

from waiting import LIMIT_S

JOB = "wine-1"
HOST = "gpu1"
OLD = (1, 1)


def frame(kind, content):
    return struct.pack(">IB", len(content) + 1, ord(kind)) + content


class Keeper:
    """One keeper, and the client's end of its pipes."""

    def __init__(self, agent, base, home):
        self.base, self.buffer, self.logs, self.streams = base, b"", {}, set()
        self.errors = base / f"keeper-{time.monotonic_ns()}.err"
        with open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                [agent, "host", "--folder", str(base), "--name", HOST], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors, bufsize=0, cwd=base, env=os.environ | {"GANGRUN_HOME": str(home), "SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"})
        self.hello = self.told("hello")

    def send(self, op, **members):
        self.process.stdin.write(frame("M", json.dumps({"op": op, **members}).encode()))

    def next(self):
        """(kind, content) of the next frame; None: the keeper has closed its output."""
        limit = time.monotonic() + LIMIT_S
        while len(self.buffer) < 4 or len(self.buffer) < 4 + struct.unpack_from(">I", self.buffer)[0]:
            ready, _, _ = select.select([self.process.stdout], [], [], limit - time.monotonic())
            assert ready, f"the keeper says nothing: {self.errors.read_text()}"
            got = os.read(self.process.stdout.fileno(), 1 << 16)
            if not got:
                return None
            self.buffer += got
        end = 4 + struct.unpack_from(">I", self.buffer)[0]
        kind, content = chr(self.buffer[4]), self.buffer[5:end]
        self.buffer = self.buffer[end:]
        return kind, content

    def told(self, *ops):
        """The next message of one of these. What logs say meanwhile is in `logs`: {(agent, is error): bytes}."""
        while found := self.next():
            kind, content = found
            if kind == "M" and (message := json.loads(content))["op"] in ops:
                return message
            assert kind != "M" or message["op"] != "refused", message
            self.keep(kind, content)
        raise AssertionError(f"{ops} was not told: {self.errors.read_text()}")

    def keep(self, kind, content):
        if kind == "O":
            self.streams.add(content)
        if kind == "L":
            number, is_error, offset = struct.unpack_from(">I?Q", content)
            self.logs.setdefault((number, is_error), []).append((offset, content[13:]))

    def wait_for_stream(self):
        """Until an agent has connected."""
        while not self.streams:
            kind, content = self.next()
            assert kind != "M", content
            self.keep(kind, content)

    def begin(self, run_folder="", outlives_us=False):
        self.send("begin", job=JOB, run_folder=run_folder, address="127.0.0.1", address_reason="for a test", works_here=False,
                  outlives_us=outlives_us, environment={"OF_CLIENT": "yes"})
        self.run_folder = self.told("begun")["run_folder"]
        return self

    @property
    def folder(self):
        return self.base / "jobs" / self.run_folder

    def start(self, number, spec, gpus=0):
        """`spec`: of the job, as --dry-run shows it."""
        config = {"job_id": JOB, "spec": spec, "task": f"worker:{number}", "attempt": 1, "secret": "0" * 64}
        self.send("start", agent=number, task=f"worker:{number}", attempt=1, gpus=gpus, containers=[], agent_config=config)

    def adopt(self, number, handle, offset=0):
        self.send("adopt", agent=number, task=f"worker:{number}", attempt=1, handle=handle, out_offset=offset, error_offset=0)

    def cut(self):
        """As sshd does where its connection ends."""
        self.process.stdin.close()
        self.process.stdout.close()

    def wait(self):
        return self.process.wait(timeout=LIMIT_S)
