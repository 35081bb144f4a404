"""What the daemons are asked over HTTP, and the waits until their answers are good."""

import getpass
import json
import os
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from . import certificates, kerberos, namespaces
from .basics import Failure, need
from .processes import wait_for_an_end

ANSWER_LIMIT_S = 30
LOOK_EVERY_S = 0.2


def http(cluster, url, method="GET", timeout=ANSWER_LIMIT_S):
    """(status, body) of a request to one of the daemons; status 0 where nobody answers."""
    if any(cluster.option(name) for name in ("kerberos", "netns", "https")):
        return http_by_curl(cluster, url, method, timeout)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, method=method), timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8", "replace")
    except (OSError, ValueError):
        return 0, ""


def http_by_curl(cluster, url, method, timeout):
    command = [need("curl", "curl with GSS-API"), "-s", "-S", "--noproxy", "*", "--max-time", str(timeout),
               "-X", method, "-w", "\n%{http_code}", "-o", "-", url]
    env = dict(os.environ)
    if cluster.option("https"):
        command[1:1] = ["--cacert", certificates.authority(cluster)]
    if cluster.option("kerberos"):
        command[1:1] = ["--negotiate", "-u", ":"]
        env.update(kerberos.environment(cluster, "hdfs"))
    done = subprocess.run(namespaces.on_host(cluster, "client", command), env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=timeout + ANSWER_LIMIT_S)
    body, _, code = done.stdout.decode().rpartition("\n")
    return (int(code) if code.isdigit() else 0), body


def asked(cluster, url):
    """The JSON that a daemon answers with, or None; a standby may answer with a text that sends to the active one."""
    code, body = http(cluster, url)
    try:
        return json.loads(body) if code == 200 else None
    except ValueError:
        return None


def bean(cluster, name, query):
    """One of the values that an HDFS daemon shows about itself, or None."""
    answer = asked(cluster, f"{cluster.web(name)}/jmx?qry=Hadoop:{query}")
    return next(iter((answer or {}).get("beans") or []), None)


def manager_nodes(cluster):
    """The nodes as the active ResourceManager knows them, or None."""
    answer = asked(cluster, f"{cluster.web(cluster.active('rm'))}/ws/v1/cluster/nodes")
    return None if answer is None else (answer.get("nodes") or {}).get("node") or []


def hdfs_state(cluster):
    """(live DataNodes, in safe mode) of the active NameNode, or None."""
    found = bean(cluster, cluster.active("nn"), "service=NameNode,name=FSNamesystemState")
    return (found["NumLiveDataNodes"], found["FSState"] != "Operational") if found else None


def role(cluster, name):
    """"active", "standby" or what else a master says that it is, or None."""
    if name.startswith("nn"):
        found = bean(cluster, name, "service=NameNode,name=NameNodeStatus")
        return found["State"].lower() if found else None
    answer = asked(cluster, f"{cluster.web(name)}/ws/v1/cluster/info")
    return answer["clusterInfo"]["haState"].lower() if answer else None


def webhdfs(cluster, path, operation, method="PUT", **parameters):
    query = {"op": operation} | ({} if cluster.option("kerberos") else {"user.name": getpass.getuser()}) | parameters
    url = f"{cluster.web(cluster.active('nn'))}/webhdfs/v1{path}?{urllib.parse.urlencode(query)}"
    return http(cluster, url, method)


def wait(cluster, what, test, seconds, watched=()):
    """Returns what the test does, once that is true; fails at the limit, and when a watched daemon ends."""
    limit = time.monotonic() + seconds
    while True:
        found = test()
        if found:
            return found
        for name in watched:
            if not cluster.alive(name):
                raise Failure(f"{name} ended while waiting for {what}; see {cluster.path('logs', name + '.log')}")
        if time.monotonic() > limit:
            raise Failure(f"{what}: not within {seconds} s; see {cluster.path('logs')}")
        # Nobody tells when the answer changes. The end of a daemon is told.
        wait_for_an_end([cluster.pid(name) for name in watched], LOOK_EVERY_S)


def wait_for_hdfs(cluster, seconds):
    def ready():
        state = hdfs_state(cluster)
        return state and state[0] >= cluster.option("datanodes") and not state[1]

    wait(cluster, "HDFS", ready, seconds, [cluster.active("nn"), *cluster.names("dn")])


def wait_for_names(cluster, name, seconds):
    """Until a NameNode without DataNodes answers."""
    def ready():
        found = bean(cluster, name, "service=NameNode,name=FSNamesystemState")
        return found and found["FSState"] == "Operational"

    wait(cluster, "the other HDFS", ready, seconds, [name])


def wait_for_data_node(cluster, name, seconds):
    """Until the DataNode itself says that the NameNodes took it in."""
    def ready():
        found = bean(cluster, name, "service=DataNode,name=DataNodeInfo")
        actors = json.loads((found or {}).get("BPServiceActorInfo", "[]"))
        return any(actor["ActorState"] == "RUNNING" for actor in actors)

    wait(cluster, name, ready, seconds, [name])


def wait_for_node(cluster, name, since_ms, seconds):
    """Until the ResourceManager heard of the NodeManager since then."""
    def ready():
        return any(node["id"] == cluster.address(name + ".rpc") and node["state"] == "RUNNING"
                   and node["lastHealthUpdate"] >= since_ms for node in manager_nodes(cluster) or [])

    wait(cluster, name, ready, seconds, [name])


def wait_for_yarn(cluster, seconds, names):
    """Until the active ResourceManager has all these NodeManagers among its running nodes."""
    wanted = {cluster.address(name + ".rpc") for name in names}

    def ready():
        nodes = manager_nodes(cluster)
        return nodes is not None and wanted <= {node["id"] for node in nodes if node["state"] == "RUNNING"}

    wait(cluster, "YARN", ready, seconds, [cluster.active("rm"), *names])


def wait_for_role(cluster, name, roles, seconds):
    wait(cluster, f"{name} to be {' or '.join(roles)}", lambda: role(cluster, name) in roles, seconds, [name])
