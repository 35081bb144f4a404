"""Ports of tasks: how long they are held, several of them, and what happens when one is in use."""

import json
import os
import re
import socket
import subprocess

import pytest

LIMIT_S = 60

# This process, which is outside of the job's PID namespace.
OWN = rf"process {os.getpid()} \(\S+\) of user {os.getuid()}"

# As a program does that knows of no socket option.
PLAIN = """
import os, socket
server = socket.socket()
server.bind(("", int(os.environ["GANGRUN_PORT"])))
server.listen()
"""

PLAIN_CPP = """
#include <netinet/in.h>
#include <sys/socket.h>
#include <cstdio>
#include <cstdlib>
int main() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<unsigned short>(std::atoi(std::getenv("GANGRUN_PORT"))));
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(server, 8) != 0) {
    std::perror("bind");
    return 1;
  }
  std::puts("bound");
}
"""

# What systemd's protocol says: the first is descriptor 3, in the order of the names.
INHERITED = """
import json, os, socket
assert os.environ["LISTEN_PID"] == str(os.getpid())
names = os.environ["LISTEN_FDNAMES"].split(":")
assert os.environ["LISTEN_FDS"] == str(len(names))
ports = []
for number, name in enumerate(names):
    server = socket.socket(fileno=3 + number)
    server.listen()
    with socket.create_connection(("127.0.0.1", server.getsockname()[1]), timeout=10) as one:
        server.accept()[0].close()
    ports.append((name, server.getsockname()[1]))
variables = {name: value for name, value in os.environ.items() if name.startswith("GANGRUN_PORT")}
print(json.dumps({"ports": ports, "variables": variables, "spec": json.loads(os.environ["GANGRUN_CLUSTER_SPEC"])}))
"""


def run(run_gangrun, folder, *flags, command=None):
    """The exit status, the final status and the tasks' lines of a job."""
    done = run_gangrun("run", "--json", "--logs", *flags, *(["--", *command] if command else []), cwd=folder,
                       timeout=LIMIT_S)
    assert done.stdout, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return done.status, events[-1]["status"], [event["line"] for event in events if event["event"] == "line"]


@pytest.fixture
def plain_cpp(tmp_path):
    source = tmp_path / "plain.cpp"
    source.write_text(PLAIN_CPP)
    subprocess.run(["c++", "-o", tmp_path / "plain", source], check=True, timeout=LIMIT_S)
    return tmp_path / "plain"


def test_until_exec_a_plain_bind_succeeds(run_gangrun, tmp_path, plain_cpp):
    for command in (["python3", "-S", "-c", PLAIN], [plain_cpp]):
        status, final, _ = run(run_gangrun, tmp_path, "-r", "worker:2", "--hold", "until-exec", command=command)
        assert (status, final["generation"]) == (0, 1), final


def test_until_bind_a_plain_bind_is_refused_and_told_what_it_needs(run_gangrun, tmp_path, plain_cpp):
    """Nobody else has the port: it is an ordinary failure."""
    status, final, _ = run(run_gangrun, tmp_path, command=[plain_cpp])
    assert (status, final["generation"], final["restarts_used"]) == (1, 1, 0)
    assert re.fullmatch(
        r"worker:0 on 127.0.0.1 exited with status 1: bind: Address already in use; if that was port \d+, it was held "
        r"for the task, and a program that binds it with neither SO_REUSEADDR nor SO_REUSEPORT needs "
        r"`ports: \{hold: until-exec\}`", final["cause"]["sentence"])
    assert final["cause"]["reason"] == "exit_status"
    assert final["cause"]["last_lines"] == ["bind: Address already in use"]


def test_several_ports_are_held_named_and_inherited(run_gangrun, tmp_path):
    (tmp_path / "job.yaml").write_text(
        "tasks:\n  web: {ports: {names: [http, grpc-web]}}\n  worker: {instances: 2, ports: {n: 3}}\n")
    status, final, lines = run(run_gangrun, tmp_path, "job.yaml", command=["python3", "-S", "-c", INHERITED])
    assert status == 0, lines
    told = {tuple(port for _, port in one["ports"]): one for one in map(json.loads, lines)}
    for task in final["tasks"]:
        ports = tuple(port["port"] for port in task["ports"])
        one = told.pop(ports)
        names = [port["name"] for port in task["ports"]]
        assert len(set(ports)) == len(ports) == (2 if task["task"] == "web:0" else 3)
        assert task["address"] == f"127.0.0.1:{ports[0]}"
        assert one["variables"]["GANGRUN_PORT"] == str(ports[0])
        assert one["variables"]["GANGRUN_PORTS"] == ",".join(map(str, ports))
        type, index = task["task"].split(":")
        assert one["spec"][type][int(index)] == task["address"]
        if type == "web":
            assert names == ["http", "grpc-web"] == [name for name, _ in one["ports"]]
            assert one["variables"]["GANGRUN_PORT_HTTP"] == str(ports[0])
            assert one["variables"]["GANGRUN_PORT_GRPC_WEB"] == str(ports[1])
        else:
            assert names == [""] * 3 and [name for name, _ in one["ports"]] == ["gangrun"] * 3
    assert not told


def test_nothing_of_a_port_that_is_let_go_of_is_inherited(run_gangrun, tmp_path):
    status, _, lines = run(run_gangrun, tmp_path, "--hold", "until-exec", "--ports", "2", command=[
        "sh", "-c", 'echo "${LISTEN_FDS-none}"; ls -l /proc/self/fd | grep -c socket:'])
    assert lines == ["none", "0"]
    assert status == 1  # grep's


# Waits until somebody has its port, in the first generation.
WAITS = """
import os
while os.environ["GANGRUN_GENERATION"] == "1" and not os.path.exists("taken"): os.sched_yield()
print("generation", os.environ["GANGRUN_GENERATION"], "port", os.environ["GANGRUN_PORT"], flush=True)
"""


def test_a_port_that_somebody_took_is_answered_by_another_and_a_new_generation(gangrun, home, tmp_path):
    process = subprocess.Popen(
        [gangrun, "run", "--json", "--logs", "-r", "worker:2", "--hold", "until-exec", "--", "python3", "-S", "-c",
         WAITS + PLAIN], cwd=tmp_path, env=os.environ | {"GANGRUN_HOME": str(home)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    events = []
    stolen = None
    for line in process.stdout:
        events.append(json.loads(line))
        tasks = events[-1].get("status", {}).get("tasks", [])
        if stolen is None and len(tasks) == 2 and all(task["state"] == "running" for task in tasks):
            stolen = socket.socket()
            stolen.bind(("127.0.0.1", tasks[1]["ports"][0]["port"]))
            stolen.listen()
            (tmp_path / "taken").touch()
    assert process.wait(LIMIT_S) == 0, events[-1]
    final = events[-1]["status"]
    port = stolen.getsockname()[1]
    stolen.close()
    assert (final["generation"], final["restarts_used"]) == (2, 0)
    assert final["tasks"][1]["ports"][0]["port"] != port
    warning = next(event["sentence"] for event in events if event["event"] == "warning")
    assert re.fullmatch(rf"worker:1 on 127.0.0.1 exited with status 1: port {port} is in use by {OWN}; restarted, not "
                        rf"counted", warning)


@pytest.mark.parametrize("script", [
    "echo 'bind: Address already in use' >&2; exit 1",
    "echo 'java.net.BindException: whatever' >&2; kill -ABRT $$",
    "echo 'bind: Connection refused' >&2; exit 1",
])
def test_what_a_program_says_of_ports_is_no_evidence(run_gangrun, tmp_path, script):
    script = f'if [ -e again ]; then exit 0; fi; touch again; {script}'
    status, final, _ = run(run_gangrun, tmp_path, "--restarts", "1", command=["sh", "-c", script])
    assert status == 0, final
    assert (final["restarts_used"], final["generation"]) == (1, 1)


OWN_PORT = """
import os, socket
server = socket.socket()
server.bind(("127.0.0.1", int(os.environ["MASTER_PORT"])))
"""


@pytest.mark.parametrize("flags", [[], ["--hold", "until-exec"]], ids=["until-bind", "until-exec"])
@pytest.mark.parametrize("way", ["set", "named"])
def test_a_port_of_the_users_own_that_is_taken_is_an_ordinary_failure(run_gangrun, tmp_path, way, flags):
    """It ran six times, and the port that was held was blamed."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        if way == "set":
            flags = [*flags, "-e", f"MASTER_PORT={port}"]
            command, words = ["python3", "-S", "-c", OWN_PORT], r"OSError: \[Errno 98\] Address already in use"
        else:
            words = f"listen EADDRINUSE: address already in use :::{port}"
            command = ["sh", "-c", f"echo '{words}' >&2; exit 1"]
        status, final, lines = run(run_gangrun, tmp_path, "-r", "worker:2", *flags, command=command)
    assert (status, final["generation"], final["restarts_used"]) == (1, 1, 0)
    assert final["cause"]["reason"] == "exit_status"
    assert re.match(rf"worker:[01] on 127.0.0.1 exited with status 1: {words}; port {port} is in use by {OWN}(,|$)",
                    final["cause"]["sentence"])


def test_a_success_is_one_whatever_it_tells(run_gangrun, tmp_path):
    status, final, _ = run(run_gangrun, tmp_path, command=["sh", "-c", "echo EADDRINUSE >&2"])
    assert (status, final["generation"]) == (0, 1)


def test_until_exec_a_task_that_failed_comes_back_at_its_port(run_gangrun, tmp_path):
    script = 'echo $GANGRUN_PORT; if [ -e again ]; then exec python3 -S -c "$PLAIN"; fi; touch again; exit 3'
    status, final, lines = run(run_gangrun, tmp_path, "--restarts", "1", "--hold", "until-exec", "-e", f"PLAIN={PLAIN}",
                               command=["sh", "-c", script])
    assert status == 0, final
    assert (final["restarts_used"], final["generation"]) == (1, 1)
    assert len(lines) == 2 and lines[0] == lines[1]


# Its connection ends in a state of the kernel's that keeps the port from a plain bind for a minute.
LINGERS = """
import os, socket, sys
server = socket.socket()
server.bind(("", int(os.environ["GANGRUN_PORT"])))
server.listen()
one = socket.create_connection(server.getsockname())
server.accept()[0].close()
one.recv(1)
one.close()
print(os.environ["GANGRUN_PORT"], flush=True)
sys.exit(0 if os.path.exists("again") else open("again", "w").close() or 3)
"""


@pytest.mark.parametrize("scope", ["task", "gang"])
def test_until_exec_a_port_that_cannot_be_had_again_is_replaced(run_gangrun, tmp_path, scope):
    status, final, lines = run(run_gangrun, tmp_path, "--restarts", f"1:{scope}", "--hold", "until-exec",
                               command=["python3", "-S", "-c", LINGERS])
    assert status == 0, final
    assert final["restarts_used"] == 1
    assert len(set(lines)) == 2


def test_a_sidecar_whose_port_is_in_use_gets_another(gangrun, home, tmp_path):
    # The worker reads until the sidecar's second process, which it does not see in its own PID namespace, is on its way out.
    os.mkfifo(tmp_path / "board")
    os.mkfifo(tmp_path / "taken")
    (tmp_path / "job.yaml").write_text("""
tasks:
  worker: {command: "cat board"}
  board: {policy: sidecar, command: "if [ -e again ]; then exec 3>board; else touch again; cat taken; exit 1; fi"}
""")
    process = subprocess.Popen([gangrun, "run", "--json", "job.yaml"], cwd=tmp_path, text=True,
                               env=os.environ | {"GANGRUN_HOME": str(home)}, stdout=subprocess.PIPE)
    events = []
    with socket.socket() as stolen:
        stolen.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for line in process.stdout:
            events.append(json.loads(line))
            boards = [task for task in events[-1].get("status", {}).get("tasks", []) if task["task"] == "board:0"]
            if stolen.getsockname()[1] == 0 and boards and boards[0]["state"] == "running":
                stolen.bind(("127.0.0.1", boards[0]["ports"][0]["port"]))
                stolen.listen()
                (tmp_path / "taken").write_text("yes")
        port = stolen.getsockname()[1]
    assert process.wait(LIMIT_S) == 0, events[-1]
    final = events[-1]["status"]
    board = next(task for task in final["tasks"] if task["task"] == "board:0")
    assert final["generation"] == 1
    assert (board["state"], board["attempt"]) == ("succeeded", 2)
    assert board["ports"][0]["port"] != port


def test_ipv6_loopback_and_the_reason_for_the_address(run_gangrun, tmp_path):
    for flags, host, reason in (
            (["--interface", "::1"], "[::1]", "of lo, in ::1"),
            (["--interface", "127.0.0.0/8"], "127.0.0.1", "of lo, in 127.0.0.0/8"),
            (["--host", "::1"], "[::1]", "as --host says"),
            ([], "127.0.0.1", "as all tasks are on this machine; --interface chooses another")):
        status, final, lines = run(run_gangrun, tmp_path, *flags, "-r", "worker:2", command=[
            "sh", "-c", "echo $GANGRUN_CLUSTER_SPEC $MASTER_ADDR $JAX_COORDINATOR_ADDRESS"])
        assert status == 0, final
        first, second = (task["address"] for task in final["tasks"])
        assert first.rsplit(":", 1)[0] == second.rsplit(":", 1)[0] == host
        assert {task["address_reason"] for task in final["tasks"]} == {reason}
        assert lines == [f'{{"worker":["{first}","{second}"]}} {host.strip("[]")} {first}'] * 2
        why = run_gangrun("why", "last").stdout
        assert (f"worker:0, worker:1 are known by the address {host}, {reason}." in why) == bool(flags)


@pytest.mark.parametrize("flags, told", [
    (["--interface", "none0"], "interface: no interface 'none0' is up and has an address; allowed: an interface or "
                               "network of lo 127.0.0.1"),
    (["--interface", "198.51.100.0/24"], "interface: no interface that is up has an address in 198.51.100.0/24; allowed: "),
    (["--interface", "fd00::/129", "--on", "ssh", "--hosts", "a,b"], "interface: 'fd00::/129' is not a network: its prefix has 0 to 128 bits; "),
    (["--interface", "eth0/8", "--on", "ssh", "--hosts", "a,b"], "interface: 'eth0/8' is not a network: 'eth0' is not an address; "),
    (["--interface", "10.0.0.0/64"], "interface: '10.0.0.0/64' is not a network: its prefix has 0 to 32 bits; "),
    (["--interface", "lo", "--host", "localhost"], "--host: 'localhost' and interface 'lo' are both given; allowed: "
                                                   "one of them"),
    (["--ports", "0"], "--ports: '0': '0' is not allowed; allowed: a whole number from 1 to 64"),
    (["--ports", "worker:http+HTTP"], "--ports: tasks.worker.ports.names: 'http' and 'HTTP' would both be "
                                      "GANGRUN_PORT_HTTP; allowed: "),
    (["--hold", "until-listen"], "--hold: 'until-listen': 'until-listen' is not a time until which ports are held; "),
])
def test_what_is_wrong_is_told_before_anything_starts(run_gangrun, home, flags, told):
    done = run_gangrun("run", *flags, "--", "true")
    assert done.status == 2
    assert done.stderr.startswith(f"gangrun: {told}") and done.stderr.count("\n") == 1
    assert not (home / "jobs").exists()
