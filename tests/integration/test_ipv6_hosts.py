"""Jobs on hosts that have IPv6 only, or several interfaces: network namespaces of this machine on two bridges."""

import json

LIMIT_S = 60
# Unique local addresses, and IPv4.
LOCAL, FAST = "fd21", "10.213"

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


def test_hosts_with_ipv6_only(run_gangrun, make_hosts):
    hosts = make_hosts(blocks=[LOCAL])
    (local,) = hosts.networks
    final, told = ring(run_gangrun, hosts)
    expected = [f"[{local}::{11 + index % 2}]" for index in range(4)]
    assert [task["address"].rsplit(":", 1)[0] for task in final["tasks"]] == expected
    assert {one["from"] for one in told} <= {f"{local}::11", f"{local}::12"}
    why = run_gangrun("why", "last").stdout
    for name, number, tasks in zip(hosts.names, (11, 12), ("worker:0, worker:2", "worker:1, worker:3")):
        assert (f"{tasks} are known by the address [{local}::{number}], of host {name}, from which it reaches "
                f"{local}::1.") in why


def test_the_interface_chooses_among_several(run_gangrun, make_hosts):
    hosts = make_hosts(blocks=[FAST, LOCAL])
    fast, local = hosts.networks
    for interface, prefix in (("eth1", f"[{local}:"), ("eth0", f"{fast}."), ("fd00::/8", f"[{local}:"),
                              (f"{fast}.0/24", f"{fast}."), (None, f"{fast}.")):
        final, _ = ring(run_gangrun, hosts, *(["--interface", interface] if interface else []))
        assert all(task["address"].startswith(prefix) for task in final["tasks"]), interface
        reason = final["tasks"][0]["address_reason"]
        device = "eth1" if prefix.startswith("[") else "eth0"
        assert reason == f"of host {hosts.names[0]}, " + (
            f"from which it reaches {fast}.1" if interface is None
            else f"of {device}" + (f", in {interface}" if "/" in interface else ""))


def test_an_interface_that_a_host_lacks_is_refused_before_anything_starts(run_gangrun, home, make_hosts):
    hosts = make_hosts(blocks=[FAST])
    (fast,) = hosts.networks
    for interface, told in (
            ("eth1", "interface: no interface 'eth1' is up and has an address; allowed: an interface or network of "
                     f"lo 127.0.0.1, eth0 {fast}.11, lo ::1"),
            ("lo", "its address 127.0.0.1 (of lo, the first of 2: lo 127.0.0.1, lo ::1) is a loopback address; allowed: "
                   "one that the other hosts can reach")):
        done = run_gangrun("run", "--hosts", ",".join(hosts.names), "--interface", interface, "--", "true")
        assert done.status == 2
        assert done.stderr == f"gangrun: hosts: host {hosts.names[0]} cannot be used: {told}\n"
        assert not (home / "jobs").exists()
