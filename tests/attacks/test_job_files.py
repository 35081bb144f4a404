"""Job files from a stranger: the dry run of each is refused in one short line, quickly, in little memory, and starts nothing."""

import os
import resource
import subprocess

import pytest

MOST_MEMORY_BYTES = 1 << 30
LIMIT_S = 60


def bomb(depth=12):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]" for n in range(1, depth)]
    return "\n".join(lines)


GOOD = "tasks: {worker: {}}\ncommand: 'true'\n"
FILES = {
    "nothing": "",
    "only a comment": "# nothing\n",
    "a list": "[1, 2]",
    "a text": "gangrun",
    "NULs": "tasks: {worker: {}}\0",
    "bytes": bytes(range(128, 256)),
    "an archive": b"PK\x03\x04" + bytes(1000),
    "a program": b"\x7fELF" + bytes(1000),
    "deep lists": "[" * 100_000,
    "deep maps": "{a: " * 50_000,
    "deep by indentation": "\n".join(" " * n + "a:" for n in range(3000)),
    "aliases of aliases": bomb(),
    "an alias to itself": "tasks: &a {worker: *a}",
    "an unknown alias": "tasks: *nobody",
    "a merge of a bomb": bomb() + "\ntasks: {<<: *a11}",
    "a tag of Python": "tasks: !!python/object/apply:os.system ['touch owned']\ncommand: 'true'",
    "a tag of its own": "!<tag:evil.example,2026:x> {tasks: {worker: {}}}",
    "a binary tag": "tasks: !!binary aGVsbG8=\ncommand: 'true'",
    "keys twice": GOOD + "command: 'false'\n",
    "a key that is a map": "? {a: b}\n: c\n",
    "a null key": GOOD + "~: 1\n",
    "two documents": GOOD + "---\n" + GOOD,
    "a directive": "%YAML 9.9\n---\n" + GOOD,
    "a control character in a name": "name: \"a\\u0007b\"\n" + GOOD,
    "a newline in a name": "name: \"a\\nb\"\n" + GOOD,
    "a path in a name": "name: ../../etc/cron.d/x\n" + GOOD,
    "a long name": "name: " + "a" * 5000 + "\n" + GOOD,
    "an empty name": "name: ''\n" + GOOD,
    "a task with a path": "tasks: {'../../x': {}}\ncommand: 'true'\n",
    "a task with a colon": "tasks: {'worker:0': {}}\ncommand: 'true'\n",
    "a million tasks": "tasks: {worker: {instances: 1000000}}\ncommand: 'true'\n",
    "more tasks than numbers": "tasks: {worker: {instances: 99999999999999999999}}\ncommand: 'true'\n",
    "a negative number": "tasks: {worker: {instances: -5}}\ncommand: 'true'\n",
    "no number": "tasks: {worker: {instances: .nan}}\ncommand: 'true'\n",
    "an endless number": "tasks: {worker: {instances: .inf}}\ncommand: 'true'\n",
    "endless memory": "tasks: {worker: {memory: 99999999999999999999 TiB}}\ncommand: 'true'\n",
    "endless time": "timeouts: {start: 99999999999999999999h}\n" + GOOD,
    "ten thousand types": "tasks: {" + ", ".join(f"t{n}: {{}}" for n in range(10_000)) + "}\ncommand: 'true'\n",
    "a command of nothing": "tasks: {worker: {}}\ncommand: []\n",
    "a command with a NUL": "tasks: {worker: {}}\ncommand: [\"a\\0b\"]\n",
    "a variable with a NUL": "env: {A: \"a\\0b\"}\n" + GOOD,
    "a variable with an equals sign": "env: {'A=B': x}\n" + GOOD,
    "an empty variable": "env: {'': x}\n" + GOOD,
    "a variable of ours": "env: {GANGRUN_JOB_ID: x}\n" + GOOD,
    "a file that leads out": "files: ['/etc/hostname#../../evil']\n" + GOOD,
    "a device as a file": "files: [/dev/zero]\n" + GOOD,
    "a place that is none": "on: ../local\n" + GOOD,
    "hosts with an option": "on: ssh\nhosts: ['-oProxyCommand=touch owned']\n" + GOOD,
    "hosts with a command": "on: ssh\nhosts: ['x; touch owned']\n" + GOOD,
    "hosts with a newline": "on: ssh\nhosts: [\"a\\nb\"]\n" + GOOD,
    "thousands of ports": "tasks: {worker: {ports: 100000}}\ncommand: 'true'\n",
    "an image with an option": "tasks: {worker: {image: '--privileged'}}\ncommand: 'true'\n",
    "a long line": "command: '" + "a" * 20_000_000 + "'\n",
    "many lines": "# x\n" * 5_000_000 + GOOD,
}


def small():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_refused(gangrun, home, tmp_path, name):
    content = FILES[name]
    (tmp_path / "job.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = subprocess.run([gangrun, "run", "--dry-run", "job.yaml"], cwd=tmp_path, env=os.environ | {"GANGRUN_HOME": str(home)},
                          capture_output=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, preexec_fn=small)
    assert done.returncode == 2, done.stderr[:500]
    said = done.stderr.decode()
    assert said.startswith("gangrun: ") and said.count("\n") == 1 and len(said) < 1500, said[:2000]
    assert not any(byte < " " and byte != "\n" for byte in said), said[:2000]
    assert done.stdout == b""
    assert not (home / "jobs").exists() or not list((home / "jobs").iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.yaml"]


@pytest.mark.parametrize("make", [
    lambda path: os.mkfifo(path), lambda path: path.mkdir(), lambda path: path.symlink_to(path), lambda path: path.symlink_to("/dev/zero"),
], ids=["a pipe that nobody writes", "a folder", "a link to itself", "an endless device"])
def test_what_is_no_file_is_refused(gangrun, home, tmp_path, make):
    make(tmp_path / "job.yaml")
    done = subprocess.run([gangrun, "run", "--dry-run", "job.yaml"], cwd=tmp_path, env=os.environ | {"GANGRUN_HOME": str(home)},
                          capture_output=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, preexec_fn=small)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1, done
