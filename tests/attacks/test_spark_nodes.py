"""Nodes beside the executors of a real Spark, attacked while they are fed.

By strangers at the master's port, by who knows the secret and claims the place of an executor, and at the sockets by which rows
come. All the time the nodes get their rows: none is lost, none comes twice, and no node is started anew.
"""

import contextlib
import json
import os
import socket
import struct
import subprocess

import pytest
import strangers
import wire
from said import ESCAPES, EVIL, assert_clean
from test_lines import LINES

from living import processes_of

NODES, OTHER = 2, 65534
LIMIT_S = 60
MOST_LOG_LINES = 150
ROWS = 60  # as in the program
KEY = b"k" * 32


class SparkVictim:
    def __init__(self, driver, folder, home):
        self.driver, self.folder, self.home = driver, folder, home
        driver.ask("victim", str(folder), NODES)
        driver.until((folder / "fed").exists, "the first rows")
        self.id = self.fed()["id"]
        self.job_folder = home / "jobs" / self.id
        self.secret = (self.job_folder / "secret").read_text().strip()
        self.port = int((self.job_folder / "tls.port").read_text())
        self.started = self.starts()

    def fed(self):
        return json.loads((self.folder / "fed").read_text())

    def starts(self):
        return {path.name: path.read_text() for path in self.folder.glob("started-*")}

    def wait_for_rows(self):
        before = self.fed()["times"]
        self.driver.until(lambda: self.fed()["times"] > before + 1, "more rows")

    def assert_well(self):
        self.wait_for_rows()
        assert self.starts() == self.started and len(self.started) == NODES
        log = (self.job_folder / "master.log").read_text()
        assert log.count("\n") < MOST_LOG_LINES and self.secret not in log and not ESCAPES.search(log), log[-3000:]

    def let_end(self):
        (self.folder / "go").touch()
        times = self.driver.answer()
        totals = [int(path.read_text()) for path in self.folder.glob("total-*")]
        assert len(totals) == NODES and sum(totals) == times * sum(range(ROWS))

    def nodes(self):
        """The processes of its nodes, as this machine numbers them."""
        return [pid for pid, words in processes_of(self.id).items() if "gangrun._task_main" in " ".join(words)]

    def feeds(self):
        """The abstract sockets at which its nodes are fed."""
        held = {os.readlink(f"/proc/{pid}/fd/{each}") for pid in self.nodes() for each in os.listdir(f"/proc/{pid}/fd")}
        with open("/proc/net/unix") as sockets:
            found = [line.split() for line in sockets if "@gangrun-feed-" in line]
        return sorted({fields[7] for fields in found if f"socket:[{fields[6]}]" in held})


@pytest.fixture(scope="module")
def driver(spark_driver):
    return spark_driver("attacked.py", f"local-cluster[{NODES},1,1024]")


@pytest.fixture(scope="module")
def victim(driver, spark_jobs, tmp_path_factory):
    made = SparkVictim(driver, tmp_path_factory.mktemp("victim"), spark_jobs)
    yield made
    made.assert_well()
    made.let_end()


# A stranger on the network.

def test_strangers_get_nothing(victim):
    strangers.come_without_the_secret(lambda: wire.tls(victim.port), victim.secret)
    strangers.say_strange_bytes(lambda: wire.tls(victim.port))
    strangers.speak_no_tls(lambda: wire.tcp(victim.port))


def test_half_open_connections_keep_no_rows_away(victim):
    held = []
    try:
        for number in range(300):
            with contextlib.suppress(OSError):
                held.append(wire.tcp(victim.port, source=f"127.0.1.{number % 20 + 1}"))
        victim.assert_well()
    finally:
        for each in held:
            each.close()


# Somebody who knows the secret, and says that he is an executor.

GOOD = {"task": "worker:0", "attempt": 0, "executor": "executor 0", "host": "127.0.0.1", "host_reason": "as Spark calls it"}
JOINS = {
    "the rank of another": (GOOD, (409,)),
    "the same, as a later attempt": (GOOD | {"attempt": 7}, (409,)),
    "the same, of another host": (GOOD | {"host": "evil.example"}, (409,)),
    "a rank that there is not": (GOOD | {"task": f"worker:{NODES}"}, (404,)),
    "a type that there is not": (GOOD | {"task": "ps:0"}, (404,)),
    "a rank below all": (GOOD | {"task": "worker:-1"}, (400,)),
    "a rank with a path": (GOOD | {"task": "../../etc:0"}, (400,)),
    "a rank with words": (GOOD | {"task": EVIL}, (400,)),
    "an attempt below all": (GOOD | {"attempt": -1}, (400,)),
    "an attempt beyond all": (GOOD | {"attempt": 10**12}, (400,)),
    "an attempt as text": (GOOD | {"attempt": "0"}, (400,)),
    "a host with words": (GOOD | {"host": EVIL}, (400,)),
    "a host of nothing": (GOOD | {"host": ""}, (400,)),
    "a long host": (GOOD | {"host": "h" * 300}, (400,)),
    "a long executor": (GOOD | {"executor": "e" * 5000}, (400, 413)),
    "a long reason": (GOOD | {"host_reason": "r" * 5000}, (400, 413)),
    "no host": ({key: value for key, value in GOOD.items() if key != "host"}, (400,)),
    "more than there is": (GOOD | {"root": True}, (400,)),
    "a list": ([GOOD], (400,)),
    "nothing": ({}, (400,)),
}


@pytest.mark.parametrize("name", JOINS)
def test_nobody_takes_the_place_of_an_executor(victim, name):
    body, statuses = JOINS[name]
    for _ in range(2):
        status, answer = wire.ask(wire.tls(victim.port), wire.request("POST", "/v1/join", victim.secret, json.dumps(body).encode()))
        assert status in statuses and victim.secret.encode() not in answer, (status, answer)


def test_a_session_at_the_wrong_time_changes_nothing(victim):
    strangers.open_wrong_sessions(lambda: wire.tls(victim.port), victim.secret)


# At the sockets by which rows come.

def message(kind, text=b"", version=1, numbers=(0, 0, 0), magic=b"GRGF"):
    return magic + struct.pack("=HHQQQ", version, kind, *numbers) + text


FEEDERS = {
    "nothing": [],
    "a wrong key": [message(1, KEY)],
    "a short key": [message(1, b"k")],
    "a long key": [message(1, b"k" * 1024)],
    "no key, but rows": [message(8)],
    "a welcome": [message(2, KEY)],
    "a turn of its own": [message(3, numbers=(1, 0, 0))],
    "an output of its own": [message(4)],
    "another version": [message(1, KEY, version=9)],
    "another magic": [message(1, KEY, magic=b"XXXX")],
    "a type that is none": [message(99)],
    "an empty message": [b""],
    "half a message": [message(1)[:20]],
    "a large message": [b"x" * 60_000],
    "many messages": [message(1, KEY)] * 200,
    "pickles": [b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x05touch\x94\x85\x94R\x94."],
    "bytes of all values": [bytes(range(256)) * 4],
}


def feeder(name):
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.settimeout(LIMIT_S)
    made.connect("\0" + name.removeprefix("@"))
    return made


@pytest.mark.parametrize("name", FEEDERS)
def test_no_rows_without_the_key(victim, name):
    feeds = victim.feeds()
    assert feeds
    for each in feeds:
        with contextlib.closing(feeder(each)) as connection:
            with contextlib.suppress(OSError):
                for sent in FEEDERS[name]:
                    connection.send(sent)
            # Who shows no key is not told anything of its rings, and is sent away.
            with contextlib.suppress(OSError):
                while got := connection.recv(2048):
                    (kind,) = struct.unpack("=H", got[6:8])
                    assert kind in (6, 7), got


def test_many_feeders_without_a_key_keep_nobody_out(victim):
    held = []
    try:
        for each in victim.feeds():
            for _ in range(1200):
                with contextlib.suppress(OSError):
                    held.append(feeder(each))
        victim.assert_well()
    finally:
        for each in held:
            each.close()


def test_another_user_feeds_nobody(victim):
    code = ("import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(20); s.connect('\\0' + sys.argv[1]);"
            "s.send(b'GRGF' + bytes([1, 0, 1, 0]) + bytes(24) + b'k' * 32); print('got', s.recv(2048))")
    for name in victim.feeds():
        done = subprocess.run(["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", "/usr/bin/python3", "-c", code,
                               name.removeprefix("@")], capture_output=True, text=True, timeout=LIMIT_S, cwd="/")
        assert "welcome" not in done.stdout and (done.returncode or "got b''" in done.stdout or "GRGF" in done.stdout), done


def test_another_user_reads_no_rows(victim):
    """The memory of the rings is that of the processes."""
    assert len(victim.nodes()) == NODES
    for pid in victim.nodes():
        for look in (f"ls /proc/{pid}/fd", f"cat /proc/{pid}/environ", f"cat /proc/{pid}/mem", f"head -c 1 /proc/{pid}/maps"):
            done = subprocess.run(["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", "sh", "-c", look], capture_output=True,
                                  timeout=LIMIT_S, cwd="/")
            assert done.returncode != 0 and not done.stdout, (look, done)


def test_the_nodes_have_not_noticed(victim):
    victim.assert_well()


# Rows that are words, last: the nodes of the one that was attacked have ended.

@pytest.mark.parametrize("name", ["clear the screen", "write the clipboard", "a made-up end", "the other direction", "markup"])
def test_rows_with_words_are_only_text(spark_driver, spark_jobs, gangrun, hostile_driver, name):
    words = LINES[name].decode()
    told = hostile_driver.run("hostile", words)
    assert told["text"], told
    environment = os.environ | {"GANGRUN_HOME": str(spark_jobs)}
    for command in ("why", "status", "logs"):
        done = subprocess.run([gangrun, command, told["id"]], env=environment, capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
        # The traceback is the user's own.
        assert_clean((done.stdout + done.stderr).replace("Traceback (most recent call last)", ""))


@pytest.fixture(scope="module")
def hostile_driver(spark_driver):
    return spark_driver("attacked.py", f"local-cluster[{NODES},1,1024]")
