"""Horovod's rendezvous as its client sees it: what the agents serve on loopback, for tasks that are no Horovod programs."""

import json
import os
import signal
import subprocess
import sys

from waiting import wait_until

LIMIT_S = 60

# A client that asks like Horovod's: one connection a request, a 404 is asked again at once.
CLIENT = r"""
import json, os, sys, urllib.error, urllib.request
def ask(method, path, body=None, port=os.environ.get("HOROVOD_GLOO_RENDEZVOUS_PORT")):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", data=body, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()
def get(path):
    while (got := ask("GET", path))[0] == 404:
        pass
    return got
def wait_for(path):
    while not os.path.exists(path):
        os.sched_yield()
rank, size = int(os.environ.get("HOROVOD_RANK", 0)), int(os.environ.get("HOROVOD_SIZE", 0))
"""

ALL_MEET = CLIENT + r"""
mine = bytes(range(256)) + b"%d" % rank
assert ask("PUT", f"global/{rank}", mine) == (200, b"")
assert ask("PUT", f"global/rank_{rank}", b"host") == (200, b"")
found = [get(f"global/{other}") for other in range(size)]
assert found == [(200, bytes(range(256)) + b"%d" % other) for other in range(size)], found
assert ask("PUT", f"met/{rank}", b"") == (200, b"")
assert [get(f"met/{other}") for other in range(size)] == [(200, b"")] * size
assert ask("DELETE", f"global/{rank}") == (200, b"")
assert ask("GET", f"global/{rank}") == ask("GET", f"global/rank_{rank}") == (404, b"")
print(json.dumps({name: value for name, value in os.environ.items() if name.startswith("HOROVOD_")}))
"""

# The first life puts a key and dies; the second must not see it.
STALE = CLIENT + r"""
if os.environ["GANGRUN_GENERATION"] == "1":
    assert ask("PUT", f"global/{rank}", b"old")[0] == 200
    assert get(f"global/{1 - rank}") == (200, b"old")
    sys.exit(3 if rank == 0 else 0)
seen = ask("GET", f"global/{rank}")
assert ask("PUT", f"global/{rank}", b"new")[0] == 200
print(json.dumps([seen[0], get(f"global/{1 - rank}")[1].decode()]))
"""

# Rank 0 puts a key, rank 1 asks for it when the test says so.
AFTER_A_DEATH = CLIENT + r"""
if rank == 0:
    assert ask("PUT", "global/0", b"kept")[0] == 200
    assert ask("PUT", "global/gone", b"x")[0] == 200
    assert ask("DELETE", "global/gone")[0] == 200
    open("put", "w").close()
    wait_for("got")
else:
    wait_for("ask")
    assert get("global/0") == (200, b"kept")
    assert ask("GET", "global/gone") == (404, b"")
    open("got", "w").close()
"""

LIMITS = CLIENT + r"""
print(json.dumps([ask("GET", "global")[0], ask("POST", "global/0", b"x")[0], ask("GET", "global/" + "k" * 600)[0],
                  ask("PUT", "global/0", b"x" * (256 << 10))[0], ask("PUT", "global/1", b"x" * (256 << 10) + b"x")[0]]))
open("port", "w").write(os.environ["HOROVOD_GLOO_RENDEZVOUS_PORT"])
os.rename("port", "port.told")
wait_for("go")
"""


def lines_of(done):
    events = map(json.loads, done.stdout.splitlines())
    return {event["task"]: json.loads(event["line"]) for event in events if event["event"] == "line"}


def run_json(run_gangrun, program, folder, *flags):
    done = run_gangrun("run", "--json", "--logs", "--framework", "horovod", *flags, "--", sys.executable, "-c", program,
                       cwd=folder)
    assert done.status == 0, done
    return lines_of(done)


def test_all_processes_of_a_gang_meet(run_gangrun, tmp_path):
    said = run_json(run_gangrun, ALL_MEET, tmp_path, "-r", "worker:4")
    for rank in range(4):
        told = said[f"worker:{rank}"]
        assert int(told.pop("HOROVOD_GLOO_RENDEZVOUS_PORT")) > 0
        assert told == {
            "HOROVOD_RANK": str(rank), "HOROVOD_SIZE": "4", "HOROVOD_LOCAL_RANK": str(rank), "HOROVOD_LOCAL_SIZE": "4",
            "HOROVOD_CROSS_RANK": "0", "HOROVOD_CROSS_SIZE": "1", "HOROVOD_HOSTNAME": "127.0.0.1",
            "HOROVOD_CONTROLLER": "gloo", "HOROVOD_CPU_OPERATIONS": "gloo", "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
            "HOROVOD_GLOO_TIMEOUT_SECONDS": "300", "HOROVOD_GLOO_IFACE": "lo"}


def test_a_gang_over_two_hosts_meets_through_the_master(run_gangrun, hosts, tmp_path):
    said = run_json(run_gangrun, ALL_MEET, tmp_path, "--hosts", ",".join(hosts.names), "-r", "worker:4")
    places = [[told[f"HOROVOD_{name}"] for name in ("HOSTNAME", "LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE",
                                                    "GLOO_IFACE")]
              for _, told in sorted(said.items())]
    first, second = map(hosts.address, hosts.names)
    assert places == [[first, "0", "2", "0", "2", "eth0"], [second, "0", "2", "1", "2", "eth0"],
                      [first, "1", "2", "0", "2", "eth0"], [second, "1", "2", "1", "2", "eth0"]]


def test_a_job_that_does_not_name_horovod_has_no_rendezvous(run_gangrun, tmp_path):
    done = run_gangrun("run", "--json", "--logs", "-r", "worker:2", "--", sys.executable, "-c",
                       "import json, os; print(json.dumps([n for n in os.environ if n.startswith('HOROVOD')]))", cwd=tmp_path)
    assert done.status == 0, done
    assert lines_of(done) == {"worker:0": [], "worker:1": []}


def test_a_restarted_gang_does_not_see_the_keys_of_the_dead_one(run_gangrun, tmp_path):
    said = run_json(run_gangrun, STALE, tmp_path, "-r", "worker:2", "--restarts", "1:gang")
    assert said == {"worker:0": [404, "new"], "worker:1": [404, "new"]}


def test_the_next_master_learns_the_keys_from_the_agents(run_gangrun, tmp_path):
    started = run_gangrun("run", "--detach", "--framework", "horovod", "-r", "worker:2", "--", sys.executable, "-c",
                          AFTER_A_DEATH, cwd=tmp_path)
    assert started.status == 0, started.stderr
    name = started.stdout.strip()
    wait_until((tmp_path / "put").exists, "the key")
    masters = subprocess.run(["pgrep", "-f", f"gangrun master .*{name}"], capture_output=True, text=True).stdout
    os.kill(min(map(int, masters.split())), signal.SIGKILL)
    (tmp_path / "ask").touch()
    assert run_gangrun("wait", name).status == 0
    status = json.loads(run_gangrun("status", "--json", name).stdout)
    assert (status["state"], status["generation"], status["restarts_used"]) == ("succeeded", 1, 0)


def test_limits_and_other_users(gangrun, home, tmp_path):
    """What is refused is said by a status, and another user of the machine gets nothing. Being one needs the rights of root."""
    process = subprocess.Popen([gangrun, "run", "--json", "--logs", "--framework", "horovod", "-r", "worker:1", "--",
                                sys.executable, "-c", LIMITS], cwd=tmp_path, env=os.environ | {"GANGRUN_HOME": str(home)},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: (tmp_path / "port.told").exists() or process.poll() is not None, "the port")
        port = (tmp_path / "port.told").read_text()
        program = CLIENT + f"print(ask('PUT', 'global/2', b'x', {port})[0], ask('GET', 'global/0', None, {port})[0])"

        def asked(*other):
            return subprocess.run([*other, "/usr/bin/python3", "-c", program], cwd="/", capture_output=True, text=True,
                                  timeout=LIMIT_S).stdout

        assert asked("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") == "403 403\n"
        assert asked() == "200 200\n"
    finally:
        (tmp_path / "go").touch()
        out, errors = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, errors
    lines = [json.loads(event["line"]) for event in map(json.loads, out.splitlines()) if event["event"] == "line"]
    assert lines == [[400, 405, 400, 200, 413]]
