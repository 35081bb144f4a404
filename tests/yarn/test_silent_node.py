"""A NodeManager that does not answer, which a real one cannot be brought to between a grant and its use."""

import gc
import pathlib
import re
import sys

import pytest
from yarn.jobs import Jobs

# The nodes of the benchmark of many containers, on a real ResourceManager.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from fake_nodes import Nodes  # noqa: E402: found by the line above

NODES, TASKS_OF_NODE = 3, 4


@pytest.fixture
def hadoop(hadoop_cluster):
    # The real node is too small for anything.
    return hadoop_cluster(nodes=1, memory_mb=64, set=["yarn.scheduler.maximum-allocation-mb=8192"])


# A connection that outlives the loop of its node is told of when it is collected, in whatever test runs then.
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_silent_node_delays_only_its_own_containers(hadoop, gangrun, agent, home, tmp_path):
    tracker = re.search(r"resource-tracker.address</name>\s*<value>([^<]+)",
                        (hadoop.folder / "conf/yarn-site.xml").read_text())[1]
    others = (NODES - 1) * TASKS_OF_NODE
    jobs = Jobs(gangrun, hadoop, tmp_path, home)
    nodes = Nodes(tracker, agent, tmp_path, count=NODES, memory_mb=16384, vcores=64, version="3.5.0",
                  on_task=lambda started: None)
    with nodes:
        # All three are filled by it, beside its master on one.
        try:
            job = jobs.submit("-r", f"worker:{NODES * TASKS_OF_NODE}", "-m", "3584m", "--", "true")
            nodes.wait_until(lambda: nodes.master is not None, "the master is started")
            silent = next(node for node in nodes.nodes if not node.containers)
            silent.is_silent = True
            nodes.wait_until(lambda: silent.unanswered > 0, "the silent node is called")
            nodes.wait_until(lambda: len(nodes.tasks) == others, "the others have started theirs")
            assert silent.unanswered == 1 and not silent.containers
            states = [task["state"] for task in jobs.status(job)["tasks"]]
            assert states == ["allocated"] * len(states), states
        finally:
            jobs.end_all()
    gc.collect()
