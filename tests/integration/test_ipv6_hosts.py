"""Jobs on hosts that have IPv6 only, or several interfaces: network namespaces of this machine on two bridges."""

import contextlib
import json
import os
import subprocess
import time

import pytest

LIMIT_S = 60
# Two networks, each of one bridge: unique local addresses, and IPv4.
LOCAL, FAST = "fd21:3779", "10.213.79"

# Every task binds the address that is published for it, and hears from the one before at the next one's.
RING = r"""
import json, os, socket, threading
spec = json.loads(os.environ["GANGRUN_CLUSTER_SPEC"])["worker"]
own = int(os.environ["GANGRUN_TASK_INDEX"])
def at(address):
    host, port = address.rsplit(":", 1)
    return host.strip("[]"), int(port)
family = socket.AF_INET6 if ":" in os.environ["GANGRUN_HOST"] else socket.AF_INET
server = socket.socket(family)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(at(spec[own]))  # fails where the address is not of this host
server.listen()
server.settimeout(60)
def tell():
    while True:
        try:
            with socket.create_connection(at(spec[(own + 1) % len(spec)]), timeout=60) as one:
                return one.sendall(b"worker:%d" % own)
        except ConnectionRefusedError:
            continue  # it does not listen yet
threading.Thread(target=tell).start()
one, peer = server.accept()
with one:
    print(json.dumps({"heard": one.makefile().read(), "from": peer[0], "spec": spec}))
"""


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=30).stdout


class Hosts:
    """Two namespaces; each bridge of `networks` gives them an interface. Making them needs the rights of root."""

    def __init__(self, networks):
        self.mark = f"{os.getpid() % 100000}"
        self.names = [f"g6{self.mark}{letter}" for letter in "ab"]
        self.bridges = []
        self.links = []
        for name in self.names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        for number, network in enumerate(networks):
            self.add(number, network)

    def add(self, number, network):
        bridge = f"g6{number}{self.mark}"
        ip("link", "add", bridge, "type", "bridge")
        self.bridges.append(bridge)
        self.give(["dev", bridge], network, 1)
        ip("link", "set", bridge, "up")
        for index, name in enumerate(self.names):
            link = f"v{number}{name}"
            ip("link", "add", link, "type", "veth", "peer", "name", f"net{number}", "netns", name)
            self.links.append(link)
            ip("link", "set", link, "master", bridge, "up")
            self.give(["dev", f"net{number}"], network, 11 + index, "-n", name)
            ip("-n", name, "link", "set", f"net{number}", "up")
        for name in self.names:
            self.wait_for_link(name, f"net{number}")

    def wait_for_link(self, name, device):
        """Polls: the kernel says a moment later that there is somebody at the other end."""
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit:
            shown = json.loads(ip("-j", "-n", name, "link", "show", "dev", device))
            if "LOWER_UP" in shown[0]["flags"] and shown[0]["operstate"] == "UP":
                return
        raise AssertionError(f"waited {LIMIT_S} s for the link of {device} in {name}")

    def give(self, device, network, number, *where):
        if ":" in network:
            # Whether somebody else has it is not asked for first, which would take a second.
            ip(*where, "address", "add", f"{network}::{number}/64", *device, "nodad")
        else:
            ip(*where, "address", "add", f"{network}.{number}/24", *device)

    def remove_all(self):
        for name in self.names:
            ip("netns", "del", name)
        for link in self.links:
            with contextlib.suppress(subprocess.CalledProcessError):
                ip("link", "del", link)
        for bridge in self.bridges:
            ip("link", "del", bridge)


@pytest.fixture
def hosts():
    made = []

    def make(*networks):
        made.append(Hosts(networks))
        return made[-1]

    yield make
    for one in made:
        one.remove_all()


def ring(run_gangrun, hosts, *flags):
    """The final status of a job in which all have heard of each other, and what they told."""
    words = ",".join(f"{name}:2" for name in hosts.names)
    done = run_gangrun("run", "--json", "--logs", "-r", "worker:4", "--hosts", words, *flags, "--", "python3", "-S",
                       "-c", RING, timeout=LIMIT_S)
    assert done.stdout, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.status == 0, events[-1]
    told = [json.loads(event["line"]) for event in events if event["event"] == "line"]
    assert sorted(one["heard"] for one in told) == [f"worker:{index}" for index in range(4)]
    return events[-1]["status"], told


def test_hosts_with_ipv6_only(run_gangrun, hosts):
    made = hosts(LOCAL)
    final, told = ring(run_gangrun, made)
    expected = [f"[{LOCAL}::{11 + index % 2}]" for index in range(4)]
    assert [task["address"].rsplit(":", 1)[0] for task in final["tasks"]] == expected
    assert {one["from"] for one in told} <= {f"{LOCAL}::11", f"{LOCAL}::12"}
    why = run_gangrun("why", "last").stdout
    for name, number, tasks in zip(made.names, (11, 12), ("worker:0, worker:2", "worker:1, worker:3")):
        assert (f"{tasks} are known by the address [{LOCAL}::{number}], of host {name}, from which it reaches "
                f"{LOCAL}::1.") in why


def test_the_interface_chooses_among_several(run_gangrun, hosts):
    made = hosts(FAST, LOCAL)
    for interface, prefix in (("net1", f"[{LOCAL}:"), ("net0", f"{FAST}."), ("fd00::/8", f"[{LOCAL}:"),
                              (f"{FAST}.0/24", f"{FAST}."), (None, f"{FAST}.")):
        final, _ = ring(run_gangrun, made, *(["--interface", interface] if interface else []))
        assert all(task["address"].startswith(prefix) for task in final["tasks"]), interface
        reason = final["tasks"][0]["address_reason"]
        device = "net1" if prefix.startswith("[") else "net0"
        assert reason == f"of host {made.names[0]}, " + (
            "from which it reaches 10.213.79.1" if interface is None
            else f"of {device}" + (f", in {interface}" if "/" in interface else ""))


def test_an_interface_that_a_host_lacks_is_refused_before_anything_starts(run_gangrun, home, hosts):
    made = hosts(FAST)
    for interface, told in (
            ("net1", "interface: no interface 'net1' is up and has an address; allowed: an interface or network of "
                     "lo 127.0.0.1, net0 10.213.79.11, lo ::1"),
            ("lo", "its address 127.0.0.1 (of lo, the first of 2: lo 127.0.0.1, lo ::1) is loopback's; allowed: one "
                   "by which the other hosts reach it")):
        done = run_gangrun("run", "--hosts", ",".join(made.names), "--interface", interface, "--", "true")
        assert done.status == 2
        assert done.stderr == f"gangrun: hosts: host {made.names[0]} cannot be used: {told}\n"
        assert not (home / "jobs").exists()
