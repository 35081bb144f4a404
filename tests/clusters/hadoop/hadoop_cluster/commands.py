"""The commands; arguments.py says what each is told."""

import json
import os
import random
import signal
import subprocess
import sys
import time

from . import availability, certificates, configuration, daemons, java, jars, kerberos, life, namespaces, processes, questions
from .basics import Failure, say
from .cluster import Cluster

MAX_DAEMONS = 200
PROTOS_LIMIT_S = 300
PROTOS_SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "HadoopProtos.java")


def loaded(arguments):
    return Cluster(arguments.dir).load()


def options_of(arguments):
    """The options of `up`, checked, as they are kept with the cluster."""
    if not 1 <= arguments.nodes <= MAX_DAEMONS or not 1 <= arguments.datanodes <= MAX_DAEMONS:
        raise Failure(f"--nodes, --datanodes: 1 to {MAX_DAEMONS}")
    if (arguments.netns or arguments.datanode_mb) and os.getuid() != 0:
        raise Failure("--netns, --datanode-mb: they need root")
    if arguments.far and arguments.netns:
        raise Failure("--far does not go with --netns: two NameNodes of the stock ports would be on one host")
    resources = [item.partition("=") for item in arguments.resource]
    if not all(count.isdigit() for _, _, count in resources):
        raise Failure("--resource: NAME=COUNT")
    if not all("=" in item for item in arguments.set):
        raise Failure("--set: NAME=VALUE")
    kept = ("nodes", "datanodes", "datanode_mb", "vcores", "memory_mb", "enforce_memory", "kerberos", "rpc_protection", "node_labels",
            "gpus", "gpu_nodes", "same_host", "ha", "far", "https", "heap_mb", "port_base", "heartbeat_ms", "nm_expiry_ms", "set")
    return {name: getattr(arguments, name) for name in kept} | {
        "resources": [[name, int(count)] for name, _, count in resources],
        "netns": f"hc{random.randrange(65536):04x}" if arguments.netns else None,
        "version": arguments.hadoop_version,
    }


def clear_folder(cluster):
    """Removes what an earlier cluster left in the folder."""
    if os.path.exists(cluster.file):
        cluster.load()
        if any(cluster.alive(name) for name in cluster.state["pids"]):
            raise Failure(f"a cluster is already running in {cluster.folder}")
        life.tear_down(cluster)
        life.wipe(cluster)
    elif os.path.isdir(cluster.folder) and os.listdir(cluster.folder):
        raise Failure(f"{cluster.folder} is neither empty nor a cluster's folder")


def up(arguments):
    began = time.monotonic()
    options, cluster = options_of(arguments), Cluster(arguments.dir)
    clear_folder(cluster)
    folder, native = jars.resolve(arguments.hadoop_version, native=arguments.native or arguments.kerberos)
    resolved = time.monotonic()
    cluster.state = {"options": options, "jars": folder, "native": native, "java_home": jars.java_home(), "pids": {}}
    for part in ("logs", "tmp", "data", "conf"):
        os.makedirs(cluster.path(part), exist_ok=True)
    cluster.lay_out()
    cluster.save()
    if arguments.https:
        certificates.make(cluster)
    configuration.write_all(cluster)
    java.write_home(cluster)
    try:
        if arguments.until:
            daemons.start_guard(cluster, arguments.until)
        if arguments.netns:
            namespaces.make(cluster)
        life.bring_up(cluster, arguments.wait)
    except BaseException:
        if not arguments.keep_on_failure:
            life.tear_down(cluster)
        raise
    say(f"up in {time.monotonic() - began:.1f} s (jars {resolved - began:.1f} s): Hadoop {arguments.hadoop_version}, "
        f"{arguments.nodes} NodeManager(s), {arguments.datanodes} DataNode(s), in {cluster.folder}")
    sys.stdout.write(cluster.exports())
    return 0


def down(arguments):
    cluster = loaded(arguments)
    say(f"stopped {life.tear_down(cluster)} daemon(s) of {cluster.folder}")
    if arguments.purge:
        life.wipe(cluster)
        if not os.listdir(cluster.folder):
            os.rmdir(cluster.folder)
    return 0


def guard(arguments):
    """Waits for the end of a process, and then takes the cluster down."""
    began = processes.start_time(arguments.pid)
    while began and processes.start_time(arguments.pid) == began:
        processes.wait_for_an_end([arguments.pid], 60)
    life.tear_down(loaded(arguments))
    return 0


def status(arguments):
    cluster = loaded(arguments)
    found = {"dir": cluster.folder, "version": cluster.option("version"), "options": cluster.state["options"],
             "daemons": {}, "nodes": [], "hdfs": None}
    for name in cluster.daemons():
        alive = cluster.alive(name)
        found["daemons"][name] = {
            "pid": cluster.pid(name), "alive": alive,
            "rss_mb": round(processes.resident_kilobytes(cluster.pid(name)) / 1024) if alive else 0}
        if cluster.option("ha") and name[:2] in ("nn", "rm"):
            found["daemons"][name]["role"] = questions.role(cluster, name) if alive else None
    if cluster.alive(cluster.active("rm")):
        found["nodes"] = [{"id": node["id"], "state": node["state"], "containers": node["numContainers"],
                           "labels": node.get("nodeLabels", [])} for node in questions.manager_nodes(cluster) or []]
    state = questions.hdfs_state(cluster) if cluster.alive(cluster.active("nn")) else None
    if state:
        found["hdfs"] = {"live_datanodes": state[0], "safe_mode": state[1]}
    print(json.dumps(found, indent=1))
    return 0 if all(daemon["alive"] for daemon in found["daemons"].values()) else 1


def env(arguments):
    sys.stdout.write(loaded(arguments).exports())
    return 0


def daemon_name(cluster, kind, number):
    """nm 2 is nm2; without a number the only one or the first."""
    only = kind in cluster.daemons()
    name = kind if only and number in (None, 1) else f"{kind}{number or 1}"
    if name not in cluster.daemons():
        raise Failure(f"no daemon {name}; there are: {', '.join(cluster.daemons())}")
    return name


def wait_for(cluster, name, seconds, since_ms):
    """Until a daemon that was started is a part of the cluster again."""
    kind = name.rstrip("0123456789")
    if kind == "nm" and cluster.alive(cluster.active("rm")):
        questions.wait_for_node(cluster, name, since_ms, seconds)
    elif kind == "dn":
        questions.wait_for_data_node(cluster, name, seconds)
    elif kind in ("nn", "rm") and cluster.option("ha"):
        # It is a standby until somebody says otherwise.
        questions.wait_for_role(cluster, name, ("standby", "active"), seconds)
    elif kind == "rm":
        questions.wait_for_yarn(cluster, seconds, living_nodes(cluster))
    elif kind == "nn":
        questions.wait_for_hdfs(cluster, seconds)
    elif kind == "far":
        questions.wait_for_names(cluster, name, seconds)


def living_nodes(cluster):
    return [name for name in cluster.names("nm") if cluster.alive(name)]


def kill(arguments):
    cluster = loaded(arguments)
    name = daemon_name(cluster, arguments.daemon, arguments.number)
    if arguments.containers and arguments.daemon != "nm":
        raise Failure("--containers goes with nm")
    if not daemons.end(cluster, name, signal.SIGKILL):
        raise Failure(f"{name} is not running")
    count = daemons.kill_containers(cluster, int(name[2:])) if arguments.containers else 0
    say(f"killed {name}" + (f" and {count} process(es) of its containers" if arguments.containers else ""))
    return 0


def stop(arguments):
    cluster = loaded(arguments)
    name = daemon_name(cluster, arguments.daemon, arguments.number)
    if not daemons.end(cluster, name):
        raise Failure(f"{name} is not running")
    say("stopped", name)
    return 0


def started(cluster, name, arguments, what):
    began, since_ms = time.monotonic(), time.time() * 1000
    daemons.start(cluster, name)
    if not arguments.no_wait:
        wait_for(cluster, name, arguments.wait, since_ms)
    say(f"{what} {name} in {time.monotonic() - began:.1f} s")
    return 0


def start(arguments):
    cluster = loaded(arguments)
    return started(cluster, daemon_name(cluster, arguments.daemon, arguments.number), arguments, "started")


def restart(arguments):
    cluster = loaded(arguments)
    name = daemon_name(cluster, arguments.daemon, arguments.number)
    daemons.end(cluster, name, signal.SIGKILL if arguments.hard else signal.SIGTERM)
    return started(cluster, name, arguments, "restarted")


def transition(arguments):
    cluster, began = loaded(arguments), time.monotonic()
    name = daemon_name(cluster, arguments.daemon, arguments.number)
    availability.transition(cluster, name, arguments.wait)
    if arguments.daemon == "rm" and not arguments.no_wait:
        questions.wait_for_yarn(cluster, arguments.wait, living_nodes(cluster))
    elif not arguments.no_wait:
        questions.wait_for_hdfs(cluster, arguments.wait)
    say(f"{name} is active after {time.monotonic() - began:.1f} s")
    return 0


def execute(arguments):
    cluster = loaded(arguments)
    words = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not words:
        raise Failure("exec: what?")
    if arguments.on not in namespaces.hosts(cluster):
        raise Failure(f"no host '{arguments.on}'; there are: {', '.join(namespaces.hosts(cluster))}")
    found = os.environ | cluster.environment()
    if arguments.user:
        if not cluster.option("kerberos") or arguments.user not in kerberos.users():
            raise Failure(f"--as goes with --kerberos; there are: {', '.join(kerberos.users())}")
        found |= kerberos.environment(cluster, arguments.user)
    found["PATH"] = f"{cluster.path('home', 'bin')}:{found.get('PATH', '')}"
    command = namespaces.on_host(cluster, arguments.on, words)
    os.execvpe(command[0], command, found)


def link(arguments):
    cluster = loaded(arguments)
    if not cluster.option("netns"):
        raise Failure("link goes with --netns")
    namespaces.set_link(cluster, arguments.host, arguments.state)
    say(f"the link of {arguments.host} is {arguments.state}")
    return 0


def show_jars(arguments):
    for folder in filter(None, jars.resolve(arguments.hadoop_version, native=arguments.native)):
        print(folder)
    return 0


def protos(arguments):
    folder, _ = jars.resolve(arguments.hadoop_version)
    os.makedirs(arguments.out, exist_ok=True)
    return subprocess.run([os.path.join(jars.java_home(), "bin/java"), *java.SMALL, "-cp", folder + "/*", PROTOS_SOURCE, folder,
                           arguments.out], timeout=PROTOS_LIMIT_S).returncode
