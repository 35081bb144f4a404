"""No secret of a run is told: all of them are looked for, as they are and in the usual spellings, wherever a run leaves words."""

import base64
import contextlib
import json
import pathlib
import re
import subprocess
import threading

import pytest

from waiting import wait_until
from yarn.jobs import Jobs, Waiting
from yarn.processes import agent_of, master_of
from yarn.secured import USER, curl, keytab, kinit, passwords

pytestmark = pytest.mark.secure
SAMPLE_EVERY_S = 0.02
# Of a long secret so much is looked for: whoever has that has a part that is worth something.
PIECE = 20


@pytest.fixture
def jobs(secured_hadoop, gangrun, agent, home, tmp_path):
    jobs = Jobs(gangrun, secured_hadoop, tmp_path, home)
    yield jobs
    jobs.end_all()


class Watching(threading.Thread):
    """Reads the command line and the environment of every process of this machine, again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.over, self.commands, self.environments = threading.Event(), set(), set()

    def run(self):
        while not self.over.wait(SAMPLE_EVERY_S):
            for entry in pathlib.Path("/proc").iterdir():
                if entry.name.isdigit():
                    with contextlib.suppress(OSError):
                        self.commands.add((entry / "cmdline").read_bytes())
                        self.environments.add((entry / "environ").read_bytes())

    def end(self):
        self.over.set()
        self.join()
        return {"command lines": b"\n".join(self.commands), "environments": b"\n".join(self.environments)}


def spellings(secret):
    """A secret as it is, in hexadecimal, and in base64 wherever it begins in what was encoded."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    for shift in range(3):
        text = base64.b64encode(bytes(shift) + secret)[4 if shift else 0:-4]
        yield text
        yield text.replace(b"+", b"-").replace(b"/", b"_")


def pieces(name, secret):
    step = max(1, len(secret) // 8)
    return {f"{name} from {at}": secret[at:at + PIECE] for at in range(0, max(1, len(secret) - PIECE), step)}


def secrets_of(cluster, jobs, job, cache):
    """{what it is: its bytes}"""
    found = {}
    keys = subprocess.run(["klist", "-k", "-K", "-t", keytab(cluster)], env=jobs.environment, check=True, capture_output=True, text=True)
    for number, key in enumerate(re.findall(r"\(0x([0-9a-f]+)\)", keys.stdout)):
        found[f"key {number} of the keytab"] = bytes.fromhex(key)
    files = list(cluster.folder.glob(f"data/nm*/local/nmPrivate/{job}/*/*.tokens"))
    assert len(files) >= 2, "the tokens of the master and of the task"
    for path in files:
        for number, password in enumerate(passwords(path)):
            found[f"password {number} in {path.name}"] = password
    home = f"{cluster.webhdfs_url}/user/{USER}/.gangrun/jobs/{job}/access.json"
    code, access = curl(cluster, "hdfs", "-L", f"{home}?op=OPEN")
    assert code == 200, access
    found["the job's secret"] = json.loads(access)["secret"].encode()
    private, = {match[1] for path in files for match in re.finditer(rb"BEGIN (?:EC )?PRIVATE KEY-----\\n(.+?)-----END", path.read_bytes(), re.DOTALL)}
    found["the master's key"] = private.replace(b"\\n", b"")
    ticket = cache.read_bytes()
    found |= pieces("the ticket", ticket[len(ticket) // 2:])
    return found


def written_by(cluster, jobs, job):
    """{what: text} of the files that a run leaves on the nodes, in the daemons' logs and with the client."""
    places = [*cluster.folder.glob("logs/*"), *cluster.folder.glob("data/nm*/userlogs/**/*"), *jobs.folder.glob("*.log"),
              *cluster.folder.glob(f"data/nm*/local/**/{job}/**/launch_container.sh"),
              *cluster.folder.glob(f"data/nm*/local/**/{job}/**/journal/*"),
              *pathlib.Path(jobs.environment["GANGRUN_HOME"]).rglob("*")]
    found = {}
    for path in places:
        with contextlib.suppress(FileNotFoundError):
            if path.is_file():
                found[str(path)] = path.read_bytes()
    assert any("launch_container.sh" in name for name in found)
    return found


def told_by_commands(jobs, job):
    return {" ".join(words): (done := jobs.order(*words)).stdout.encode() + done.stderr.encode() for words in (
        ("status", job), ("status", job, "--json"), ("logs", job), ("why", job), ("ps", "--on", "yarn", "--json"), ("logs", job, "--json"))}


def kept_in_hdfs(cluster, job):
    """{path: text} of the job's history: its journal and its status."""
    found = {}
    history = f"{cluster.webhdfs_url}/user/{USER}/.gangrun/history/{job}"
    for folder in ("", "/journal"):
        code, body = curl(cluster, "hdfs", f"{history}{folder}?op=LISTSTATUS")
        assert code == 200, body
        for status in json.loads(body)["FileStatuses"]["FileStatus"]:
            if status["type"] == "FILE":
                name = f"{folder}/{status['pathSuffix']}"
                found[name] = curl(cluster, "hdfs", "-L", f"{history}{name}?op=OPEN")[1].encode()
    assert "/status.json" in found and len(found) >= 2, found.keys()
    return found


def test_no_secret_of_a_run_is_told(jobs, secured_hadoop, tmp_path):
    cache = kinit(secured_hadoop, tmp_path / "cache")
    jobs.environment |= cache
    # The task itself shows all that it was given but the file of tokens.
    words = ("--principal", USER, "--keytab", keytab(secured_hadoop), "-r", "worker:1", "-e", "SHOWN=1")
    watching = Watching()
    watching.start()
    texts = {"the plan": jobs.run("--dry-run", "--json", *words, "--", "true").stdout.encode(),
             "the plan in words": jobs.run("--dry-run", *words, "--", "true").stdout.encode()}
    job = Waiting(jobs, *words)
    job.starts(1)
    page = f"{secured_hadoop.rm_web_url}/proxy/{job.id}/"
    wait_until(lambda: curl(secured_hadoop, USER, page + "status.json")[0] == 200, "the page", 120, pause_s=0.25)
    for name in ("", "page.js", "status.json"):
        texts["page " + name] = curl(secured_hadoop, USER, page + name)[1].encode()
    assert master_of(job.id) and agent_of(job, "worker:0")
    secrets = secrets_of(secured_hadoop, jobs, job.id, tmp_path / "cache")
    texts |= told_by_commands(jobs, job.id) | written_by(secured_hadoop, jobs, job.id)
    job.end()
    secured_hadoop.wait_for_application(job.id)
    texts |= watching.end() | kept_in_hdfs(secured_hadoop, job.id)
    texts |= {"after the end: " + name: text for name, text in told_by_commands(jobs, job.id).items()}
    assert job.id.encode() in texts["environments"] and b"gangrun-agent" in texts["command lines"]
    spelled = {spelling: name for name, secret in secrets.items() for spelling in spellings(secret)}
    leaks = [(secret, name) for name, text in texts.items() for spelling, secret in spelled.items() if spelling in text]
    assert leaks == []
    # The search would find one.
    assert any(spelling in base64.b64encode(b"x" + next(iter(secrets.values())) + b"yyyy") for spelling in spellings(next(iter(secrets.values()))))
    # What held the keys and the tokens is gone with the job, or is the job's user's only.
    code, body = curl(secured_hadoop, "hdfs", f"{secured_hadoop.webhdfs_url}/user/{USER}/.gangrun/jobs?op=LISTSTATUS")
    assert code == 200 and job.id not in body, body
