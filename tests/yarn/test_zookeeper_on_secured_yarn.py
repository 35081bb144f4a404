"""A job on YARN that logs in at a real ZooKeeper by the keytab that it brings.

A cluster with Kerberos is needed: the master there is one static file, and another program logs in for it.
"""

import os
import subprocess

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError

from clusters.hadoop.hadoop_cluster import kerberos
from clusters.zookeeper import secured
from clusters.zookeeper.server import ZooKeeper
from waiting import wait_until
from yarn.jobs import Jobs, Waiting
from yarn.secured import REALM, USER, keytab

pytestmark = pytest.mark.secure
SERVICE = "zookeeper/localhost"


@pytest.fixture(scope="module")
def zookeeper(secured_hadoop, tmp_path_factory):
    folder, cluster = tmp_path_factory.mktemp("zookeeper"), secured_hadoop.cluster
    orders = f"addprinc -randkey {SERVICE}\nktadd -k {folder}/zookeeper.keytab {SERVICE}\nquit\n"
    subprocess.run([kerberos.need("kadmin.local", kerberos.HINT), "-r", REALM], input=orders, text=True, check=True, capture_output=True,
                   timeout=60, env=os.environ | kerberos.server_environment(cluster))
    login = secured.KERBEROS.format(keytab=folder / "zookeeper.keytab", principal=f"{SERVICE}@{REALM}")
    config = f"-Djava.security.krb5.conf={kerberos.environment(cluster, USER)['KRB5_CONFIG']}"
    running = ZooKeeper(folder / "server", more=secured.PROVIDER + "sessionRequireClientSASLAuth=false\n",
                        options=(*secured.jaas(folder, login), config)).start()
    yield running
    running.kill()


@pytest.fixture
def jobs(secured_hadoop, gangrun, agent, home, tmp_path):
    jobs = Jobs(gangrun, secured_hadoop, tmp_path, home)
    yield jobs
    jobs.end_all()


def write_spec(jobs, hosts, *more):
    jobs.write("job.yaml", "{name: Secured, tasks: {worker: {}}, zookeeper: {hosts: ['%s'], login: kerberos, required: true%s}}"
               % (hosts, "".join(f", {one}" for one in more)))


def test_the_keytab_logs_in_and_again_after_a_restart_of_the_server(jobs, secured_hadoop, zookeeper):
    write_spec(jobs, f"localhost:{zookeeper.port}")
    job = Waiting(jobs, "job.yaml", "--principal", USER, "--keytab", keytab(secured_hadoop))
    job.starts(1)
    path = f"/registry/users/{USER.lower()}/Secured/{job.id}"
    for _ in range(2):
        kazoo = KazooClient(hosts=zookeeper.host)
        kazoo.start(timeout=60)
        try:
            wait_until(lambda: kazoo.exists(path + "/components") and kazoo.get_children(path + "/components"), "the task in ZooKeeper", 120)
            told = {(entry.id.scheme, entry.id.id.split(":")[0]): entry.perms for entry in kazoo.get_acls(path)[0]}
            assert told[("sasl", f"{USER}@{REALM}")] == 31 and told[("digest", "gangrun")] == 31
            for closed in (path, path.rpartition("/")[0]):
                with pytest.raises(NoAuthError):
                    kazoo.create(closed + "/mine")
        finally:
            kazoo.stop()
            kazoo.close()
        zookeeper.kill()
        zookeeper.forget()
        zookeeper.start()
    job.end()


def test_what_cannot_work_is_told_before_anything_is_uploaded(jobs, secured_hadoop, zookeeper):
    write_spec(jobs, f"localhost:{zookeeper.port}")
    done = jobs.run("job.yaml", "--", "true")
    assert done.returncode == 2 and "kerberos needs `yarn: {keytab: FILE}`" in done.stderr
    write_spec(jobs, f"localhost:{zookeeper.port}", "principal: other/localhost")
    done = jobs.run("job.yaml", "--principal", USER, "--keytab", keytab(secured_hadoop), "--", "true")
    assert done.returncode == 3 and "other/localhost" in done.stderr
