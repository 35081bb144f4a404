"""The page of a job behind the ResourceManager's proxy, and TensorBoard: by a tunnel, and for everybody who reaches its node."""

import contextlib
import getpass
import http.client
import json
import os
import pathlib
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import psutil
import pytest

import browser
from waiting import wait_until
from yarn.jobs import Waiting
from yarn.processes import master_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 60
TENSORBOARD_LIMIT_S = 180

# Writes two scalars of three steps as users do, then ends when the file is there.
TRAINING = """
import os, select, sys
import tensorflow as tf
if "hdfs://" in sys.argv[1]:
    import tensorflow_io
writer = tf.summary.create_file_writer(sys.argv[1] + "/train")
with writer.as_default():
    for step in range(3):
        tf.summary.scalar("loss_of_the_wine", 1.0 / (step + 1), step=step)
        tf.summary.scalar("accuracy", 0.5 + step / 10, step=step)
writer.close()
print("written", flush=True)
while not os.path.exists(sys.argv[2]):
    select.select([], [], [], 0.05)
"""


class Answers(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def ask(url, method="GET", body=None, headers=None):
    """(status, headers, body); redirects are not followed and no proxy of this machine is asked."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Answers())
    request = urllib.request.Request(url, body, headers or {}, method=method)
    try:
        with opener.open(request, timeout=LIMIT_S) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def page_of(hadoop, job):
    """Its address behind the proxy, once there is one."""
    # Before a master registers, YARN leads to its own page.
    wait_until(lambda: f"/proxy/{job}/" in hadoop.application(job).get("trackingUrl", ""), "the tracking URL", pause_s=0.25)
    return f"{hadoop.rm_web_url}/proxy/{job}/"


def state_of(page):
    status, _, body = ask(page + "status.json")
    assert status == 200, body
    return json.loads(body)


def own_address(job):
    """Where the master itself serves the page: the one of its ports that speaks plain HTTP."""
    for listening in psutil.Process(master_of(job)).net_connections(kind="tcp"):
        if listening.status != psutil.CONN_LISTEN:
            continue
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", listening.laddr.port, timeout=LIMIT_S)
            with contextlib.closing(connection):
                connection.request("GET", "/page.css")
                if connection.getresponse().status == 200:
                    return listening.laddr.port
    raise AssertionError("the master serves no page")


def test_the_page_is_live_behind_the_proxy_and_only_there(jobs, hadoop):
    job = Waiting(jobs, "-r", "worker:2")
    job.starts(2)
    page = page_of(hadoop, job.id)
    shown = wait_until(lambda: (found := state_of(page))["state"] == "running" and found, "the running job", pause_s=0.25)
    assert [(task["task"], task["state"]) for task in shown["tasks"]] == [("worker:0", "running"), ("worker:1", "running")]
    assert {task["host"] for task in shown["tasks"]} <= {node["nodeHostName"] for node in hadoop.nodes()}
    status, headers, body = ask(page)
    assert status == 200 and "page.js" in body
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    # What the proxy does not pass on, and what the page does not take.
    assert ask(page, "POST", b"x")[0] in (403, 405)
    assert ask(page, "PUT", b"")[0] == 405

    # A browser sees it with its scripts, under the policy.
    document, console = browser.wait_to_see(page, "worker:1", "running")
    assert document.count('scope="row"') == 2 and console == [], console
    assert 'role="alert" hidden' in document

    # Who is not the proxy is sent there, from wherever he comes.
    port = own_address(job.id)
    for path in ("/", "/status.json"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S, source_address=("127.0.0.77", 0))
        with contextlib.closing(connection):
            connection.request("GET", path)
            answer = connection.getresponse()
            assert (answer.status, answer.headers["Location"]) == (302, page)
            assert job.id not in answer.read().decode().replace(page, "")

    # Nothing by which one could reach the job.
    home = f"{hadoop.webhdfs_url}/user/{getpass.getuser()}/.gangrun/jobs/{job.id}/access.json"
    code, access = hadoop.http(f"{home}?op=OPEN&user.name={getpass.getuser()}")
    assert code == 200, access
    secret = json.loads(access)["secret"]
    told = "".join(ask(page + name)[2] for name in ("", "page.js", "page.css", "status.json"))
    assert len(secret) > 10 and secret not in told

    # The next master has a page of its own, at the same address behind the proxy.
    os.kill(master_of(job.id), signal.SIGKILL)
    wait_until(lambda: ask(page + "status.json")[0] == 200 and state_of(page)["state"] == "running", "the next master's page",
               90, pause_s=0.5)
    job.end()
    hadoop.wait_for_application(job.id)
    # The page has ended with its master: the address leads to YARN's own, and is none that says "N/A".
    found = hadoop.application(job.id)
    assert job.id in found.get("originalTrackingUrl", job.id), found
    url = found["trackingUrl"]
    status, headers, body = ask(url)
    if status == 302:
        status, headers, body = ask(urllib.parse.urljoin(url, headers["Location"]))
    assert status == 200 and job.id in body


@pytest.fixture
def board(jobs):
    """board(expose="host") starts a job that trains and has a TensorBoard: its id."""
    venv = subprocess.run([ROOT / "tools/install-deps", "--venv", "tensorflow-2.15"], check=True, capture_output=True, text=True,
                          timeout=LIMIT_S).stdout.strip()

    def start(logs=None, environment=None, **keys):
        logs = logs or str(jobs.folder / "logs")
        jobs.write("train.py", TRAINING)
        jobs.write("job.yaml", json.dumps({
            "on": "yarn", "env": {"TF_CPP_MIN_LOG_LEVEL": "3", **(environment or {"PATH": f"{venv}/bin:/usr/bin:/bin"})},
            "tasks": {"worker": {"instances": 1, "memory": "1g",
                                 "command": f"exec python {jobs.folder}/train.py {logs} {jobs.folder}/end"},
                      "tensorboard": {"instances": 1, "memory": "1g", "logdir": logs, **keys}}}))
        return jobs.submit("job.yaml")

    return start


@contextlib.contextmanager
def opened(jobs, job):
    """The address that `gangrun open` serves."""
    process = subprocess.Popen([jobs.gangrun, "open", job, "--json"], cwd=jobs.folder, env=jobs.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read() + jobs.order("why", job).stdout
        yield json.loads(line)["url"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130


def scalars(url):
    """What TensorBoard draws, as its page asks for it: by POST."""
    form = b"tag=loss_of_the_wine&runs=train"
    status, _, body = ask(url + "data/plugin/scalars/scalars_multirun", "POST", form,
                          {"Content-Type": "application/x-www-form-urlencoded"})
    return status == 200 and [point[2] for point in json.loads(body).get("train", [])]


def test_tensorboard_is_reached_by_a_tunnel_and_shows_what_tensorflow_wrote(board, jobs, hadoop):
    job = board()
    page = page_of(hadoop, job)
    with opened(jobs, job) as url:
        drawn = wait_until(lambda: scalars(url), "the scalars", TENSORBOARD_LIMIT_S, pause_s=1)
        assert drawn == pytest.approx([1.0, 0.5, 1 / 3], rel=1e-5)
        browser.wait_to_see(url + "#timeseries", "loss_of_the_wine", seconds=TENSORBOARD_LIMIT_S)
        (shown,) = state_of(page)["boards"]
        assert shown == {"task": "tensorboard:0", "command": f"gangrun open {job} tensorboard", "url": ""}
        document, _ = browser.wait_to_see(page, shown["command"])
        assert "http://127" not in document.split("TensorBoard</h2>")[1]
        # The agent's node itself offers it to nobody else: TensorBoard listens on 127.0.0.1.
        address = next(task["address"] for task in jobs.status(job)["tasks"] if task["task"] == "tensorboard:0")
        with pytest.raises(OSError):
            ask(f"http://{address}/")
    (jobs.folder / "end").touch()
    jobs.wait_for_state(job, "succeeded")
    assert hadoop.wait_for_application(job)["finalStatus"] == "SUCCEEDED"


def test_tensorboard_shows_what_was_written_to_hdfs(board, jobs, hadoop, hdfs_tensorflow):
    job = board(f"{hadoop.hdfs_url}/boards/wine", hdfs_tensorflow)
    with opened(jobs, job) as url:
        assert len(wait_until(lambda: scalars(url), "the scalars", TENSORBOARD_LIMIT_S, pause_s=1)) == 3
    (jobs.folder / "end").touch()
    jobs.wait_for_state(job, "succeeded")


def test_tensorboard_that_is_exposed_is_linked_and_needs_no_tunnel(board, jobs, hadoop):
    job = board(expose="host")
    page = page_of(hadoop, job)
    url = wait_until(lambda: (boards := state_of(page)["boards"]) and boards[0]["url"], "the link", TENSORBOARD_LIMIT_S, pause_s=0.5)
    address = next(task["address"] for task in jobs.status(job)["tasks"] if task["task"] == "tensorboard:0")
    assert url == f"http://{address}/"
    def listens():
        with contextlib.suppress(OSError):
            return scalars(url)

    assert len(wait_until(listens, "the scalars", TENSORBOARD_LIMIT_S, pause_s=1)) == 3
    document, _ = browser.wait_to_see(page, f'href="{url}"')
    assert "on your machine, type" not in document
    (jobs.folder / "end").touch()
    jobs.wait_for_state(job, "succeeded")


def test_a_tensorboard_that_fails_is_no_failure_of_the_job(jobs, hadoop):
    jobs.write("job.yaml", json.dumps({"on": "yarn", "tasks": {
        "worker": {"instances": 1, "memory": "128m", "command": f"while [ ! -e {jobs.folder}/end ]; do sleep 0.1; done"},
        "tensorboard": {"instances": 1, "memory": "128m", "logdir": "x", "command": "exit 3"}}}))
    job = jobs.submit("job.yaml")
    done = jobs.order("open", job)
    assert done.returncode == 7 and "tensorboard:0 has ended" in done.stderr, done.stderr
    (jobs.folder / "end").touch()
    jobs.wait_for_state(job, "succeeded")
    assert hadoop.wait_for_application(job)["finalStatus"] == "SUCCEEDED"
