"""Daemons and the processes of containers: started and ended, and nothing else ended."""

import contextlib
import os
import signal
import subprocess
import sys
import time

from . import java, kerberos, namespaces, processes
from .basics import Failure

KILL_LIMIT_S = 60
CONTAINER_ROUNDS = 5
# What only clients need.
CLIENTS_ONLY = ("HDFS_URL", "WEBHDFS_URL", "RM_ADDRESS", "RM_WEB_URL", "RM_SCHEDULER_ADDRESS", "DSHELL_JAR",
                "KRB5CCNAME", "HADOOP_CLUSTER_KEYTABS", "HADOOP_CLUSTER_NETNS", "SSL_CERT_FILE")
PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hadoop-cluster")


def environment(cluster):
    found = {name: value for name, value in os.environ.items()
             if not name.startswith(("HADOOP_", "YARN_", "HDFS_")) and name not in ("CLASSPATH", "JAVA_TOOL_OPTIONS")}
    found.update(cluster.environment())
    return {name: value for name, value in found.items() if name not in CLIENTS_ONLY} | {"MALLOC_ARENA_MAX": "2"}


def start(cluster, name):
    if cluster.alive(name):
        raise Failure(f"{name} is already running")
    env = environment(cluster)
    if name == "kdc":
        spawn(cluster, name, kerberos.server_command(), env | kerberos.server_environment(cluster))
    else:
        spawn(cluster, name, java.daemon_command(cluster, name), env)


def start_guard(cluster, pid):
    """A process that takes the cluster down when another one has ended, however it ended."""
    spawn(cluster, "guard", [sys.executable, PROGRAM, "guard", "--dir", cluster.folder, str(pid)],
          dict(os.environ), on_host=False)


def spawn(cluster, name, command, env, on_host=True):
    command = namespaces.on_host(cluster, name, command) if on_host else command
    with open(cluster.path("logs", name + ".log"), "ab") as sink:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
                                   cwd=cluster.path("tmp"), env=env, start_new_session=True)
    with cluster.changing() as state:
        state["pids"][name] = {"pid": process.pid, "start": processes.start_time(process.pid)}


def end(cluster, name, number=signal.SIGTERM, grace=10.0):
    """Sends a signal and waits for the end, after the grace with SIGKILL; was it alive?"""
    if not cluster.alive(name):
        return False
    pid = cluster.pid(name)
    for sent, seconds in ((number, grace), (signal.SIGKILL, KILL_LIMIT_S)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sent)
        limit = time.monotonic() + seconds
        while cluster.alive(name) and time.monotonic() < limit:
            processes.wait_for_an_end([pid], limit - time.monotonic())
            processes.reap(pid)
        if not cluster.alive(name):
            return True
    raise Failure(f"{name} (process {pid}) outlived SIGKILL for {KILL_LIMIT_S} s")


def container_processes(cluster, node=None):
    """Processes that this cluster's NodeManagers, or one of them, started: by their environment or their folder."""
    root = cluster.path("data", f"nm{node}", "") if node else cluster.path("data", "nm")
    found = []
    for pid in processes.all_pids():
        env = processes.environment(pid)
        if processes.working_folder(pid).startswith(root) or (
                "CONTAINER_ID" in env and env.get("LOG_DIRS", "").startswith(root)):
            if processes.start_time(pid):
                found.append(pid)
    return found


def kill_containers(cluster, node=None):
    """In rounds, because what is killed may have just started another; returns how many."""
    killed = set()
    for _ in range(CONTAINER_ROUNDS):
        found = container_processes(cluster, node)
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        for pid in found:
            processes.wait_for_an_end([pid], 1)
        if not found:
            break
    return len(killed)
