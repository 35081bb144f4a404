"""What a user is told whose job can never run: the thing, its value, and what is allowed. Nothing is started."""

import contextlib
import http.server
import json
import re
import shutil
import threading

import pytest
from yarn import storage
from yarn.jobs import Jobs, Waiting

BAD_INPUT, COULD_NOT_START = 2, 3


@pytest.fixture
def refused(jobs, hadoop):
    """refused("--queue", "x") runs a job that must be refused, and gives the one line that says why."""
    before = len(hadoop.applications())

    def run(*words, status=BAD_INPUT, by=jobs, **variables):
        done = by.run("-r", "worker:1", *words, "--", "true", env=variables)
        assert (done.returncode, done.stdout) == (status, ""), done.stderr
        line, = done.stderr.splitlines()
        assert line.startswith("gangrun: "), line
        return line.removeprefix("gangrun: ")

    yield run
    assert len(hadoop.applications()) == before


@pytest.fixture
def configured(hadoop, tmp_path):
    """configured(yarn_site={...}) is a copy of the cluster's configuration folder with other properties."""
    def copy(**sites):
        folder = tmp_path / "conf"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(hadoop.conf_dir, folder)
        for site, properties in sites.items():
            path = folder / (site.replace("_", "-") + ".xml")
            rows = [f"<property><name>{name}</name><value>{value}</value></property>\n"
                    for name, value in properties.items()]
            path.write_text(path.read_text().replace("</configuration>", "".join(rows) + "</configuration>"))
        return str(folder)

    return copy


@pytest.mark.gate
def test_a_configuration_that_is_not_there(refused, tmp_path):
    assert refused(HADOOP_CONF_DIR="") == (
        "HADOOP_CONF_DIR is not set; set it to the folder with the cluster's core-site.xml and yarn-site.xml")
    assert refused(HADOOP_CONF_DIR=f"{tmp_path}/none") == (
        f"HADOOP_CONF_DIR: there is no {tmp_path}/none; expected the folder with the cluster's core-site.xml and yarn-site.xml")
    assert refused(HADOOP_CONF_DIR=str(tmp_path)) == (
        f"HADOOP_CONF_DIR: {tmp_path} has no yarn-site.xml; expected the folder with the cluster's core-site.xml and "
        "yarn-site.xml")
    file = tmp_path / "yarn-site.xml"
    file.write_text("<configuration/>")
    assert refused(HADOOP_CONF_DIR=str(file)) == (
        f"HADOOP_CONF_DIR: {file} is not a folder; expected the folder with the cluster's core-site.xml and yarn-site.xml")
    assert refused(HADOOP_CONF_DIR=str(tmp_path)) == (
        'fs.defaultFS is "file:///": files can be handed to YARN only through an HDFS (hdfs://…, webhdfs://…)')


@pytest.mark.gate
def test_a_configuration_that_cannot_be_read(refused, configured, tmp_path):
    folder = configured()
    file = tmp_path / "conf/core-site.xml"
    file.write_text("<configuration>\n  <property>\n    <name>fs.defaultFS</name>\n  </proprety>\n</configuration>\n")
    assert re.fullmatch(re.escape(str(file)) + r":4: .*", refused(HADOOP_CONF_DIR=folder))
    file.write_text("<html>\n</html>\n")
    assert refused(HADOOP_CONF_DIR=folder) == f"{file}:1: <html> stands where <configuration> is expected"
    folder = configured(yarn_site={"yarn.resourcemanager.address": "rm:eight"})
    assert re.fullmatch(re.escape(str(tmp_path / "conf/yarn-site.xml")) +
                        r':\d+: yarn.resourcemanager.address is "rm:eight"; expected host:port',
                        refused(HADOOP_CONF_DIR=folder))


@pytest.mark.gate
def test_a_cluster_that_does_not_answer(refused, configured):
    # Port 1 of this machine is nobody's.
    dead = {"yarn_site": {"yarn.resourcemanager.address": "127.0.0.1:1"}}
    assert re.fullmatch(r"the ResourceManager at 127\.0\.0\.1:1 cannot be reached: .*refused.*",
                        refused(status=COULD_NOT_START, HADOOP_CONF_DIR=configured(**dead)))
    dead = {"yarn_site": {"yarn.resourcemanager.address": "no-such-host.invalid:8032"}}
    assert re.fullmatch(r"the ResourceManager at no-such-host\.invalid:8032 cannot be reached: .*no-such-host.*",
                        refused(status=COULD_NOT_START, HADOOP_CONF_DIR=configured(**dead)))
    dead = {"hdfs_site": {"dfs.namenode.http-address": "127.0.0.1:1"}}
    assert re.search(r"http://127\.0\.0\.1:1/.* refused",
                     refused(status=COULD_NOT_START, HADOOP_CONF_DIR=configured(**dead)))


@pytest.mark.gate
def test_a_port_that_is_another_service_s(refused, configured, hadoop):
    web = hadoop.rm_web_url.removeprefix("http://")
    wrong = configured(yarn_site={"yarn.resourcemanager.address": web})
    assert f"the ResourceManager at {web} does not speak Hadoop's RPC as expected" in (
        refused(status=COULD_NOT_START, HADOOP_CONF_DIR=wrong))


@contextlib.contextmanager
def resource_manager_page(release):
    """What a ResourceManager of that release answers on the web. No such release runs beside the others here."""
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"clusterInfo": {"hadoopVersion": release}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.gate
def test_a_release_that_is_too_old(refused, configured):
    with resource_manager_page("2.7.3") as address:
        folder = configured(yarn_site={"yarn.resourcemanager.webapp.address": address})
        assert refused(HADOOP_CONF_DIR=folder) == "the cluster runs Hadoop 2.7.3; gangrun needs 2.10 or newer"


@pytest.mark.gate
def test_what_the_cluster_does_not_have(refused):
    assert refused("--queue", "nosuch") == (
        "yarn.queue: there is no queue nosuch; allowed: root.default, root.ml-gpu")
    assert refused("--queue", "root") == (
        "yarn.queue: root has queues below it and takes no jobs itself; allowed: default, ml-gpu")
    assert refused("-m", "900g") == (
        "worker:0: memory 921600 MiB is more than the cluster gives to one container; allowed: up to 16384 MiB")
    assert refused("-c", "99") == (
        "worker:0: vcores 99 is more than the cluster gives to one container; allowed: up to 8")
    assert refused("--gpus", "1") == (
        "worker:0: resource yarn.io/gpu is not known to the cluster; allowed: memory-mb, vcores")
    assert refused("--label", "gpu") == "worker: label gpu is not known to the cluster; allowed: none"


def test_a_user_without_a_home_on_the_cluster(refused, jobs):
    said = refused("-m", "128m", status=COULD_NOT_START, by=jobs.of("carol"))
    assert re.fullmatch(r"carol must be able to make /user/carol/\.gangrun on the cluster's file system: .*"
                        r"Permission denied: user=carol, access=WRITE, .*", said), said


def test_two_users_never_see_each_other_s_files(jobs, hadoop):
    home, _ = storage.make_home(hadoop, "alice"), storage.make_home(hadoop, "bob")
    jobs.write("data.txt", "alice's own\n")
    job = Waiting(jobs.of("alice"), "-r", "worker:1", "-f", "data.txt")
    job.starts(1)
    found = storage.listed(hadoop, home + "/.gangrun")
    assert {owner for owner, _ in found.values()} == {"alice"}
    staging, top = f"{home}/.gangrun/jobs/{job.id}", home + "/.gangrun"
    assert found[top] == ("alice", "711")
    assert found[staging] == ("alice", "700")
    secret = [staging + "/access.json", *(path for path in found if path.startswith(staging + "/journal/0"))]
    cached = [path for path in found if path.endswith("/files.tar.gz")]
    assert len(secret) > 1 and cached
    for path in secret + cached:
        assert found[path][1] == "600", path
    # All that others may read is the agent, by which nothing of anybody is told.
    readable = [path for path, (_, mode) in found.items() if int(mode[-1]) & 4]
    assert all(path.startswith(top + "/public") for path in readable), readable
    for path in secret + cached:
        assert storage.ask(hadoop, path, "OPEN", user="bob", noredirect="true")[0] == 403, path
        assert storage.ask(hadoop, path, "OPEN", user="alice", noredirect="true")[0] == 200, path
    for path in (top, f"{top}/jobs", f"{top}/cache", staging):
        assert storage.ask(hadoop, path, "LISTSTATUS", user="bob")[0] == 403, path
    of_alice = f"{job.id} is a job of alice, to whom alone its master answers"
    assert jobs.of("bob").order("logs", job.id).stderr == f"gangrun: {of_alice}\n"
    assert jobs.of("bob").status(job.id)["waiting_for"] == of_alice
    job.end()
    hadoop.wait_for_application(job.id)
    kept = storage.listed(hadoop, f"{top}/history/{job.id}")
    assert {owner for owner, _ in kept.values()} == {"alice"}
    assert kept[f"{top}/history/{job.id}"] == ("alice", "700")
    assert kept[f"{top}/history/{job.id}/status.json"] == ("alice", "600")
    for path in kept:
        assert storage.ask(hadoop, path, "GETFILESTATUS", user="bob")[0] == 403, path
    assert staging not in storage.listed(hadoop, f"{top}/jobs")


def test_a_queue_of_others(gangrun, agent, home, tmp_path, strict_hadoop):
    jobs = Jobs(gangrun, strict_hadoop, tmp_path, home)
    storage.make_home(strict_hadoop, "alice")
    words = ("-r", "worker:1", "-m", "128m")
    own = "root.ml-gpu" if strict_hadoop.release >= (3, 3) else "ml-gpu"
    for user, queue, allowed in (("alice", "default", own), ("bob", "ml-gpu", "none")):
        done = jobs.of(user).run(*words, "--queue", queue, "--", "true")
        assert (done.returncode, done.stderr) == (
            BAD_INPUT, f"gangrun: yarn.queue: {user} may not submit to {queue}; allowed: {allowed}\n")
    done = jobs.of("alice").run(*words, "--queue", "ml-gpu", "--", "true")
    assert done.returncode == 0, done.stderr
