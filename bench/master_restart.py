"""SIGKILL of a detached job's master: how long until the next one has heard of every agent again.

    python bench/master_restart.py [--kills 50] [--size 8]

Beside it, in the same run: how long a killed child needs to be noticed and a program started in its place at all, which
is the limit of what a supervisor can do.
"""

import argparse
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from measure import Series, Verdicts, gangrun_program

LIMIT_S = 60
TASK = 'exec 3<> "$OUT/never.$GANGRUN_TASK_INDEX"; read -r -u 3'


class Job:
    def __init__(self, folder: str, size: int) -> None:
        self.environment = os.environ | {"GANGRUN_HOME": folder, "OUT": folder}
        for index in range(size):
            os.mkfifo(Path(folder) / f"never.{index}")
        self.id = self.command("run", "--detach", "-q", "-r", f"worker:{size}", "--", "bash", "-c", TASK).strip()
        self.journal = Path(folder) / "jobs" / self.id / "journal"

    def command(self, *words: str) -> str:
        done = subprocess.run([gangrun_program(), *words], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"gangrun {' '.join(words)}: {done.stderr}")
        return done.stdout

    def pids(self) -> list[int]:
        status = json.loads(self.command("status", "--json", self.id))
        return [task["pid"] for task in status["tasks"] if task["state"] == "running"]

    def master(self) -> int:
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                parents_words = Path(f"/proc/{parent}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # it ended while we looked
            if words[1:2] == [b"master"] and parents_words[1:2] == [b"supervise"] and self.id.encode() in words[2]:
                return int(entry.name)
        return 0

    def attached_again(self, since: set[Path]) -> int:
        """How many agents the newest master's own journal has heard of."""
        heard = set()
        for segment in set(self.journal.iterdir()) - since:
            for line in segment.read_text().splitlines():
                if '"reattached"' in line:
                    heard.add(json.loads(line)["event"]["task"])
        return len(heard)


def wait_until(condition, what: str):
    """Polls: what is waited for happens in another process that tells nobody."""
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit:
        if value := condition():
            return value
        os.sched_yield()
    raise SystemExit(f"waited {LIMIT_S} s for {what}")


def one_kill(job: Job, size: int) -> float:
    master = wait_until(job.master, "a master")
    before = set(job.journal.iterdir())
    started = time.monotonic()
    os.kill(master, signal.SIGKILL)
    wait_until(lambda: job.attached_again(before) == size, "the agents")
    return (time.monotonic() - started) * 1000


def one_replacement() -> float:
    child = subprocess.Popen([gangrun_program(), "wait", "--help"], stdout=subprocess.PIPE)
    started = time.monotonic()
    child.kill()
    child.wait()
    subprocess.run([gangrun_program(), "version"], stdout=subprocess.DEVNULL, check=True)
    return (time.monotonic() - started) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--size", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        job = Job(folder, arguments.size)
        pids = wait_until(lambda: len(found := job.pids()) == arguments.size and found, "the tasks")
        taken, limit = [], []
        for _ in range(arguments.kills):
            taken.append(one_kill(job, arguments.size))
            limit.append(one_replacement())
        same = job.pids() == pids
        job.command("kill", "--now", job.id)
    restarts, replacements = Series(tuple(taken)), Series(tuple(limit))
    print(f"{arguments.kills} kills of the master of {arguments.size} tasks, ms, minimum and median:")
    print(f"  until all agents have a session again  {restarts}  worst {max(restarts.values):.1f}")
    print(f"  a killed child, another in its place   {replacements}")
    print(f"  ratio of the medians {restarts.median / replacements.median:.1f}")
    if not same:
        raise SystemExit("a task has another process than before")
    verdicts = Verdicts()
    verdicts.at_most("master killed to agents re-attached, median ms", restarts.median, 1000)
    verdicts.at_most("the same, worst ms", max(restarts.values), 5000)
    verdicts.finish()


if __name__ == "__main__":
    main()
