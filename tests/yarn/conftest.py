import getpass
import pathlib
import subprocess

import pytest

from clusters.hadoop.fixtures import Hadoop
from yarn.jobs import Jobs

FOLDER = pathlib.Path(__file__).resolve().parent
# A node is sick when the script says ERROR; it is told so by the process of its NodeManager.
HEALTH = """\
#!/bin/sh
[ "$(cat {sick} 2>/dev/null)" != "$PPID" ] || echo ERROR the test says so
"""
# Every file that is being written has room for a whole block set aside.
VOLUME_MB, BLOCK = 320, "16m"
QUEUE = "yarn.scheduler.capacity.root"


def pytest_collection_modifyitems(items):
    """Tests on the cluster with Kerberos come last: it starts while those on the first one run."""
    here = [item for item in items if item.path.parent == FOLDER]
    places = [place for place, item in enumerate(items) if item.path.parent == FOLDER]
    for place, item in zip(places, sorted(here, key=lambda item: "secured_hadoop" in item.fixturenames)):
        items[place] = item


@pytest.fixture
def jobs(gangrun, agent, hadoop, home, tmp_path):
    """Jobs on the cluster that the tests share. `agent` is there so that it is built."""
    jobs = Jobs(gangrun, hadoop, tmp_path, home)
    yield jobs
    jobs.end_all()


@pytest.fixture(scope="session")
def strict_hadoop(tmp_path_factory):
    """A small cluster that several files of tests share: queues have owners, nodes may be sick, and little fits.

    Who writes the number of a NodeManager's process to `sick` makes that node sick.
    """
    folder = tmp_path_factory.mktemp("health")
    script, sick = folder / "health.sh", folder / "sick"
    script.write_text(HEALTH.format(sick=sick))
    script.chmod(0o755)
    own = getpass.getuser()
    cluster = Hadoop(tmp_path_factory.mktemp("hadoop"), nodes=2, memory_mb=1024, datanode_mb=VOLUME_MB,
                     nm_expiry_ms=8000, set=[
        f"dfs.blocksize={BLOCK}", "yarn.acl.enable=true", f"yarn.admin.acl={own}", f"{QUEUE}.acl_administer_queue={own}",
        f"{QUEUE}.acl_submit_applications={own}", f"{QUEUE}.ml-gpu.acl_submit_applications=alice",
        "yarn.scheduler.capacity.maximum-am-resource-percent=1.0",
        f"yarn.nodemanager.health-checker.script.path={script}", "yarn.nodemanager.health-checker.interval-ms=500"])
    cluster.sick = sick
    yield cluster
    cluster.down()


@pytest.fixture
def own_cluster(hadoop_cluster, gangrun, agent, home, tmp_path):
    """Jobs on a cluster of the test's own, whose daemons it may kill."""
    jobs = Jobs(gangrun, hadoop_cluster(nodes=2, nm_expiry_ms=5000), tmp_path, home)
    yield jobs
    jobs.end_all()


@pytest.fixture(scope="session")
def hadoop_pair(tmp_path_factory):
    """Two NameNodes and two ResourceManagers; which of them are active is nobody's business to put back."""
    cluster = Hadoop(tmp_path_factory.mktemp("hadoop"), nodes=2, ha=True)
    yield cluster
    cluster.down()


@pytest.fixture
def hdfs_tensorflow(hadoop):
    """The environment of a task whose `python` and `tensorboard` know hdfs://, on the cluster that the tests share."""
    installer = pathlib.Path(__file__).resolve().parents[2] / "tools/install-deps"
    venv = pathlib.Path(subprocess.run([installer, "--venv", "tensorflow-hdfs"], check=True, capture_output=True, text=True,
                                       timeout=60).stdout.strip())
    # Where a whole Hadoop has it, and TensorFlow looks for it.
    library = hadoop.folder / "home/lib/native/libhdfs.so"
    if not library.is_symlink():
        library.parent.mkdir(parents=True, exist_ok=True)
        library.symlink_to(venv / "lib/libhdfs.so")
    return {"PATH": f"{venv}/bin:/usr/bin:/bin", "LIBHDFS_OPTS": "-Xmx64m"}
