"""A job on YARN, attacked by strangers on the network, by another user of the cluster, by its own output and by what is kept of it.

One job is attacked by all; it goes on: the same processes of its tasks, under the same master, which stays small and says little.
"""

import contextlib
import getpass
import http.client
import json
import pathlib
import stat
import subprocess
import urllib.parse

import psutil
import pytest
import strangers
import wire
from said import ESCAPES, EVIL, assert_clean
from test_lines import LINES
from yarn.jobs import Jobs, Waiting
from yarn.processes import master_of, pids_of
from yarn.test_page import page_of

from waiting import wait_until

USER, OTHER = getpass.getuser(), "mallory"
LIMIT_S = 60
MOST_MEMORY_KB, MOST_LOG_LINES = 96 * 1024, 150


@pytest.fixture(scope="module")
def cluster(hadoop_of_module):
    """It believes everybody's name, but asks who may do what."""
    return hadoop_of_module(nodes=1, native=True, set=["yarn.acl.enable=true", f"yarn.admin.acl={USER}",
                                                       f"yarn.scheduler.capacity.root.acl_administer_queue={USER}"])


@pytest.fixture(scope="module")
def victim(cluster, gangrun, agent, tmp_path_factory):
    made = YarnVictim(Jobs(gangrun, cluster, tmp_path_factory.mktemp("w"), tmp_path_factory.mktemp("h")))
    yield made
    made.assert_well()
    made.job.end()


@pytest.fixture
def jobs(cluster, gangrun, agent, home, tmp_path):
    made = Jobs(gangrun, cluster, tmp_path, home)
    yield made
    made.end_all()


class YarnVictim:
    def __init__(self, jobs):
        self.jobs, self.hadoop = jobs, jobs.hadoop
        self.job = Waiting(jobs, "-r", "worker:2")
        self.job.starts(2)
        self.id = self.job.id
        self.page = page_of(self.hadoop, self.id)
        self.home = f"/user/{USER}/.gangrun"
        code, access = self.hdfs("GET", f"/jobs/{self.id}/access.json", "OPEN", user=USER)
        assert code == 200, access
        self.secret = json.loads(access)["secret"]
        self.master, self.pids = master_of(self.id), pids_of(self.job)
        self.host, port = self.hadoop.application(self.id)["amRPCAddress"].rsplit(":", 1)
        self.port = int(port)
        # It listens at two: that of its registry, and that of its page.
        listening = {each.laddr.port for each in psutil.Process(self.master).net_connections(kind="tcp") if each.status == psutil.CONN_LISTEN}
        (self.page_port,) = listening - {self.port}
        self.memory_kb = self.memory()

    def tls(self):
        return wire.tls_context().wrap_socket(wire.tcp(self.port, host=self.host))

    def memory(self):
        return int(next(line for line in pathlib.Path(f"/proc/{self.master}/status").read_text().splitlines()
                        if line.startswith("VmRSS:")).split()[1])

    def hdfs(self, method, path, operation, user, **query):
        words = urllib.parse.urlencode({"op": operation, "user.name": user} | query)
        return self.hadoop.http(f"{self.hadoop.webhdfs_url}{self.home}{path}?{words}", method)

    def log(self):
        """What the master has written for people."""
        paths = list(self.hadoop.folder.glob(f"data/nm*/userlogs/{self.id}/container_*_000001/*"))
        assert paths
        return "".join(path.read_text() for path in paths)

    def assert_well(self):
        status = self.jobs.status(self.id)
        assert (status["state"], status["generation"], status["restarts_used"]) == ("running", 1, 0), status
        assert all((task["state"], task["attempt"]) == ("running", 1) for task in status["tasks"]), status
        assert "attacker" not in json.dumps(status["tasks"])
        assert (master_of(self.id), pids_of(self.job)) == (self.master, self.pids)
        assert self.memory() < self.memory_kb + MOST_MEMORY_KB
        log = self.log()
        assert log.count("\n") < MOST_LOG_LINES and self.secret not in log and not ESCAPES.search(log), log[-3000:]


# A stranger on the network, who reaches the master's ports.

def test_strangers_get_nothing(victim):
    strangers.come_without_the_secret(victim.tls, victim.secret)
    strangers.say_strange_bytes(victim.tls)
    strangers.speak_no_tls(lambda: wire.tcp(victim.port, host=victim.host))
    # Of the page: it is elsewhere, and few strangers are heard at once.
    strangers.say_strange_bytes(lambda: wire.tcp(victim.page_port, source="127.0.0.77"), (b"HTTP/1.1 4", b"HTTP/1.0 4", b"HTTP/1.1 302 ", b"HTTP/1.1 503 "))


def test_with_the_secret_a_session_at_the_wrong_time_changes_nothing(victim):
    strangers.open_wrong_sessions(victim.tls, victim.secret)


def test_nobody_joins_it_as_an_executor(victim):
    body = json.dumps({"task": "worker:0", "attempt": 0, "executor": "x", "host": "127.0.0.1", "host_reason": "r"}).encode()
    assert wire.ask(victim.tls(), wire.request("POST", "/v1/join", victim.secret, body))[0] == 404


def test_strangers_who_stay_keep_nobody_out(victim):
    """Of the registry they are half open, of the page they have asked and do not go."""
    held = []
    try:
        for number in range(200):
            with contextlib.suppress(OSError):
                held.append(wire.tcp(victim.port, source=f"127.0.1.{number % 20 + 1}", host=victim.host))
            with contextlib.suppress(OSError):
                held.append(wire.tcp(victim.page_port, source=f"127.0.1.{number % 20 + 1}"))
                wire.say(held[-1], b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert victim.hadoop.http(victim.page + "status.json")[0] == 200
        victim.assert_well()
    finally:
        for each in held:
            each.close()


# The page, by YARN's proxy and beside it.

ASKED = {
    "as another user, by the cookie": ("", {"Cookie": "proxy-user=root"}),
    "as the proxy, by headers": ("", {"X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1", "X-Real-IP": "127.0.0.1"}),
    "of another host": ("", {"Host": "evil.example"}),
    "a line more in the path": ("%0d%0aSet-Cookie:%20evil=1", {}),
    "a line more in the query": ("?a=%0d%0aSet-Cookie:%20evil=1", {}),
    "a way out": ("..%2f..%2f..%2fetc/passwd", {}),
    "another way out": ("../../../etc/passwd", {}),
    "the registry": ("v1/status", {"Authorization": "Bearer {secret}"}),
    "a join": ("v1/join", {"Authorization": "Bearer {secret}"}),
    "a session": ("v1/agent", {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "AAAA", "Sec-WebSocket-Version": "13"}),
    "a script in the path": ("<script>alert(1)</script>", {}),
    "a long path": ("a" * 6000, {}),
    "many parts": ("a/" * 2000, {}),
    "a long cookie": ("", {"Cookie": "proxy-user=" + "x" * 6000}),
    "a range": ("page.js", {"Range": "bytes=0-1,2-3,4-9999999999"}),
    "as somebody, by the query": ("status.json?user.name=root&doAs=hdfs&proxyapproved=true", {}),
}


@pytest.mark.parametrize("way", ["proxy", "beside it"])
@pytest.mark.parametrize("name", ASKED)
def test_the_page_tells_nobody_more(victim, way, name):
    path, headers = ASKED[name]
    url = urllib.parse.urlsplit(victim.page)
    if way == "proxy":
        connection = http.client.HTTPConnection(url.netloc, timeout=LIMIT_S)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", victim.page_port, timeout=LIMIT_S, source_address=("127.0.0.77", 0))
    with contextlib.closing(connection):
        connection.putrequest("GET", (url.path if way == "proxy" else "/") + path, skip_host="Host" in headers)
        for key, value in headers.items():
            connection.putheader(key, value.replace("{secret}", victim.secret))
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read().decode(errors="replace")
    assert "evil=1" not in str(answer.headers.get("Set-Cookie")) and "root:x:0" not in body and victim.secret not in body
    if way == "beside it":
        # There is one place where it is shown.
        assert answer.status in (302, 400, 403, 431) and answer.headers.get("Location", victim.page) == victim.page, body
        assert '"tasks"' not in body
    else:
        assert answer.status < 600 and "<script>alert(1)" not in body, body


# Another user of the cluster.

TAKEN = {
    "look into the folder": ("GET", "", "LISTSTATUS", {}),
    "look into the folder of jobs": ("GET", "/jobs", "LISTSTATUS", {}),
    "look into the job's folder": ("GET", "/jobs/{id}", "LISTSTATUS", {}),
    "read the secret": ("GET", "/jobs/{id}/access.json", "OPEN", {}),
    "read its size": ("GET", "/jobs/{id}/access.json", "GETFILESTATUS", {}),
    "read its checksum": ("GET", "/jobs/{id}/access.json", "GETFILECHECKSUM", {}),
    "look into the journal": ("GET", "/jobs/{id}/journal", "LISTSTATUS", {}),
    "look into the history": ("GET", "/history", "LISTSTATUS", {}),
    "look into the cache": ("GET", "/cache", "LISTSTATUS", {}),
    "sum up what is there": ("GET", "/jobs/{id}", "GETCONTENTSUMMARY", {}),
    "change who may read it": ("PUT", "/jobs/{id}/access.json", "SETPERMISSION", {"permission": "777"}),
    "change who has it": ("PUT", "/jobs/{id}/access.json", "SETOWNER", {"owner": OTHER}),
    "change who may look": ("PUT", "", "MODIFYACLENTRIES", {"aclspec": f"user:{OTHER}:rwx"}),
    "write a secret": ("PUT", "/jobs/{id}/access.json", "CREATE", {"overwrite": "true"}),
    "write beside it": ("PUT", "/jobs/{id}/evil", "CREATE", {}),
    "append to it": ("POST", "/jobs/{id}/access.json", "APPEND", {}),
    "move it": ("PUT", "/jobs/{id}", "RENAME", {"destination": "/tmp/taken"}),
    "remove it": ("DELETE", "/jobs/{id}", "DELETE", {"recursive": "true"}),
    "remove all": ("DELETE", "", "DELETE", {"recursive": "true"}),
    "replace what all may read": ("DELETE", "/public", "DELETE", {"recursive": "true"}),
    "write where all may read": ("PUT", "/public/evil", "CREATE", {"overwrite": "true"}),
    "make a folder": ("PUT", "/jobs/evil", "MKDIRS", {}),
    "link to it": ("PUT", "/jobs/{id}/link", "CREATESYMLINK", {"destination": "/tmp"}),
    "truncate it": ("POST", "/jobs/{id}/access.json", "TRUNCATE", {"newlength": "0"}),
    "take a token for it": ("GET", "/jobs/{id}/access.json", "GETXATTRS", {}),
}


@pytest.mark.parametrize("user", [OTHER, "nobody"])
@pytest.mark.parametrize("name", TAKEN)
def test_another_user_takes_and_changes_nothing_on_hdfs(victim, user, name):
    method, path, operation, query = TAKEN[name]
    code, body = victim.hdfs(method, path.replace("{id}", victim.id), operation, user, **query)
    # Whoever writes is sent to a DataNode, which asks the NameNode.
    assert code in (400, 403, 404) or (code in (200, 307) and operation in ("CREATE", "APPEND")), (code, body)
    assert victim.secret not in body
    code, access = victim.hdfs("GET", f"/jobs/{victim.id}/access.json", "OPEN", user=USER)
    assert code == 200 and json.loads(access)["secret"] == victim.secret


@pytest.mark.parametrize("path", ["/jobs/{id}/access.json", "/jobs/{id}/evil", "/public/evil", "/evil"])
def test_another_user_writes_nothing_on_hdfs(victim, tmp_path, path):
    (tmp_path / "evil").write_text("evil")
    words = urllib.parse.urlencode({"op": "CREATE", "user.name": OTHER, "overwrite": "true"})
    url = f"{victim.hadoop.webhdfs_url}{victim.home}{path.replace('{id}', victim.id)}?{words}"
    done = subprocess.run(["curl", "-s", "-L", "--noproxy", "*", "-T", tmp_path / "evil", "-w", "%{http_code}", "-o", tmp_path / "said", url],
                          capture_output=True, text=True, timeout=LIMIT_S)
    assert done.stdout == "403", (done, (tmp_path / "said").read_text())


@pytest.mark.parametrize("words", [("status",), ("status", "--json"), ("logs",), ("why",), ("kill",), ("kill", "--now"), ("result",), ("attach",), ("open",)], ids=" ".join)
def test_another_user_does_nothing_by_our_commands(victim, words, tmp_path):
    command, *options = words
    # As somebody who knows the job's name.
    environment = {"HADOOP_USER_NAME": OTHER, "GANGRUN_HOME": str(tmp_path)}
    done = victim.jobs.order(command, victim.id, *options, env=environment, limit=LIMIT_S)
    said = done.stdout + done.stderr
    # Which applications there are YARN tells everybody; not what they do, nor what their results are.
    assert done.returncode != 0 or command in ("status", "why", "result"), said
    assert victim.secret not in said and "pid" not in said
    assert_clean(said)
    assert victim.job.jobs.status(victim.id)["state"] == "running"


@pytest.mark.parametrize("method, path, body", [
    ("PUT", "/state", {"state": "KILLED"}), ("PUT", "/queue", {"queue": "root.evil"}), ("PUT", "/priority", {"priority": 9}),
    ("GET", "/appattempts", None), ("GET", "", None)], ids=str)
def test_another_user_does_nothing_by_yarns_own_interface(victim, method, path, body):
    url = urllib.parse.urlsplit(victim.hadoop.rm_web_url)
    connection = http.client.HTTPConnection(url.netloc, timeout=LIMIT_S)
    with contextlib.closing(connection):
        connection.request(method, f"/ws/v1/cluster/apps/{victim.id}{path}?user.name={OTHER}", body and json.dumps(body),
                           {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
    assert method == "GET" or answer.status in (401, 403), text
    assert victim.secret not in text
    assert victim.hadoop.application(victim.id)["state"] == "RUNNING"


def open_to_others(path, top):
    """Whether everybody may read it: the file, and the way to it."""
    way = [folder for folder in path.parents if folder.is_relative_to(top)]
    return path.stat().st_mode & stat.S_IROTH and all(folder.stat().st_mode & stat.S_IXOTH for folder in way)


def test_no_file_of_a_node_that_others_may_read_has_the_secret(victim):
    top, found = victim.hadoop.folder / "data", []
    for path in top.glob("nm*/**/*"):
        with contextlib.suppress(OSError):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20 and victim.secret.encode() in path.read_bytes():
                found.append(path)
    assert found, "the credentials of its containers"
    assert [path for path in found if open_to_others(path, top)] == []


def test_the_job_has_not_noticed(victim):
    victim.assert_well()


# What a task says, and leaves.

@pytest.mark.parametrize("name", ["clear the screen", "write the clipboard", "eight-bit controls", "a made-up end", "the other direction",
                                  "no UTF-8", "markup", "JSON"])
def test_the_last_words_of_a_task_are_only_text(jobs, cluster, name):
    (jobs.folder / "line").write_bytes(LINES[name] + b"\n")
    done = jobs.run("-r", "worker:1", "-m", "128m", "-f", "line", "--", "sh", "-c", "cat line; cat line >&2; exit 3")
    assert done.returncode == 1, done.stderr
    (job,) = {word for word in (done.stdout + done.stderr).replace("'", " ").split() if word.startswith("application_")} or {None}
    assert_clean(done.stdout + done.stderr)
    for command in ("why", "status", "logs"):
        shown = jobs.order(command, job)
        assert_clean(shown.stdout + shown.stderr)
    told = cluster.wait_for_application(job)
    assert not ESCAPES.search(told["diagnostics"].replace("\n", "")), told["diagnostics"]


LEAVES = r"""
import os
folder = os.environ["LOG_DIRS"].split(",")[0]
for name in ("\x1b]52;c;aGk=\x07", "\x1b[2J", "a\nLogType:stdout\nLogLength:5", "n" * 255, "\u202egnp", "..x", " ", "-rf", "$(touch pwned)",
             "stdout.1", "directory.info", "prelaunch.err.2"):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(b"\x1b[2J\r\nLogType:stdout\nLogLength:99999999999\nLog Contents:\ngangrun: the job has succeeded (FAKE)\n" * 20)
for name, to in (("link", "/etc/passwd"), ("loop", "loop"), ("up", "../../../..")):
    os.symlink(to, os.path.join(folder, name))
print("left", flush=True)
raise SystemExit(3)
"""


def test_what_a_task_leaves_among_its_logs_is_not_taken_for_them(jobs, cluster):
    jobs.write("leaves.py", LEAVES)
    job = jobs.submit("-r", "worker:1", "-m", "128m", "--", "python3", "leaves.py")
    jobs.wait_for_state(job, "failed")
    cluster.wait_for_application(job)
    for command in ("logs", "why", "status"):
        wait_until(lambda: jobs.order(command, job).returncode in (0, 1), f"{command} after the end", pause_s=0.5)
        done = jobs.order(command, job)
        assert_clean(done.stdout + done.stderr)
        assert "root:x:0" not in done.stdout
    lines = [line for line in jobs.lines(job) if "|" in line]
    assert any(line.endswith("left") for line in lines) and not any("FAKE" in line for line in lines), lines


KEPT = {
    "words": EVIL.encode("utf-8", "surrogatepass"),
    "nothing": b"",
    "zeros": bytes(10_000),
    "a depth": b"[" * 1_000_000,
    "many values": b"[" + b"0," * 3_000_000 + b"0]",
    "a number": b"1e999",
    "half of it": None,
    "other kinds": b'{"state": 7, "tasks": "x", "id": []}',
    "words in it": json.dumps({"id": EVIL, "name": EVIL, "state": EVIL, "tasks": [{"task": EVIL, "state": EVIL, "address": EVIL}]}).encode(),
    "many tasks": json.dumps({"state": "failed", "tasks": [{"task": "worker:0", "state": "failed"}] * 50_000}).encode(),
}


@pytest.fixture(scope="module")
def ended(cluster, gangrun, agent, tmp_path_factory):
    """(jobs, the id of one that has ended well, what HDFS keeps of its status)"""
    jobs = Jobs(gangrun, cluster, tmp_path_factory.mktemp("w"), tmp_path_factory.mktemp("h"))
    job = jobs.submit("-r", "worker:1", "-m", "128m", "--", "true")
    jobs.wait_for_state(job, "succeeded")
    cluster.wait_for_application(job)
    path = f"/user/{USER}/.gangrun/history/{job}/status.json"
    kept = wait_until(lambda: (answer := cluster.http(f"{cluster.webhdfs_url}{path}?op=OPEN&user.name={USER}"))[0] == 200 and answer[1],
                      "its history", pause_s=0.3)
    return jobs, job, path, kept


@pytest.mark.parametrize("name", KEPT)
def test_a_damaged_record_is_told_and_hides_no_other(ended, cluster, tmp_path, name):
    jobs, job, path, kept = ended

    def put(data):
        (tmp_path / "file").write_bytes(data)
        done = cluster.run("hdfs", "dfs", "-put", "-f", tmp_path / "file", path)
        assert done.returncode == 0, done.stderr

    put(kept.encode()[:len(kept) // 2] if KEPT[name] is None else KEPT[name])
    try:
        for words in (("status", job), ("why", job), ("ps", "--on", "yarn"), ("status", job, "--json")):
            done = jobs.order(*words, limit=LIMIT_S)
            said = done.stdout + done.stderr
            assert done.returncode in range(9), said
            assert_clean(said, most=1 << 20)
    finally:
        put(kept.encode())
    assert jobs.status(job)["state"] == "succeeded"
