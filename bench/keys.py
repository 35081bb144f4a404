"""Keys of a job and barriers of its tasks, beside a bare HTTP round trip and the store of PyTorch's c10d.

    python bench/keys.py [--runs 5] [--calls 200] [--tasks 2,8,32]

Measured are a put, a get and a barrier as a Python task makes them: each is one HTTP request on a connection of
its own to the agent, and from there a question to the master. The limit is the same request to a server that
only answers. The peer is TCPStore: a set, a get, and a barrier made of a counter and a key for which all wait.
It encrypts nothing, keeps nothing, and its clients keep their connections. A value has 100 bytes.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

from measure import ROOT, Series, Verdicts, gangrun_program, in_turns

LIMIT_S = 300
VALUE = b"v" * 100
PEER_PYTHON = "/usr/bin/python3"
# Each way has a put, a get and a barrier; who runs this as a program is one task of it.
TASK = f"import sys; sys.path[:0] = [{str(ROOT / 'python')!r}, {str(Path(__file__).parent)!r}]; import keys; keys.task()"
# Bare round trips: a request goes through two processes and TLS. At a barrier each task asks twice, and all share the processors.
MOST_ROUND_TRIPS = 15
MOST_ROUND_TRIPS_OF_A_TASK_AT_A_BARRIER = 30


class OfGangrun:
    def __init__(self, _folder: Path, _index: int, _count: int) -> None:
        import gangrun.task

        self.put, self.get = gangrun.task.kv.put, gangrun.task.kv.get
        self.barrier = lambda name: gangrun.task.barrier(name, timeout=LIMIT_S)


class BareHttp:
    """A server that only answers, and requests as the package makes them."""

    def __init__(self, folder: Path, _index: int, _count: int) -> None:
        import http.server

        class Answer(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(200)
                self.send_header("Content-Length", str(len(VALUE)))
                self.end_headers()
                self.wfile.write(VALUE)

            do_GET = do_PUT = answer

            def log_message(self, *_words: object) -> None:
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
        self.child = os.fork()
        if self.child == 0:
            server.serve_forever()
        self.port = server.server_port
        server.server_close()

    def put(self, key: str, value: bytes) -> None:
        self.ask("PUT", key, value)

    def get(self, key: str) -> bytes:
        return self.ask("GET", key, None)

    def ask(self, method: str, key: str, body: object) -> bytes:
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(method, f"/kv/{key}", body=body)
        text = connection.getresponse().read()
        connection.close()
        return text

    def end(self) -> None:
        os.kill(self.child, 9)


class TcpStore:
    def __init__(self, folder: Path, index: int, count: int) -> None:
        from torch.distributed import TCPStore

        self.store = TCPStore("127.0.0.1", int(os.environ["STORE_PORT"]), count, index == 0, wait_for_workers=False)
        self.count, self.round = count, 0
        self.put, self.get = self.store.set, self.store.get

    def barrier(self, name: str) -> None:
        self.round += 1
        if self.store.add(f"{name}/{self.round}", 1) == self.count:
            self.store.set(f"{name}/{self.round}/all", "1")
        self.store.get(f"{name}/{self.round}/all")


WAYS = {"gangrun": OfGangrun, "http": BareHttp, "tcpstore": TcpStore}


def median_ms(calls: int, call: Callable[[], object]) -> float:
    taken = []
    for _ in range(calls):
        begin = time.monotonic()
        call()
        taken.append((time.monotonic() - begin) * 1000)
    return sorted(taken)[calls // 2]


def task() -> None:
    """One task: the first one writes what it has measured."""
    way_name, what, calls, folder, index, count = sys.argv[1:]
    index = os.environ["GANGRUN_TASK_INDEX"] if index == "own" else index
    way = WAYS[way_name](Path(folder), int(index), int(count))
    if what == "barrier":
        way.barrier("begin")
        taken = median_ms(int(calls), lambda: way.barrier("b"))
        way.barrier("end")
    else:
        way.put("key", VALUE)
        taken = median_ms(int(calls), (lambda: way.put("key", VALUE)) if what == "put" else (lambda: way.get("key")))
    if index in (0, "0"):
        (Path(folder) / "taken").write_text(json.dumps(taken))
    if isinstance(way, BareHttp):
        way.end()


def measured(way: str, what: str, calls: int, count: int) -> float:
    """Milliseconds of one call, the median of those of one task."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"GANGRUN_HOME": folder + "/home"}
        if way == "gangrun":
            words = [sys.executable, "-c", TASK, way, what, str(calls), folder, "own", str(count)]
            subprocess.run([gangrun_program(), "run", "--quiet", "-r", f"worker:{count}", "--", *words], check=True,
                           timeout=LIMIT_S, env=environment, cwd=folder)
        else:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                environment["STORE_PORT"] = str(free.getsockname()[1])
            python = PEER_PYTHON if way == "tcpstore" else sys.executable
            tasks = [subprocess.Popen([python, "-c", TASK, way, what, str(calls), folder, str(index), str(count)],
                                      env=environment)
                     for index in range(count)]
            # The store is in the first one.
            if any(one.wait(timeout=LIMIT_S) != 0 for one in reversed(tasks)):
                raise SystemExit(f"a task of {way} has failed")
        return float(json.loads((Path(folder) / "taken").read_text()))


def compare(what: str, ways: list[str], calls: int, count: int, runs: int) -> dict[str, Series]:
    taken = in_turns(runs, {way: lambda way=way: measured(way, what, calls, count) for way in ways})
    print(f"{what} of {count} task{'s' if count > 1 else ''}, minimum and median of {runs} runs, in ms")
    for way, series in taken.items():
        print(f"  {way:9} {series.minimum:8.2f} {series.median:8.2f}", flush=True)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--tasks", default="2,8,32")
    arguments = parser.parse_args()
    verdicts = Verdicts()
    for what in ("put", "get"):
        taken = compare(what, ["gangrun", "http", "tcpstore"], arguments.calls, 1, arguments.runs)
        bare = taken["http"].minimum
        verdicts.at_most(f"a {what} / a bare round trip", taken["gangrun"].minimum / bare, MOST_ROUND_TRIPS)
    for count in map(int, arguments.tasks.split(",")):
        taken = compare("barrier", ["gangrun", "tcpstore"], max(10, arguments.calls // 4), count, arguments.runs)
        print(f"a barrier of {count} / one by TCPStore: {taken['gangrun'].minimum / taken['tcpstore'].minimum:.0f}")
        verdicts.at_most(f"a barrier of {count}, for each task / a bare round trip", taken["gangrun"].minimum / count / bare,
                         MOST_ROUND_TRIPS_OF_A_TASK_AT_A_BARRIER)
    verdicts.finish()


if __name__ == "__main__":
    main()
