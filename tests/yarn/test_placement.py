"""Where tasks run and with what, on a cluster with labels and countable resources: two plain nodes, and one with GPUs.

What is counted is real; that a GPU is hidden from others is the business of a NodeManager's GPU plugin, which is not here.
"""

import json
import re

import pytest
from waiting import wait_until
from yarn.jobs import PID, UNTIL, Jobs

LICENCE = "example.com/licence"
PLAIN, LABELLED = {"127.0.0.2", "127.0.0.3"}, "127.0.0.4"

# Fails where it was first, and waits anywhere else.
MOVING = """
import os, sys
if os.environ["GANGRUN_TASK_TYPE"] == "moving":
    try:
        with open(sys.argv[1] + ".first", "x") as file:
            file.write(os.environ["NM_HOST"])
    except FileExistsError:
        pass
    print("failing" if open(sys.argv[1] + ".first").read() == os.environ["NM_HOST"] else "staying", flush=True)
    if open(sys.argv[1] + ".first").read() == os.environ["NM_HOST"]:
        sys.exit(1)
""" + UNTIL


@pytest.fixture(scope="module")
def cluster(hadoop_of_module):
    return hadoop_of_module(nodes=3, node_labels=True, gpu_nodes=1, gpus=2, resource=f"{LICENCE}=2",
                            set=["yarn.resourcemanager.placement-constraints.handler=scheduler",
                                 "yarn.cluster.max-application-priority=10"])


@pytest.fixture
def jobs(gangrun, agent, cluster, home, tmp_path):
    jobs = Jobs(gangrun, cluster, tmp_path, home)
    yield jobs
    jobs.end_all()


class Placed:
    """A job of a file whose tasks wait."""

    def __init__(self, jobs, text, *words, script=UNTIL):
        self.jobs, self.file = jobs, jobs.folder / "end"
        jobs.write("job.yaml", text)
        jobs.write("waiting.py", script)
        self.id = jobs.submit("job.yaml", *words, "--", "python3", "waiting.py", str(self.file))

    def places(self, count):
        """{task: node} of the last starts, when there are so many tasks."""
        def told():
            found = {task: node for task, _, node in PID.findall(self.jobs.order("logs", self.id).stdout)}
            return found if len(found) == count else None

        return wait_until(told, f"{count} tasks to tell where they are", 90, pause_s=0.25)

    def end(self):
        self.file.touch()
        return self.jobs.wait_for_state(self.id, "succeeded")


def containers_of(cluster, application):
    """What the NodeManagers say of its containers, by node."""
    found = {}
    for node in cluster.nodes():
        code, body = cluster.http(f"http://{node['nodeHTTPAddress']}/ws/v1/node/containers")
        assert code == 200, body
        all_of_node = (json.loads(body)["containers"] or {}).get("container", [])
        found[node["nodeHostName"]] = [one for one in all_of_node
                                       if application.removeprefix("application_") in one["id"]]
    return found


def test_labels_resources_master_priority_and_tags_are_what_was_asked_for(jobs, cluster):
    job = Placed(jobs, f"""
yarn: {{queue: ml-gpu, priority: 7, tags: [wine, night], master: {{memory: 384 MiB, vcores: 2, label: ""}}}}
tasks:
  ps: {{label: "", memory: 128 MiB, resources: {{{LICENCE}: 2}}}}
  worker: {{label: gpu, memory: 256 MiB, vcores: 3, gpus: 1}}
""")
    places = job.places(2)
    assert places["worker:0"] == LABELLED and places["ps:0"] in PLAIN
    told = cluster.application(job.id)
    assert (told["queue"].removeprefix("root."), told["priority"]) == ("ml-gpu", 7)
    assert set(told["applicationTags"].split(",")) == {"wine", "night"}
    containers = containers_of(cluster, job.id)
    sizes = {(one["id"].rpartition("_")[2] == "000001", one["totalMemoryNeededMB"], one["totalVCoresNeeded"])
             for of_node in containers.values() for one in of_node}
    assert sizes == {(True, 384, 2), (False, 128, 1), (False, 256, 3)}
    used = {(part["partitionName"], other["name"]): other["value"]
            for part in told["resourceInfo"]["resourceUsagesByPartition"]
            for other in part["used"]["resourceInformations"]["resourceInformation"]}
    assert used["gpu", "yarn.io/gpu"] == 1 and used["", LICENCE] == 2, used
    assert used["", "yarn.io/gpu"] == 0 and used["gpu", LICENCE] == 0, used
    job.end()


def test_a_type_is_on_each_node_once(jobs):
    job = Placed(jobs, "tasks: {ps: {instances: 2, one_per_node: true, memory: 64 MiB}, worker: {memory: 64 MiB}}")
    places = job.places(3)
    assert {places["ps:0"], places["ps:1"]} == PLAIN
    job.end()


def test_a_type_that_is_on_each_node_once_needs_as_many_nodes(jobs):
    jobs.write("job.yaml", "tasks: {server: {instances: 3, one_per_node: true, memory: 64 MiB}}\ncommand: 'true'\n")
    done = jobs.run("job.yaml", "--timeout", "allocation=5s")
    assert done.returncode == 3, done.stderr
    assert re.search(r"2 of 3 containers are there; missing: .*, one on a node", done.stderr), done.stderr


def test_a_label_holds_for_a_type_that_is_on_each_node_once(jobs):
    job = Placed(jobs, "yarn: {queue: ml-gpu}\ntasks: {server: {label: gpu, one_per_node: true, memory: 64 MiB}}")
    assert job.places(1) == {"server:0": LABELLED}
    job.end()


def test_a_node_on_which_a_task_fails_again_and_again_is_left(jobs, cluster):
    job = Placed(jobs, """
yarn: {queue: ml-gpu}
tasks: {moving: {label: "", memory: 64 MiB}, staying: {label: gpu, memory: 64 MiB}}
restarts: {max: 5, scope: task}
""", script=MOVING)
    places = job.places(2)
    first = (jobs.folder / "end.first").read_text()
    assert {first, places["moving:0"]} == PLAIN
    # Only as long as something is asked for.
    assert f"listAdditions: [{first}]" in (cluster.folder / "logs/rm.log").read_text()
    assert job.end()["restarts_used"] == 3
