"""Agents in images that have little or nothing: each task starts, fails, and starts again in its pod."""

import json
import pathlib
import subprocess

import pytest

COMPILE_LIMIT_S = 60
# Tells who it is and what it may write, and fails in its first run.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  FILE* probe = fopen("/probe", "w");
  printf("task %s, user %d, root %s\n", getenv("GANGRUN_TASK_INDEX"), (int)getuid(), probe ? "writable" : "read-only");
  fflush(stdout);
  return atoi(getenv("GANGRUN_RESTARTS")) == 0 ? 3 : 0;
}
"""
SHELL = ("sh", "-c", '( : >/probe ) 2>/dev/null && root=writable || root=read-only; '
         'echo "task $GANGRUN_TASK_INDEX, user $(id -u), root $root"; [ "$GANGRUN_RESTARTS" != 0 ] || exit 3')
PYTHON = """
import os, sys
try:
    open("/probe", "w")
    root = "writable"
except OSError:
    root = "read-only"
print(f"task {os.environ['GANGRUN_TASK_INDEX']}, user {os.getuid()}, root {root}", flush=True)
sys.exit(3 if os.environ["GANGRUN_RESTARTS"] == "0" else 0)
"""
MUSL = pathlib.Path("/lib/ld-musl-x86_64.so.1")
READ_ONLY = {"spec": {"containers": [{"name": "task", "securityContext": {"readOnlyRootFilesystem": True}}]}}


def compiled(folder, *compiler):
    source, program = folder / "program.c", folder / "program"
    source.write_text(PROGRAM)
    subprocess.run([*compiler, "-o", program, source], check=True, timeout=COMPILE_LIMIT_S)
    return program


def restarted(jobs, command, user=0, root="writable", **kubernetes):
    """Runs a gang of two that fails once, and looks at what each run has told."""
    jobs.write("job.yaml", json.dumps({
        "on": "kubernetes", "image": jobs.image, "command": list(command), "tasks": {"worker": {"instances": 2, "memory": "64m"}},
        "restarts": {"scope": "gang", "max": 1, "pause": "0s"},
        "kubernetes": {"namespace": jobs.kubectl.namespace, "agents": "config_maps", **kubernetes}}))
    done = jobs.order("run", "job.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    status = jobs.status()
    assert (status["restarts_used"], status["generation"]) == (1, 2)
    # One that the other's failure has stopped need not have told anything.
    told = [line.split("| ", 1)[1] for line in jobs.lines() if "| task " in line]
    expected = {f"task {index}, user {user}, root {root}" for index in range(2)}
    assert set(told) == expected and 3 <= len(told) <= 4, told
    assert jobs.left() == []


def test_busybox(jobs):
    jobs.image = "localhost/busybox:1"
    restarted(jobs, SHELL)


def test_python(jobs):
    restarted(jobs, ("python3", "-c", PYTHON))


def test_one_static_program_and_nothing_else(jobs, kubernetes, tmp_path):
    program = compiled(tmp_path, "cc", "-static")
    jobs.image = kubernetes.make_image("localhost/static:1", "--file", f"{program}:/program:755")
    restarted(jobs, ["/program"])


def test_a_system_with_musl(jobs, kubernetes, tmp_path):
    program = compiled(tmp_path, "musl-gcc")
    jobs.image = kubernetes.make_image("localhost/musl:1", "--file", f"{program}:/program:755", "--file", f"{MUSL.resolve()}:{MUSL}:755")
    restarted(jobs, ["/program"])


@pytest.mark.parametrize("what", ["program", "shell"])
def test_another_user_and_a_root_that_is_read_only(jobs, kubernetes, tmp_path, what):
    if what == "program":
        program = compiled(tmp_path, "cc", "-static")
        words, command = ["--file", f"{program}:/program:755"], ["/program"]
    else:
        words, command = ["--file", "/bin/busybox:/bin/busybox:755", "--link", "/bin/busybox:/bin/sh", "--link", "/bin/busybox:/bin/id"], SHELL
    jobs.image = kubernetes.make_image(f"localhost/other-{what}:1", "--user", "1234:1234", *words)
    restarted(jobs, command, user=1234, root="read-only", pod=READ_ONLY)
