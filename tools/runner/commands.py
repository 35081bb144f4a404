"""Starts commands in the root of the checkout: with a limit, or beside the stages that come before their result is needed."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "gangrun"
PYTHON = CACHE / "test/bin/python"
LIMIT_S = 60 * 60

SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:check_initialization_order=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


def run(*command, env=None, limit=LIMIT_S, keep=False, drop=None):
    """Runs a command; (status, output, which is empty unless kept).

    Kept output is shown when the command has ended, without the lines that match `drop`. A command that is still running
    after `limit` seconds is killed with all it started in its session; its status is 124.
    """
    keep = keep or drop is not None
    sys.stdout.flush()
    process = subprocess.Popen(
        [str(part) for part in command], cwd=ROOT, env={**os.environ, **SANITIZERS, **(env or {})}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if keep else None, start_new_session=True)
    status = None
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        status = 124
    if keep:
        print("".join(line for line in output.splitlines(True) if not (drop and drop.match(line))), end="", flush=True)
    if status:
        print(f"run_tests: stopped after {limit} s: {' '.join(map(str, command))}")
    return status or process.returncode, output or ""


class Beside:
    """Commands that run one after the other, at low priority, beside the stages before the one that joins them."""

    # Where Linux shares the processors by session, the niceness of the session counts.
    LOW = 'echo 5 2>/dev/null >/proc/self/autogroup; exec nice -n 5 sh -c "$1"'

    def __init__(self, script):
        self.script = script
        self.output = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(["sh", "-c", self.LOW, "sh", script], cwd=ROOT, env={**os.environ, **SANITIZERS},
                                        stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
                                        start_new_session=True)

    def join(self, limit=LIMIT_S):
        """Waits for the end, shows what was said (once, whoever joins it again), and returns the status."""
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            print(f"run_tests: stopped after {limit} s: {self.script}")
            self.stop()
        if not self.output.closed:
            self.output.seek(0)
            print(self.output.read(), end="", flush=True)
            self.output.close()
        return self.process.returncode

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
