"""A job that is attacked, and what has to hold for it all the time: it goes on, nobody is in, memory and log are bounded."""

import json
import os
import pathlib
import signal
import subprocess

from living import processes_with
from waiting import wait_until

LIMIT_S = 60
# Its tasks tell that they live, and end when they are told to.
TICK = 'trap : USR1; while ! test -e go; do echo x >> tick.$GANGRUN_TASK_INDEX; read -r -t 0.05 _ <> fifo; done; echo done'
# What the master may need more than at the start of the attacks. A stranger costs some 50 KB, and there are few.
MOST_MEMORY_KB = 96 * 1024
# Each kind of refusal is told once, or once for a task.
MOST_LINES = 150


class Victim:
    """`gangrun run` with two workers, whose registry is served by TLS at 127.0.0.1."""

    def __init__(self, gangrun, home, folder, *words, descriptors=None, command=TICK, workers=2):
        self.gangrun, self.home, self.folder, self.workers = gangrun, home, folder, workers
        os.mkfifo(folder / "fifo")
        limit = [] if descriptors is None else ["prlimit", f"--nofile={descriptors}:{descriptors}"]
        self.process = subprocess.Popen(
            [*limit, gangrun, "run", "--host", "127.0.0.1", "--serve-tls", *words, "-r", f"worker:{workers}", "--",
             "bash", "-c", command],
            cwd=folder, env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL,
            stdout=open(folder / "out", "w"), stderr=open(folder / "err", "w"))
        self.wait_for_ticks()
        (self.job_folder,) = (home / "jobs").iterdir()
        self.secret = (self.job_folder / "secret").read_text().strip()
        self.port = int((self.job_folder / "tls.port").read_text()) if (self.job_folder / "tls.port").exists() else self.said_port()
        self.socket = str(self.job_folder / "master.sock")
        self.memory_kb = self.memory()
        self.attempt = self.status()["tasks"][0]["attempt"]

    def said_port(self):
        words = [word for word in self.said().split() if word.startswith("127.0.0.1:")]
        return int(words[0].rstrip(",").rsplit(":", 1)[1])

    def said(self):
        return (self.folder / "out").read_text() + (self.folder / "err").read_text()

    def ticks(self, index):
        path = self.folder / f"tick.{index}"
        return path.stat().st_size if path.exists() else 0

    def wait_for_ticks(self):
        """Until each task has lived a little more."""
        before = [self.ticks(index) for index in range(self.workers)]

        def live():
            assert self.process.poll() is None, self.said()
            return all(self.ticks(index) > before[index] + 2 for index in range(self.workers))

        wait_until(live, lambda: f"the life of all tasks: {self.said()}", LIMIT_S)

    def memory(self):
        return int(next(line for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
                        if line.startswith("VmRSS:")).split()[1])

    def status(self):
        done = subprocess.run([self.gangrun, "status", "--json", "last"], env=os.environ | {"GANGRUN_HOME": str(self.home)},
                              capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def log(self):
        return (self.job_folder / "master.log").read_text()

    def assert_well(self):
        """As if nobody had attacked it: the same run of the same tasks."""
        self.wait_for_ticks()
        status = self.status()
        assert status["state"] == "running" and status["generation"] == 1 and status["restarts_used"] == 0, status
        assert all(task["attempt"] == 1 and task["state"] == "running" for task in status["tasks"]), status
        assert not any("attacker" in json.dumps(task) for task in status["tasks"]), status
        assert self.memory() < self.memory_kb + MOST_MEMORY_KB
        log = self.log()
        assert log.count("\n") < MOST_LINES, log
        assert self.secret not in log
        assert not any(byte < " " and byte != "\n" for byte in log), log

    def let_end(self):
        (self.folder / "go").touch()
        assert self.process.wait(timeout=LIMIT_S) == 0, self.said()
        wait_until(lambda: not processes_with(f"GANGRUN_HOME={self.home}"), "the end of the job's processes")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=LIMIT_S)
