"""--netns: one network namespace for each host, joined by a bridge that stands in a namespace too.

Nothing of it reaches the machine's own network or changes it.
"""

import re
import shutil
import subprocess

from .basics import Failure, need, write

DOMAIN = "hadoop.test"
SUBNET = "198.18.0."
COMMAND_LIMIT_S = 60


def host_of(name):
    """The short name of the host that a daemon, or a host's own name, stands for."""
    kind, number = re.fullmatch(r"([a-z]+)(\d*)", name).groups()
    if kind in ("nn", "rm", "kdc", "master"):
        return "master2" if number == "2" else "master"
    return name if kind in ("client", "node") else "node" + number


def name(cluster, host):
    return f"{cluster.option('netns')}-{host}"


def hosts(cluster):
    """{short name: address} of all hosts."""
    found = {"master": SUBNET + "1", "client": SUBNET + "2"}
    if cluster.option("ha"):
        found["master2"] = SUBNET + "3"
    count = max(cluster.option("nodes"), cluster.option("datanodes"))
    return found | {f"node{number}": f"{SUBNET}{10 + number}" for number in range(1, count + 1)}


def on_host(cluster, who, command):
    """The command as it runs on the host of a daemon, or on one that is named."""
    if not cluster.option("netns"):
        return command
    host = host_of(who)
    return [need("ip", "iproute2"), "netns", "exec", name(cluster, host), need("unshare", "util-linux"), "--uts",
            "/bin/sh", "-c", 'hostname "$0" && exec "$@"', f"{host}.{DOMAIN}", *command]


def ip(*words):
    done = subprocess.run([need("ip", "iproute2"), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=COMMAND_LIMIT_S)
    if done.returncode:
        raise Failure(f"ip {' '.join(words)}: {done.stdout.strip()}")


def make(cluster):
    known, hub = hosts(cluster), name(cluster, "hub")
    ip("netns", "add", hub)
    ip("-n", hub, "link", "set", "lo", "up")
    ip("-n", hub, "link", "add", "name", "br0", "type", "bridge")
    ip("-n", hub, "link", "set", "br0", "up")
    rows = ["127.0.0.1 localhost", *(f"{address} {host}.{DOMAIN} {host}" for host, address in known.items())]
    for host, address in known.items():
        space = name(cluster, host)
        # What `ip netns exec` shows as the host's own /etc/hosts and /etc/resolv.conf.
        write(f"/etc/netns/{space}/hosts", "\n".join(rows) + "\n")
        write(f"/etc/netns/{space}/resolv.conf", "nameserver 127.0.0.1\n")
        ip("netns", "add", space)
        ip("-n", space, "link", "set", "lo", "up")
        ip("-n", space, "link", "add", "eth0", "type", "veth", "peer", "name", "v-" + host, "netns", hub)
        ip("-n", space, "addr", "add", address + "/24", "dev", "eth0")
        ip("-n", space, "link", "set", "eth0", "up")
        ip("-n", hub, "link", "set", "v-" + host, "master", "br0", "up")


def drop(cluster):
    """Also after a start that failed half way: what is not there is no failure."""
    for host in (*hosts(cluster), "hub"):
        space = name(cluster, host)
        subprocess.run([need("ip", "iproute2"), "netns", "del", space], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=COMMAND_LIMIT_S)
        shutil.rmtree("/etc/netns/" + space, ignore_errors=True)


def set_link(cluster, host, state):
    if host not in hosts(cluster):
        raise Failure(f"no host '{host}'; there are: {', '.join(hosts(cluster))}")
    ip("-n", name(cluster, "hub"), "link", "set", "v-" + host, state)
