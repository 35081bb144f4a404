"""Starts gangs beside a process that takes and drops ports as fast as it can, and two gangruns side by side.

    ports.py [--gangs N]

Every task of a gang of eight binds the port that was published for it, by itself or with the inherited descriptor,
greets all the others at the addresses of the cluster spec, and wants to hear from each of them. So a gang succeeds
only if every published port belonged to its task from the publication on; it has to do so in its first generation,
without a restart. GANGRUN_BIN is the folder of the programs.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

BIN = pathlib.Path(os.environ.get("GANGRUN_BIN", pathlib.Path(__file__).resolve().parents[2] / "build/release/src"))
PYTHON = "/usr/bin/python3"
TASKS = 8
LIMIT_S = 60

# Ports by bind() and by connect(), of IPv4 and IPv6, up to 500 at a time. What is reset leaves nothing behind that
# would use up the ports.
THIEF = """
import collections, itertools, socket, struct
reset = struct.pack("ii", 1, 0)
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(1000)
taken = collections.deque()
for number in itertools.count():
    if number % 1000 == 0:
        print(number, flush=True)
    family = (socket.AF_INET, socket.AF_INET6)[number % 5 == 0]
    one = socket.socket(family)
    one.setsockopt(socket.SOL_SOCKET, (socket.SO_REUSEADDR, socket.SO_REUSEPORT)[number % 3 == 0], number % 2)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
    if number % 7:
        one.bind(("0.0.0.0", 0) if family == socket.AF_INET else ("::", 0))
        taken.append(one)
    elif family == socket.AF_INET:
        one.connect(server.getsockname())
        other = server.accept()[0]
        other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        taken.extend((one, other))
    while len(taken) > 500:
        taken.popleft().close()
"""

# STRAY makes a task bind another port than its own: what a lost port would come to.
TASK = """
import json, os, socket, sys, time
own = int(os.environ["GANGRUN_TASK_INDEX"])
job = os.environ["GANGRUN_JOB_ID"]
addresses = json.loads(os.environ["GANGRUN_CLUSTER_SPEC"])["worker"]
if own % 2:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, (socket.SO_REUSEADDR, socket.SO_REUSEPORT)[own % 4 == 1], 1)
    server.bind(("0.0.0.0", 0 if os.environ.get("STRAY") == str(own) else int(os.environ["GANGRUN_PORT"])))
else:
    server = socket.socket(fileno=3)
server.listen(100)
server.settimeout(0.02)
silent, heard = set(range(len(addresses))), set()
limit = time.monotonic() + float(os.environ.get("PATIENCE", 40))
while silent or len(heard) < len(addresses):
    if time.monotonic() > limit:
        sys.exit(f"worker:{own} did not reach {sorted(silent)} and heard of {sorted(heard)} only")
    for number in sorted(silent):
        host, port = addresses[number].rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), timeout=10) as one:
                one.sendall(f"{job} {own} {number}".encode())
            silent.remove(number)
        except ConnectionRefusedError:
            pass  # it does not listen yet
    try:
        one = server.accept()[0]
    except TimeoutError:
        continue
    with one:
        told = one.makefile().read().split()
    if told[0] != job or told[2] != str(own):
        sys.exit(f"worker:{own} was taken for {told}")
    heard.add(int(told[1]))
"""


class Thief:
    """The process that takes and drops ports, while it is entered."""

    def __enter__(self):
        self.process = subprocess.Popen([PYTHON, "-S", "-c", THIEF], stdout=subprocess.PIPE, text=True)
        self.counted = threading.Thread(target=self.count)
        self.counted.start()
        return self

    def count(self):
        self.taken = 0
        for line in self.process.stdout:
            self.taken = int(line)

    def __exit__(self, *_):
        self.alive = self.process.poll() is None
        self.process.kill()
        self.process.wait()
        self.counted.join()


def gang(folder, **variables):
    """Runs one; what was wrong with it, or nothing."""
    done = subprocess.run([BIN / "gangrun", "run", "--json", "-r", f"worker:{TASKS}", "--framework", "none",
                           "--", PYTHON, "-S", "-c", TASK], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT_S, env=os.environ | {"GANGRUN_HOME": str(folder)} | variables)
    if not done.stdout:
        return done.stderr
    status = json.loads(done.stdout.splitlines()[-1])["status"]
    if (done.returncode, status["generation"], status["restarts_used"]) == (0, 1, 0):
        return ""
    return f"exit status {done.returncode}: {json.dumps(status)}"


def stream(folder, gangs, failures):
    """One gangrun after the other."""
    for _ in range(gangs):
        try:
            failures.append(gang(folder))
        except subprocess.TimeoutExpired as failure:
            failures.append(str(failure))


def soak(gangs):
    """Runs so many, two at a time. What failed, and how many ports were taken meanwhile."""
    failures = []
    with tempfile.TemporaryDirectory(prefix="ports") as scratch, Thief() as thief:
        streams = []
        for number in range(2):
            folder = pathlib.Path(scratch) / str(number)
            folder.mkdir()
            streams.append(threading.Thread(target=stream, args=(folder, (gangs + number) // 2, failures)))
            streams[-1].start()
        for one in streams:
            one.join()
    if not thief.alive:
        failures.append("the process that takes ports has ended")
    return [failure for failure in failures if failure], thief.taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gangs", type=int, default=200)
    options = parser.parse_args()
    started = time.monotonic()
    failures, taken = soak(options.gangs)
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{options.gangs} gangs of {TASKS} in {time.monotonic() - started:.0f} s, while {taken} ports were taken")
    print(f"{options.gangs - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
