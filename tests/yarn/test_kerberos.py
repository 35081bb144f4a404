"""Jobs on a cluster with Kerberos: as whom one comes, what one is told where that fails, and who may do what."""

import contextlib
import http.client
import json
import pathlib
import re
import shutil
import subprocess
import sys

import psutil
import pytest

from waiting import wait_until
from yarn.jobs import Jobs, Waiting
from yarn.processes import end_under_another_master, master_of
from yarn.secured import READING, USER, curl, keytab, kinit

pytestmark = pytest.mark.secure
ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_CACHE = {"KRB5CCNAME": "FILE:/proc/self/none/cache"}  # nobody can make one there
# Has the programs that it is loaded into believe that it is an hour later.
LATER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
enum { kLater = 3600 };
int clock_gettime(clockid_t clock, struct timespec* now) {
  int (*real)(clockid_t, struct timespec*) = dlsym(RTLD_NEXT, "clock_gettime");
  int status = real(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += kLater;
  return status;
}
int gettimeofday(struct timeval* now, void* zone) {
  (void)zone;
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}
time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
"""


@pytest.fixture
def jobs(secured_hadoop, gangrun, agent, home, tmp_path):
    jobs = Jobs(gangrun, secured_hadoop, tmp_path, home)
    yield jobs
    jobs.end_all()


@pytest.fixture(scope="module")
def far_hadoop(hadoop_of_module):
    """Two nodes, and a second HDFS."""
    return hadoop_of_module(nodes=2, kerberos=True, rpc_protection="privacy", far=True)


@pytest.fixture
def far_jobs(far_hadoop, gangrun, agent, home, tmp_path):
    jobs = Jobs(gangrun, far_hadoop, tmp_path, home)
    yield jobs
    jobs.end_all()


def coming_as(jobs, user):
    """The same jobs, looked at by another user with a ticket of his own."""
    other = Jobs(jobs.gangrun, jobs.hadoop, jobs.folder, jobs.folder / f"home-{user}")
    other.environment |= jobs.hadoop.environment_of(user)
    return other


def refused(done):
    """The one sentence by which nothing was started."""
    assert done.returncode == 2, (done.returncode, done.stderr)
    line, = done.stderr.splitlines()
    return line


@pytest.mark.gate
def test_a_gang_of_who_has_a_ticket_runs_and_its_failure_is_told(jobs, secured_hadoop):
    jobs.write("task.py", READING + """
print("kinds", sorted(kind for kind, *_ in tokens()), flush=True)
if os.environ["GANGRUN_TASK_INDEX"] == "1": sys.exit(3)
select.select([], [], [])
""")
    done = jobs.run("-r", "worker:2", "-m", "128m", "--", "python3", "task.py")
    assert done.returncode == 1, done.stderr
    assert re.search(r"worker:1 .*kinds \['HDFS_DELEGATION_TOKEN', 'RM_DELEGATION_TOKEN'\]", done.stdout), done.stdout
    assert re.search(r"worker:1 .*exited with status 3", done.stdout + done.stderr), done.stderr
    application = secured_hadoop.wait_for_application(re.search(r"application_\d+_\d+", done.stderr)[0])
    assert (application["finalStatus"], application["user"]) == ("FAILED", USER)
    assert "exited with status 3" in application["diagnostics"]


@pytest.mark.gate
def test_a_keytab_needs_no_ticket(jobs, secured_hadoop):
    done = jobs.run("--principal", USER, "--keytab", keytab(secured_hadoop), "-r", "worker:1", "-m", "128m", "--", "true", env=NO_CACHE)
    assert done.returncode == 0, done.stderr


@pytest.mark.gate
@pytest.mark.parametrize("words, env, said", [
    ((), NO_CACHE, "there is no Kerberos ticket: run kinit, or give --principal and --keytab"),
    (("--keytab", "missing.keytab"), {}, r"the keytab cannot be read: .*missing.keytab: No such file .*: ls -l "),
    (("--principal", "nobody"), {}, "there is no Kerberos ticket of nobody.*: run kinit nobody"),
    (("--principal", "a@b@c"), {}, "is not a Kerberos principal"),
])
def test_what_is_missing_is_one_sentence(jobs, words, env, said):
    assert re.search(said, refused(jobs.run(*words, "-r", "worker:1", "--", "true", env=env)))


def test_a_keytab_that_may_not_be_read_or_is_of_another_is_told(jobs, secured_hadoop):
    jobs.write("noise.keytab", "noise")
    assert "noise.keytab: it is not a keytab" in refused(jobs.run("--keytab", "noise.keytab", "-r", "worker:1", "--", "true"))
    done = jobs.run("--principal", "bob", "--keytab", keytab(secured_hadoop, "alice"), "-r", "worker:1", "--", "true")
    assert re.search(r"has no key of bob, but of alice@HADOOP\.TEST: klist -kt ", refused(done))


def test_a_principal_that_the_kdc_does_not_know_is_told(jobs, secured_hadoop, tmp_path):
    # Its keys are those of another, under a name that nobody has made.
    renamed = tmp_path / "renamed.keytab"
    with open(keytab(secured_hadoop, "alice"), "rb") as source:
        renamed.write_bytes(source.read().replace(b"alice", b"carol"))
    said = refused(jobs.run("--principal", "carol", "--keytab", str(renamed), "-r", "worker:1", "--", "true"))
    assert "the KDC does not know carol@HADOOP.TEST" in said and "klist" in said


def test_an_expired_ticket_is_told(jobs, secured_hadoop, tmp_path):
    cache = kinit(secured_hadoop, tmp_path / "short", USER, "-l", "2s")
    environment = secured_hadoop.environment | cache
    wait_until(lambda: subprocess.run(["klist", "-s"], env=environment, timeout=60).returncode != 0, "the ticket to expire", 60)
    said = refused(jobs.run("-r", "worker:1", "--", "true", env=cache))
    assert "the Kerberos ticket has expired: run kinit" in said


def test_a_clock_that_is_wrong_is_told(jobs, secured_hadoop, tmp_path):
    (tmp_path / "later.c").write_text(LATER)
    library = tmp_path / "later.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "later.c", "-ldl"], check=True, timeout=60)
    cache = kinit(secured_hadoop, tmp_path / "fresh")
    done = jobs.run("-r", "worker:1", "--", "true", env=cache | {"LD_PRELOAD": str(library)})
    assert done.returncode == 3, done.stderr
    said, = done.stderr.splitlines()
    assert "the clock of this machine and that of the KDC" in said and "chronyc tracking" in said


def test_the_doctor_tells_of_the_ticket(jobs):
    done = jobs.order("doctor", "--on", "yarn")
    assert done.returncode == 0, done.stdout
    assert re.search(r"Kerberos ticket +ok +of \S+@HADOOP\.TEST, good for ", done.stdout)


def test_a_job_for_somebody_else_is_his(jobs, secured_hadoop):
    jobs.write("reader.py", READING + "print('mine', len(hdfs(sys.argv[1], 'LISTSTATUS')) > 0)\n")
    done = jobs.run("--as", "alice", "-r", "worker:1", "-m", "128m", "--", "python3", "reader.py",
                    f"{secured_hadoop.webhdfs_url}/user/alice")
    assert done.returncode == 0, done.stderr
    assert "mine True" in done.stdout
    job = re.search(r"application_\d+_\d+", done.stderr)[0]
    assert secured_hadoop.application(job)["user"] == "alice"
    assert coming_as(jobs, "alice").status(job)["state"] == "succeeded"
    # Bob may act for nobody.
    done = coming_as(jobs, "bob").run("--as", "alice", "-r", "worker:1", "--", "true")
    assert done.returncode != 0 and "is not allowed to impersonate alice" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


def knowing_far(hadoop, folder):
    """A copy of the clients' configuration that says where the other HDFS is."""
    conf = folder / "conf"
    shutil.copytree(hadoop.conf_dir, conf)
    site = conf / "hdfs-site.xml"
    more = "".join(f"<property><name>dfs.namenode.{port}-address.far</name><value>{hadoop.cluster.address('far.' + port)}</value></property>"
                   for port in ("rpc", "http"))
    more += "".join(f"<property><name>fs.viewfs.mounttable.both.link./{name}</name><value>{url}/</value></property>"
                    for name, url in (("near", hadoop.hdfs_url), ("far", hadoop.cluster.far_url())))
    site.write_text(site.read_text().replace("</configuration>", more + "</configuration>"))
    return conf


@pytest.mark.parametrize("named", ["by its address", "in a view"])
def test_tokens_of_another_name_node_read_there(far_jobs, far_hadoop, tmp_path, named):
    cluster, conf = far_hadoop.cluster, knowing_far(far_hadoop, tmp_path)
    code, body = curl(far_hadoop, "hdfs", "-X", "PUT", f"{cluster.web('far')}/webhdfs/v1/here?op=MKDIRS&permission=777")
    assert code == 200, body
    far_jobs.write("reader.py", READING + """
print("tokens", sorted(kind for kind, *_ in tokens()))
near, far = sys.argv[1:3]
service = "127.0.0.1:" + sys.argv[3]
print("far has", "here" in hdfs(far, "LISTSTATUS", service).decode())
try: hdfs(near, "LISTSTATUS", service)
except urllib.error.HTTPError as error: print("near says", error.code)
""")
    words = ("-r", "worker:1", "-m", "128m", "--", "python3", "reader.py", f"{far_hadoop.webhdfs_url}/",
             f"{cluster.web('far')}/webhdfs/v1/", str(cluster.port("far.rpc")))
    url = cluster.far_url() if named == "by its address" else "viewfs://both"
    done = far_jobs.run("--file-system", url, *words, env={"HADOOP_CONF_DIR": str(conf)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tokens ['HDFS_DELEGATION_TOKEN', 'HDFS_DELEGATION_TOKEN', 'RM_DELEGATION_TOKEN']" in done.stdout
    assert "far has True" in done.stdout
    assert re.search("near says 40[13]", done.stdout), done.stdout
    said = far_jobs.run("--file-system", "hdfs://127.0.0.1:1", *words)
    assert said.returncode != 0 and "hdfs://127.0.0.1:1" in said.stderr and said.stderr.count("\n") == 1, said.stderr


def test_no_task_notices_that_the_master_is_killed(jobs, secured_hadoop):
    job = Waiting(jobs, "-r", "worker:2")
    job.starts(2)
    end_under_another_master(job, secured_hadoop)


@pytest.mark.gate
def test_ytf_submit_has_the_same_flags(jobs, secured_hadoop):
    program = jobs.gangrun.with_name("ytf-submit")
    words = ("-m", "256", "-r", "ps:1,worker:2", "--principal", USER, "--keytab", keytab(secured_hadoop),
             'if [ "$DTF_TASK_JOB_NAME" = ps ]; then exec sleep 600; fi; test -r "$HADOOP_TOKEN_FILE_LOCATION"')
    done = subprocess.run([program, *words], cwd=jobs.folder, env=jobs.environment | NO_CACHE, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    job = done.stdout.strip()
    jobs.started.append(job)
    assert jobs.wait_for_state(job, "succeeded", "failed", "killed")["state"] == "succeeded"


RUN_ON_YARN = """
import gangrun
from gangrun.tf_yarn import TaskSpec
from gangrun.tf_yarn.distributed import run_on_yarn
def count(local_rank):
    import os
    data = open(os.environ["HADOOP_TOKEN_FILE_LOCATION"], "rb").read()
    assert data.count(b"HDFS_DELEGATION_TOKEN") == 2, data.count(b"HDFS_DELEGATION_TOKEN")
run_on_yarn(count, {"worker": TaskSpec(memory=128, vcores=1, instances=2)}, file_systems=[FAR],
            pyenv_zip_path=gangrun.environments.NodePython("/usr/bin/python3"))
print("it went well")
"""


def test_run_on_yarn_takes_other_file_systems(far_jobs, far_hadoop, tmp_path):
    far_jobs.write("run.py", RUN_ON_YARN.replace("FAR", repr(far_hadoop.cluster.far_url())))
    more = {"GANGRUN_BIN": str(far_jobs.gangrun.parent), "PYTHONPATH": str(ROOT / "python"), "HADOOP_CONF_DIR": str(knowing_far(far_hadoop, tmp_path))}
    done = subprocess.run([sys.executable, "run.py"], cwd=far_jobs.folder, env=far_jobs.environment | more, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and "it went well" in done.stdout, done.stderr


def page_port(job):
    """Where the master itself serves the page, to who is at the proxy's address and says nobody's name: not him either."""
    for listening in psutil.Process(master_of(job)).net_connections(kind="tcp"):
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", listening.laddr.port, timeout=60)
            with contextlib.closing(connection):
                connection.request("GET", "/status.json")
                if listening.status == psutil.CONN_LISTEN and connection.getresponse().status == 403:
                    return listening.laddr.port
    raise AssertionError("the master serves no page")


def test_view_and_modify_rights_are_those_of_yarn(jobs, secured_hadoop):
    jobs.write("job.yaml", "on: yarn\nyarn: {view_acl: alice}\ntasks: {worker: {memory: 128 MiB}}\n")
    job = Waiting(jobs, "job.yaml", "-m", "128m")
    job.starts(1)
    page = f"{secured_hadoop.rm_web_url}/proxy/{job.id}/status.json"

    def shown_to(user):
        return curl(secured_hadoop, user, page)[0]

    wait_until(lambda: shown_to(USER) == 200, "the page", 120, pause_s=0.25)
    assert json.loads(curl(secured_hadoop, USER, page)[1])["state"] == "running"
    assert shown_to("alice") == 200
    assert shown_to("yarn") == 200  # an administrator
    code, body = curl(secured_hadoop, "bob", page)
    assert code == 403 and job.id not in body and "worker" not in body, body
    assert curl(secured_hadoop, None, page)[0] == 401

    # Who is not the proxy is nobody, whatever he says.
    connection = http.client.HTTPConnection("127.0.0.1", page_port(job.id), timeout=60, source_address=("127.0.0.77", 0))
    with contextlib.closing(connection):
        connection.request("GET", "/status.json", headers={"Cookie": f"proxy-user={USER}"})
        assert connection.getresponse().status == 302

    # Alice may look and not end it; bob may neither.
    alice, bob = coming_as(jobs, "alice"), coming_as(jobs, "bob")
    assert alice.status(job.id)["state"] == "running"
    for other in (alice, bob):
        done = other.order("kill", job.id)
        assert done.returncode != 0 and done.stderr.count("\n") == 1, done.stderr
        assert re.search("may not|cannot perform|not yours|denied", done.stderr), done.stderr
    assert job.status()["state"] == "running"
    assert coming_as(jobs, "yarn").order("kill", job.id).returncode == 0
    assert jobs.wait_for_state(job.id, "killed", "failed", "succeeded")["state"] == "killed"


def test_who_may_modify_may_end_a_job(jobs):
    jobs.write("job.yaml", "on: yarn\nyarn: {view_acl: bob, modify_acl: bob}\ntasks: {worker: {memory: 128 MiB}}\n")
    job = Waiting(jobs, "job.yaml", "-m", "128m")
    job.starts(1)
    done = coming_as(jobs, "bob").order("kill", job.id)
    assert done.returncode == 0, done.stderr
    assert jobs.wait_for_state(job.id, "killed", "failed", "succeeded")["state"] == "killed"
