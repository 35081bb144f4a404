"""No room in the queue or on the file system, a node that is sick, a NameNode that is away: jobs wait, tell it, go on."""

import contextlib
import getpass
import json
import os
import re
import signal

import pytest

from waiting import wait_until
from yarn import storage
from yarn.jobs import Jobs, Waiting
from yarn.processes import pids_of

LIMIT_S = 120


@pytest.fixture
def strict(strict_hadoop, gangrun, agent, home, tmp_path):
    """Jobs on two nodes of 1024 MiB, of which a master takes 256."""
    jobs = Jobs(gangrun, strict_hadoop, tmp_path, home)
    yield jobs
    jobs.end_all()


@pytest.fixture
def of_alice(strict, strict_hadoop):
    """Jobs of a user whose folder on the file system the test may fill."""
    home = storage.make_home(strict_hadoop, "alice")
    yield strict.of("alice")
    fill(strict_hadoop, home, names=-1, space=-1)


def fill(hadoop, folder, names=-1, space=-1):
    """The quotas of a folder; -1 takes one away."""
    storage.order(hadoop, folder, "SETQUOTA", namespacequota=names, storagespacequota=space)


def test_a_full_queue_is_waited_for(strict, strict_hadoop):
    # One on each node, which leaves 256 MiB, enough for the next one's master only.
    first = Waiting(strict, "-r", "worker:2", "-m", "768m", file="first")
    first.starts(2)
    missing = r"0 of 1 containers are there; missing: 1 of 512 MiB, 1 vcore; queue root\.default has 0 MiB and \d+ vcores"
    impatient = strict.run("-r", "worker:1", "-m", "512m", "--timeout", "allocation=3s", "--", "true")
    assert impatient.returncode == 3, impatient.stderr
    assert re.search(missing, impatient.stderr), impatient.stderr
    # Of a job that has failed nothing is left but its history.
    failed = strict_hadoop.wait_for_application(max(app["id"] for app in strict_hadoop.applications()))
    assert failed["finalStatus"] == "FAILED"
    names = storage.listed(strict_hadoop, f"/user/{getpass.getuser()}/.gangrun")
    assert [path for path in names if f"/history/{failed['id']}/journal/" in path]
    assert not [path for path in names if f"/jobs/{failed['id']}" in path]
    strict.write("large.yaml", "yarn: {master: {memory: 512m}}\ntasks: {worker: {memory: 128m}}\ncommand: 'true'\n")
    masterless = strict.run("large.yaml", "--timeout", "allocation=3s")
    assert masterless.returncode == 3, masterless.stderr
    assert re.search(r"the job's master did not start within 3.0 s; it waited for a container for the master in queue .*;.*"
                     r"it will ask for 1 of 128 MiB, 1 vcore; queue default has 0 MiB", masterless.stderr), masterless.stderr
    patient = Waiting(strict, "-r", "worker:1", "-m", "512m", file="patient")
    waits = wait_until(lambda: re.search(missing, patient.status()["waiting_for"]), "the job to tell what is missing",
                       LIMIT_S, pause_s=0.25)
    assert waits
    first.end()
    patient.starts(1)
    patient.end()
    assert strict_hadoop.wait_for_application(patient.id)["finalStatus"] == "SUCCEEDED"


def test_what_ran_on_a_sick_node_comes_back_when_it_is_well(strict, strict_hadoop):
    # One on each node, one of them beside the master.
    job = Waiting(strict, "-r", "worker:2", "-m", "640m")
    nodes = {node for _, _, node in job.starts(2)}
    master, = nodes & {strict_hadoop.application(job.id)["amHostHttpAddress"].split(":")[0]}
    sick, = nodes - {master}
    before = pids_of(job)
    manager = "nm" + str(int(sick.rpartition(".")[2]) - 1)
    strict_hadoop.sick.write_text(str(strict_hadoop.cluster.pid(manager)))
    try:
        wait_until(lambda: len(pids_of(job)) == 1, "the end of what ran on the sick node", LIMIT_S, pause_s=0.1)
        assert "UNHEALTHY" in {node["state"] for node in strict_hadoop.nodes()}
        wait_until(lambda: "missing: 1 of 640 MiB" in job.status()["waiting_for"], "the job to tell what is missing",
                   LIMIT_S, pause_s=0.25)
    finally:
        strict_hadoop.sick.unlink()
    job.starts(3)
    assert len(pids_of(job) & before) == 1
    ended = job.end()
    assert (ended["restarts_used"], ended["generation"]) == (0, 1), ended


def test_nothing_is_submitted_to_a_full_file_system(of_alice, strict_hadoop):
    words = ("--queue", "ml-gpu", "-r", "worker:1", "-m", "128m", "--", "true")
    before = len(strict_hadoop.applications())
    for quota, told in (({"names": 1}, "NameSpace quota"), ({"space": 1}, "DiskSpace quota")):
        fill(strict_hadoop, "/user/alice", **quota)
        done = of_alice.run(*words)
        assert done.returncode == 3, done.stderr
        assert f"The {told}" in done.stderr.splitlines()[-1] and "is exceeded" in done.stderr, done.stderr
    assert len(strict_hadoop.applications()) == before
    fill(strict_hadoop, "/user/alice")
    done = of_alice.run(*words)
    assert done.returncode == 0, done.stderr
    left = wait_until(lambda: storage.listed(strict_hadoop, "/user/alice/.gangrun"), "what is left")
    assert not [path for path in left if "/jobs/" in path]


def room_left(hadoop):
    """Bytes, as the NameNode has heard of them."""
    address = hadoop.webhdfs_url.removesuffix("/webhdfs/v1")
    code, body = hadoop.http(address + "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState")
    assert code == 200, body
    return json.loads(body)["beans"][0]["CapacityRemaining"]


def test_nothing_is_submitted_to_a_full_disk(strict, strict_hadoop):
    words = ("-r", "worker:1", "-m", "128m", "-f", "new.bin", "--", "true")
    strict.write("new.bin", "what the cluster does not have")
    before, room = len(strict_hadoop.applications()), room_left(strict_hadoop)
    ballast = strict_hadoop.folder / "data/dn1/ballast"
    try:
        with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 20))
        wait_until(lambda: room_left(strict_hadoop) < 1 << 20, "the NameNode to hear of it", LIMIT_S, pause_s=0.2)
        done = strict.run(*words)
        assert done.returncode == 3, done.stderr
        # By whom it is found out first.
        assert re.search("could only be written to 0 of the 1 minReplication nodes|none has room",
                         done.stderr.splitlines()[-1]), done.stderr
        assert len(strict_hadoop.applications()) == before
    finally:
        ballast.unlink()
    wait_until(lambda: room_left(strict_hadoop) > room // 2, "the NameNode to hear of the room", LIMIT_S, pause_s=0.2)
    done = strict.run(*words)
    assert done.returncode == 0, done.stderr


def test_a_job_goes_on_and_ends_when_the_file_system_is_full(of_alice, strict_hadoop):
    job = Waiting(of_alice, "--queue", "ml-gpu", "-r", "worker:2", "--restarts", "1:task")
    job.starts(2)
    before = pids_of(job)
    fill(strict_hadoop, "/user/alice", space=1)
    os.kill(min(before), signal.SIGKILL)
    # What is started must be known to a next master first.
    wait_until(lambda: re.search(r"room for the journal on the cluster's file system.*DiskSpace quota",
                                 job.status()["waiting_for"]), "the job to tell what it waits for", LIMIT_S, pause_s=0.25)
    # A write that found no room leaves at most the one that is being tried.
    names = storage.listed(strict_hadoop, f"/user/alice/.gangrun/jobs/{job.id}")
    assert sum(".unfinished" in path for path in names) <= 1, names
    kept = pids_of(job)
    assert len(kept) == 1 and kept < before
    fill(strict_hadoop, "/user/alice")
    job.starts(3)
    assert kept < pids_of(job)
    # And full at the end: the verdict is YARN's, the journal's last part is lost.
    fill(strict_hadoop, "/user/alice", space=1)
    job.file.touch()
    assert strict_hadoop.wait_for_application(job.id)["finalStatus"] == "SUCCEEDED"
    assert job.status()["state"] == "succeeded"


def test_a_job_goes_on_without_the_name_node(strict, strict_hadoop):
    job = Waiting(strict, "-r", "worker:2", "--restarts", "1:task")
    job.starts(2)
    before = pids_of(job)
    strict_hadoop.kill("nn")
    try:
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: any("the journal cannot be copied" in files.get("stderr", "")
                               for files in strict_hadoop.container_logs(job.id).values()),
                   "the master to find out", LIMIT_S, pause_s=0.25)
        assert len(pids_of(job) & before) == 1
    finally:
        strict_hadoop.start("nn")
    job.starts(3)
    assert job.end()["restarts_used"] == 1
    assert strict_hadoop.wait_for_application(job.id)["finalStatus"] == "SUCCEEDED"
