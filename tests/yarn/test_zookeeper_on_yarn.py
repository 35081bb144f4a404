"""A job on YARN whose registry is mirrored in a real ZooKeeper, read by Hadoop's own client of YARN's registry.

A cluster is needed: the paths have ids that only YARN gives, and what is read must suit Hadoop's library.
"""

import base64
import contextlib
import getpass
import hashlib
import json
import pathlib
import shutil
import subprocess

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError, NotEmptyError

from clusters.zookeeper import server
from waiting import wait_until
from yarn.jobs import Waiting

READER = pathlib.Path(server.__file__).with_name("ReadRegistry.java")
READ_LIMIT_S = 180
USER = getpass.getuser().lower()
SPEC = "{name: TensorFlow, tasks: {ps: {}, worker: {instances: 2}}, zookeeper: {}}"
PROPERTY = "<property><name>{}</name><value>{}</value></property>"


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory):
    running = server.ZooKeeper(tmp_path_factory.mktemp("zookeeper")).start()
    yield running
    running.kill()


def configured(jobs, hadoop, folder, acls="", **properties):
    """Clients' own copy of the cluster's configuration, with more in it; `acls` are those of the registry's administrators."""
    conf = folder / "conf"
    shutil.copytree(hadoop.conf_dir, conf)
    site = conf / "core-site.xml"
    more = "".join(PROPERTY.format("hadoop.registry.zk." + name, value) for name, value in properties.items())
    if acls:
        more += PROPERTY.format("hadoop.registry.system.acls", acls)
    site.write_text(site.read_text().replace("</configuration>", more + "</configuration>"))
    jobs.environment = jobs.environment | {"HADOOP_CONF_DIR": str(conf)}
    return conf


def java(hadoop, conf, *words):
    """A program of Java beside Hadoop's jars: the lines that it prints."""
    state = hadoop.cluster.state
    done = subprocess.run([f"{state['java_home']}/bin/java", "-cp", f"{conf}:{state['jars']}/*", *map(str, words)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=READ_LIMIT_S)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def records(hadoop, conf, path):
    return dict((line.split(" ", 1)[0], json.loads(line.split(" ", 1)[1])) for line in java(hadoop, conf, READER, path))


def test_hadoops_own_client_reads_the_job(jobs, hadoop, zookeeper, tmp_path):
    conf = configured(jobs, hadoop, tmp_path, quorum=zookeeper.host, root="/services")
    jobs.write("job.yaml", SPEC)
    job = Waiting(jobs, "job.yaml")
    job.starts(3)
    path = f"/users/{USER}/TensorFlow/{job.id}"
    assert job.id in wait_until(lambda: java(hadoop, conf, "org.apache.hadoop.registry.cli.RegistryCli", "ls",
                                             f"/users/{USER}/TensorFlow"), "the job in YARN's registry")
    read = records(hadoop, conf, path)
    tasks = {task["task"]: task["address"] for task in job.status()["tasks"]}
    instance = read.pop(path)
    assert instance["type"] == "JSONServiceRecord"
    assert instance["yarn:id"] == job.id
    assert instance["yarn:persistence"] == "application"
    assert instance["DTF_PS_HOSTS"] == tasks["ps:0"]
    assert instance["DTF_WORKER_HOSTS"] == f"{tasks['worker:0']},{tasks['worker:1']}"
    shown = {}
    for name, component in read.items():
        container = component["yarn:id"]
        assert container.startswith("container_") and job.id.split("_", 1)[1] in container
        assert name == f"{path}/components/{container.replace('container', 'ctr').replace('_', '-')}"
        assert component["yarn:persistence"] == "container"
        task = f"{component['task_job_name']}:{component['task_job_index']}"
        shown[task] = f"{component['task_host']}:{component['task_port']}"
    assert shown == tasks
    job.end()
    listed = wait_until(lambda: (java(hadoop, conf, "org.apache.hadoop.registry.cli.RegistryCli", "ls",
                                      f"/users/{USER}") or ["nothing"]), "the list without the job")
    assert listed == ["nothing"]


def test_ytf_submit_says_it_by_a_flag(jobs, hadoop, zookeeper, tmp_path):
    configured(jobs, hadoop, tmp_path, quorum=zookeeper.host)
    over = tmp_path / "over"
    done = subprocess.run([jobs.gangrun.with_name("ytf-submit"), "--registry", "zookeeper", "-m", "128", "-r",
                           "ps:1,worker:2", f"until [ -e {over} ]; do sleep 0.1; done"], cwd=jobs.folder,
                          env=jobs.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    job = done.stdout.strip()
    jobs.started.append(job)
    path = f"/registry/users/{USER}/TensorFlow/{job}"
    with contextlib.closing(KazooClient(hosts=zookeeper.host)) as client:
        client.start(timeout=60)

        def hosts():
            return client.exists(path) and json.loads(client.get(path)[0]).get("DTF_WORKER_HOSTS")

        assert wait_until(hosts, "the cluster spec in ZooKeeper", 120).count(":") == 2
        over.touch()
        jobs.wait_for_state(job, "succeeded")
        wait_until(lambda: not client.exists(f"/registry/users/{USER}/TensorFlow"), "nothing of it to be there")
        client.stop()


@contextlib.contextmanager
def logged_in(zookeeper, *credentials):
    with contextlib.closing(KazooClient(hosts=zookeeper.host)) as client:
        client.start(timeout=60)
        try:
            for one in credentials:
                client.add_auth("digest", one)
            yield client
        finally:
            client.stop()


def test_only_the_job_s_user_and_the_registry_s_administrators_read_and_write(jobs, hadoop, zookeeper, tmp_path):
    digest = base64.b64encode(hashlib.sha1(b"keeper:of the registry").digest()).decode()
    configured(jobs, hadoop, tmp_path, acls=f"digest:keeper:{digest}, sasl:yarn@", quorum=zookeeper.host)
    jobs.write("job.yaml", "{name: Closed, tasks: {worker: {}}, zookeeper: {readable_by: job}}")
    job = Waiting(jobs, "job.yaml")
    job.starts(1)
    path = f"/registry/users/{USER}/Closed/{job.id}"
    code, access = hadoop.http(f"{hadoop.webhdfs_url}/user/{USER}/.gangrun/jobs/{job.id}/access.json?op=OPEN&user.name={USER}")
    assert code == 200, access
    password = hashlib.sha256(("gangrun zookeeper " + json.loads(access)["secret"]).encode()).hexdigest()
    with logged_in(zookeeper, f"gangrun:{password}") as owner:
        record = wait_until(lambda: owner.exists(path) and owner.get(path)[0], "the job in ZooKeeper")
        (component,) = owner.get_children(path + "/components")
        paths = (path, path + "/components", f"{path}/components/{component}")
        for one in paths:
            assert {(entry.id.scheme, entry.id.id.split(":")[0], entry.perms) for entry in owner.get_acls(one)[0]} == {
                ("digest", "gangrun", 31), ("digest", "keeper", 31)}
    with logged_in(zookeeper, "keeper:of the registry") as administrator:
        assert administrator.get(path)[0] == record
        administrator.set(path, record)
    for credentials in ((), ("keeper:of another",), ("gangrun:x",)):
        with logged_in(zookeeper, *credentials) as other:
            for one in paths:
                for what in (lambda: other.get(one), lambda: other.set(one, b""), lambda: other.get_children(one),
                             lambda: other.create(one + "/mine"), lambda: other.delete(one)):
                    with pytest.raises((NoAuthError, NotEmptyError)):
                        what()
    job.end()


def test_without_hosts_the_error_names_where_they_may_stand(jobs, hadoop, tmp_path):
    configured(jobs, hadoop, tmp_path, root="/services")
    jobs.write("job.yaml", SPEC)
    done = jobs.run("job.yaml", "--", "true")
    assert done.returncode == 2
    assert "zookeeper.hosts" in done.stderr and "hadoop.registry.zk.quorum" in done.stderr
