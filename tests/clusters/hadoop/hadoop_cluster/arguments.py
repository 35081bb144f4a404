"""The command line."""

import argparse
import os

from . import __doc__ as about
from . import commands
from .basics import Failure, say
from .jars import DEFAULT_VERSION

KINDS = ("nn", "dn", "rm", "nm", "kdc", "far")
UP_LIMIT_S = 220
DAEMON_LIMIT_S = 200


def default_folder():
    return os.environ.get("HADOOP_CLUSTER_DIR") or os.path.join(
        os.environ.get("TMPDIR", "/tmp"), f"hadoop-cluster-{os.getuid()}")


def add_size_options(parser):
    parser.add_argument("--nodes", type=int, default=1, help="NodeManagers")
    parser.add_argument("--datanodes", type=int, default=1)
    parser.add_argument("--datanode-mb", type=int, default=0,
                        help="MiB of each DataNode's volume: a file system of its own in memory (root)")
    parser.add_argument("--ha", action="store_true",
                        help="two NameNodes and two ResourceManagers; `transition` fails over")
    parser.add_argument("--far", action="store_true",
                        help="another HDFS, which is a NameNode only: jobs may read the names in it")
    parser.add_argument("--vcores", type=int, default=8, help="vcores that each NodeManager offers")
    parser.add_argument("--memory-mb", type=int, default=16384, help="MiB that each NodeManager offers")
    parser.add_argument("--enforce-memory", nargs="?", const="pmem", default="", choices=["pmem", "both"],
                        help="kill containers over their memory (pmem, or both: pmem and vmem)")
    parser.add_argument("--node-labels", action="store_true",
                        help="exclusive partition 'gpu' on the GPU nodes, for the queue ml-gpu")
    parser.add_argument("--gpus", type=int, nargs="?", const=2, default=0, help="yarn.io/gpu of each GPU node (2)")
    parser.add_argument("--gpu-nodes", type=int, default=None,
                        help="how many nodes, from the last, are GPU nodes (1 with --node-labels, else all)")
    parser.add_argument("--resource", action="append", default=[], metavar="NAME=COUNT",
                        help="another countable resource of every node")


def add_up_options(parser):
    add_size_options(parser)
    parser.add_argument("--hadoop-version", default=DEFAULT_VERSION)
    parser.add_argument("--kerberos", action="store_true", help="a realm of its own, secure RPC, SPNEGO on the web")
    parser.add_argument("--native", action="store_true", help="load libhadoop.so (always with --kerberos)")
    parser.add_argument("--rpc-protection", default="authentication",
                        choices=["authentication", "integrity", "privacy"])
    parser.add_argument("--https", action="store_true",
                        help="the web interfaces by HTTPS only, with a certificate authority of the cluster's own")
    parser.add_argument("--same-host", action="store_true", help="all on localhost, told apart by port")
    parser.add_argument("--netns", action="store_true",
                        help="every host in a network namespace of its own, with the stock ports (root)")
    parser.add_argument("--heap-mb", type=int, default=256)
    parser.add_argument("--port-base", type=int, default=0, help="first of the ports (default: a free block)")
    parser.add_argument("--heartbeat-ms", type=int, default=1000)
    parser.add_argument("--nm-expiry-ms", type=int, default=30000)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any Hadoop property")
    parser.add_argument("--wait", type=int, default=UP_LIMIT_S, help="seconds")
    parser.add_argument("--until", type=int, metavar="PID", help="take the cluster down when that process has ended")
    parser.add_argument("--keep-on-failure", action="store_true")


def add_daemon_commands(add):
    for name, function, text in (("kill", commands.kill, "SIGKILL one daemon"),
                                 ("stop", commands.stop, "SIGTERM one daemon"),
                                 ("start", commands.start, "start one daemon again"),
                                 ("restart", commands.restart, "stop and start one daemon"),
                                 ("transition", commands.transition, "with --ha: make one master active")):
        parser = add(name, function, text)
        parser.add_argument("daemon", choices=("nn", "rm") if name == "transition" else KINDS)
        parser.add_argument("number", type=int, nargs=None if name == "transition" else "?")
        if name == "kill":
            parser.add_argument("--containers", action="store_true",
                                help="and the node's containers, as if the host died")
        if name in ("start", "restart", "transition"):
            parser.add_argument("--no-wait", action="store_true")
            parser.add_argument("--wait", type=int, default=DAEMON_LIMIT_S)
        if name == "restart":
            parser.add_argument("--hard", action="store_true", help="SIGKILL")


def parse():
    top = argparse.ArgumentParser(prog="hadoop-cluster", description=about)
    choices = top.add_subparsers(required=True)

    def add(name, function, text):
        parser = choices.add_parser(name, help=text, description=text)
        parser.add_argument("--dir", default=default_folder(), help="the cluster's folder (default %(default)s)")
        parser.set_defaults(function=function)
        return parser

    add_up_options(add("up", commands.up, "start a fresh cluster and print its environment"))
    add("down", commands.down, "stop the cluster's daemons and containers").add_argument(
        "--purge", action="store_true", help="and delete its folder")
    add("guard", commands.guard, "take the cluster down when a process has ended").add_argument("pid", type=int)
    add("status", commands.status, "JSON; exit status 0 when all daemons run")
    add("env", commands.env, "print the environment's exports")
    add_daemon_commands(add)
    parser = add("exec", commands.execute, "run a command with the cluster's environment")
    parser.add_argument("--on", default="client", metavar="HOST", help="with --netns: client, master, nodeK")
    parser.add_argument("--as", dest="user", metavar="USER", help="with --kerberos: a user whose tickets to take")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    parser = add("link", commands.link, "with --netns: cut a host off the network, or put it back")
    parser.add_argument("host", help="master, client or nodeK")
    parser.add_argument("state", choices=["down", "up"])
    parser = add("jars", commands.show_jars, "resolve the jars and print their folder")
    parser.add_argument("--hadoop-version", default=DEFAULT_VERSION)
    parser.add_argument("--native", action="store_true")
    parser = add("protos", commands.protos, "write the .proto files of Hadoop's protocols, rebuilt from the jars")
    parser.add_argument("out", help="folder to write them to")
    parser.add_argument("--hadoop-version", default=DEFAULT_VERSION)
    return top.parse_args()


def main():
    arguments = parse()
    try:
        return arguments.function(arguments)
    except Failure as failure:
        say("error:", failure)
        return 1
    except KeyboardInterrupt:
        return 130
