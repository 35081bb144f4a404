"""Jobs on several hosts: network namespaces of this machine on one bridge, agents and master over TLS."""

import contextlib
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from waiting import wait_until

LIMIT_S = 60

# Every task tells the next one its name at the address of the cluster spec, and hears of the one before.
RING = r"""
import json, os, socket
spec = json.loads(os.environ["GANGRUN_CLUSTER_SPEC"])["worker"]
own = int(os.environ["GANGRUN_TASK_INDEX"])
host, port = spec[own].rsplit(":", 1)
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((host, int(port)))  # fails where the address is not of this host
server.listen()
server.settimeout(60)
def tell():
    host, port = spec[(own + 1) % len(spec)].rsplit(":", 1)
    while True:
        try:
            with socket.create_connection((host, int(port)), timeout=60) as connection:
                return connection.sendall(b"worker:%d" % own)
        except ConnectionRefusedError:
            continue  # it does not listen yet
import threading
threading.Thread(target=tell).start()
connection, peer = server.accept()
heard = b""
while part := connection.recv(100):
    heard += part
print(json.dumps({"heard": heard.decode(), "from": peer[0], "at": host, "spec": spec}))
"""

# Says how long it lives, and finds out whether another one with its name does.
LIVING = r"""
import fcntl, os, time
name = os.environ["GANGRUN_TASK_INDEX"]
lock = open(f"lock.{name}", "w")
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where another one lives
print("the-line-of-the-task", flush=True)
began = time.clock_gettime(time.CLOCK_MONOTONIC)  # a process id may stand for another in each PID namespace
with open(f"life.{name}", "a", buffering=1) as life:
    while not os.path.exists("go"):
        life.write(f"{began} {time.clock_gettime(time.CLOCK_MONOTONIC)} {os.environ['GANGRUN_GENERATION']}\n")
        time_limit = time.monotonic() + 0.02
        while time.monotonic() < time_limit: os.sched_yield()
"""


class Job:
    """A running job of LIVING tasks in `folder`."""

    def __init__(self, gangrun, home, folder, *flags):
        self.folder = folder
        self.environment = os.environ | {"GANGRUN_HOME": str(home)}
        self.gangrun = gangrun
        self.process = subprocess.Popen(
            [gangrun, "run", "--json", "--logs", *flags, "--", sys.executable, "-c", LIVING], cwd=folder,
            env=self.environment, stdout=open(folder / "out", "w"), stderr=subprocess.STDOUT)
        self.job_folder = wait_until(lambda: next(iter((home / "jobs").glob("*")), None), "the job's folder")

    def lives(self, index):
        """The lives of a task's processes, in order: (first stamp, last stamp, generation)."""
        path = self.folder / f"life.{index}"
        lives = {}
        for line in path.read_text().splitlines(keepends=True) if path.exists() else ():
            if line.endswith("\n"):
                began, stamp, generation = line.split()
                lives[began] = (float(began), float(stamp), int(generation))
        return list(lives.values())

    def wait_for_lives(self, index, count):
        wait_until(lambda: len(self.lives(index)) >= count or self.ended(), f"life {count} of worker:{index}")
        assert len(self.lives(index)) >= count, self.said()
        return self.lives(index)

    def ended(self):
        return self.process.poll() is not None

    def said(self):
        return (self.folder / "out").read_text()

    def statuses(self):
        lines = map(json.loads, self.said().splitlines(keepends=False))
        return [line["status"] for line in lines if "status" in line]

    def agent_of(self, index):
        """The process id, on this machine, of the agent of a task."""
        pid = wait_until(lambda: self.statuses()[-1]["tasks"][index]["pid"], f"the process of worker:{index}")
        words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        agent = int(words[1])
        assert Path(f"/proc/{agent}/comm").read_text().startswith("gangrun-agent")
        return agent

    def finish(self):
        (self.folder / "go").touch()
        assert self.process.wait(timeout=LIMIT_S) == 0, self.said()
        return self.statuses()[-1]


@pytest.fixture
def start(gangrun, home, tmp_path):
    jobs = []

    def begin(*flags):
        jobs.append(Job(gangrun, home, tmp_path, *flags))
        return jobs[-1]

    yield begin
    for job in jobs:
        if not job.ended():
            job.process.kill()
            job.process.wait(timeout=LIMIT_S)


def never_two_at_once(lives):
    for before, after in zip(lives, lives[1:]):
        assert before[1] < after[0], lives


def test_a_gang_over_two_hosts_talks_at_the_addresses_of_the_cluster_spec(run_gangrun, hosts, tmp_path):
    done = run_gangrun("run", "--json", "--logs", "--hosts", ",".join(f"{name}:2" for name in hosts.names),
                       "-r", "worker:4", "--", sys.executable, "-c", RING, cwd=tmp_path)
    assert done.status == 0, done
    events = list(map(json.loads, done.stdout.splitlines()))
    said = {event["task"]: json.loads(event["line"]) for event in events if event["event"] == "line"}
    assert len(said) == 4
    spec = said["worker:0"]["spec"]
    on_hosts = [hosts.address(name) for name in hosts.names] * 2  # in turn
    assert [address.rsplit(":", 1)[0] for address in spec] == on_hosts
    for index in range(4):
        before = (index - 1) % 4
        assert said[f"worker:{index}"] == {"heard": f"worker:{before}", "from": on_hosts[before],
                                           "at": on_hosts[index], "spec": spec}


def test_a_gang_starts_smaller_where_the_hosts_have_room_for_its_minimum_only(run_gangrun, hosts, tmp_path):
    done = run_gangrun("run", "--json", "--logs", "--hosts", ",".join(f"{name}:1" for name in hosts.names),
                       "-r", "worker:3", "--min-instances", "worker:2", "--timeout", "shrink=1s",
                       "--", sys.executable, "-c", RING, cwd=tmp_path)
    assert done.status == 0, done
    events = list(map(json.loads, done.stdout.splitlines()))
    said = {event["task"]: json.loads(event["line"]) for event in events if event["event"] == "line"}
    assert sorted(one["heard"] for one in said.values()) == ["worker:0", "worker:1"]
    assert {one["at"] for one in said.values()} == {hosts.address(name) for name in hosts.names}


class Capture:
    """All packets on a link of this machine, as long as the `with` lasts."""

    def __init__(self, interface):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
        self.socket.bind((interface, 0))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        self.socket.settimeout(0.1)
        self.packets = []
        self.ends = False

    def read(self):
        while not self.ends:
            with contextlib.suppress(TimeoutError):
                self.packets.append(self.socket.recv(65536))

    def __enter__(self):
        self.thread = threading.Thread(target=self.read)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()
        self.socket.close()


def master_port(pid):
    """The one port that the master listens on."""
    inodes = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(fd)))
    tables = [Path("/proc/net") / name for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    ports = [int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and row[9] in inodes]
    assert len(ports) == 1, ports
    return ports[0]


def answer(connection, token):
    with connection:
        connection.sendall(b"GET /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + token + b"\r\n")
        text = b""
        while part := connection.recv(65536):
            text += part
    return text


def test_nothing_of_the_job_is_readable_between_agents_and_master(start, hosts):
    with Capture(hosts.link(hosts.names[0])) as capture:
        job = start("--hosts", hosts.names[0], "-r", "worker:2")
        job.wait_for_lives(1, 1)
        wait_until(lambda: "the-line-of-the-task" in job.said(), "a line of a task")
        secret = (job.job_folder / "secret").read_bytes().strip()
        certificate = (job.job_folder / "certificate.pem").read_text()
        port = master_port(job.process.pid)

        plain = b""
        with contextlib.suppress(ConnectionResetError):
            plain = answer(socket.create_connection((hosts.own_address, port), timeout=LIMIT_S), b"")
        assert b"worker" not in plain and b"HTTP" not in plain

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(cadata=certificate)

        def by_tls(token):
            return answer(context.wrap_socket(socket.create_connection((hosts.own_address, port), timeout=LIMIT_S)), token)

        for token in (b"", b"Authorization: Bearer " + b"0" * 64 + b"\r\n"):
            refused = by_tls(token)
            assert refused.startswith(b"HTTP/1.1 401") and b"worker" not in refused
        assert b"worker:1" in by_tls(b"Authorization: Bearer " + secret + b"\r\n")

        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname = False
        old.verify_mode = ssl.CERT_NONE
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            old.wrap_socket(socket.create_connection((hosts.own_address, port), timeout=LIMIT_S))
        job.finish()
    assert len(capture.packets) > 20
    seen = b"\0".join(capture.packets)
    assert port.to_bytes(2, "big") in seen
    for private in (secret, b"the-line-of-the-task", b"Authorization", b"cluster_spec", b"worker:0"):
        assert private not in seen, private


def test_an_agent_refuses_a_master_with_another_certificate(start, hosts, agent, tmp_path):
    job = start("--hosts", hosts.names[0], "-r", "worker:1")
    job.wait_for_lives(0, 1)
    config = {"job_id": "x", "spec": {"name": "x", "tasks": {"worker": {}}, "command": "true"}, "task": "worker:0",
              "attempt": 1, "secret": (job.job_folder / "secret").read_text().strip(), "host": "127.0.0.1",
              "host_reason": "", "working_folder": str(tmp_path), "log_prefix": str(tmp_path / "log"), "master_host": hosts.own_address,
              "master_port": master_port(job.process.pid), "fingerprint": "0" * 64}
    (tmp_path / "config").write_text(json.dumps(config))
    with open(tmp_path / "config") as file:
        done = subprocess.run([agent, "task", "--containment", "subreaper", "--name", "x", "--config-fd", str(file.fileno())],
                              pass_fds=[file.fileno()], capture_output=True, text=True, timeout=LIMIT_S)
    assert "certificate" in done.stderr, done
    assert "worker:0" not in (job.job_folder / "master.log").read_text().replace("worker.0", "")
    job.finish()


@pytest.mark.programs
def test_a_cut_shorter_than_the_lease_changes_nothing(start, hosts):
    job = start("--hosts", ",".join(hosts.names), "-r", "worker:2", "--timeout", "master_lost=30s", "--restarts", "3")
    for index in range(2):
        job.wait_for_lives(index, 1)
    hosts.cut(hosts.names[0])
    cut_at = time.clock_gettime(time.CLOCK_MONOTONIC)
    # Long enough that heartbeats are missed.
    wait_until(lambda: job.lives(0)[-1][1] > cut_at + 4, "a life without the master")
    hosts.mend(hosts.names[0])
    wait_until(lambda: job.lives(0)[-1][1] > cut_at + 8, "a life after it")
    final = job.finish()
    assert [len(job.lives(index)) for index in range(2)] == [1, 1]
    assert final["restarts_used"] == 0 and final["generation"] == 1


def test_a_task_whose_lease_is_over_ends_before_another_takes_its_place(start, hosts):
    job = start("--hosts", ",".join(f"{name}:2" for name in hosts.names), "-r", "worker:2",
                "--timeout", "master_lost=3s", "--restarts", "1:task")
    for index in range(2):
        job.wait_for_lives(index, 1)
    hosts.cut(hosts.names[0])
    cut_at = time.clock_gettime(time.CLOCK_MONOTONIC)
    lives = job.wait_for_lives(0, 2)
    job.wait_for_lives(1, 2)
    final = job.finish()
    never_two_at_once(lives)
    never_two_at_once(job.lives(1))
    # The lease counts from the last heartbeat that was answered, one a second.
    assert lives[0][1] - cut_at > 1
    assert lives[1][0] - cut_at < LIMIT_S
    # At another address, so all have the next generation.
    assert [life[2] for life in lives] == [1, 2] and job.lives(1)[-1][2] == 2
    addresses = {task["task"]: task["address"] for task in final["tasks"]}
    assert addresses["worker:0"].startswith(hosts.address(hosts.names[1]) + ":")


@pytest.mark.programs
def test_a_task_waits_for_its_host_where_no_other_has_room(start, hosts):
    job = start("--hosts", ",".join(f"{name}:1" for name in hosts.names), "-r", "worker:2",
                "--timeout", "master_lost=3s", "--restarts", "1:task")
    for index in range(2):
        job.wait_for_lives(index, 1)
    hosts.cut(hosts.names[0])
    reason = f"host {hosts.names[0]} cannot be used: "
    wait_until(lambda: any(reason in status["waiting_for"] for status in job.statuses()), "the reason of the wait")
    hosts.mend(hosts.names[0])
    lives = job.wait_for_lives(0, 2)
    final = job.finish()
    never_two_at_once(lives)
    assert len(job.lives(1)) == 1 and final["generation"] == 1


@pytest.mark.programs
def test_a_namespace_that_is_deleted_and_made_again_is_used(start, hosts):
    job = start("--hosts", ",".join(f"{name}:1" for name in hosts.names), "-r", "worker:2", "--restarts", "1:task")
    for index in range(2):
        job.wait_for_lives(index, 1)
    hosts.remove(hosts.names[0])
    os.kill(job.agent_of(0), signal.SIGKILL)
    reason = f"host {hosts.names[0]} cannot be used: there is no network namespace"
    wait_until(lambda: any(reason in status["waiting_for"] for status in job.statuses()), "the reason of the wait")
    hosts.add(hosts.names[0])
    lives = job.wait_for_lives(0, 2)
    never_two_at_once(lives)
    job.finish()


BAD = {
    "unknown": ("no-such-host", ["hosts", "no-such-host", "there is no network namespace", "there are: "]),
    "twice": ("{0},{0}", ["--hosts", "'{0}' is named twice"]),
    "too few slots": ("{0}:1,{1}:1", ["--hosts", "2 slots are fewer than the 3 tasks"]),
    "no slots": ("{0}:0", ["--hosts", "'{0}:0'", "slots"]),
    "no name": (":3", ["--hosts", "':3'", "NAME or NAME:SLOTS"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_hosts_are_refused_before_anything_starts(run_gangrun, hosts, home, tmp_path, name):
    text, parts = BAD[name]
    done = run_gangrun("run", "--hosts", text.format(*hosts.names), "-r", "worker:3", "--", "true", cwd=tmp_path)
    assert done.status == 2 and done.stderr.count("\n") == 1, done
    for part in parts:
        assert part.format(*hosts.names) in done.stderr
    assert not (home / "jobs").exists()


def test_one_address_on_two_hosts_is_refused(run_gangrun, hosts, home, tmp_path):
    """A bridge for containers has the same one everywhere, and no task reached another."""
    for name in hosts.names:
        hosts.add_bridge(name, "172.17.0.1")
    done = run_gangrun("run", "--hosts", ",".join(hosts.names), "--interface", "docker0", "-r", "worker:2", "--", "true", cwd=tmp_path)
    assert done.status == 2 and done.stderr.count("\n") == 1, done
    assert f"hosts {hosts.names[0]} and {hosts.names[1]} have one address, 172.17.0.1 (of host " in done.stderr
    assert "--interface" in done.stderr
    assert not (home / "jobs").exists()


def test_a_host_whose_link_is_down_is_refused(run_gangrun, hosts, tmp_path):
    hosts.cut(hosts.names[1])
    done = run_gangrun("run", "--hosts", ",".join(hosts.names), "-r", "worker:1", "--", "true", cwd=tmp_path)
    assert done.status == 2, done
    assert f"host {hosts.names[1]} cannot be used: the link of its address {hosts.address(hosts.names[1])} is down" in done.stderr


def test_hosts_need_the_rights_of_root(gangrun, hosts, tmp_path):
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", gangrun, "run",
                           "--hosts", hosts.names[0], "--", "true"], cwd="/", env=os.environ | {"GANGRUN_HOME": str(tmp_path / "none")},
                          capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 2, done
    assert f"host {hosts.names[0]} cannot be used: no permission" in done.stderr and "root" in done.stderr


def test_the_address_of_the_master_can_be_given(run_gangrun, hosts, tmp_path):
    flags = ["--hosts", hosts.names[0], "-r", "worker:1"]
    done = run_gangrun("run", *flags, "--host", hosts.own_address, "--", "true", cwd=tmp_path)
    assert done.status == 0, done
    for wrong in ("127.0.0.1", "localhost"):
        done = run_gangrun("run", *flags, "--host", wrong, "--", "true", cwd=tmp_path)
        assert done.status == 2 and f"--host: '{wrong}' cannot be reached from hosts" in done.stderr, done


def test_agents_on_other_hosts_find_the_next_master(run_gangrun, gangrun, home, hosts, tmp_path):
    """The master of a detached job is killed: the next one listens at the same port with the same certificate."""
    started = run_gangrun("run", "--detach", "--hosts", ",".join(hosts.names), "-r", "worker:2", "--",
                          sys.executable, "-c", LIVING, cwd=tmp_path)
    assert started.status == 0, started.stderr
    name = started.stdout.strip()

    def pids():
        status = json.loads(run_gangrun("status", "--json", name).stdout)
        return [task["pid"] for task in status["tasks"] if task["state"] == "running" and task["pid"]]

    before = wait_until(lambda: len(found := pids()) == 2 and found, "both tasks")
    masters = subprocess.run(["pgrep", "-f", f"gangrun master .*{name}"], capture_output=True, text=True).stdout
    os.kill(min(map(int, masters.split())), signal.SIGKILL)
    wait_until(lambda: pids() == before, "news of both tasks")
    (tmp_path / "go").touch()
    assert run_gangrun("wait", name).status == 0
    assert [len((tmp_path / f"life.{index}").read_text().splitlines()) > 0 for index in range(2)] == [True, True]
    assert json.loads(run_gangrun("status", "--json", name).stdout)["generation"] == 1
