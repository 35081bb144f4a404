"""One cluster: its folder, its options, which daemons it has, where they are, and what clients must know."""

import contextlib
import fcntl
import getpass
import json
import os
import re
import shlex

from . import java, kerberos, namespaces
from .basics import Failure, write
from .processes import free_ports, start_time

DOMAIN = namespaces.DOMAIN
# The name that clients know two NameNodes by.
NAMESERVICE = "twin"

STOCK_PORTS = {
    "nn.rpc": 8020, "nn.http": 9870, "rm.client": 8032, "rm.scheduler": 8030, "rm.tracker": 8031, "rm.admin": 8033,
    "rm.http": 8088, "far.rpc": 8020, "far.http": 9870, "dn.data": 9866, "dn.ipc": 9867, "dn.http": 9864, "nm.rpc": 8041, "nm.localizer": 8040,
    "nm.http": 8042, "nm.collector": 8048, "kdc": 88,
}


class Cluster:
    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.file = os.path.join(self.folder, "cluster.json")
        self.state = None

    def load(self):
        try:
            with open(self.file) as source:
                self.state = json.load(source)
        except FileNotFoundError:
            raise Failure(f"no cluster in {self.folder} (see --dir)") from None
        return self

    def save(self):
        write(self.file, json.dumps(self.state, indent=1, sort_keys=True) + "\n")

    @contextlib.contextmanager
    def changing(self):
        """The newest state, kept when the block has ended: several commands may be at work at once."""
        with open(self.path("cluster.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.load()
            yield self.state
            self.save()

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def option(self, name):
        return self.state["options"][name]

    @property
    def nodes(self):
        return range(1, self.option("nodes") + 1)

    @property
    def gpu_nodes(self):
        count = self.option("gpu_nodes")
        if count is None:
            count = 1 if self.option("node_labels") else self.option("nodes")
        return list(self.nodes)[max(0, self.option("nodes") - count):]

    def names(self, kind):
        """The daemons of one kind; of a master there is one without a number, or with --ha two."""
        if kind in ("nn", "rm"):
            return [kind + "1", kind + "2"] if self.option("ha") else [kind]
        if kind in ("kdc", "far"):
            return [kind] if self.option({"kdc": "kerberos", "far": "far"}[kind]) else []
        return [f"{kind}{number}" for number in range(1, self.option({"dn": "datanodes", "nm": "nodes"}[kind]) + 1)]

    def daemons(self):
        return [name for kind in ("kdc", "nn", "far", "dn", "rm", "nm") for name in self.names(kind)]

    def active(self, kind):
        """The master of a kind that was made active last."""
        return self.state["active"][kind]

    def pid(self, name):
        return (self.state["pids"].get(name) or {}).get("pid")

    def alive(self, name):
        entry = self.state["pids"].get(name)
        return bool(entry) and start_time(entry["pid"]) == entry["start"]

    def host(self, name):
        """The name that clients know a daemon's host by."""
        return self.state["hosts"][name]

    def port(self, name):
        return self.state["ports"][name]

    def address(self, port):
        """host:port of "rm.client", "nm1.rpc", ..."""
        return f"{self.host(port.partition('.')[0])}:{self.port(port)}"

    def configuration_folder(self, name):
        """A daemon's own; the only master of its kind reads what clients read."""
        return self.path("conf" if name in ("nn", "rm") else "conf-" + name)

    def lay_out(self):
        """Chooses hosts and ports."""
        options, daemons = self.state["options"], self.daemons()
        self.state["active"] = {kind: self.names(kind)[0] for kind in ("nn", "rm")}
        if options["netns"]:
            self.state["hosts"] = {name: f"{namespaces.host_of(name)}.{DOMAIN}" for name in daemons}
        elif options["kerberos"] or options["same_host"]:
            self.state["hosts"] = dict.fromkeys(daemons, "localhost")
        else:
            self.state["hosts"] = {name: f"127.0.0.{int(name[2:]) + 1}" if name.startswith("nm") else "127.0.0.1"
                                   for name in daemons}
        ports = [name + found.removeprefix(re.sub(r"\d", "", name)) for name in daemons for found in STOCK_PORTS
                 if found.partition(".")[0] == re.sub(r"\d", "", name)]
        if options["netns"] and not options["port_base"]:
            # Every host has an address of its own: the stock ports do.
            self.state["ports"] = {name: STOCK_PORTS[re.sub(r"\d", "", name)] for name in ports}
            return
        base = options["port_base"]
        if not base:
            base = free_ports(len(ports), sorted(set(self.state["hosts"].values())))
        self.state["ports"] = {name: base + index for index, name in enumerate(ports)}

    def hdfs_url(self):
        return "hdfs://" + (NAMESERVICE if self.option("ha") else self.address("nn.rpc"))

    @property
    def scheme(self):
        return "https" if self.option("https") else "http"

    def web(self, name):
        """Where a daemon answers by HTTP."""
        return f"{self.scheme}://{self.address(name + '.http')}"

    def far_url(self):
        return "hdfs://" + self.address("far.rpc")

    def environment(self):
        """What clients of this cluster have in their environment."""
        home, name_node, manager = self.path("home"), self.active("nn"), self.active("rm")
        found = {
            "JAVA_HOME": self.state["java_home"],
            "HADOOP_CLUSTER_DIR": self.folder,
            **dict.fromkeys(("HADOOP_HOME", "HADOOP_COMMON_HOME", "HADOOP_HDFS_HOME", "HADOOP_YARN_HOME"), home),
            **dict.fromkeys(("HADOOP_CONF_DIR", "YARN_CONF_DIR"), self.path("conf")),
            "HDFS_URL": self.hdfs_url(),
            "WEBHDFS_URL": f"{self.web(name_node)}/webhdfs/v1",
            "RM_ADDRESS": self.address(manager + ".client"),
            "RM_SCHEDULER_ADDRESS": self.address(manager + ".scheduler"),
            "RM_WEB_URL": self.web(manager),
            "DSHELL_JAR": java.distributed_shell(self),
        }
        if self.option("kerberos"):
            found.update(kerberos.environment(self, getpass.getuser()))
            found["HADOOP_CLUSTER_KEYTABS"] = self.path("krb5")
        if self.option("https"):
            found["SSL_CERT_FILE"] = self.path("tls", "authority.pem")
        if self.option("netns"):
            found["HADOOP_CLUSTER_NETNS"] = namespaces.name(self, "client")
        return found

    def exports(self):
        rows = [f"export {name}={shlex.quote(value)}" for name, value in sorted(self.environment().items())]
        return "\n".join([*rows, f"export PATH={shlex.quote(self.path('home', 'bin'))}:$PATH"]) + "\n"
