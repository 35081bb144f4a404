"""Jobs on a real YARN cluster, started by the real programs."""

import contextlib
import copy
import json
import re
import signal
import subprocess

from waiting import wait_until

RUN_LIMIT_S = 180
# Ends when the file that it is given is there.
UNTIL = """
import os, select, sys
print("pid", os.getpid(), "on", os.environ["NM_HOST"], flush=True)
while not os.path.exists(sys.argv[1]):
    select.select([], [], [], 0.05)
"""
PID = re.compile(r"(\w+:\d+)\s*\| pid (\d+) on (\S+)")


class Jobs:
    """What a user does with jobs: in a folder of their own, on the cluster of `hadoop`."""

    def __init__(self, gangrun, hadoop, folder, home):
        self.gangrun, self.hadoop, self.folder = gangrun, hadoop, folder
        self.environment = hadoop.environment | {"GANGRUN_HOME": str(home)}
        self.started = []

    def of(self, user):
        """The same, of another user, whom a cluster without Kerberos believes to be who he says."""
        other = copy.copy(self)
        other.environment = self.environment | {"HADOOP_USER_NAME": user}
        return other

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def order(self, *words, limit=RUN_LIMIT_S, env=None):
        """A command that ends by itself."""
        return subprocess.run([self.gangrun, *words], cwd=self.folder, env=self.environment | (env or {}),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit)

    def run(self, *words, **options):
        return self.order("run", "--on", "yarn", *words, **options)

    def submit(self, *words):
        """A detached job: its id."""
        done = self.run("--detach", "--json", *words)
        assert done.returncode == 0, done.stderr
        self.started.append(json.loads(done.stdout)["job"])
        return self.started[-1]

    def status(self, job):
        done = self.order("status", job, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def wait_for_state(self, job, *states, seconds=RUN_LIMIT_S):
        def reached():
            status = self.status(job)
            return status if status["state"] in states else None

        return wait_until(reached, f"{job} to be {' or '.join(states)}", seconds, pause_s=0.25)

    def lines(self, job, *words):
        done = self.order("logs", job, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    @contextlib.contextmanager
    def running(self, *words, command=("run", "--on", "yarn")):
        """`gangrun run` in the foreground; interrupted at the end if it goes on."""
        process = subprocess.Popen([self.gangrun, *command, *words], cwd=self.folder,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=RUN_LIMIT_S)

    def end_all(self):
        for job in self.started:
            self.order("kill", job, "--now")


class Waiting:
    """A detached job whose tasks wait for a file; they are processes of this machine."""

    def __init__(self, jobs, *words, file="end"):
        self.jobs, self.file = jobs, jobs.folder / file
        jobs.write("until.py", UNTIL)
        memory = () if "-m" in words else ("-m", "128m")
        self.id = jobs.submit(*memory, *words, "--", "python3", "until.py", str(self.file))

    def status(self):
        return self.jobs.status(self.id)

    def told(self):
        """(task, pid, node) of each start, in the order in which they were told."""
        done = self.jobs.order("logs", self.id)
        return [(task, int(pid), node) for task, pid, node in PID.findall(done.stdout)]

    def starts(self, count):
        return wait_until(lambda: len(self.told()) >= count and self.told(), f"{count} starts", 90, pause_s=0.25)

    def end(self, state="succeeded"):
        self.file.touch()
        return self.jobs.wait_for_state(self.id, state)
