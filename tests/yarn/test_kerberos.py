"""Jobs on a cluster with Kerberos: submitted by a ticket or a keytab, with tokens for what they read."""

import getpass
import pathlib
import re
import shutil
import subprocess

import pytest

from waiting import wait_until
from yarn.jobs import Jobs, Waiting

# What a task says of its tokens: the kinds in its token file, which is Hadoop's own format.
TOKENS = """
import os, re, stat
path = os.environ["HADOOP_TOKEN_FILE_LOCATION"]
data = open(path, "rb").read()
print("mode", oct(stat.S_IMODE(os.stat(path).st_mode)))
for kind in (b"HDFS_DELEGATION_TOKEN", b"RM_DELEGATION_TOKEN", b"YARN_AM_RM_TOKEN"):
    print(kind.decode(), len(re.findall(kind, data)), flush=True)
"""
# Reads a file of HDFS by the newest token of the token file, again and again, until a file is there.
READER = """
import base64, os, select, sys, urllib.parse, urllib.request
def vint(data, at):
    first = int.from_bytes(data[at:at + 1], "big", signed=True)
    if first >= -112: return first, at + 1
    size = -112 - first
    return int.from_bytes(data[at + 1:at + 1 + size], "big"), at + 1 + size
def piece(data, at):
    size, at = vint(data, at)
    return data[at:at + size], at + size
def token():
    data = open(os.environ["HADOOP_TOKEN_FILE_LOCATION"], "rb").read()
    count, at = vint(data, 5)
    for _ in range(count):
        _, at = piece(data, at)
        begin = at
        for _ in range(4): part, at = piece(data, at)
        if b"HDFS_DELEGATION_TOKEN" in data[begin:at]:
            return base64.urlsafe_b64encode(data[begin:at]).decode().rstrip("=")
reads = 0
while not os.path.exists(sys.argv[2]):
    url = f"{sys.argv[1]}/webhdfs/v1/tmp?op=LISTSTATUS&delegation=" + urllib.parse.quote(token())
    urllib.request.urlopen(url, timeout=20).read()
    reads += 1
    print("read", reads, flush=True)
    select.select([], [], [], 1)
"""
PROTECTIONS = ("authentication", "integrity", "privacy")
SHORT_LIFE_MS = 60_000
DELEGATION = "dfs.namenode.delegation"


def jobs_of(cluster, user, gangrun, tmp_path, home):
    jobs = Jobs(gangrun, cluster, tmp_path, home)
    jobs.environment |= cluster.environment_of(user)
    return jobs


@pytest.fixture(scope="module")
def secured(hadoop_of_module):
    return hadoop_of_module(nodes=2, kerberos=True, rpc_protection="privacy")


@pytest.fixture
def jobs(secured, gangrun, agent, home, tmp_path):
    jobs = jobs_of(secured, getpass.getuser(), gangrun, tmp_path, home)
    yield jobs
    jobs.end_all()


def keytab(cluster, user):
    return str(cluster.folder / "krb5" / f"{user}.keytab")


def without_ticket(tmp_path):
    return {"KRB5CCNAME": f"FILE:{tmp_path / 'none'}"}


def test_a_job_gets_its_tokens_and_not_the_masters(jobs):
    jobs.write("tokens.py", TOKENS)
    done = jobs.run("-r", "worker:1", "-m", "128m", "--logs", "--", "python3", "tokens.py")
    assert done.returncode == 0, done.stderr
    for line in ("mode 0o600", "HDFS_DELEGATION_TOKEN 1", "RM_DELEGATION_TOKEN 1", "YARN_AM_RM_TOKEN 0"):
        assert line in done.stdout


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_submit_look_and_kill_at_each_protection(hadoop_cluster, gangrun, agent, home, tmp_path, protection):
    cluster = hadoop_cluster(nodes=1, kerberos=True, rpc_protection=protection)
    jobs = jobs_of(cluster, getpass.getuser(), gangrun, tmp_path, home)
    job = Waiting(jobs, "-r", "worker:2")
    job.starts(2)
    assert jobs.order("kill", job.id).returncode == 0
    assert jobs.wait_for_state(job.id, "killed", "failed")["state"] == "killed"


def test_a_keytab_needs_no_ticket(jobs, secured, tmp_path):
    user = getpass.getuser()
    done = jobs.run("--principal", user, "--keytab", keytab(secured, user), "-r", "worker:1", "-m", "128m", "--", "true",
                    env=without_ticket(tmp_path))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words, env, said", [
    ((), {"KRB5CCNAME": "FILE:/nonexistent/cache"}, "there is no Kerberos ticket: run kinit"),
    (("--keytab", "missing.keytab"), {}, "the keytab cannot be read"),
    (("--principal", "nobody"), {}, "run kinit"),
    (("--principal", "a@b@c"), {}, "is no Kerberos principal"),
])
def test_what_is_missing_is_one_sentence(jobs, words, env, said):
    done = jobs.run(*words, "-r", "worker:1", "--", "true", env=env)
    assert done.returncode == 2
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_an_expired_ticket_is_told(jobs, secured, tmp_path):
    user = getpass.getuser()
    cache = {"KRB5CCNAME": f"FILE:{tmp_path / 'short'}"}
    environment = jobs.environment | cache
    subprocess.run(["kinit", "-l", "2s", "-k", "-t", keytab(secured, user), user], env=environment, check=True, timeout=60)
    wait_until(lambda: subprocess.run(["klist", "-s"], env=environment, timeout=60).returncode != 0, "the ticket to expire", 30)
    done = jobs.run("-r", "worker:1", "--", "true", env=cache)
    assert done.returncode == 2
    assert "has expired: run kinit" in done.stderr


def test_a_keytab_of_another_names_what_it_has(jobs, secured):
    done = jobs.run("--principal", "bob", "--keytab", keytab(secured, "alice"), "-r", "worker:1", "--", "true")
    assert done.returncode == 2
    assert re.search(r"has no key of bob, but of alice@HADOOP\.TEST: klist -kt ", done.stderr)


def test_the_doctor_tells_of_the_ticket(jobs):
    done = jobs.order("doctor", "--on", "yarn")
    assert done.returncode == 0, done.stdout
    assert re.search(r"Kerberos ticket +of \S+@HADOOP\.TEST, good for ", done.stdout)


@pytest.mark.parametrize("with_keytab", [True, False])
def test_a_job_that_outlives_its_tokens(hadoop_cluster, gangrun, agent, home, tmp_path, with_keytab):
    """The tokens of HDFS and of the ResourceManager live a minute, and the job two."""
    cluster = hadoop_cluster(nodes=1, kerberos=True, set=[
        f"{DELEGATION}.token.max-lifetime={SHORT_LIFE_MS}", f"{DELEGATION}.token.renew-interval={SHORT_LIFE_MS}",
        f"{DELEGATION}.key.update-interval={SHORT_LIFE_MS}",
        f"yarn.resourcemanager.delegation.token.max-lifetime={SHORT_LIFE_MS}",
        f"yarn.resourcemanager.delegation.token.renew-interval={SHORT_LIFE_MS}"])
    user = getpass.getuser()
    jobs = jobs_of(cluster, user, gangrun, tmp_path, home)
    jobs.write("reader.py", READER)
    keys = ("--principal", user, "--keytab", keytab(cluster, user)) if with_keytab else ()
    end = jobs.folder / "end"
    job = jobs.submit(*keys, "-r", "worker:1", "-m", "128m", "--", "python3", "reader.py", cluster.exports["WEBHDFS_URL"], str(end))

    def reads():
        return max([int(number) for number in re.findall(r"read (\d+)", "\n".join(jobs.lines(job)))], default=0)

    if with_keytab:
        wait_until(lambda: reads() >= 2 * SHORT_LIFE_MS // 1000, "reads over two lives of a token", 300, pause_s=1)
        end.touch()
        assert jobs.wait_for_state(job, "succeeded", "failed")["state"] == "succeeded"
    else:
        assert jobs.wait_for_state(job, "failed", "succeeded", seconds=300)["state"] == "failed"


def test_no_secret_of_a_run_is_told(jobs, secured, tmp_path):
    """Tokens and keys stand in no log, command line, environment, plan, journal or page."""
    user = getpass.getuser()
    dump = tmp_path / "seen"
    dump.mkdir()
    script = f"env > {dump}/environment; cat /proc/[0-9]*/cmdline > {dump}/commands 2>/dev/null; cp $HADOOP_TOKEN_FILE_LOCATION {dump}/tokens"
    words = ("--principal", user, "--keytab", keytab(secured, user), "-r", "worker:1", "-m", "128m", "--", "sh", "-c", script)
    plan = jobs.run("--dry-run", "--json", *words)
    done = jobs.run("--verbose", *words)
    assert done.returncode == 0, done.stderr
    keys = pathlib.Path(keytab(secured, user)).read_bytes()
    tokens = (dump / "tokens").read_bytes()
    # The password of a token is 20 bytes; any 16 bytes of the key material in any usual spelling would be a leak.
    secrets = {keys[at:at + 16] for at in range(len(keys) - 64, len(keys) - 16)} | {tokens[at:at + 16] for at in range(64, len(tokens) - 16)}
    shown = [plan.stdout.encode(), done.stdout.encode(), done.stderr.encode(), (dump / "environment").read_bytes(), (dump / "commands").read_bytes()]
    shown += [path.read_bytes() for path in secured.folder.glob("data/nm*/userlogs/**/*") if path.is_file()]
    for text in shown:
        for secret in secrets:
            assert secret.hex().encode() not in text and (not any(byte > 127 for byte in secret) or secret not in text)
    shutil.rmtree(dump)
