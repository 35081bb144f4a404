"""The registry mirrored in a real ZooKeeper, of jobs on this machine.

A server of its own is needed: what is tested is what it has after it, or the master, was killed, stopped or started.
"""

import contextlib
import getpass
import hashlib
import json
import os
import signal

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError, NoNodeError
from kazoo.security import OPEN_ACL_UNSAFE, make_digest_acl

from clusters.zookeeper.server import ZooKeeper, free_port
from waiting import wait_until

TASKS = {"ps": {"instances": 1}, "worker": {"instances": 2}}
USER = getpass.getuser().lower()
UNTIL = 'while [ ! -e "$OUT/done" ]; do sleep 0.05; done'
# Beyond how long the mirror waits before it tells that ZooKeeper is away.
TOLD_LIMIT_S = 60


@pytest.fixture(scope="module")
def shared_zookeeper(tmp_path_factory):
    server = ZooKeeper(tmp_path_factory.mktemp("zookeeper")).start()
    yield server
    server.kill()


@pytest.fixture
def own_zookeeper(tmp_path):
    """One that the test may kill."""
    server = ZooKeeper(tmp_path / "zookeeper").start()
    yield server
    server.kill()


@contextlib.contextmanager
def client(server, credentials=None):
    """A plain ZooKeeper client, which knows nothing of jobs."""
    kazoo = KazooClient(hosts=server.host, auth_data=[("digest", credentials)] if credentials else None)
    kazoo.start(timeout=60)
    try:
        yield kazoo
    finally:
        kazoo.stop()
        kazoo.close()


def record(kazoo, path):
    try:
        return json.loads(kazoo.get(path)[0] or b"null")
    except NoNodeError:
        return None


def children(kazoo, path):
    try:
        return sorted(kazoo.get_children(path))
    except NoNodeError:
        return []


class Job:
    """A detached job that waits for a file."""

    def __init__(self, run_gangrun, home, out, server, *words, tasks=TASKS, hosts=None, root="/registry",
                 readable_by="all", command=UNTIL, environment=None, more=None):
        self.run, self.home, self.out = run_gangrun, home, out
        spec = out / "job.yaml"
        spec.write_text(json.dumps({
            "name": "wine", "tasks": tasks, "command": ["sh", "-c", command],
            "zookeeper": {"root": root, "readable_by": readable_by, **(more or {})}}))
        done = run_gangrun("run", "--detach", spec, "--zookeeper", hosts or server.host, *words,
                           env={"OUT": str(out)} | (environment or {}))
        assert done.status == 0, done.stderr
        self.id = done.stdout.strip()
        self.path = f"{root}/users/{USER}/wine/{self.id}"
        self.folder = home / "jobs" / self.id

    def status(self):
        done = self.run("status", "--json", self.id)
        assert done.status == 0, done.stderr
        return json.loads(done.stdout)

    def why(self):
        return self.run("why", self.id).stdout

    def state(self, state):
        return wait_until(lambda: self.status()["state"] == state, f"the job to be {state}", pause_s=0.1)

    def addresses(self):
        """The hosts of each type, as the status has them."""
        hosts = {}
        for task in self.status()["tasks"]:
            hosts.setdefault(task["task"].split(":")[0], []).append(task["address"])
        return {f"DTF_{name.upper()}_HOSTS": ",".join(addresses) for name, addresses in hosts.items()}

    def is_shown(self, kazoo):
        """Whether ZooKeeper has every task and every address of the job as it is."""
        told = record(kazoo, self.path)
        addresses = self.addresses()
        tasks = {task["task"]: task["address"] for task in self.status()["tasks"]}
        shown = {}
        for name in children(kazoo, f"{self.path}/components"):
            one = record(kazoo, f"{self.path}/components/{name}")
            if one:
                shown[f"{one['task_job_name']}:{one['task_job_index']}"] = f"{one['task_host']}:{one['task_port']}"
        return told and shown == tasks and {key: told.get(key) for key in addresses} == addresses

    def wait_until_shown(self, kazoo, seconds=60):
        wait_until(lambda: self.is_shown(kazoo), "ZooKeeper to have the job as it is", seconds, pause_s=0.1)

    def processes(self, kind):
        """The pids of the master or the supervisor of the job."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                with contextlib.suppress(OSError), open(f"/proc/{entry}/cmdline", "rb") as line:
                    words = line.read().decode(errors="replace").split("\0")
                    if kind in words and str(self.folder) in words:
                        found.append(int(entry))
        return found

    def credentials(self):
        """What docs/protocols/zookeeper.md says that whoever knows the job's secret can make."""
        secret = (self.folder / "secret").read_text().strip()
        return "gangrun:" + hashlib.sha256(f"gangrun zookeeper {secret}".encode()).hexdigest()

    def finish(self):
        (self.out / "done").touch()
        return self.run("wait", self.id)


@pytest.fixture
def start(run_gangrun, home, tmp_path):
    jobs = []

    def start_job(server, *words, **options):
        jobs.append(Job(run_gangrun, home, tmp_path, server, *words, **options))
        return jobs[-1]

    yield start_job
    for job in jobs:
        run_gangrun("kill", "--now", job.id)


def test_the_tree_is_that_of_the_design_and_goes_with_the_job(start, shared_zookeeper):
    with client(shared_zookeeper) as kazoo:
        job = start(shared_zookeeper)
        job.wait_until_shown(kazoo)
        told = record(kazoo, job.path)
        assert told["type"] == "JSONServiceRecord"
        assert told["yarn:id"] == job.id
        assert told["yarn:persistence"] == "application"
        assert children(kazoo, f"{job.path}/components") == ["ps-0", "worker-0", "worker-1"]
        worker = record(kazoo, f"{job.path}/components/worker-1")
        assert worker["task_job_name"] == "worker" and worker["task_job_index"] == "1"
        assert worker["task_port"] == told["DTF_WORKER_HOSTS"].split(":")[-1]
        assert kazoo.exists(f"{job.path}/components/worker-1").ephemeralOwner != 0
        assert job.finish().status == 0
        wait_until(lambda: not kazoo.exists(f"/registry/users/{USER}/wine"), "nothing of the job to be there")
        # What every user of a registry needs stays, as YARN leaves it.
        assert children(kazoo, "/registry/users") == [USER]


def test_a_task_that_comes_back_is_shown_where_it_is_now(start, shared_zookeeper):
    once = 'if [ ! -e "$OUT/failed" ]; then touch "$OUT/failed"; exit 3; fi; ' + UNTIL
    with client(shared_zookeeper) as kazoo:
        job = start(shared_zookeeper, "--restarts", "1:gang", tasks={"worker": {}}, command=once)
        wait_until(lambda: job.status()["generation"] == 2, "the second generation", pause_s=0.1)
        wait_until(lambda: (record(kazoo, job.path) or {}).get("generation") == "2", "it in ZooKeeper")
        job.wait_until_shown(kazoo)


def test_all_read_and_only_the_job_writes(start, shared_zookeeper):
    with client(shared_zookeeper) as kazoo:
        job = start(shared_zookeeper)
        job.wait_until_shown(kazoo)
        for path in (job.path, f"{job.path}/components", f"{job.path}/components/ps-0"):
            acl = {(entry.id.scheme, entry.id.id.split(":")[0]): entry.perms for entry in kazoo.get_acls(path)[0]}
            assert acl == {("world", "anyone"): 1, ("digest", "gangrun"): 31}
            with pytest.raises(NoAuthError):
                kazoo.set(path, b"other")
        for path in (f"{job.path}/mine", f"{job.path}/components/mine"):
            with pytest.raises(NoAuthError):
                kazoo.create(path, b"mine")
        with pytest.raises(NoAuthError):
            kazoo.delete(f"{job.path}/components/ps-0")
        # Others make their own beside it.
        for path in ("/registry", "/registry/users", f"/registry/users/{USER}", f"/registry/users/{USER}/wine"):
            (acl,) = kazoo.get_acls(path)[0]
            assert (acl.id.scheme, acl.id.id, acl.perms) == ("world", "anyone", 31)


def test_readable_by_the_job_only(start, shared_zookeeper):
    job = start(shared_zookeeper, root="/own/root", readable_by="job")
    with client(shared_zookeeper, job.credentials()) as kazoo:
        job.wait_until_shown(kazoo)
    with client(shared_zookeeper) as kazoo:
        for path in (job.path, f"{job.path}/components/ps-0"):
            with pytest.raises(NoAuthError):
                kazoo.get(path)


@pytest.mark.programs
def test_a_server_that_was_killed_and_comes_back_has_all_again(start, own_zookeeper):
    with client(own_zookeeper) as kazoo:
        job = start(own_zookeeper)
        job.wait_until_shown(kazoo)
    own_zookeeper.kill()
    own_zookeeper.start()
    with client(own_zookeeper) as kazoo:
        job.wait_until_shown(kazoo)
    own_zookeeper.kill()
    own_zookeeper.forget()  # sessions and nodes: it is another ZooKeeper
    own_zookeeper.start()
    with client(own_zookeeper) as kazoo:
        job.wait_until_shown(kazoo)
        assert job.finish().status == 0
        wait_until(lambda: not children(kazoo, f"/registry/users/{USER}"), "nothing of the job to be there")


@pytest.mark.programs
def test_a_job_goes_on_without_zookeeper_for_a_minute(start, own_zookeeper):
    with client(own_zookeeper) as kazoo:
        job = start(own_zookeeper)
        job.wait_until_shown(kazoo)
    own_zookeeper.kill()
    since = job.status()["elapsed_ms"]
    wait_until(lambda: "no server answers" in job.why(), "the job to tell that ZooKeeper is away", TOLD_LIMIT_S,
               pause_s=0.5)
    wait_until(lambda: job.status()["elapsed_ms"] > since + 60_000, "a minute of the job", 120, pause_s=1)
    status = job.status()
    assert status["state"] == "running" and {task["state"] for task in status["tasks"]} == {"running"}
    assert len(status["notes"]) == 1 and own_zookeeper.host in status["notes"][0]
    own_zookeeper.start()
    with client(own_zookeeper) as kazoo:
        job.wait_until_shown(kazoo)
        wait_until(lambda: "notes" not in job.status(), "nothing to be wrong any more", pause_s=0.1)
    log = (job.folder / "master.log").read_text()
    assert log.count("does not show the job's current registry") == 1, "told once"
    assert job.finish().status == 0


def test_a_job_begins_and_ends_without_zookeeper(start, tmp_path):
    job = start(ZooKeeper(tmp_path / "zookeeper"))  # nobody has started it
    job.state("running")
    assert job.finish().status == 0


def test_a_zookeeper_that_stands_still_holds_up_nothing(start, own_zookeeper):
    with client(own_zookeeper) as kazoo:
        job = start(own_zookeeper)
        job.wait_until_shown(kazoo)
    own_zookeeper.suspend()
    assert job.finish().status == 0
    wait_until(lambda: not job.processes("master"), "the end of the master, which waits for no answer")
    own_zookeeper.resume()
    with client(own_zookeeper) as kazoo:
        wait_until(lambda: not children(kazoo, f"/registry/users/{USER}"), "nothing of the job to be there")


@pytest.mark.programs
def test_a_host_that_is_none_is_told_by_its_name(start, shared_zookeeper):
    job = start(shared_zookeeper, hosts="no.such.invalid:2181")
    job.state("running")
    told = wait_until(lambda: "ZooKeeper" in job.why() and job.why(), "the job to tell it", TOLD_LIMIT_S, pause_s=0.5)
    assert "no.such.invalid" in told
    assert job.finish().status == 0


def test_one_of_several_hosts_is_enough(start, shared_zookeeper):
    with client(shared_zookeeper) as kazoo:
        job = start(shared_zookeeper, hosts=f"no.such.invalid:2181,127.0.0.1:{free_port()},{shared_zookeeper.host}")
        job.wait_until_shown(kazoo)


@pytest.mark.programs
def test_a_node_that_others_hold_is_told_and_taken_when_it_is_free(start, shared_zookeeper):
    with client(shared_zookeeper, "other:x") as kazoo:
        kazoo.create("/held", b"", acl=[make_digest_acl("other", "x", all=True)])
        job = start(shared_zookeeper, root="/held/registry")
        told = wait_until(lambda: "ZooKeeper" in job.why() and job.why(), "the job to tell it", TOLD_LIMIT_S,
                          pause_s=0.5)
        assert "/held/registry cannot be made" in told and "ACL" in told
        kazoo.set_acls("/held", [make_digest_acl("other", "x", all=True), *OPEN_ACL_UNSAFE])
        job.wait_until_shown(kazoo)


@pytest.mark.programs
def test_nothing_stays_of_a_job_whose_master_is_gone_for_good(start, shared_zookeeper):
    with client(shared_zookeeper) as kazoo:
        job = start(shared_zookeeper, "--timeout", "master_lost=1s")
        job.wait_until_shown(kazoo)
        for pid in job.processes("supervise") + job.processes("master"):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not kazoo.exists(f"/registry/users/{USER}/wine"), "nothing of the job to be there")


def test_the_next_master_takes_the_nodes_over(start, shared_zookeeper):
    with client(shared_zookeeper) as kazoo:
        job = start(shared_zookeeper)
        job.wait_until_shown(kazoo)
        worker = f"{job.path}/components/worker-0"
        before = kazoo.exists(worker).ephemeralOwner
        (master,) = job.processes("master")
        os.kill(master, signal.SIGKILL)
        wait_until(lambda: (stat := kazoo.exists(worker)) and stat.ephemeralOwner != before,
                   "the next master to have the node")
        job.wait_until_shown(kazoo)
        assert job.finish().status == 0
        wait_until(lambda: not kazoo.exists(f"/registry/users/{USER}/wine"), "nothing of the job to be there")


def test_without_any_host_nothing_begins(run_gangrun, home, tmp_path):
    spec = tmp_path / "job.yaml"
    spec.write_text("tasks: {worker: {}}\ncommand: ['true']\nzookeeper: {}\n")
    done = run_gangrun("run", spec)
    assert done.status == 2
    assert "zookeeper.hosts is not given" in done.stderr
    assert not list(home.glob("jobs/*"))


def test_the_secret_is_in_no_log(start, shared_zookeeper):
    with client(shared_zookeeper) as kazoo:
        job = start(shared_zookeeper)
        job.wait_until_shown(kazoo)
    password = job.credentials().split(":")[1]
    logs = (job.folder / "master.log").read_text()
    assert password not in logs
    assert job.finish().status == 0
