"""Jobs whose tasks come by themselves, as they do from Spark's executors: `gangrun run --on spark` beside `gangrun-agent
join`, started by hand, each with a process that plays its executor.

More than one process is needed: it is about what each of them learns of the others' ends.
"""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from waiting import wait_until

LIMIT_S = 60

# Says where it is, and puts and gets a key as the feeding does.
MEET = r"""
import json, os, urllib.error, urllib.request
def ask(method, key, body=None):
    request = urllib.request.Request(f"http://{os.environ['GANGRUN_RENDEZVOUS']}/{key}", data=body, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as refused:
        if refused.code == 404:
            return None
        raise
print(json.dumps({"spec": json.loads(os.environ["GANGRUN_CLUSTER_SPEC"]), "own": os.environ["OWN"], "cwd": os.getcwd(),
                  "argv0": os.environ.get("HOME")}), flush=True)
while (word := ask("GET", "feed/K")) is None:
    pass
with open(os.environ["GANGRUN_RESULT_FILE"], "w") as file:
    file.write(word)
"""

AFTER_THE_DEAF = """
import os
while not os.path.exists("deaf"):
    os.sched_yield()
raise ValueError("no such shape")
"""

WAIT = "import signal; print('up', flush=True); signal.pause()"


SERVE = """
import http.server, os
class Board(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"a board")
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["GANGRUN_PORT"])), Board).serve_forever()
"""


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=LIMIT_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Job:
    """A running `gangrun run --on spark`, and what joins it."""

    def __init__(self, gangrun, agent, home, folder, marker, tasks, words=(), **keys):
        self.agent, self.folder, self.marker = agent, folder, marker
        tasks = {kind: {"instances": count, "command": ["none"]} for kind, count in tasks.items()}
        spec = {"name": "joined", "on": "spark", "tasks": tasks, "command": ["none"], **keys}
        (folder / "job.json").write_text(json.dumps(spec))
        self.process = subprocess.Popen(
            [gangrun, "run", "--json", "--logs", *words, folder / "job.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True, env=os.environ | {"GANGRUN_HOME": str(home)})
        self.events = []
        self.executors = []
        self.place = self.event("join")
        self.secret = pathlib.Path(self.place["secret_file"]).read_text().strip()

    def event(self, name, fits=lambda event: True):
        for event in self.events:
            if event["event"] == name and fits(event):
                return event
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            if self.events[-1]["event"] == name and fits(self.events[-1]):
                return self.events[-1]
        raise AssertionError(f"no {name}: {self.events} {self.process.stderr.read()}")

    def executor(self):
        process = subprocess.Popen(["sleep", "1000"], env={"PATH": os.environ["PATH"]})
        self.executors.append(process)
        return process

    def join(self, task, /, code=WAIT, executor=None, **changes):
        executor = executor or self.executor()
        scratch = self.folder / f"scratch-{task.replace(':', '-')}-{len(os.listdir(self.folder))}"
        scratch.mkdir(mode=0o700)
        (scratch / "payload").write_text("private")
        told = {
            "host": self.place["host"], "port": self.place["port"], "fingerprint": self.place["fingerprint"],
            "secret": self.secret, "task": task, "attempt": 0, "executor": f"executor {executor.pid}",
            "own_host": "127.0.0.1", "own_host_reason": "as the test says", "working_folder": str(self.folder),
            "command": [sys.executable, "-c", code], "live_with": executor.pid, "scratch": str(scratch),
            "environment": {"OWN": task, "PATH": os.environ["PATH"], "MARKER": self.marker},
        } | changes
        done = subprocess.run([self.agent, "join"], input=json.dumps(told), text=True, capture_output=True,
                              timeout=LIMIT_S, env={})
        answer = json.loads(done.stdout)
        answer["status"] = done.returncode
        answer["scratch"] = scratch
        return answer

    def put(self, key, value):
        connection = Unix(str(pathlib.Path(self.folder_of_job) / "master.sock"))
        connection.request("PUT", f"/v1/rendezvous/{key}", value, {"Authorization": f"Bearer {self.secret}"})
        return connection.getresponse().status

    @property
    def folder_of_job(self):
        return self.event("status")["status"]["folder"]

    def running(self):
        return self.event("status", lambda event: all(task["state"] == "running" for task in event["status"]["tasks"]))

    def end(self):
        end = self.event("end")
        assert self.process.wait(LIMIT_S) == end["exit_status"]
        return end

    def cause(self):
        return self.end()["status"]["cause"]

    def close(self):
        for process in [self.process, *self.executors]:
            process.kill()
            process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def start(gangrun, agent, home, tmp_path, request, survivors):
    marker = f"{request.node.name}-{os.getpid()}-{time.monotonic_ns()}"
    jobs = []

    def begin(tasks, words=(), **keys):
        jobs.append(Job(gangrun, agent, home, tmp_path, marker, tasks, words, **keys))
        return jobs[-1]

    yield begin
    for job in jobs:
        job.close()
    wait_until(lambda: not survivors(f"MARKER={marker}"), "the end of the tasks")
    assert not list(tmp_path.glob("scratch-*"))


def processes_of(survivors, marker, name):
    return [pid for pid, words in survivors(f"MARKER={marker}") if name in words]


def test_a_gang_that_comes_meets_and_ends(start, run_gangrun):
    job = start({"ps": 1, "worker": 2})
    answers = [job.join(task, MEET) for task in ("worker:1", "ps:0", "worker:0")]
    assert [(answer["state"], answer["status"]) for answer in answers] == [("joined", 0)] * 3
    job.running()
    assert job.put("feed/K", b"end") == 200
    end = job.end()
    assert end["status"]["state"] == "succeeded" and end["exit_status"] == 0, end
    said = {event["task"]: json.loads(event["line"]) for event in job.events if event["event"] == "line"}
    spec = said["worker:0"]["spec"]
    assert {kind: len(places) for kind, places in spec.items()} == {"ps": 1, "worker": 2}, spec
    assert all(line["spec"] == spec and line["own"] == task and line["cwd"] == str(job.folder) and line["argv0"] is None
               for task, line in said.items()), said
    # What a job of this machine answers, this one answers too.
    # The service was stopped, perhaps before it wrote.
    results = json.loads(run_gangrun("result", "last", "--json").stdout)["results"]
    assert [result for result in results if result["task"] != "ps:0"] == [
        {"task": task, "bytes": 3} for task in ("worker:0", "worker:1")]
    assert '"own": "worker:1"' in run_gangrun("logs", "last", "worker:1").stdout
    notes = [event["sentence"] for event in job.events if event["event"] == "notice"]
    assert [note for note in notes if note.startswith("tasks work in the folder of their executor")], notes
    why = run_gangrun("why", "last")
    assert why.status == 0 and "work in the folder of their executor" in why.stdout, why
    wait_until(lambda: not list(job.folder.glob("scratch-*")), "the scratch folders to go")


def test_who_comes_second_is_told_so_and_starts_nothing(start):
    job = start({"worker": 2})
    assert job.join("worker:0")["state"] == "joined"
    second = job.join("worker:0", attempt=1)
    assert (second["state"], second["status"]) == ("there", 0)
    assert f"worker:0 from executor {job.executors[0].pid} on 127.0.0.1 (attempt 0) came first" in second["reason"]
    assert os.listdir(second["scratch"]) == ["payload"]  # still the caller's
    unknown = job.join("worker:7")
    assert (unknown["state"], unknown["status"]) == ("refused", 1) and "no task worker:7" in unknown["reason"]
    wrong = job.join("worker:1", secret="no")
    assert (wrong["state"], wrong["status"]) == ("refused", 1), wrong
    for answer in (second, unknown, wrong):
        remove(answer["scratch"])


def test_bad_input_is_told_and_takes_nobodys_place(start, tmp_path):
    missing = str(tmp_path / "none")
    job = start({"worker": 1})
    gone = job.executor()
    gone.kill()
    gone.wait()
    for changes, told in [
            ({"task": 7}, "the input: "), ({"task": "worker"}, "worker"), ({"mode": 1}, "unknown member \"mode\""),
            ({"command": []}, "\"command\" is empty"), ({"working_folder": "here"}, "here is not an absolute path"),
            ({"environment": {"A=B": "c"}}, "\"environment\": A=B cannot be a variable"),
            ({"scratch": missing}, f"\"scratch\": {missing}"), ({"scratch": "/tmp"}, "that no other has rights in (0700)"),
            ({"live_with": gone.pid}, f"process {gone.pid} has ended"), ({"live_with_start_ticks": 1}, "has ended"),
            ({"own_port": 0}, "\"own_port\": 0 is not a port"), ({"own_port": 70_000}, "own_port"),
            ({"own_host": "a b"}, "\"host\": 'a b' is not a host's name or address"),
            ({"port": 1}, "join the job at 127.0.0.1:1"), ({"fingerprint": "00"}, "join the job at")]:
        answer = job.join("worker:0", **changes)
        assert (answer["state"], answer["status"]) == ("refused", 1) and told in answer["reason"], (changes, answer)
        remove(answer["scratch"])
    assert job.join("worker:0", "")["state"] == "joined"
    assert job.end()["exit_status"] == 0


def test_a_range_of_ports_is_where_it_listens(start, run_gangrun, tmp_path):
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        job = start({"worker": 1}, ["--port", f"{port}-{port + 20}"])
        assert port < job.place["port"] <= port + 20
        assert job.join("worker:0", "")["state"] == "joined"
        assert job.end()["exit_status"] == 0
        done = run_gangrun("run", "--port", str(port), tmp_path / "job.json")
        assert done.status == 3 and str(port) in done.stderr, done


def test_a_missing_task_is_named_with_those_that_came(start):
    job = start({"worker": 3}, timeouts={"allocation": "2s"})
    assert job.join("worker:1")["state"] == "joined"
    sentence = job.cause()["sentence"]
    assert "no executor has joined for worker:0, worker:2; 1 of 3 have joined: worker:1 from executor" in sentence, sentence
    late = job.join("worker:0")
    assert late["state"] == "refused", late
    remove(late["scratch"])


def test_a_failing_task_fails_the_job_with_its_traceback_while_others_take_their_time(start):
    job = start({"worker": 2})
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('deaf', 'w').close(); " + WAIT
    answer = job.join("worker:0", deaf)
    assert answer["state"] == "joined"
    assert job.join("worker:1", AFTER_THE_DEAF)["state"] == "joined"
    early = job.event("status", lambda event: event["status"]["state"] == "stopping")["status"]["cause"]
    assert early["task"] == "worker:1" and "ValueError: no such shape" in early["traceback"], early
    late = job.join("worker:1")
    assert late["state"] == "refused" and "worker:1" in late["reason"], late
    remove(late["scratch"])
    job.executors[0].kill()  # the deaf one's
    assert job.cause() == early


TOLD = """
import os, signal, sys
def told(number, frame):
    print("told", open(os.environ["GANGRUN_NOTICE_FILE"]).read(), flush=True)
    sys.exit(0)
signal.signal(signal.SIGUSR1, told)
print("up", flush=True)
while True:
    signal.pause()
"""


def test_a_warning_of_a_batch_system_is_handed_on_to_tasks_that_came(start):
    job = start({"worker": 1})
    assert job.join("worker:0", TOLD)["state"] == "joined"
    job.event("line", lambda event: event["line"] == "up")
    job.process.send_signal(signal.SIGUSR2)
    assert json.loads(job.event("line", lambda event: event["line"].startswith("told"))["line"][5:]) == {"reason": "signal"}
    assert job.end()["status"]["state"] == "succeeded"


def remove(folder):
    (folder / "payload").unlink()
    folder.rmdir()


@pytest.mark.parametrize("victim", ["agent", "guardian", "both"])
def test_a_killed_agent_is_the_cause(start, survivors, victim):
    job = start({"worker": 2})
    for task in ("worker:0", "worker:1"):
        assert job.join(task)["state"] == "joined"
    job.running()
    agents = [pid for pid, words in survivors(f"MARKER={job.marker}") if ".worker.1" in words and "gangrun-agent" in words]
    # The guardian started the agent.
    guardian = next(pid for pid in agents if parent_of(pid) not in agents)
    doomed = {"agent": set(agents) - {guardian}, "guardian": {guardian}, "both": agents}[victim]
    for pid in doomed:
        os.kill(pid, signal.SIGKILL)
    cause = job.cause()
    assert cause["task"] == "worker:1", cause
    if victim != "agent":  # whose level decides whether anybody is left who could remove it
        for folder in job.folder.glob("scratch-worker-1-*"):
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()


def parent_of(pid):
    with contextlib.suppress(OSError):
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def test_the_end_of_its_executor_is_the_tasks_end(start):
    job = start({"worker": 2})
    executor = job.executor()
    assert job.join("worker:0")["state"] == "joined"
    assert job.join("worker:1", executor=executor)["state"] == "joined"
    job.running()
    executor.kill()
    executor.wait()
    cause = job.cause()
    assert cause["task"] == "worker:1", cause
    assert f"lost its agent, which ended: its executor (process {executor.pid}) has ended" in cause["sentence"], cause


@pytest.mark.parametrize("level", ["pid_namespace", "cgroup", "subreaper"])
def test_nothing_is_left_when_the_driver_is_killed(start, survivors, level):
    job = start({"worker": 2}, timeouts={"master_lost": "2s"}, containment=level)
    for task in ("worker:0", "worker:1"):
        answer = job.join(task)
        assert answer["state"] == "joined", answer
    job.running()
    assert len(processes_of(survivors, job.marker, "signal.pause")) == 2
    job.process.kill()
    wait_until(lambda: not survivors(f"MARKER={job.marker}"), "the end of the tasks")
    wait_until(lambda: not list(job.folder.glob("scratch-*")), "the scratch folders to go")


def test_the_commands_see_it_as_any_job_of_this_machine(start, run_gangrun, gangrun, home):
    job = start({"worker": 1, "tensorboard": 1})
    assert job.join("worker:0")["state"] == "joined"
    waits = job.event("status", lambda event: event["status"]["tasks"][0]["state"] == "running")
    (listed,) = json.loads(run_gangrun("ps", "--json").stdout)
    assert listed["id"] == waits["status"]["id"] and listed["state"] == "running", listed
    # A sidecar may come late.
    assert job.join("tensorboard:0", SERVE)["state"] == "joined"
    job.running()
    status = json.loads(run_gangrun("status", "last", "--json").stdout)
    assert [task["address_reason"] for task in status["tasks"]] == ["as the test says"] * 2, status
    # By its agent's own address, as its host may be another.
    with subprocess.Popen([gangrun, "open", "last"], env=os.environ | {"GANGRUN_HOME": str(home)}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as opened:
        url = opened.stdout.readline().strip()
        assert urllib.request.urlopen(url, timeout=LIMIT_S).read() == b"a board"
        opened.send_signal(signal.SIGINT)
        opened.communicate(timeout=LIMIT_S)
    beside = run_gangrun("exec", "last", "worker:0", "--", "sh", "-c", "echo $GANGRUN_TASK_INDEX $OWN; exit 4")
    assert (beside.status, beside.stdout.split()[0]) == (4, "0"), beside
    assert run_gangrun("kill", "last").status == 0
    assert job.cause()["sentence"].startswith("stopped by")
    assert "stopped by" in run_gangrun("why", "last").stdout
    assert waits["status"]["id"] in run_gangrun("history").stdout


@pytest.mark.parametrize("key,value,told", [
    ("files", ["job.json"], "is not allowed with `on: spark`; Spark ships files"),
    ("image", "python:3.11", "image: 'python:3.11' is not allowed with `on: spark`; the image is that of"),
    ("restarts", 3, "restarts.max: '3' is not allowed with `on: spark`; nobody restarts a task there"),
    ("hosts", ["a"], "hosts: 'a' is not allowed with `on: spark`; Spark decides where"),
])
def test_what_spark_has_no_use_for_is_refused(run_gangrun, tmp_path, key, value, told):
    spec = {"on": "spark", "tasks": {"worker": {"instances": 2}}, "command": ["none"], key: value}
    (tmp_path / "job.json").write_text(json.dumps(spec))
    done = run_gangrun("run", "job.json", cwd=tmp_path)
    assert done.status == 2 and told in done.stderr, done
