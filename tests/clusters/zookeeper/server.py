#!/usr/bin/env python3
"""A real ZooKeeper (Debian's package `zookeeper`) as a normal process in a folder.

    tests/clusters/zookeeper/server.py FOLDER PORT

runs one until it is interrupted (with PYTHONPATH=tests). Tests use the class.
"""

import contextlib
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys

from waiting import wait_until

FIRST_PORT, LAST_PORT = 34000, 34999
START_LIMIT_S = 120
# Where Debian says which jars there are.
ENVIRONMENT = pathlib.Path("/etc/zookeeper/conf_example/environment")
# What the package depends on, and does not list: Netty's server needs the first two. The third writes the log.
MORE_JARS = [pathlib.Path("/usr/share/java", name + ".jar") for name in ("netty-codec", "netty-resolver", "slf4j-simple")]
# A session is over after 2 s without a word of its client, and empty container nodes are looked for every second.
CONFIGURATION = """\
tickTime=500
dataDir={folder}/data
clientPort={port}
clientPortAddress=127.0.0.1
admin.enableServer=false
minSessionTimeout=1000
maxSessionTimeout={max_session_ms}
"""


def free_port(first=FIRST_PORT):
    for port in range(first, LAST_PORT + 1):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"no free port from {first} to {LAST_PORT}")


def class_path():
    assert ENVIRONMENT.is_file(), f"{ENVIRONMENT} is not there: tools/install-deps test"
    listed = shlex.split(re.search(r"^CLASSPATH=(.*)$", ENVIRONMENT.read_text(), re.MULTILINE).group(1))[0]
    return ":".join([listed, *map(str, MORE_JARS)])


class ZooKeeper:
    """One server, with one port and one data folder for as many processes as it has in its life."""

    def __init__(self, folder, port=None, max_session_ms=2000, more="", options=()):
        """`more` goes to its configuration, `options` to Java."""
        self.folder, self.port, self.process = pathlib.Path(folder), port or free_port(), None
        self.host = f"127.0.0.1:{self.port}"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "zoo.cfg").write_text(
            CONFIGURATION.format(folder=self.folder, port=self.port, max_session_ms=max_session_ms) + more)
        self.options = options

    def start(self):
        # It ends at the latest with the process of the tests, also when that is killed.
        command = ["setpriv", "--pdeathsig", "KILL", "java", "-Xmx128m", "-Dznode.container.checkIntervalMs=1000",
                   *self.options, "-cp", class_path(), "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(self.folder / "zoo.cfg")]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self.answers, "ZooKeeper to answer", START_LIMIT_S, pause_s=0.05)
        return self

    def order(self, words):
        """What it answers to one of its four-letter orders; empty when it does not."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(words.encode())
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        return ""

    def answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        return self.order("srvr").startswith("Zookeeper version")

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(timeout=60)

    def suspend(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def forget(self):
        """All nodes and sessions, while it is not running."""
        shutil.rmtree(self.folder / "data")


def main():
    folder, port = sys.argv[1:]
    server = ZooKeeper(folder, int(port)).start()
    print(f"ZooKeeper at {server.host}, process {server.process.pid}", flush=True)
    try:
        server.process.wait()
    except KeyboardInterrupt:
        server.kill()


if __name__ == "__main__":
    main()
