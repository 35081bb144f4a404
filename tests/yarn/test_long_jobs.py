"""Keys of tokens are rolled once a day, and here every few seconds: a job, and a master alone, outlive them."""

import os
import signal

from waiting import wait_until
from yarn.jobs import Jobs, Waiting
from yarn.processes import agent_of, master_of, pids_of
from yarn.test_hadoop_wire import talk

# A key must live for over three times the time after which a silent master, or a silent node, is given up.
EXPIRY_MS, ROLL_S = 5000, 16
ROLLED = {"am-rm-tokens": "Rolling master-key for amrm-tokens", "nm-tokens": "Rolling master-key for nm-tokens",
          "container-tokens": "Rolling master-key for container-tokens"}
ROLLS = 3  # of a key that has been replaced twice nothing is left
LIMIT_S = 20 * ROLL_S
OPTIONS = {"nodes": 1, "nm_expiry_ms": EXPIRY_MS, "set": [
    f"yarn.am.liveness-monitor.expiry-interval-ms={EXPIRY_MS}",
    *(f"yarn.resourcemanager.{key}.master-key-rolling-interval-secs={ROLL_S}" for key in ROLLED)]}


def wait_for_rolls(cluster):
    """From now on."""
    log = cluster.folder / "logs/rm.log"
    begin = {line: log.read_text().count(line) for line in ROLLED.values()}
    wait_until(lambda: all(log.read_text().count(line) >= count + ROLLS for line, count in begin.items()),
               f"{ROLLS} rolls of each key", LIMIT_S, pause_s=0.2)


def outlive(cluster, jobs, job):
    before, master = pids_of(job), master_of(job.id)
    wait_for_rolls(cluster)
    assert (pids_of(job), master_of(job.id)) == (before, master)
    # A new container takes a token of the ResourceManager's newest key, and one of the node's.
    for pid in agent_of(job, "worker:0"):
        os.kill(pid, signal.SIGKILL)
    job.starts(3)
    assert len(pids_of(job) & before) == 1
    # A master that has not taken the new token cannot connect to the restarted ResourceManager any more.
    cluster.restart("rm", hard=True)
    wait_until(lambda: job.status()["state"] == "running", "the job to be seen again", 90, pause_s=0.5)
    assert master_of(job.id) == master


def test_a_job_outlives_the_keys_of_all_tokens(hadoop_cluster, gangrun, agent, home, tmp_path):
    cluster = hadoop_cluster(**OPTIONS)
    jobs, go = Jobs(gangrun, cluster, tmp_path, home), tmp_path / "go"
    job = Waiting(jobs, "-r", "chief:1,worker:1", "--restarts", "2:task")
    job.starts(2)

    def meanwhile():
        outlive(cluster, jobs, job)
        go.touch()

    # The other master has no task: what it says of each of its calls is known.
    _, master = talk(cluster, tmp_path, meanwhile, PROBE_HOLD=str(go))
    assert master["registered_again"] == "1"
    ended = job.end()
    assert (ended["restarts_used"], ended["generation"]) == (1, 1), ended
    assert cluster.wait_for_application(job.id)["finalStatus"] == "SUCCEEDED"
