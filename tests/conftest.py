"""What the tests that start the programs share. GANGRUN_BIN is the folder of the programs."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import string
import subprocess

import pytest

from clusters.engine.fixtures import engine  # noqa: F401: likewise
from clusters.hadoop.fixtures import hadoop, hadoop_cluster, hadoop_of_module, secured_hadoop, shared_hadoop  # noqa: F401: of all tests below
from clusters.spark.fixtures import spark_cluster, spark_driver, spark_jobs  # noqa: F401: likewise
from ending import pytest_sessionfinish, pytest_unconfigure  # noqa: F401: hooks
from living import processes_with
from waiting import wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_TIMEOUT_S = 60

# What a shell starts in the background ignores SIGINT, and the programs keep to that: tests send it, from wherever they run.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclasses.dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str


def program(name):
    path = pathlib.Path(os.environ.get("GANGRUN_BIN", ROOT / "build/release/src")) / name
    assert path.is_file(), f"{path} is not there: make build, or set GANGRUN_BIN"
    return path


@pytest.fixture(scope="session")
def gangrun():
    """The path of the program `gangrun`."""
    return program("gangrun")


@pytest.fixture(scope="session")
def agent():
    """The path of the program `gangrun-agent`."""
    return program("gangrun-agent")


@pytest.fixture(scope="session")
def pod_agent():
    """The path of the program `gangrun-pod-agent`."""
    return program("gangrun-pod-agent")


@pytest.fixture(scope="session")
def loader():
    """The path of the program `gangrun-loader`."""
    return program("gangrun-loader")


@pytest.fixture(scope="session")
def packed_agent():
    """The bytes of gangrun-pod-agent, compressed for pods."""
    return program("gangrun-pod-agent.gz").read_bytes()


@pytest.fixture
def home(tmp_path_factory, survivors):
    """A folder for gangrun's own files, of this test only. Its path is short: sockets lie in it."""
    folder = tmp_path_factory.mktemp("h")
    yield folder

    # A test that failed on its way may have left a job. One process at a time, so that the others answer its death and
    # end what they have started.
    def end():
        left = survivors(f"GANGRUN_HOME={folder}")
        for pid, _ in left[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    wait_until(end, "the end of what a test has left")


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=30).stdout


class Hosts:
    """Network namespaces of this machine, and a bridge for each network that joins them with it.

    Of a block ("10.214" or "fd21") they get a network ("10.214.7" or "fd21:7") that no other run of the tests has. The
    network number n is that of their interface eth<n>, in which the address of this machine ends in 1 and theirs in 11,
    12 and so on. Making them needs the rights of root.
    """

    def __init__(self, count, blocks):
        mark = f"{os.getpid() % 100000}"
        self.blocks = blocks
        self.networks = []
        self.bridges = []
        self.names = [f"gt{mark}{letter}" for letter in string.ascii_lowercase[:count]]

    def make(self):
        for block in self.blocks:
            network, bridge = self.claim(block)
            self.networks.append(network)
            self.bridges.append(bridge)
            self.give(self.address_in(network, 1), bridge)
            ip("link", "set", bridge, "up")
        for name in self.names:
            self.add(name)

    @staticmethod
    def claim(block):
        """A network of the block that nobody has, and its bridge: the kernel gives a device's name to one only."""
        for number in range(1, 255):
            network = f"{block}:{number:x}" if block.startswith("fd") else f"{block}.{number}"
            bridge = "gtb" + network.replace(":", "-")
            done = subprocess.run(["ip", "link", "add", bridge, "type", "bridge"], capture_output=True, text=True, timeout=30)
            if done.returncode == 0:
                return network, bridge
            assert "File exists" in done.stderr, done.stderr
        raise AssertionError(f"all networks of {block} are in use: ip link show type bridge")

    @property
    def own_address(self):
        return self.address_in(self.networks[0], 1)

    @staticmethod
    def address_in(network, number):
        return f"{network}::{number}" if ":" in network else f"{network}.{number}"

    def address(self, name):
        return self.address_in(self.networks[0], 11 + self.names.index(name))

    @staticmethod
    def link(name, number=0):
        """This machine's end of the interface eth<number>."""
        return f"v{number}{name}"

    def add(self, name):
        ip("netns", "add", name)
        ip("-n", name, "link", "set", "lo", "up")
        for number, (bridge, network) in enumerate(zip(self.bridges, self.networks)):
            ip("link", "add", self.link(name, number), "type", "veth", "peer", "name", f"eth{number}", "netns", name)
            ip("link", "set", self.link(name, number), "master", bridge, "up")
            self.give(self.address_in(network, 11 + self.names.index(name)), f"eth{number}", "-n", name)
            ip("-n", name, "link", "set", f"eth{number}", "up")
        for number in range(len(self.networks)):
            wait_until(lambda: self.has_link(name, f"eth{number}"), f"the link of eth{number} in {name}")

    @staticmethod
    def give(address, device, *where):
        # Whether somebody else has an address of IPv6 is not asked for first, which would take a second.
        rest = ["/64", "nodad"] if ":" in address else ["/24"]
        ip(*where, "address", "add", address + rest[0], "dev", device, *rest[1:])

    @staticmethod
    def add_bridge(name, address):
        """As a container engine has it on each host: an interface that leads nowhere else."""
        ip("-n", name, "link", "add", "docker0", "type", "veth", "peer", "name", "inside")
        ip("-n", name, "address", "add", f"{address}/16", "dev", "docker0")
        for device in ("docker0", "inside"):
            ip("-n", name, "link", "set", device, "up")
        wait_until(lambda: Hosts.has_link(name, "docker0"), f"the link of docker0 in {name}")

    @staticmethod
    def has_link(name, device):
        (shown,) = json.loads(ip("-j", "-n", name, "link", "show", "dev", device))
        return "LOWER_UP" in shown["flags"] and shown["operstate"] == "UP"

    def cut(self, name):
        ip("link", "set", self.link(name), "down")

    def mend(self, name):
        ip("link", "set", self.link(name), "up")

    def remove(self, name):
        for number in range(len(self.networks)):
            # The link would live as long as a process in the namespace does.
            with contextlib.suppress(subprocess.CalledProcessError):
                ip("link", "del", self.link(name, number))
        ip("netns", "del", name)

    def remove_all(self):
        for name in set(self.names) & set(os.listdir("/run/netns")):
            self.remove(name)
        for bridge in set(self.bridges) & set(os.listdir("/sys/class/net")):
            ip("link", "del", bridge)


@pytest.fixture
def make_hosts():
    """make_hosts(count, blocks), once a test; what a test that fails has left of them is removed too."""
    made = []

    def make(count=2, blocks=("10.214",)):
        assert not made
        made.append(Hosts(count, blocks))
        made[0].make()
        return made[0]

    yield make
    for hosts in made:
        hosts.remove_all()


@pytest.fixture
def hosts(make_hosts):
    """Two, of one network."""
    return make_hosts()


@pytest.fixture
def run_gangrun(gangrun, home):
    """Runs a command to its end: run_gangrun("ps", "--json") returns status, stdout and stderr."""

    def run(*arguments, timeout=DEFAULT_TIMEOUT_S, cwd=None, env=None, stdin=None):
        environment = os.environ | {"GANGRUN_HOME": str(home)} | (env or {})
        done = subprocess.run([str(gangrun), *map(str, arguments)], cwd=cwd, env=environment, input=stdin,
                              stdin=subprocess.DEVNULL if stdin is None else None,
                              capture_output=True, text=True, timeout=timeout)
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def survivors():
    """survivors("MARKER=x") lists (pid, command line) of living processes with that in their environment."""

    def look(marker):
        return [(pid, " ".join(words).strip()) for pid, words in processes_with(marker).items()]

    return look
