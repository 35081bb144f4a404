"""Real Hadoop clusters for tests: `hadoop` and `secured_hadoop`, which the tests of a run share; `hadoop_cluster(...)` and
`hadoop_of_module(...)` for others."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from clusters.program import ORDER_LIMIT_S, RunningCluster
from waiting import wait_until

from .hadoop_cluster import kerberos, questions
from .hadoop_cluster.cluster import Cluster

PROGRAM = pathlib.Path(__file__).with_name("hadoop-cluster")
LOGS_LIMIT_S = 60
FINAL_STATES = ("FINISHED", "FAILED", "KILLED")
# The aggregated logs as `yarn logs` prints them.
CONTAINER = re.compile(r"^Container: (container_\S+) on ", re.MULTILINE)
LOG = re.compile(r"^LogType:(\S+)\n(?:Log\S+:.*\n)*?LogContents:\n(.*?)\nEnd of LogType:\1", re.MULTILINE | re.DOTALL)


class Hadoop(RunningCluster):
    """A running cluster of hadoop-cluster."""

    program = PROGRAM

    def __init__(self, folder, **options):
        release = os.environ.get("HADOOP_RELEASE")
        super().__init__(folder, **({"hadoop_version": release} if release else {}) | options)

    @property
    def release(self):
        """(3, 5) of 3.5.0."""
        major, minor, *_ = self.cluster.option("version").split(".")
        return int(major), int(minor)

    @property
    def cluster(self):
        """The state as hadoop-cluster keeps it, read anew."""
        return Cluster(self.folder).load()

    def restart(self, daemon, number=None, hard=False):
        """Stops and starts ("nm", 2), ("rm",), ... and waits until it is a part of the cluster again."""
        self.order("restart", daemon, *filter(None, [number]), *(["--hard"] if hard else []))

    def start(self, daemon, number=None):
        self.order("start", daemon, *filter(None, [number]))

    def stop(self, daemon, number=None):
        self.order("stop", daemon, *filter(None, [number]))

    def kill(self, daemon, number=None, containers=False):
        """SIGKILL; with containers=True also for the processes that a NodeManager started."""
        self.order("kill", daemon, *filter(None, [number]), *(["--containers"] if containers else []))

    def transition(self, daemon, number):
        """With ha=True: makes ("nn", 2) or ("rm", 1) the active one."""
        self.order("transition", daemon, number)

    def link(self, host, state):
        """With netns=True: cuts "node1" off the network ("down"), or puts it back ("up")."""
        self.order("link", host, state)

    def down(self):
        """Ends it. Its logs and its configuration stay for who wants to know why a test failed."""
        self.order("down")
        shutil.rmtree(self.folder / "data")

    def down_for_good(self):
        """The same at the end of a run. What its nodes have unpacked is gigabytes in 100,000 files, which some disks take minutes
        to forget: nobody waits for that."""
        self.order("down")
        subprocess.run(["sh", "-c", 'exec setsid rm -rf "$1" &', "sh", self.folder / "data"], check=True, timeout=ORDER_LIMIT_S,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def status(self):
        """What `hadoop-cluster status` prints, also where daemons are missing."""
        done = subprocess.run([str(PROGRAM), "status", "--dir", str(self.folder)], capture_output=True, text=True,
                              timeout=ORDER_LIMIT_S)
        return json.loads(done.stdout)

    @property
    def conf_dir(self):
        return self.folder / "conf"

    @property
    def exports(self):
        """The variables of this cluster alone. They change when another master becomes active."""
        return self.cluster.environment()

    @property
    def environment(self):
        """What a client's process needs: the variables of this cluster over those of the tests."""
        path = f"{self.folder / 'home/bin'}:{os.environ.get('PATH', '')}"
        return os.environ | self.exports | {"PATH": path}

    def environment_of(self, user):
        """With kerberos=True: that of a client who is alice, bob, hdfs (the superuser) or yarn (the administrator)."""
        return self.environment | kerberos.environment(self.cluster, user)

    @property
    def rm_web_url(self):
        return self.exports["RM_WEB_URL"]

    @property
    def rm_address(self):
        return self.exports["RM_ADDRESS"]

    @property
    def rm_scheduler_address(self):
        return self.exports["RM_SCHEDULER_ADDRESS"]

    @property
    def webhdfs_url(self):
        return self.exports["WEBHDFS_URL"]

    @property
    def hdfs_url(self):
        return self.exports["HDFS_URL"]

    def run(self, *command, timeout=ORDER_LIMIT_S, on="client", user=None):
        """Runs a command as a client, and returns the ended process.

        With netns=True on one of the hosts, with kerberos=True as one of the users.
        """
        words = ["exec", "--dir", self.folder, "--on", on, *(["--as", user] if user else []), "--", *command]
        return subprocess.run([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=self.environment, timeout=timeout)

    def http(self, url, method="GET"):
        """(status, body); with kerberos=True as the superuser, with netns=True from the client's host."""
        return questions.http(self.cluster, url, method)

    def rest(self, path):
        """The JSON of the ResourceManager's REST interface: rest("/ws/v1/cluster/metrics")."""
        code, body = self.http(self.rm_web_url + path)
        assert code == 200, f"{path}: {code} {body}"
        return json.loads(body)

    def nodes(self):
        return (self.rest("/ws/v1/cluster/nodes")["nodes"] or {}).get("node", [])

    @staticmethod
    def wait_until(condition, what, seconds=LOGS_LIMIT_S):
        """Looks seldom enough to leave the servers, which have to answer each look, the time for what they do."""
        return wait_until(condition, what, seconds, pause_s=questions.LOOK_EVERY_S)

    def applications(self):
        """All that the ResourceManager knows, as REST has them: id, state, finalStatus, user, queue, ..."""
        return (self.rest("/ws/v1/cluster/apps")["apps"] or {}).get("app", [])

    def application(self, identifier):
        return self.rest(f"/ws/v1/cluster/apps/{identifier}")["app"]

    def wait_for_application(self, identifier, states=FINAL_STATES, timeout=ORDER_LIMIT_S):
        """The application, once it is in one of the states."""
        def reached():
            found = self.application(identifier)
            return found if found["state"] in states else None

        return self.wait_until(reached, f"{identifier} to be {' or '.join(states)}", timeout)

    def wait_until_seen_running(self, identifier, count):
        """Until the ResourceManager has heard from the nodes that so many containers of the application run: when its
        master dies before that, YARN takes them from the next one."""
        # A ResourceManager that was started again numbers its time: container_e02_….
        running = re.compile(rf" container_(e\d+_)?{identifier.removeprefix('application_')}_\S+ .* to RUNNING$", re.M)

        def seen():
            return sum(len(running.findall(path.read_text())) for path in self.folder.glob("logs/rm*.log")) >= count

        self.wait_until(seen, f"{count} containers of {identifier} to be seen running")

    def container_logs(self, identifier):
        """{container: {file: text}}: of a running application from the nodes, of an ended one the aggregated logs."""
        if self.application(identifier)["state"] in FINAL_STATES:
            return self.aggregated_logs(identifier)
        found = {}
        for path in self.folder.glob(f"data/nm*/userlogs/{identifier}/*/*"):
            try:
                found.setdefault(path.parent.name, {})[path.name] = path.read_text(errors="replace")
            except FileNotFoundError:
                return self.aggregated_logs(identifier)  # it ended while they were read
        return found

    def aggregated_logs(self, identifier):
        def shown():
            ready = self.application(identifier).get("logAggregationStatus") in ("SUCCEEDED", "FAILED", "TIME_OUT")
            return ready and self.run("yarn", "logs", "-applicationId", identifier).stdout

        text = self.wait_until(shown, f"the logs of {identifier}", LOGS_LIMIT_S)
        _, *parts = CONTAINER.split(text)
        found = {}
        for container, part in zip(parts[::2], parts[1::2]):
            found.setdefault(container, {}).update(LOG.findall(part))
        return found


# The clusters that the tests of a run share, by the names of their fixtures: who changes one puts it back.
SHARED = {
    # With libhadoop.so, as clusters have it: without, a node starts chmod for every file that it unpacks.
    "hadoop": {"nodes": 2, "native": True},
    # What HDFS says to itself is not encrypted: it would be at 2 MB/s, and our programs are 20 MB that every node fetches.
    "secured_hadoop": {"nodes": 1, "kerberos": True, "rpc_protection": "privacy",
                       "set": ["yarn.scheduler.capacity.root.acl_administer_queue=yarn",
                               "dfs.data.transfer.protection=authentication"]},
}


@pytest.fixture(scope="session")
def shared_hadoop(request, tmp_path_factory):
    """shared_hadoop(name): that cluster. The others that tests of this run want start meanwhile, one after another: the tests on
    the first one leave the processors time for it."""
    wanted = {name for item in request.session.items for name in item.fixturenames if name in SHARED}
    starter, begun = concurrent.futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix="hadoop"), {}

    def get(name):
        for other in (name, *sorted(wanted)):
            if other not in begun:
                begun[other] = starter.submit(Hadoop, tmp_path_factory.mktemp("hadoop"), **SHARED[other])
        return begun[name].result()

    yield get
    starter.shutdown(cancel_futures=True)
    with concurrent.futures.ThreadPoolExecutor() as enders:
        ends = [enders.submit(cluster.result().down_for_good) for cluster in begun.values()
                if not cluster.cancelled() and not cluster.exception()]
    for end in ends:
        end.result()


@pytest.fixture(scope="session")
def hadoop(shared_hadoop):
    """Two nodes that believe everybody's name."""
    return shared_hadoop("hadoop")


@pytest.fixture(scope="session")
def secured_hadoop(shared_hadoop):
    """Kerberos, and RPC that is encrypted."""
    return shared_hadoop("secured_hadoop")


@contextlib.contextmanager
def own_clusters(tmp_path_factory):
    started = []

    def start(**options):
        started.append(Hadoop(tmp_path_factory.mktemp("hadoop"), **options))
        return started[-1]

    yield start
    for cluster in started:
        if (cluster.folder / "data").exists():
            cluster.down()


@pytest.fixture
def hadoop_cluster(tmp_path_factory):
    """hadoop_cluster(ha=True, nodes=2) starts a cluster of the test's own, which ends with the test."""
    with own_clusters(tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="module")
def hadoop_of_module(tmp_path_factory):
    """The same for all tests of a file: who changes the cluster puts it back."""
    with own_clusters(tmp_path_factory) as start:
        yield start
