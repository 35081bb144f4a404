"""The real Hadoop clusters that other tests stand on: they come up, take blows, and leave nothing behind."""

import os
import pathlib
import signal
import subprocess

import pytest
from clusters.hadoop.hadoop_cluster import processes
from clusters.hadoop.hadoop_cluster.cluster import Cluster

LIMIT_S = 60
SHELL = "org.apache.hadoop.yarn.applications.distributedshell.Client"


def living(folder):
    """(pid, command) of the processes that have this folder in their command or their environment, or live there."""
    found, mark = [], os.fsencode(folder)
    for pid in processes.all_pids():
        entry = pathlib.Path("/proc") / str(pid)
        try:
            command = (entry / "cmdline").read_bytes()
            if pid != os.getpid() and processes.start_time(pid) and (
                    mark in command or mark in (entry / "environ").read_bytes()
                    or processes.working_folder(pid).startswith(str(folder))):
                found.append((pid, command.replace(b"\0", b" ").decode(errors="replace")))
        except OSError:
            continue  # it ended while it was looked at
    return found


def curl(cluster, *words):
    done = cluster.run("curl", "-s", "-S", "-f", "-L", "--noproxy", "*", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def put(cluster, name, content, *words):
    """Makes a file in HDFS as curl does it: the NameNode sends it on to a DataNode."""
    curl(cluster, *words, "-X", "PUT", "--data-binary", content,
         f"{cluster.webhdfs_url}/tmp/{name}?op=CREATE&overwrite=true")


def get(cluster, name, *words):
    return curl(cluster, *words, f"{cluster.webhdfs_url}/tmp/{name}?op=OPEN")


def running(cluster):
    return sorted(node["id"] for node in cluster.nodes() if node["state"] == "RUNNING")


class Held:
    """An application with one container that says "waiting", and "it went on" when it is let go."""

    def __init__(self, cluster, folder, before=""):
        self.cluster, self.fifo = cluster, folder / "fifo"
        os.mkfifo(self.fifo)
        known = {application["id"] for application in cluster.applications()}
        jar = cluster.exports["DSHELL_JAR"]
        self.client = subprocess.Popen(
            [cluster.folder / "home/bin/yarn", "jar", jar, SHELL, "-jar", jar, "-num_containers", "1",
             "-container_memory", "64", "-master_memory", "256",
             "-shell_command", f"{{ {before} echo waiting; cat {self.fifo}; echo it went on; }}"],
            env=cluster.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.id = cluster.wait_until(lambda: next(
            (found["id"] for found in cluster.applications() if found["id"] not in known), None), "the application")
        cluster.wait_until(lambda: "waiting\n" in self.output(), "its container")

    def output(self):
        return "".join(files.get("stdout", "") for files in self.cluster.container_logs(self.id).values())

    def go_on(self):
        """Lets it end, which must be a good end, and returns what it has written."""
        self.fifo.write_text("go\n")
        assert self.cluster.wait_for_application(self.id)["finalStatus"] == "SUCCEEDED"
        assert self.client.wait(LIMIT_S) == 0
        return self.output()

    def stop(self):
        self.client.kill()
        self.client.wait(LIMIT_S)


@pytest.fixture
def held(tmp_path):
    started = []

    def start(cluster, **options):
        started.append(Held(cluster, tmp_path, **options))
        return started[-1]

    yield start
    for application in started:
        application.stop()


def test_two_commands_at_once_do_not_forget_each_others_daemons(tmp_path):
    first = Cluster(tmp_path)
    first.state = {"pids": {}}
    first.save()
    second = Cluster(tmp_path).load()
    with first.changing() as state:
        state["pids"]["nm1"] = {"pid": 1}
    with second.changing() as state:
        state["pids"]["nm2"] = {"pid": 2}
    assert Cluster(tmp_path).load().state["pids"] == {"nm1": {"pid": 1}, "nm2": {"pid": 2}}


def test_it_comes_up_whole(hadoop):
    assert len(running(hadoop)) == 2
    assert all(daemon["alive"] for daemon in hadoop.status()["daemons"].values())
    put(hadoop, "f", "some words")
    assert get(hadoop, "f") == "some words"


def test_an_application_outlives_the_restart_of_its_node_and_the_death_of_the_manager(hadoop, held):
    application, nodes, daemons = held(hadoop), running(hadoop), hadoop.status()["daemons"]
    hadoop.restart("nm", 1)
    hadoop.restart("nm", 2, hard=True)
    hadoop.kill("rm")
    assert not hadoop.status()["daemons"]["rm"]["alive"]
    hadoop.start("rm")
    now = hadoop.status()["daemons"]
    assert [name for name in now if now[name]["pid"] == daemons[name]["pid"]] == ["nn", "dn1"]
    assert running(hadoop) == nodes
    assert application.go_on() == "waiting\ngo\nit went on\n"


def test_two_masters_of_each_kind_fail_over(hadoop_cluster, held):
    cluster = hadoop_cluster(nodes=1, ha=True)
    put(cluster, "f", "some words")
    application, old = held(cluster), cluster.exports
    cluster.kill("rm", 1)
    cluster.transition("rm", 2)
    cluster.kill("nn", 1)
    cluster.transition("nn", 2)
    assert get(cluster, "f") == "some words"
    assert cluster.rm_web_url != old["RM_WEB_URL"] and cluster.hdfs_url == old["HDFS_URL"]
    assert application.go_on() == "waiting\ngo\nit went on\n"
    cluster.start("rm", 1)
    cluster.start("nn", 1)
    cluster.transition("nn", 1)  # without a death: the other one steps back
    daemons = cluster.status()["daemons"]
    assert {name: daemon["role"] for name, daemon in daemons.items() if "role" in daemon} == {
        "nn1": "active", "nn2": "standby", "rm1": "standby", "rm2": "active"}
    # A NameNode that has just come back hears of its blocks with the DataNode's first report.
    words = ("curl", "-s", "-S", "-f", "-L", "--noproxy", "*", f"{cluster.webhdfs_url}/tmp/f?op=OPEN")
    assert cluster.wait_until(lambda: cluster.run(*words).stdout, "a readable file") == "some words"


def test_nothing_lives_after_down(hadoop_cluster, held):
    cluster = hadoop_cluster(nodes=1)
    # A process without any of the variables, out of the container's session.
    held(cluster, before="setsid env -i tail -f /dev/null & ")
    assert any("tail -f /dev/null" in command for _, command in living(cluster.folder))
    cluster.down()
    assert [found for found in living(cluster.folder) if SHELL not in found[1]] == []


def test_a_cluster_ends_with_the_process_that_it_belongs_to(hadoop_cluster):
    owner = subprocess.Popen(["tail", "-f", "/dev/null"])
    try:
        cluster = hadoop_cluster(nodes=1, until=owner.pid)
        assert len(living(cluster.folder)) >= 5
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.wait(LIMIT_S)
    cluster.wait_until(lambda: not living(cluster.folder), "its end")
    assert not any(daemon["alive"] for daemon in cluster.status()["daemons"].values())


def test_a_secure_cluster_of_the_older_release(hadoop_cluster):
    cluster = hadoop_cluster(nodes=1, kerberos=True, rpc_protection="privacy", hadoop_version="3.4.2")
    assert cluster.rest("/ws/v1/cluster/info")["clusterInfo"]["hadoopVersion"] == "3.4.2"
    ticket = ("--negotiate", "-u", ":")
    put(cluster, "f", "some words", *ticket)
    cluster.restart("dn", 1)
    assert get(cluster, "f", *ticket) == "some words"
    home = cluster.run("curl", "-s", *ticket, f"{cluster.webhdfs_url}/?op=GETHOMEDIRECTORY", user="alice")
    assert "/user/alice" in home.stdout
    stranger = cluster.run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                           f"{cluster.webhdfs_url}/?op=LISTSTATUS")
    assert stranger.stdout == "401"


def test_hosts_with_networks_of_their_own(hadoop_cluster):
    cluster = hadoop_cluster(nodes=2, netns=True, node_labels=True, gpus=3, nm_expiry_ms=3000)
    labels = {node["nodeHostName"]: node.get("nodeLabels", []) for node in cluster.nodes()}
    assert labels == {"node1.hadoop.test": [], "node2.hadoop.test": ["gpu"]}
    gpus = {node["nodeHostName"]: resource["value"] for node in cluster.nodes()
            for resource in node["totalResource"]["resourceInformations"]["resourceInformation"]
            if resource["name"] == "yarn.io/gpu"}
    assert gpus == {"node1.hadoop.test": 0, "node2.hadoop.test": 3}
    assert cluster.run("hostname", on="node2").stdout == "node2.hadoop.test\n"
    put(cluster, "f", "some words")
    cluster.link("node2", "down")
    cluster.wait_until(lambda: len(running(cluster)) == 1, "the loss of a node")
    cluster.link("node2", "up")
    cluster.wait_until(lambda: len(running(cluster)) == 2, "its return")
    prefix = cluster.cluster.option("netns")
    cluster.down()
    spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, timeout=LIMIT_S)
    assert not [line for line in spaces.stdout.splitlines() if line.startswith(prefix)]
