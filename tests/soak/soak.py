"""Kills the processes of jobs at random and looks at what is left.

    soak.py [--rounds N] [--seed S]

Each round starts a job, attached or detached, whose tasks fork twice, leave their session and ignore SIGTERM; kills
some of its client, supervisor, master, guardians, agents and user processes at the same moment; and then wants, within
a time limit: every command ended, the right verdict and first cause, no process, no socket, no shared memory left.
A failure prints its seed; --seed S --rounds 1 runs that one again. GANGRUN_BIN is the folder of the programs.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from living import processes_with  # noqa: E402: as the tests look for them

BIN = pathlib.Path(os.environ.get("GANGRUN_BIN", ROOT / "build/release/src"))
LIMIT_S = 60
# What the shell forks would stay for ever; it ends with the round.
TASK = """
trap '' TERM HUP INT
setsid sh -c 'sh -c "exec tail -f /dev/null" & exec tail -f /dev/null' &
echo $$ > "$OUT/pid.$GANGRUN_TASK_INDEX.new" && mv "$OUT/pid.$GANGRUN_TASK_INDEX.new" "$OUT/pid.$GANGRUN_TASK_INDEX"
while [ ! -e "$OUT/done" ]; do read -t 0.02 nothing <> "$OUT/fifo"; done
exit 0
"""


class Failure(Exception):
    pass


def wait_until(condition, what):
    """Polls: what is waited for happens in other processes that tell nobody."""
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit:
        value = condition()
        if value:
            return value
        os.sched_yield()
    raise Failure(f"waited {LIMIT_S} s for {what}")


@dataclasses.dataclass
class Process:
    pid: int
    parent: int
    words: list


def living(marker):
    """The living processes with that in their environment."""
    found = {}
    for pid, words in processes_with(marker).items():
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it ended while we looked
        if fields[0] != "Z":
            found[pid] = Process(pid, int(fields[1]), words)
    return found


class Round:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="soak"))
        self.marker = f"MARKER={self.folder.name}"
        self.detached = self.random.random() < 0.6
        self.tasks = self.random.randint(1, 4)
        self.client = None
        self.shared_memory = set(os.listdir("/dev/shm"))

    def environment(self):
        name, value = self.marker.split("=")
        return os.environ | {"GANGRUN_HOME": str(self.folder), "OUT": str(self.folder), name: value}

    def command(self, *words):
        done = subprocess.run([BIN / "gangrun", *words], env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT_S)
        return done

    def status(self):
        done = self.command("status", "--json", "last")
        if done.returncode != 0:
            raise Failure(f"status: {done.stderr}")
        return json.loads(done.stdout)

    def start(self):
        os.mkfifo(self.folder / "fifo")
        words = ["run", "-r", f"worker:{self.tasks}", "--timeout", "stop=1s"]
        words += ["--detach"] if self.detached else []
        self.client = subprocess.Popen([BIN / "gangrun", *words, "--", "bash", "-c", TASK], env=self.environment(),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: len(list(self.folder.glob("pid.?"))) == self.tasks, "the tasks to run")
        if self.detached and self.client.wait(LIMIT_S) != 0:
            raise Failure("the client could not submit")

    def candidates(self):
        """{what it is: (pid, its task or None)} of everything that may be killed."""
        found = {}
        processes = living(self.marker)
        ours = {pid for pid, process in processes.items() if process.words[0].endswith("gangrun-agent")}
        # A starter, which has no name, stands in for the guardians of its agents; attacks/storm.py kills those.
        agents = {pid for pid in ours if "--name" in processes[pid].words}
        for pid, process in processes.items():
            program = pathlib.Path(process.words[0]).name
            if pid in agents:
                task = process.words[process.words.index("--name") + 1].rsplit(".", 2)
                kind = "agent" if process.parent in ours else "guardian"
                found[f"{kind} {task[2]}"] = (pid, f"worker:{task[2]}")
            elif program == "gangrun":
                found[process.words[1] if process.words[1] in ("supervise", "master") else "client"] = (pid, None)
            elif program == "bash" and process.parent in agents:
                for index in range(self.tasks):
                    environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                    if f"GANGRUN_TASK_INDEX={index}".encode() in environment:
                        found[f"user {index}"] = (pid, f"worker:{index}")
        return found

    def choose(self, candidates):
        names = sorted(candidates)
        if self.random.random() < 0.15:
            return names
        return self.random.sample(names, self.random.randint(1, min(len(names), 4)))

    def expected(self, candidates, victims):
        """The states that are right, and the tasks that may be the first cause of a failure."""
        tasks = {candidates[name][1] for name in victims} - {None}
        if not self.detached and "client" in victims:
            # One is killed after another: the client may still tell of what died before it.
            earlier = {candidates[name][1] for name in victims[:victims.index("client")]} - {None}
            return ({"lost", "failed"} if earlier else {"lost"}), earlier
        nobody_left = {"supervise", "master"} <= set(victims)
        # An agent goes with its user's process, once it has told of that.
        dead = {name.split()[1] for name in victims if name.split()[0] in ("agent", "guardian", "user")}
        if nobody_left and len(dead) == self.tasks:
            # Whether somebody still saw an agent, or a master that was being started, is a matter of moments.
            return {"lost", "failed"}, tasks
        return ({"failed"}, tasks) if tasks else ({"succeeded"}, set())

    def run(self):
        self.start()
        candidates = self.candidates()
        kinds = ["agent", "user"] + (["guardian"] if "guardian 0" in candidates else [])
        wanted = {f"{kind} {index}" for kind in kinds for index in range(self.tasks)}
        wanted |= {"supervise", "master"} if self.detached else {"client"}
        if set(candidates) != wanted:
            raise Failure(f"{sorted(wanted)} should be there: {sorted(candidates)}")
        victims = self.choose(candidates)
        for name in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(candidates[name][0], signal.SIGKILL)
        states, tasks = self.expected(candidates, victims)
        if "succeeded" in states:
            self.status()  # the next command brings back whatever has to come back
            (self.folder / "done").touch()
        ended = self.command("wait", "last")
        self.judge(self.status(), ended, states, tasks, victims)
        self.look_for_leftovers()

    def judge(self, status, ended, states, tasks, victims):
        log = (pathlib.Path(status["folder"]) / "master.log").read_text()
        told = f"after the death of {', '.join(victims)}: {json.dumps(status)}; wait said {ended}; the log:\n{log}"
        exit_status = ended.returncode
        if status["state"] not in states:
            raise Failure(f"{' or '.join(states)} was expected {told}")
        if exit_status != {"succeeded": 0, "failed": 1, "lost": 6}[status["state"]]:
            raise Failure(f"wait ended with {exit_status} {told}")
        cause = status.get("cause") or {}
        if status["state"] == "failed" and cause.get("task") not in tasks:
            raise Failure(f"one of {sorted(tasks)} is the first cause {told}")

    def look_for_leftovers(self):
        if not self.detached:
            self.client.wait(LIMIT_S)
        wait_until(lambda: not living(self.marker), f"the end of {living(self.marker)}")
        # The next command takes away what killed processes could not.
        self.status()
        sockets = pathlib.Path("/proc/net/unix").read_text(errors="replace")
        if str(self.folder) in sockets or list(self.folder.glob("jobs/*/*.sock")):
            raise Failure("a socket is left")
        if set(os.listdir("/dev/shm")) - self.shared_memory:
            raise Failure(f"shared memory is left: {set(os.listdir('/dev/shm')) - self.shared_memory}")

    def clean_up(self):
        for pid in living(self.marker):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.client:
            self.client.wait(LIMIT_S)
        shutil.rmtree(self.folder, ignore_errors=True)


def soak(rounds, seed):
    """Runs the rounds; the sentences of those that failed."""
    failures = []
    for number in range(seed, seed + rounds):
        one = Round(number)
        try:
            one.run()
        except (Failure, subprocess.TimeoutExpired) as failure:
            failures.append(f"--seed {number}: {failure}")
            print(failures[-1], file=sys.stderr, flush=True)
        finally:
            one.clean_up()
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    failures = soak(options.rounds, options.seed)
    print(f"{options.rounds} rounds from seed {options.seed} in {time.monotonic() - started:.0f} s")
    print(f"{options.rounds - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
