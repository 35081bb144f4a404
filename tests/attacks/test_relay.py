"""The relay of a job with agents in pods, attacked by whoever reaches its pod: as a master is, and with the secret, too.

What comes to it is carried to the master, which asks for the job's secret. The job goes on: the same processes, no restart.
"""

import base64
import contextlib
import pathlib

import pytest
import strangers
import wire
from kubernetes.jobs import SLEEPER

AGENTS_PORT, CLIENTS_PORT = 17400, 17401
BUSYBOX = "localhost/busybox:1"
LIMIT_S = 60


class PodVictim:
    """A job of two tasks, and the way to its relay. Pods can be reached from this machine."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.before = jobs.wait_for_running(2)
        (relay,) = [pod for pod in jobs.pods() if pod["metadata"]["name"].endswith("-relay")]
        self.host, self.relay = relay["status"]["podIP"], relay["metadata"]["uid"]
        hidden = [one["data"] for one in jobs.kubectl.json("get", "secrets", "-l", "gangrun/job") if "token" in one["data"]]
        self.token = base64.b64decode(hidden[0]["token"]).decode()
        (folder,) = pathlib.Path(jobs.environment["GANGRUN_HOME"]).glob("jobs/*")
        self.secret = (folder / "secret").read_text().strip()

    def plain(self):
        return wire.tcp(AGENTS_PORT, host=self.host)

    def connect(self):
        return wire.tls_context().wrap_socket(self.plain())

    def assert_well(self):
        status = self.jobs.wait_for_running(2)
        assert status["restarts_used"] == 0 and status["generation"] == self.before["generation"]
        assert [task["pid"] for task in status["tasks"]] == [task["pid"] for task in self.before["tasks"]]
        (relay,) = [pod for pod in self.jobs.pods() if pod["metadata"]["name"].endswith("-relay")]
        assert relay["metadata"]["uid"] == self.relay, "the relay was not replaced"
        assert self.jobs.order("exec", "last", "worker:0", "--", "true").returncode == 0


@pytest.fixture
def victim(pod_jobs):
    pod_jobs.image = BUSYBOX
    with pod_jobs.running("-r", "worker:2", "--", *SLEEPER) as client:
        made = PodVictim(pod_jobs)
        yield made
        made.assert_well()
        assert pod_jobs.order("kill", "last").returncode == 0
        assert client.wait(LIMIT_S) == 5
    assert pod_jobs.left() == []


def test_without_the_secret_nobody_joins_by_the_relay(victim):
    strangers.come_without_the_secret(victim.connect, victim.secret)


def test_who_has_the_relays_token_only_does_not_join(victim):
    connection = victim.connect()
    assert wire.open_channel(connection, victim.token) == b"401"
    connection.close()


def test_strange_bytes_and_no_tls(victim):
    strangers.say_strange_bytes(victim.connect)
    strangers.speak_no_tls(victim.plain)


def test_who_has_the_secret_has_no_session_but_a_tasks_own(victim):
    strangers.open_wrong_sessions(victim.connect, victim.secret)


def test_connections_that_say_nothing_keep_nobody_out(victim):
    with contextlib.ExitStack() as held:
        for _ in range(200):
            held.enter_context(victim.plain())
        victim.assert_well()
        strangers.come_without_the_secret(victim.connect, victim.secret)


def test_the_clients_port_is_not_there_for_others(victim):
    with pytest.raises(OSError, match="refused|timed out"):
        wire.tcp(CLIENTS_PORT, host=victim.host)
