"""What passes between a master and its clients, recorded for each release, and an old master that is played by it.

    tests/integration/masters.py GANGRUN    records this version: a detached job of a chief and a worker, until it is killed
"""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from waiting import wait_until  # noqa: E402: found by the line above, where this is a program

RECORDED = pathlib.Path(__file__).resolve().parent / "recorded"
WAS_AT = "/home/user/.gangrun"
SECRET = "0" * 64
LIMIT_S = 60
# Not for others, or about the machine.
LEFT_OUT = ("secret", "key.pem", "certificate.pem", "environment", "launch.json")
# All that a client asks a master on this machine, in this order; the last one ends the job.
ASKED = (("GET", "/v1/status", ""), ("GET", "/v1/cluster-spec", ""), ("GET", "/v1/tasks/worker/0", ""),
         ("POST", "/v1/notice", '{"by":"SIGUSR2"}'), ("POST", "/v1/stop", '{"at_once":false,"by":"gangrun kill by user 1000"}'))


def request_of(method, path, body):
    length = f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{length}Authorization: Bearer {SECRET}\r\n\r\n{body}"


def ask(folder, request):
    """Sends a recorded request to the master of a job, with the secret of that."""
    secret = (folder / "secret").read_text()
    with socket.socket(socket.AF_UNIX) as master:
        master.settimeout(LIMIT_S)
        master.connect(str(folder / "master.sock"))
        master.sendall(request.replace(SECRET, secret).encode())
        with master.makefile("rb") as answer:
            return answer.read().decode()


def parts(answer):
    """(status, JSON) of an answer."""
    head, _, body = answer.partition("\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


class Played:
    """The master of a recorded job, which answers as it did then. It holds the job's locks, and ends when it is asked to."""

    def __init__(self, folder, recorded):
        self.folder, self.recorded, self.asked = folder, recorded, []
        for name, text in recorded["files"].items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text.replace(WAS_AT, str(folder.parents[1])))
        (folder / "secret").write_text(SECRET)
        for path in folder.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        self.locks = [open(folder / name, "w") for name in ("master.lock", "supervisor.lock")]
        for lock in self.locks:
            # Of the open file, not of this process: type, whence, start, length, process.
            fcntl.fcntl(lock, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        played = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                played.handle(self.rfile, self.wfile)

        self.server = socketserver.ThreadingUnixStreamServer(str(folder / "master.sock"), Handler)
        (folder / "master.sock").chmod(0o600)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def handle(self, source, sink):
        lines = []
        while (line := source.readline()) not in (b"\r\n", b""):
            lines.append(line.decode())
        if not lines:
            return
        length = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")), 0)
        source.read(length)
        asked = " ".join(lines[0].split()[:2])
        self.asked.append(asked)
        found = [each["answer"] for each in self.recorded["exchanges"] if each["request"].startswith(asked + " ")]
        assert f"Authorization: Bearer {SECRET}\r\n" in lines, lines
        # What it does not know, an old master refuses.
        nothing = '{"error":{"code":"not_found","message":"no such path"}}'
        answer = found[0].replace(WAS_AT, str(self.folder.parents[1])) if found else (
            f"HTTP/1.1 404 Not Found\r\nContent-Length: {len(nothing)}\r\n\r\n{nothing}")
        head, _, body = answer.partition("\r\n\r\n")
        sink.write((re.sub(r"Content-Length: \d+", f"Content-Length: {len(body.encode())}", head) + "\r\n\r\n" + body).encode())
        if asked == "POST /v1/stop":
            self.end()

    def end(self):
        with open(self.folder / self.recorded["journal"], "a") as journal:
            journal.write(self.recorded["end"].replace(WAS_AT, str(self.folder.parents[1])))
        (self.folder / "master.sock").unlink()
        for lock in self.locks:
            lock.close()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        for lock in self.locks:
            lock.close()


@contextlib.contextmanager
def detached(gangrun, home):
    """The folder of a job that runs, of a chief and a worker; killed at the end if it is still there."""
    environment = os.environ | {"GANGRUN_HOME": str(home)}

    def order(*words):
        return subprocess.run([gangrun, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT_S, check=True).stdout

    says = "echo I am $GANGRUN_TASK_TYPE; exec tail -f /dev/null"
    order("run", "--detach", "--name", "running", "-r", "chief:1,worker:1", "--timeout", "stop=5s", "--", "sh", "-c", says)
    job = json.loads(order("ps", "--json"))[0]["id"]

    def said():
        return [task.get("last_line") for task in json.loads(order("status", job, "--json"))["tasks"]]

    try:
        wait_until(lambda: said() == ["I am chief", "I am worker"], "both tasks to speak", LIMIT_S)
        yield home / "jobs" / job
    finally:
        subprocess.run([gangrun, "kill", "--now", job], env=environment, capture_output=True, timeout=LIMIT_S, check=False)
        subprocess.run([gangrun, "wait", job], env=environment, capture_output=True, timeout=LIMIT_S, check=False)


def record(gangrun):
    version = subprocess.run([gangrun, "version"], check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout.split()[1]
    with tempfile.TemporaryDirectory() as scratch:
        home = pathlib.Path(scratch)
        with detached(gangrun, home) as folder:
            def clean(text):
                return text.replace(str(home), WAS_AT)

            files = {str(path.relative_to(folder)): clean(path.read_text()) for path in sorted(folder.rglob("*"))
                     if path.is_file() and path.name not in LEFT_OUT and path.suffix != ".lock"}
            journal, = (name for name in files if name.startswith("journal/"))
            exchanges = [{"request": request_of(*each), "answer": clean(ask(folder, request_of(*each)))} for each in ASKED]
            subprocess.run([gangrun, "wait", folder.name], env=os.environ | {"GANGRUN_HOME": scratch}, timeout=LIMIT_S, check=False)
            end = clean((folder / journal).read_text()).removeprefix(files[journal])
    (RECORDED / version).mkdir(parents=True, exist_ok=True)
    (RECORDED / version / "running.json").write_text(json.dumps(
        {"job": folder.name, "files": files, "journal": journal, "exchanges": exchanges, "end": end}, indent=1) + "\n")


if __name__ == "__main__":
    record(sys.argv[1])
