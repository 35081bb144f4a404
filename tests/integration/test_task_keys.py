"""Keys of a job and barriers, as the processes of its tasks use them."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from waiting import wait_until

LIMIT_S = 60
PACKAGE = str(pathlib.Path(__file__).resolve().parents[2] / "python")

PROLOGUE = f"""
import os, subprocess, sys, urllib.error, urllib.request
sys.path.insert(0, {PACKAGE!r})
import gangrun.task as task
kv, index, generation = task.kv, int(os.environ["GANGRUN_TASK_INDEX"]), int(os.environ["GANGRUN_GENERATION"])
def there(name):
    open(name, "w").close()
def wait_for(name):
    while not os.path.exists(name):
        os.sched_yield()
"""


def lines_of(done):
    events = map(json.loads, done.stdout.splitlines())
    lines = {}
    for event in events:
        if event["event"] == "line" and event.get("stream", "stdout") == "stdout":
            lines.setdefault(event["task"], []).append(event["line"])
    return lines


def run_program(run_gangrun, program, folder, *flags):
    done = run_gangrun("run", "--json", "--logs", *flags, "--", sys.executable, "-c", PROLOGUE + program, cwd=folder)
    assert done.status == 0, done
    return lines_of(done)


def kill_master(name):
    masters = subprocess.run(["pgrep", "-f", f"gangrun master .*{name}"], capture_output=True, text=True).stdout
    os.kill(min(map(int, masters.split())), signal.SIGKILL)


def test_tasks_put_get_and_meet(run_gangrun, tmp_path):
    said = run_program(run_gangrun, """
if index == 0:
    kv.put("all/bytes", bytes(range(256)))
    kv.put("text", "ü")
assert kv.wait("text", timeout=30) == "ü".encode()
assert kv.get("all/bytes") == bytes(range(256))
assert kv.get("none") is None and kv.get("none", b"other") == b"other"
task.barrier()
assert kv.keys() == ["all/bytes", "text"] and kv.keys("t") == ["text"]
task.barrier()
if index == 0:
    print(kv.delete("text"), kv.delete("text"), kv.keys())
""", tmp_path, "-r", "worker:3")
    assert said == {"worker:0": ["True False ['all/bytes']"]}


def test_a_task_has_come_when_all_its_processes_have(run_gangrun, tmp_path):
    said = run_program(run_gangrun, """
me = f"{index}/{task.process}"
kv.put(f"before/{me}", b"")
task.barrier("one", timeout=30)
print(len(kv.keys("before/")))
""", tmp_path, "-r", "worker:2", "--processes", "3")
    assert all(line.endswith("6") for lines in said.values() for line in lines) and sum(map(len, said.values())) == 6


COMMANDS = r"""
set -e
if [ $GANGRUN_TASK_INDEX = 0 ]; then
    printf 'from stdin' | "$G" kv put in; "$G" kv put word value
    "$G" kv list --json
    "$G" kv get in; echo
    "$G" kv delete word; "$G" kv list
    "$G" kv get word && exit 1 || echo get $?
    "$G" kv delete word && exit 1 || echo delete $?
    "$G" kv wait word --timeout 200ms && exit 1 || echo wait $?
    "$G" barrier alone --timeout 200ms && exit 1 || echo barrier $?
    "$G" barrier alone --tasks 1
    "$G" kv put 'a b' x && exit 1 || echo put $?
    "$G" kv burn x && exit 1 || echo burn $?
fi
"$G" barrier end
"""


def test_the_commands_have_statuses_and_words(run_gangrun, gangrun, tmp_path):
    done = run_gangrun("run", "--json", "--logs", "-r", "worker:2", "-e", f"G={gangrun}", "--", "sh", "-c", COMMANDS, cwd=tmp_path)
    assert done.status == 0, done
    assert lines_of(done) == {"worker:0": ['{"keys":["in","word"]}', "from stdin", "in", "get 1", "delete 1", "wait 124", "barrier 124",
                                           "put 2", "burn 2"]}
    assert "no task has put word within 200 ms" in done.stdout
    assert "barrier alone: 1 of 2 tasks had come after 200 ms; missing: worker:1" in done.stdout
    assert "from 1 to 200 printable ASCII characters" in done.stdout
    assert "'burn' is not an action" in done.stdout


@pytest.mark.parametrize("words, said", [
    (["kv", "get", "a"], "works inside a task"), (["barrier", "b"], "works inside a task"), (["kv", "put"], "needs a KEY"),
    (["kv", "put", "k=v"], "use gangrun kv put k v, or"),
    (["kv", "get", "a", "b"], "takes no VALUE"), (["kv", "get", "a", "--timeout", "1s"], "kv wait"),
    (["kv", "get", "a", "--json"], "kv list"), (["barrier", "b", "--tasks", "none"], "--tasks"),
    (["barrier", "b", "--timeout", "soon"], "--timeout"),
])
def test_outside_a_task_and_wrong_words_are_one_error(run_gangrun, words, said):
    done = run_gangrun(*words, env={"GANGRUN_KV": "", "GANGRUN_TASK_TYPE": ""})
    assert done.status in (2, 7) and said in done.stderr and done.stderr.count("\n") == 1, done


def test_python_outside_a_task_is_told_so():
    done = subprocess.run([sys.executable, "-c", "import gangrun.task; gangrun.task.kv.get('a')"], cwd=PACKAGE, capture_output=True,
                          text=True, env={name: value for name, value in os.environ.items() if not name.startswith("GANGRUN_")})
    assert done.returncode == 1 and "RuntimeError: GANGRUN_KV is not set: this process is not in a task" in done.stderr


def test_a_command_beside_a_task_has_no_barriers(run_gangrun):
    beside = {"GANGRUN_KV": "127.0.0.1:1", "GANGRUN_TASK_TYPE": "worker", "GANGRUN_EXEC": "5f0c"}
    done = run_gangrun("barrier", "b", env=beside)
    assert done.status == 7 and "not for a command beside it" in done.stderr and done.stderr.count("\n") == 1, done
    python = subprocess.run([sys.executable, "-c", "import gangrun.task; gangrun.task.barrier('b')"], cwd=PACKAGE, capture_output=True,
                            text=True, env=os.environ | beside)
    assert python.returncode == 1 and "RuntimeError: a barrier is for the processes of a task" in python.stderr, python


def test_any_key_and_value_can_be_given(run_gangrun, gangrun, tmp_path):
    (tmp_path / "job.sh").write_text(f"PATH={gangrun.parent}:$PATH" + """
set -e
gangrun kv put v -- -value; test "$(gangrun kv get v)" = -value
gangrun kv put -- -k --help; test "$(gangrun kv get -- -k)" = --help
gangrun kv put v -- ""; gangrun kv get v >empty; test ! -s empty
echo input | gangrun kv put v ""; gangrun kv get v >empty; test ! -s empty
printf input | gangrun kv put v -; test "$(gangrun kv get v)" = input
printf 'head\\ntail' >lines; { read -r line; gangrun kv put v; } <lines; test "$(gangrun kv get v)" = tail
gangrun kv put v -- -; test "$(gangrun kv get v)" = -
! gangrun kv put v -- two words 2>words; grep -q "unexpected argument 'words'" words
head -c 262145 /dev/zero | { s=0; gangrun kv put v 2>large || s=$?; test $s = 2; }; grep -q "limit of 262144 bytes" large
! gangrun kv wait v --timeout 8d 2>long; grep -q "at most 7 d" long
s=0; gangrun kv put v <&- 2>closed || s=$?; test $s = 2; grep -q "standard input is closed" closed
s=0; gangrun barrier b --tasks 9 2>many || s=$?; test $s = 2; grep -q -e "--tasks 9: the job has 1 task" many
test "$(gangrun kv get v)" = -
""")
    done = run_gangrun("run", "-r", "worker:1", "--", "bash", str(tmp_path / "job.sh"), cwd=tmp_path)
    assert done.status == 0, done


def test_python_takes_keys_values_and_times_that_can_be(run_gangrun, tmp_path):
    run_program(run_gangrun, """
def fails(kind, words, function, *given, **named):
    try:
        function(*given, **named)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(given)
for value in 5, 0, True, [1, 2], None, 3.5:
    fails(TypeError, "bytes or str", kv.put, "port", value)
assert kv.get("port") is None
for function in kv.get, kv.delete, kv.wait:
    fails(ValueError, "from 1 to 200 printable", function, "")
    fails(TypeError, "a key is a str", function, None)
kv.put("port", bytearray(b"5"))
assert kv.wait("port", timeout=None) == kv.wait("port", timeout=float("inf")) == b"5"
task.barrier(timeout=None)
""", tmp_path, "-r", "worker:1")


def test_keys_outlive_a_generation_and_barriers_do_not(run_gangrun, tmp_path):
    said = run_program(run_gangrun, """
if generation == 1:
    kv.put(f"of/{index}", b"first")
    task.barrier("meet", timeout=30)
    task.barrier("twice", timeout=30)
    sys.exit(3 if index == 0 else 0)
assert kv.keys() == ["of/0", "of/1"]
task.barrier("meet", timeout=30)
task.barrier("twice", timeout=30)
print("again")
""", tmp_path, "-r", "worker:2", "--restarts", "1:gang")
    assert said == {"worker:0": ["again"], "worker:1": ["again"]}


def test_a_task_that_dies_at_a_barrier_has_not_come(run_gangrun, tmp_path):
    """worker:0 is killed while it waits and starts again by itself; until it comes, nobody goes on."""
    said = run_program(run_gangrun, """
import threading
if index == 0 and os.environ["GANGRUN_RESTARTS"] == "0":
    threading.Timer(0.5, os.kill, [os.getpid(), 9]).start()
    task.barrier("b", timeout=30)
if index == 0:
    kv.put("again", b"")
    try:
        kv.wait("never", timeout=1)
    except TimeoutError:
        kv.put("before", b"")
    task.barrier("b", timeout=30)
if index == 1:
    kv.wait("again", timeout=30)
    task.barrier("b", timeout=30)
    print(kv.get("before"))
""", tmp_path, "-r", "worker:2", "--restarts", "1:task")
    assert said == {"worker:1": ["b''"]}


def test_a_parameter_that_is_given_twice_is_named(run_gangrun, tmp_path):
    said = run_program(run_gangrun, """
for target in "/barrier/b?tasks=1&tasks=2", "/kv/a?wait=1&wait=1", "/kv?prefix=a&prefix=b":
    asked = urllib.request.Request(f"http://{os.environ['GANGRUN_KV']}{target}", method="POST" if "barrier" in target else "GET")
    try:
        urllib.request.urlopen(asked)
    except urllib.error.HTTPError as refused:
        print(refused.code, refused.read().decode().strip())
""", tmp_path, "-r", "worker:1")
    assert said == {"worker:0": [f"400 {name}: the parameter is given twice" for name in ("tasks", "wait", "prefix")]}


def test_a_client_may_end_its_own_side_and_ask_for_the_head(run_gangrun, tmp_path):
    said = run_program(run_gangrun, """
import socket, threading
def ask(line):
    host, port = os.environ["GANGRUN_KV"].split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(f"{line} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n".encode())
        client.shutdown(socket.SHUT_WR)
        head, _, body = b"".join(iter(lambda: client.recv(4096), b"")).decode().partition("\\r\\n\\r\\n")
    return head.split()[1], body.strip(), "Allow: GET, HEAD, PUT, DELETE" in head
timer = threading.Timer(1, kv.put, ("k", b"value"))
timer.start()
for line in "GET /kv/k?wait=30", "HEAD /kv/k", "POST /kv/k":
    print(*ask(line))
""", tmp_path, "-r", "worker:1")
    assert said == {"worker:0": ["200 value False", "200  False",
                                 "405 POST /kv/k: the methods here are GET, HEAD, PUT, DELETE True"]}


def test_nobody_waits_at_a_barrier_for_a_task_that_has_ended(run_gangrun, gangrun, tmp_path):
    """Whether it ends before the others come or while they wait; in Python, by HTTP and in the shell."""
    said = run_program(run_gangrun, f"""
if index == 0:
    sys.exit()
if index == 1:
    for _ in range(2):
        try:
            task.barrier("b", timeout=60)
        except RuntimeError as error:
            print(error)
if index == 2:
    done = subprocess.run([{str(gangrun)!r}, "barrier", "b", "--timeout", "1m"], stderr=subprocess.PIPE, text=True)
    print(done.returncode, done.stderr.strip())
    done = subprocess.run([{str(gangrun)!r}, "barrier", "two", "--tasks", "2", "--timeout", "1m"])
    print(done.returncode)
if index == 1:
    task.barrier("two", tasks=2, timeout=60)
""", tmp_path, "-r", "worker:3")
    words = "barrier b waits for 3 tasks, and so many cannot come any more: worker:0 has succeeded"
    assert said == {"worker:1": [words, words], "worker:2": [f"1 gangrun: {words}", "0"]}


def test_a_new_master_knows_whom_nobody_need_wait_for(run_gangrun, tmp_path):
    program = PROLOGUE + """
if index == 0:
    sys.exit()
while kv.get("none") is not None or not os.path.exists("new"):
    os.sched_yield()
try:
    task.barrier("b", timeout=60)
except RuntimeError as error:
    there("told") if "worker:0 has succeeded" in str(error) else print(error)
"""
    started = run_gangrun("run", "--detach", "-r", "worker:2", "--", sys.executable, "-c", program, cwd=tmp_path)
    name = started.stdout.strip()
    state = lambda: json.loads(run_gangrun("status", "--json", name).stdout)["tasks"][0]["state"]
    wait_until(lambda: state() == "succeeded", "the end of worker:0", LIMIT_S)
    kill_master(name)
    (tmp_path / "new").touch()
    assert run_gangrun("wait", name).status == 0
    assert (tmp_path / "told").exists()


def test_both_survive_a_new_master(run_gangrun, home, tmp_path):
    program = PROLOGUE + """
if index == 0:
    kv.put("kept", b"x")
    kv.put("gone", b"x")
    kv.delete("gone")
    task.barrier("first", timeout=30)
    there("put")
    task.barrier("second", timeout=50)
else:
    task.barrier("first", timeout=30)
    wait_for("new")
    assert kv.get("kept") == b"x" and kv.get("gone") is None
    task.barrier("second", timeout=30)
task.barrier("first", timeout=30)
kv.put(f"end/{index}", b"")
there(f"end{index}")
"""
    started = run_gangrun("run", "--detach", "-r", "worker:2", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert started.status == 0, started.stderr
    name = started.stdout.strip()
    wait_until((tmp_path / "put").exists, "the key", LIMIT_S)
    kill_master(name)
    (tmp_path / "new").touch()
    assert run_gangrun("wait", name).status == 0
    assert (tmp_path / "end0").exists() and (tmp_path / "end1").exists()
    wait_until(lambda: not list((home / "jobs").glob("*/keys")), "the end of the keys", LIMIT_S)


def test_keys_are_the_users_own(run_gangrun, home, tmp_path):
    """Being another user needs the rights of root."""
    said = run_program(run_gangrun, f"""
import pathlib
kv.put("secret", b"x")
(folder,) = pathlib.Path({str(home)!r}, "jobs").glob("*/keys")
print(*(oct(path.stat().st_mode & 0o777) for path in [folder, *folder.iterdir()]))
program = '''
import sys, urllib.error, urllib.request
try:
    urllib.request.urlopen("http://" + sys.argv[1] + "/kv/secret")
except urllib.error.HTTPError as refused:
    print(refused.code, refused.read().decode().strip())
'''
asked = subprocess.run(["/usr/bin/python3", "-c", program, os.environ["GANGRUN_KV"]], user=65534, capture_output=True, text=True)
print(asked.stdout.strip())
""", tmp_path, "-r", "worker:1")
    assert said == {"worker:0": [
        "0o700 0o600",
        f"403 the task of these keys belongs to user {os.geteuid()}, but the process that asks belongs to user 65534; ask as the task's user"]}
    assert not list((home / "jobs").glob("*/keys"))
