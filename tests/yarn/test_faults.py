"""What dies on the way: a user's process, an agent, the client, a node with all on it, the ResourceManager."""

import json
import os
import re
import signal

from waiting import wait_until
from yarn.jobs import UNTIL, Jobs, Waiting
from yarn.processes import agent_of, end_under_another_master, master_of, pids_of


def test_a_killed_process_comes_back_in_its_place(jobs):
    job = Waiting(jobs, "-r", "worker:2", "--restarts", "1:task")
    job.starts(2)
    before = pids_of(job)
    os.kill(min(before), signal.SIGKILL)
    job.starts(3)
    assert len(pids_of(job) & before) == 1
    assert job.end()["restarts_used"] == 1


def test_a_killed_agent_takes_its_task_with_it_and_the_gang_comes_back(jobs):
    job = Waiting(jobs, "-r", "worker:2", "--restarts", "1:gang")
    job.starts(2)
    before = pids_of(job)
    for pid in agent_of(job, "worker:0"):
        os.kill(pid, signal.SIGKILL)
    job.starts(4)
    assert not pids_of(job) & before
    assert job.end()["generation"] == 2


def test_the_job_outlives_its_client(jobs, hadoop):
    jobs.write("until.py", UNTIL)
    file = jobs.folder / "end"
    known = {app["id"] for app in hadoop.applications()}
    with jobs.running("-r", "worker:1", "-m", "128m", "--", "python3", "until.py", str(file)) as client:
        job, = wait_until(lambda: {app["id"] for app in hadoop.applications()} - known, "the job", pause_s=0.1)
        jobs.started.append(job)
        jobs.wait_for_state(job, "running")
        client.kill()
        client.wait()
    assert jobs.status(job)["state"] == "running"
    file.touch()
    jobs.wait_for_state(job, "succeeded")


def test_no_task_notices_that_the_master_is_killed(jobs, hadoop):
    job = Waiting(jobs, "-r", "worker:2")
    job.starts(2)
    end_under_another_master(job, hadoop)
    listing = hadoop.run("hdfs", "dfs", "-ls", "-R", "/user").stdout
    assert f"/history/{job.id}/journal/000002.00001" in listing


def test_what_ended_well_while_no_master_answered_is_no_loss(jobs, hadoop):
    """The next master took the runs for lost with their containers, and ran the gang again."""
    job = Waiting(jobs, "-r", "worker:2")
    job.starts(2)
    hadoop.wait_until_seen_running(job.id, 3)
    agents = set(agent_of(job, "worker:0") + agent_of(job, "worker:1"))
    master = master_of(job.id)
    os.kill(master, signal.SIGSTOP)
    try:
        job.file.touch()
        # They wait for their master for the time of their lease.
        wait_until(lambda: not agents & set(agent_of(job, "worker:0") + agent_of(job, "worker:1")), "the agents' end", 150, pause_s=0.5)
    finally:
        os.kill(master, signal.SIGKILL)
    ended = job.end()
    assert (ended["restarts_used"], ended["generation"]) == (0, 1), ended


def test_no_task_notices_a_restart_of_the_resource_manager(own_cluster):
    job = Waiting(own_cluster, "-r", "worker:2")
    job.starts(2)
    before = pids_of(job)
    own_cluster.hadoop.restart("rm", hard=True)
    wait_until(lambda: job.status()["state"] == "running", "the job to be seen again", 90, pause_s=0.5)
    assert pids_of(job) == before
    ended = job.end()
    assert (ended["restarts_used"], ended["generation"]) == (0, 1)


def read_to(words, client):
    """The line of its standard error that has them."""
    line = client.stderr.readline()
    while words not in line:
        assert line, "it has ended"
        line = client.stderr.readline()
    return line


def test_a_client_ends_at_the_second_ctrl_c_while_the_resource_manager_is_away(own_cluster):
    """Four Ctrl-C, SIGTERM and the death of its parent did not end it: once it lived on for an hour."""
    jobs, hadoop = own_cluster, own_cluster.hadoop
    jobs.write("until.py", UNTIL)
    command = ("-r", "worker:1", "-m", "128m", "--", "python3", "until.py", str(jobs.folder / "end"))
    with jobs.running(*command) as twice, jobs.running(*command) as terminated:
        ids = wait_until(lambda: len(hadoop.applications()) == 2 and {app["id"] for app in hadoop.applications()}, "both jobs", pause_s=0.2)
        jobs.started += ids
        for job in ids:
            jobs.wait_for_state(job, "running")
        with jobs.running("--client", "-m", "512", "-r", "worker:64", "true", command=("ytf-submit",)) as waiting:
            ids |= set(re.findall(r"application_\d+_\d+", read_to("client:0 starts here", waiting)))
            jobs.started += ids
            hadoop.kill("rm")
            terminated.send_signal(signal.SIGTERM)
            for client in (twice, waiting):
                client.send_signal(signal.SIGINT)
                assert "again to kill them at once" in read_to("Ctrl-C", client)
                client.send_signal(signal.SIGINT)
            for client in (twice, waiting, terminated):
                said = client.communicate(timeout=60)[1]
                assert client.returncode == 130, said
                told = [job for job in ids if f"{job} may still run: nobody has taken the order to end it" in said and f"`gangrun kill {job}` ends it" in said]
                assert len(told) == 1, said
    hadoop.start("rm")
    for job in ids:
        wait_until(lambda job=job: jobs.order("kill", job, "--now").returncode == 0, "the ResourceManager to answer", 90, pause_s=0.5)
        assert jobs.wait_for_state(job, "killed", seconds=90)


def test_what_is_lost_with_a_node_comes_back_and_uses_up_no_restart(own_cluster):
    hadoop = own_cluster.hadoop
    # Too large for two on one node, but small enough for one beside the master.
    job = Waiting(own_cluster, "-r", "worker:2", "-m", "9g")
    nodes = {node for _, _, node in job.starts(2)}
    addresses = {task["address"].rpartition(":")[0] for task in job.status()["tasks"]}
    assert addresses == nodes
    master, = nodes & {hadoop.application(job.id)["amHostHttpAddress"].split(":")[0]}
    lost, = nodes - {master}
    before = pids_of(job)
    hadoop.kill("nm", int(lost.rpartition(".")[2]) - 1, containers=True)
    hadoop.start("nm", int(lost.rpartition(".")[2]) - 1)
    job.starts(3)
    assert len(pids_of(job) & before) == 1
    assert job.end()["restarts_used"] == 0


def test_two_jobs_that_fit_alone_but_not_together_both_end_well(hadoop_cluster, gangrun, agent, home, tmp_path):
    # Room for one master with four tasks, and for no more than two masters with two.
    cluster = hadoop_cluster(nodes=1, memory_mb=1536, vcores=16,
                             set=["yarn.scheduler.capacity.maximum-am-resource-percent=1.0"])
    jobs = Jobs(gangrun, cluster, tmp_path, home)
    words = ("-r", "worker:4", "-m", "256m", "--timeout", "hold=2s,allocation=5m", "--", "true")
    with jobs.running(*words) as one, jobs.running(*words) as other:
        assert one.wait(timeout=180) == 0, one.stderr.read()
        assert other.wait(timeout=180) == 0, other.stderr.read()


def test_a_task_over_its_memory_is_told_with_use_and_limit(hadoop_cluster, gangrun, agent, home, tmp_path):
    jobs = Jobs(gangrun, hadoop_cluster(nodes=1, enforce_memory=True), tmp_path, home)
    jobs.write("eat.py", "import signal\neaten = bytearray(400 << 20)\nsignal.pause()\n")
    done = jobs.run("-r", "worker:1", "-m", "128m", "--", "python3", "eat.py")
    assert done.returncode == 1, done.stderr
    assert re.search(r"worker:0.*memory used", done.stderr), done.stderr


def killed_masters(job, hadoop, count):
    """Kills each master of the job once its application is seen to run, so many times."""
    killed = None
    for _ in range(count):
        master = wait_until(lambda: master_of(job.id) not in (None, killed) and master_of(job.id), "the next master", 90, pause_s=0.1)
        job.jobs.wait_for_state(job.id, "running")
        os.kill(master, signal.SIGKILL)
        killed = master
    return killed


def test_a_job_whose_masters_are_killed_is_lost_and_its_tasks_are_known(jobs, hadoop):
    """`run` and `wait` ended with the status of a job of which nothing had run, and `status` showed no tasks."""
    job = Waiting(jobs, "-r", "worker:2")
    job.starts(2)
    killed_masters(job, hadoop, 2)
    assert hadoop.wait_for_application(job.id)["state"] == "FAILED"
    done = jobs.order("wait", job.id)
    assert done.returncode == 6, done.stdout + done.stderr
    for _ in range(2):
        status = job.status()
        assert (status["state"], status["cause"]["reason"]) == ("lost", "master_lost"), status
        assert {task["task"]: task["state"] for task in status["tasks"]} == {"worker:0": "lost", "worker:1": "lost"}, status
        assert "the job's master failed 2 times; the last one was killed by signal 9" in status["cause"]["sentence"], status
    assert listed(jobs, job.id)["state"] == "lost"


def listed(jobs, job):
    return {entry["id"]: entry for entry in json.loads(jobs.order("ps", "--on", "yarn", "--json").stdout)}[job]


def test_a_job_whose_masters_were_killed_before_anything_ran_is_told_alike_by_all(jobs, hadoop):
    """`ps` called it lost, and `status` failed."""
    # More than the cluster has at once.
    job = Waiting(jobs, "-r", "worker:500")
    killed = None
    for _ in range(2):
        killed = wait_until(lambda killed=killed: master_of(job.id) not in (None, killed) and master_of(job.id), "a master", 90, pause_s=0.1)
        wait_until(lambda: "of 500" in job.status()["waiting_for"], lambda: f"the wait: {job.status()}", 90, pause_s=0.25)
        os.kill(killed, signal.SIGKILL)
    assert hadoop.wait_for_application(job.id)["state"] == "FAILED"
    assert job.status()["state"] == "failed"
    assert listed(jobs, job.id)["state"] == "failed"


def test_a_master_waits_for_its_journal_while_the_name_node_is_away(own_cluster):
    """Both were killed: the next master ended within 30 ms, YARN gave up after the second, and the job failed though its
    tasks ran."""
    hadoop = own_cluster.hadoop
    job = Waiting(own_cluster, "-r", "worker:2", "--timeout", "master_lost=3m")
    job.starts(2)
    before = pids_of(job)
    hadoop.kill("nn")
    killed = master_of(job.id)
    os.kill(killed, signal.SIGKILL)
    following = wait_until(lambda: master_of(job.id) not in (None, killed) and master_of(job.id), "the next master", 90, pause_s=0.1)
    hadoop.start("nn")
    wait_until(lambda: job.status()["state"] == "running", "the job to be led again", 120, pause_s=0.5)
    assert master_of(job.id) == following and pids_of(job) == before
    ended = job.end()
    assert (ended["restarts_used"], ended["generation"]) == (0, 1)
