"""Jobs at each protection of each release's RPC; and two that go on for longer than any token is good."""

import json
import os
import pathlib
import re
import signal

import pytest

from clusters.hadoop.fixtures import Hadoop
from waiting import wait_until
from yarn.jobs import Jobs, Waiting
from yarn.processes import master_of
from yarn.secured import READING, USER, keytab, put

pytestmark = pytest.mark.secure
WINE = pathlib.Path(__file__).resolve().parents[2] / "examples/wine/winequality-white.csv"
NEWEST, OLDER = "3.5.0", "3.4.2"
# Everything that Hadoop can protect its RPC by; beside it, once each, HTTPS only and two masters of each kind.
CLUSTERS = {
    "authentication-3.5.0": {"hadoop_version": NEWEST, "rpc_protection": "authentication"},
    "integrity-3.5.0-https": {"hadoop_version": NEWEST, "rpc_protection": "integrity", "https": True},
    "privacy-3.5.0": {"hadoop_version": NEWEST, "rpc_protection": "privacy"},
    "authentication-3.4.2": {"hadoop_version": OLDER, "rpc_protection": "authentication"},
    "integrity-3.4.2": {"hadoop_version": OLDER, "rpc_protection": "integrity"},
    "privacy-3.4.2-pair": {"hadoop_version": OLDER, "rpc_protection": "privacy", "ha": True},
}
TRAIN = READING + '''
path = os.environ["HADOOP_TOKEN_FILE_LOCATION"]
print("mode", oct(stat.S_IMODE(os.stat(path).st_mode)))
print("kinds", sorted(kind for kind, *_ in tokens()), flush=True)
rows = [list(map(float, line.split(";"))) for line in hdfs(sys.argv[1], "OPEN").decode().split("\\n")[1:1201] if line]
means = [sum(column) / len(rows) for column in zip(*rows)]
spreads = [(sum((value - mean) ** 2 for value in column) / len(rows)) ** 0.5 or 1 for column, mean in zip(zip(*rows), means)]
rows = [[(value - mean) / spread for value, mean, spread in zip(row, means, spreads)] for row in rows]
weights = [0.0] * 11
for step in range(30):
    errors = [sum(w * x for w, x in zip(weights, row)) - row[11] for row in rows]
    if step in (0, 29): print("loss", round(sum(error * error for error in errors) / len(rows), 4), flush=True)
    weights = [w - 0.1 * sum(error * row[i] for error, row in zip(errors, rows)) / len(rows) for i, w in enumerate(weights)]
'''
LIFE_S = 60
LONGER_S = 2 * LIFE_S + 5
# Reads until it is told to end, and says for how long. It tries again for some time, as programs do: on a machine that has
# much to do new tokens may be a few seconds late.
READER = READING + '''
begin = good = time.monotonic()
while not os.path.exists(sys.argv[2]):
    try:
        hdfs(sys.argv[1], "LISTSTATUS")
        good = time.monotonic()
        print("read for", int(good - begin), flush=True)
    except urllib.error.URLError:
        if time.monotonic() - good > 20: raise
    select.select([], [], [], 1)
'''


@pytest.fixture(scope="module")
def short_lived(tmp_path_factory):
    """A cluster whose tokens, of HDFS and of the ResourceManager, are good for a minute. The ResourceManager gets others for
    what its nodes themselves do, as clusters are set up that have long jobs."""
    cluster = Hadoop(tmp_path_factory.mktemp("hadoop"), nodes=1, kerberos=True, set=[
        *(f"{service}.delegation.{name}={LIFE_S * 1000}" for service in ("dfs.namenode", "yarn.resourcemanager")
          for name in ("token.max-lifetime", "token.renew-interval", "key.update-interval")),
        "yarn.resourcemanager.proxy-user-privileges.enabled=true", "hadoop.proxyuser.yarn.hosts=*", "hadoop.proxyuser.yarn.groups=*"])
    yield cluster
    cluster.down()


@pytest.fixture(scope="module")
def long_jobs(short_lived, gangrun, agent, tmp_path_factory):
    """{with a keytab: (jobs, id, the file that ends it)} of two jobs that run while other tests do."""
    jobs = Jobs(gangrun, short_lived, tmp_path_factory.mktemp("long"), tmp_path_factory.mktemp("h"))
    jobs.write("reader.py", READER)
    found = {}
    for with_keytab in (True, False):
        end = jobs.folder / f"end-{with_keytab}"
        keys = ("--principal", USER, "--keytab", keytab(short_lived)) if with_keytab else ()
        job = jobs.submit(*keys, "-r", "worker:1", "-m", "128m", "--", "python3", "reader.py",
                          f"{short_lived.webhdfs_url}/tmp", str(end))
        found[with_keytab] = (jobs, job, end)
    yield found
    jobs.end_all()


@pytest.fixture(params=list(CLUSTERS))
def cluster(request, hadoop_cluster, long_jobs):
    return hadoop_cluster(nodes=1, kerberos=True, **CLUSTERS[request.param])


def test_submit_train_look_and_kill(cluster, gangrun, agent, home, tmp_path):
    jobs = Jobs(gangrun, cluster, tmp_path, home)
    put(cluster, WINE, "/tmp/wine.csv")
    jobs.write("train.py", TRAIN)
    # Python's own reader is told of the authority; gangrun brings it to its master by itself.
    trust = ("-e", "SSL_CERT_FILE=" + cluster.exports["SSL_CERT_FILE"]) if "SSL_CERT_FILE" in cluster.exports else ()
    done = jobs.run("-r", "worker:2", "-m", "128m", *trust, "--", "python3", "train.py", f"{cluster.webhdfs_url}/tmp/wine.csv")
    assert done.returncode == 0, done.stderr + done.stdout
    for task in ("worker:0", "worker:1"):
        lines = [line.split("| ", 1)[1] for line in done.stdout.splitlines() if line.startswith(task)]
        assert "mode 0o600" in lines, lines
        assert "kinds ['HDFS_DELEGATION_TOKEN', 'RM_DELEGATION_TOKEN']" in lines, lines
        first, last = [float(line.split()[1]) for line in lines if line.startswith("loss")]
        assert first > 0.99 and last < 0.8
    job = re.search(r"application_\d+_\d+", done.stderr)[0]
    assert cluster.wait_for_application(job)["finalStatus"] == "SUCCEEDED"

    def aggregated():
        shown = jobs.order("logs", job)
        return shown.returncode == 0 and shown.stdout.count("loss") == 4

    waiting = Waiting(jobs, "-r", "worker:2")
    assert wait_until(aggregated, "the aggregated logs", 120, pause_s=0.5)
    waiting.starts(2)
    assert waiting.id in [entry["id"] for entry in json.loads(jobs.order("ps", "--on", "yarn", "--json").stdout)]
    assert jobs.order("kill", waiting.id).returncode == 0
    assert jobs.wait_for_state(waiting.id, "killed", "failed", "succeeded")["state"] == "killed"


def test_a_job_with_a_keytab_reads_for_longer_than_any_token_is_good(long_jobs, short_lived):
    jobs, job, end = long_jobs[True]

    def read_for():
        return max([int(number) for number in re.findall(r"read for (\d+)", jobs.order("logs", job).stdout)], default=0)

    wait_until(lambda: read_for() > LIFE_S + 5, "reads of more than one life of a token", 300, pause_s=1)
    # The next master finds tokens that have ended, and gets others before it does anything.
    killed = master_of(job)
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: master_of(job) not in (None, killed), "the next master", pause_s=0.1)
    jobs.wait_for_state(job, "running")
    wait_until(lambda: read_for() > LONGER_S or jobs.status(job)["state"] in ("failed", "killed"), "reads of two lives of a token", 300,
               pause_s=1)
    assert read_for() > LONGER_S, jobs.status(job)
    end.touch()
    assert jobs.wait_for_state(job, "succeeded", "failed", "killed")["state"] == "succeeded"
    assert short_lived.wait_for_application(job)["finalStatus"] == "SUCCEEDED"
    # The journal and the status were kept by new tokens too.
    listing = short_lived.run("hdfs", "dfs", "-ls", "-R", "/user").stdout
    assert f"/history/{job}/status.json" in listing and f"/jobs/{job}" not in listing
    # The nodes too: by the ResourceManager's.
    assert wait_until(lambda: "read for 1" in jobs.order("logs", job).stdout, "the aggregated logs", 120, pause_s=0.5)


def test_without_a_keytab_it_is_told_why_it_fails(long_jobs, short_lived):
    jobs, job, _ = long_jobs[False]
    status = jobs.wait_for_state(job, "failed", "succeeded", "killed", seconds=300)
    assert status["state"] == "failed"
    sentence = status["cause"]["sentence"]
    assert re.search(r"worker:0 .*exited with status 1.*; the job's Hadoop tokens have ended at \S+, .{1,12} after it was submitted: "
                     r"a job that runs longer needs --principal and --keytab", sentence), sentence
    assert short_lived.wait_for_application(job)["finalStatus"] == "FAILED"
    assert sentence in jobs.order("why", job).stdout
