"""gangrun open: a task's port reached from the user's machine. The whole way: command, master, agent, task."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from waiting import wait_until

LIMIT_S = 60

# Answers with the method, the path and the body, by HTTP at the task's port, on 127.0.0.1 only.
SERVER = r"""
import http.server, os, select, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/large":
            body = b"x" * 3_000_000
        text = b"%s %s " % (self.command.encode(), self.path.encode()) + body
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    do_GET = do_POST = answer
    def log_message(self, *_):
        pass
while len(sys.argv) > 1 and not os.path.exists(sys.argv[1]):
    select.select([], [], [], 0.02)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["GANGRUN_PORT"])), Handler).serve_forever()
"""
WAITING = "while [ ! -e end ]; do sleep 0.05; done"


class Job:
    def __init__(self, run_gangrun, gangrun, home, folder):
        self.run_gangrun, self.gangrun, self.home, self.folder = run_gangrun, gangrun, home, folder
        self.id = None

    def start(self, server, *flags, policy="sidecar"):
        (self.folder / "server.py").write_text(SERVER)
        (self.folder / "job.yaml").write_text(json.dumps({"tasks": {
            "worker": {"instances": 1, "command": WAITING},
            "tensorboard": {"instances": 1, "policy": policy, "command": server}}}))
        done = self.run_gangrun("run", "--detach", *flags, "job.yaml", cwd=self.folder)
        assert done.status == 0, done.stderr
        self.id = done.stdout.strip()

    @contextlib.contextmanager
    def open(self, *words):
        process = subprocess.Popen([self.gangrun, "open", self.id, *words], env=os.environ | {"GANGRUN_HOME": str(self.home)},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.communicate(timeout=LIMIT_S)

    def end(self):
        (self.folder / "end").touch()


@pytest.fixture
def job(run_gangrun, gangrun, agent, home, tmp_path):
    job = Job(run_gangrun, gangrun, home, tmp_path)
    yield job
    if job.id:
        run_gangrun("kill", "--now", job.id)


def fetch(url, body=None):
    # Whatever proxy this machine has is not asked.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, body, timeout=LIMIT_S) as answer:
        return answer.read()


def test_the_port_is_reached_as_soon_as_the_task_listens(job):
    job.start(f"exec {sys.executable} server.py go")
    with job.open() as opened:
        assert "waits for tensorboard:0" in opened.stderr.readline()
        (job.folder / "go").touch()
        url = opened.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:") and url.endswith("/")
        assert fetch(url + "data?x=1") == b"GET /data?x=1 "
        assert fetch(url + "charts", b"scalars") == b"POST /charts scalars"
        assert len(fetch(url + "large")) > 3_000_000
        # The end of the job ends it.
        job.end()
        _, err = opened.communicate(timeout=LIMIT_S)
        assert opened.returncode == 0 and "has succeeded" in err, err


def test_ctrl_c_closes_it_and_the_job_goes_on(job, run_gangrun):
    job.start(f"exec {sys.executable} server.py")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        wanted = taken.getsockname()[1]
        with job.open("tensorboard", "--port", str(wanted)) as refused:
            _, err = refused.communicate(timeout=LIMIT_S)
            assert refused.returncode == 7 and f"--port: listen on 127.0.0.1:{wanted}" in err, err
    with job.open("tensorboard:0", "--port", str(wanted), "--json") as opened:
        told = json.loads(opened.stdout.readline())
        assert told == {"event": "open", "job": job.id, "task": "tensorboard:0", "url": f"http://127.0.0.1:{wanted}/"}
        assert fetch(told["url"]) == b"GET / "
        opened.send_signal(signal.SIGINT)
        opened.communicate(timeout=LIMIT_S)
        assert opened.returncode == 130
    with pytest.raises(urllib.error.URLError):
        fetch(told["url"])
    assert json.loads(run_gangrun("status", "--json", job.id).stdout)["state"] == "running"


def test_what_cannot_be_opened_is_told_in_one_line(job, run_gangrun):
    job.start("exit 3")
    for words, status, told in ((["ps"], 4, "no task ps:0; its types: tensorboard, worker"), (["tensorboard:x"], 2, "tensorboard:x"),
                                (["--port", "70000"], 2, "--port"), ([], 7, "tensorboard:0 has ended: exited with status 3")):
        done = run_gangrun("open", job.id, *words)
        assert (done.status, done.stdout) == (status, ""), done.stderr
        assert told in done.stderr.splitlines()[-1], done.stderr
    assert run_gangrun("open", "nothing").status == 4
    job.end()
    assert run_gangrun("wait", job.id).status == 0, "a TensorBoard that fails is not a failure of the job"
    done = run_gangrun("open", job.id)
    assert done.status == 7 and "has succeeded" in done.stderr, done.stderr


def test_who_cannot_read_the_jobs_secret_cannot_open_it(job, run_gangrun, home):
    job.start(f"exec {sys.executable} server.py")
    with job.open() as opened:
        assert opened.stdout.readline()
    secret = home / "jobs" / job.id / "secret"
    right = secret.read_text()
    secret.write_text("0" * len(right))
    try:
        with job.open() as refused:
            out, err = refused.communicate(timeout=LIMIT_S)
            assert (refused.returncode, out) == (7, "") and "not authorized" in err, err
    finally:
        secret.write_text(right)


def test_a_master_that_comes_back_changes_nothing(job):
    job.start(f"exec {sys.executable} server.py")
    with job.open() as opened:
        url = opened.stdout.readline().strip()
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                words = open(f"/proc/{entry}/cmdline", "rb").read().split(b"\0")
                if words[1:3] == [b"master", str(job.home / "jobs" / job.id).encode()]:
                    os.kill(int(entry), signal.SIGKILL)
        assert fetch(url) == b"GET / ", "the master is not on the way"
        wait_until(lambda: json.loads(job.run_gangrun("status", "--json", job.id).stdout)["state"] == "running", "the next master")
        assert fetch(url, b"again") == b"POST / again"
        job.end()
        _, err = opened.communicate(timeout=LIMIT_S)
        assert opened.returncode == 0, err


def test_tasks_on_other_hosts_are_reached_at_their_own_loopback(job, hosts):
    job.start(f"exec {sys.executable} server.py", "--hosts", ",".join(f"{name}:1" for name in hosts.names),
              "--host", hosts.own_address)
    with job.open() as opened:
        url = opened.stdout.readline().strip()
        assert url, opened.stderr.read()
        assert fetch(url, b"from outside") == b"POST / from outside"


def test_tensorboard_is_the_module_of_the_tasks_python_else_the_program_else_one_sentence(run_gangrun, home, tmp_path):
    """A node whose Python had the module and whose PATH had no program ended the sidecar with status 127."""
    def shown(path, **more):
        job = {"tasks": {"worker": {"command": "while [ ! -e shown ]; do sleep 0.02; done"},
                         "tensorboard": {"logdir": "a b", "env": {"PATH": str(path), **more}}}}
        (tmp_path / "job.yaml").write_text(json.dumps(job))
        (tmp_path / "shown").unlink(missing_ok=True)
        done = run_gangrun("run", "job.yaml", cwd=tmp_path)
        assert done.status == 0, done.stderr
        return (tmp_path / "shown").read_text().split("\n")[0], done.stdout + done.stderr

    empty, programs, module = tmp_path / "empty", tmp_path / "programs", tmp_path / "modules/tensorboard"
    for folder in (empty, programs, module):
        folder.mkdir(parents=True)
    tell = f"#!{sys.executable}\nimport os, sys\nopen('new', 'w').write(' '.join(sys.argv[1:]))\nos.rename('new', 'shown')\n"
    (module / "__init__.py").touch()
    (module / "main.py").write_text(tell)
    (programs / "tensorboard").write_text(tell.replace("sys.argv[1:]", "['program', *sys.argv[1:]]"))
    (programs / "tensorboard").chmod(0o755)
    python = tmp_path / "env/bin"
    python.mkdir(parents=True)
    (python / "python").symlink_to(sys.executable)
    words = "--logdir a b --host 127.0.0.1 --port "
    assert shown(programs, PYTHONPATH=str(module.parent))[0].startswith(words)
    (python / "python").unlink()
    assert shown(programs)[0].startswith(f"program {words}")
    (tmp_path / "job.yaml").write_text(json.dumps({"tasks": {
        "worker": {"command": f"until grep -qs 'TensorBoard is not installed' {home}/jobs/*/logs/*; do sleep 0.02; done"},
        "tensorboard": {"logdir": "x", "env": {"PATH": str(empty)}}}}))
    done = run_gangrun("run", "job.yaml", cwd=tmp_path)
    assert done.status == 0 and "TensorBoard is not installed here" in done.stdout + done.stderr
