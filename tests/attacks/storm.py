"""Kills and freezes processes of jobs at random, on this machine and on hosts that ssh reaches, and judges each job's end.

    storm.py [--runs N] [--minutes N] [--seed S]

Each run has a number, which decides everything about it: the place, the level of containment, whether two busy loops are
beside it, whether it is detached, how many tasks it has, and which processes are killed or frozen, and when. Afterwards every
command has to end (else it hung), with the right verdict (else it is wrong), and nothing may be left: no process, no socket, no
folder on a host. A failure prints its number; --seed NUMBER --runs 1 runs that one again. A seed S of N runs has the numbers
S to S + N - 1. Processes are told apart by what they are for a user, never by who has started whom. It needs root and sshd for
hosts that ssh reaches, and leaves those out elsewhere. GANGRUN_BIN is the folder of the programs.
"""

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/ssh")]

from conftest import Hosts  # noqa: E402: the hosts of the tests
from living import processes_with  # noqa: E402: as the tests look for them
from sshds import SSHD, Sshds  # noqa: E402

BIN = pathlib.Path(os.environ.get("GANGRUN_BIN", ROOT / "build/release/src"))
# Long after any limit of a job here has passed.
LIMIT_S = 120
LEVELS = ("pid_namespace", "cgroup", "subreaper")
HOSTS = 2
# Shorter than the lease, so that who was frozen is still in time.
LONGEST_FREEZE_S = 2
LEASE = "15s"
# One task: it ignores signals, and has processes that have left its session, until it is told to end.
TASK = """
trap '' TERM HUP INT
setsid sh -c 'sh -c "exec tail -f /dev/null" & exec tail -f /dev/null' &
echo >> "{out}/up.$GANGRUN_TASK_INDEX"
while [ ! -e "{out}/done" ]; do read -t 0.05 nothing <> "{out}/fifo"; done
echo >> "{out}/well.$GANGRUN_TASK_INDEX"
exit 0
"""
EXITS = {"succeeded": 0, "failed": 1, "lost": 6}
COULD_NOT_START = 3


class Hung(Exception):
    pass


class Left(Exception):
    pass


class Wrong(Exception):
    pass


def shared_memory():
    """That of our programs (base/files.cc); the tasks have none, and other programs' is not ours to judge."""
    return {name for name in os.listdir("/dev/shm") if name.startswith("gangrun-")}


def pause(seconds):
    """The moment of a fault is chosen at random: nothing is waited for."""
    select.select([], [], [], seconds)


def wait_until(condition, kind, what):
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit:
        if value := condition():
            return value
        pause(0.01)
    raise kind(f"waited {LIMIT_S} s for {what() if callable(what) else what}")


@dataclasses.dataclass
class Process:
    pid: int
    parent: int
    words: list
    environment: set


def look_at(pid):
    try:
        folder = pathlib.Path(f"/proc/{pid}")
        fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        words = (folder / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
        return None if fields[0] == "Z" else Process(pid, int(fields[1]), words, set((folder / "environ").read_bytes().split(b"\0")))
    except OSError:
        return None  # it ended while we looked


def role_of(process):
    """What it is for a user: (role, index of its task where that is known)."""
    program = pathlib.Path(process.words[0]).name
    index = next((int(each.split(b"=")[1]) for each in process.environment if each.startswith(b"GANGRUN_TASK_INDEX=")), None)
    if program == "gangrun":
        return {"supervise": "supervisor", "master": "master"}.get(process.words[1], "client"), None
    if program.startswith("ssh"):
        return "ssh", None
    if "host" in process.words[1:2] and "--folder" in process.words:
        return "keeper", None
    # On a host that ssh reaches its name is a hash.
    if "--containment" in process.words or process.words[1:2] == ["starter"] or program.startswith("gangrun"):
        return "agent", None
    if program == "bash" and index is not None:
        return "task", index
    return "other", index


class Run:
    def __init__(self, number, levels, sshds):
        self.number, self.sshds = number, sshds
        self.random = random.Random(number)
        choose = self.random.choice
        self.place = choose(sorted(levels))
        self.level = choose(levels[self.place])
        self.busy = choose([False, True])
        self.detached = choose([False, True])
        self.tasks = self.random.randint(1, 4)
        self.early = self.random.random() < 0.3  # while the job still starts
        self.delay_s = self.random.uniform(0, 0.8)
        self.faults = [(choose(["kill", "kill", "freeze"]), self.random.random(), self.random.uniform(0, 0.3))
                       for _ in range(self.random.randint(1, 3))]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="storm"))
        self.home = self.folder / "h"
        self.client, self.loops, self.done_to, self.told_faults = None, [], [], []
        self.shared_memory = shared_memory()

    def __str__(self):
        words = [self.place, self.level, "detached" if self.detached else "attached", f"{self.tasks} tasks",
                 "beside busy loops" if self.busy else "alone", "while it starts" if self.early else "while it runs"]
        return f"{', '.join(words)}: {', '.join(self.told_faults) or 'nothing done'}"

    # The job's processes.

    def processes(self):
        pids = set(processes_with(f"GANGRUN_HOME={self.home}"))
        if self.place == "ssh":
            listeners = {process.pid for process in self.sshds.processes.values()}
            for name in self.sshds.hosts.names:
                pids |= {pid for pid in self.sshds.pids(name) if pid not in listeners}
        found = filter(None, map(look_at, sorted(pids)))
        return {process.pid: process for process in found if not self.is_listener(process)}

    def is_listener(self, process):
        return process.words[0].startswith("sshd: /usr/sbin/sshd") or process.words[0] == SSHD

    def victims(self):
        """By role, in an order that does not depend on numbers of processes."""
        processes = self.processes()

        def stands_for_itself(process):
            parent = processes.get(process.parent)
            # Until it has executed its program, a new process looks like the one that started it.
            return parent is None or parent.words != process.words or role_of(process)[0] == "agent"

        found = [(role_of(each)[0], role_of(each)[1], pid) for pid, each in processes.items() if stands_for_itself(each)]
        return sorted(found, key=lambda each: (each[0], -1 if each[1] is None else each[1], each[2]))

    # A run from its start to its end.

    def command(self, *words):
        try:
            return subprocess.run([BIN / "gangrun", *words], env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Hung(f"gangrun {' '.join(words)}") from None

    def environment(self):
        return os.environ | {"GANGRUN_HOME": str(self.home)}

    def start(self):
        os.mkfifo(self.folder / "fifo")
        where = []
        if self.place == "ssh":
            where = at_ssh(self.sshds, 2)
        words = ["run", *where, "-r", f"worker:{self.tasks}", "--timeout", "stop=1s", "--timeout", f"master_lost={LEASE}",
                 "--containment", self.level, *(["--detach"] if self.detached else [])]
        self.client = subprocess.Popen([BIN / "gangrun", *words, "--", "bash", "-c", TASK.format(out=self.folder)], env=self.environment(),
                                       stdin=subprocess.DEVNULL, stdout=open(self.folder / "out", "w"), cwd=self.folder,
                                       stderr=open(self.folder / "err", "w"))
        if self.busy:
            self.loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"], stdin=subprocess.DEVNULL) for _ in range(2)]
        if self.early:
            return pause(self.delay_s)
        wait_until(lambda: len(list(self.folder.glob("up.?"))) == self.tasks or self.client.poll() not in (None, 0), Hung,
                   lambda: f"the tasks to run: {self.said()}")
        if len(list(self.folder.glob("up.?"))) != self.tasks:
            raise Wrong(f"it did not start: {self.said()}")

    def said(self):
        logs = [path.read_text()[-2000:] for path in self.home.glob("jobs/*/master.log")]
        return "\n".join([(self.folder / "err").read_text()[-2000:], *logs])

    def strike(self):
        for what, share, pause_s in self.faults:
            victims = self.victims()
            if not victims:
                return
            # Each role as often as any other, however many processes it has.
            roles = sorted({role for role, _, _ in victims})
            role = roles[int(share * len(roles))]
            chosen = [each for each in victims if each[0] == role]
            _, index, pid = chosen[int(share * 1000) % len(chosen)]
            victim = look_at(pid)
            words = f" ({' '.join(victim.words[:4])[:200]})" if victim and role in ("agent", "other") else ""
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if what == "kill" else signal.SIGSTOP)
                self.done_to.append((what, role, index))
                self.told_faults.append(f"{what} {role}{words}")
                if what == "freeze":
                    pause(min(LONGEST_FREEZE_S, share * LONGEST_FREEZE_S))
                    os.kill(pid, signal.SIGCONT)
            pause(pause_s)

    def expected(self):
        """The states that are right; None: the job may not have come into being."""
        killed = {role for what, role, _ in self.done_to if what == "kill"}
        hit = bool(killed & {"task", "agent"})
        if self.early and killed & {"client", "supervisor", "master"}:
            return {None, "succeeded", "failed", "lost"}
        if "client" in killed and not self.detached:
            return {"lost", "failed"} if hit else {"lost"}
        if {"supervisor", "master"} <= killed and hit:
            # Whether somebody still saw an agent, or a master that was being started, is a matter of moments.
            return {"lost", "failed"}
        return {"failed"} if hit else {"succeeded"}

    def run(self):
        self.start()
        self.strike()
        states = self.expected()
        if "succeeded" in states and (self.home / "jobs").exists():
            self.command("status", "last")  # the next command brings back whatever has to come back
        (self.folder / "done").touch()
        try:
            client = self.client.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Hung(f"the client: {self.said()}") from None
        self.judge(states, client)
        self.look_for_leftovers()

    def judge(self, states, client):
        if not list(self.home.glob("jobs/*")):
            if None not in states:
                raise Wrong(f"there is no job: {self.said()}")
            return
        ended = self.command("wait", "last")
        done = self.command("status", "--json", "last")
        if done.returncode != 0:
            if None in states:
                return
            raise Wrong(f"status: {done.stderr}")
        status = json.loads(done.stdout)
        state, cause = status["state"], status.get("cause") or {}
        told = f"{json.dumps(cause)}; wait said {ended.returncode} {ended.stderr[-300:]}; the client {client}: {self.said()}"
        if state == "succeeded" and not self.ended_well():
            raise Wrong(f"{state}, and not each task has run once, to its end: {told}")
        # Whose guardian was killed may still come to the end of its run, and tell it.
        if state not in states | {"succeeded"}:
            raise Wrong(f"{state}, and {' or '.join(map(str, states))} is right: {told}")
        right = {EXITS[state]} | ({COULD_NOT_START} if self.early and state == "failed" else set())
        if ended.returncode not in right:
            raise Wrong(f"{state}, but wait ended with {ended.returncode}: {told}")
        if not self.detached and client >= 0 and client != ended.returncode:
            raise Wrong(f"{state}, but the client ended with {client}: {told}")
        indexes = {index for what, role, index in self.done_to if what == "kill" and role == "task"}
        only_tasks = {role for what, role, _ in self.done_to if what == "kill"} <= {"task", "other"}
        if state == "failed" and only_tasks and cause.get("task") not in {f"worker:{index}" for index in indexes}:
            raise Wrong(f"one of {sorted(indexes)} is the first cause: {told}")

    def ended_well(self):
        """Each task was started once, and has come to its own end."""
        return all((self.folder / f"{what}.{index}").exists() and (self.folder / f"{what}.{index}").read_text() == "\n"
                   for index in range(self.tasks) for what in ("up", "well"))

    def look_for_leftovers(self):
        wait_until(lambda: not self.processes(), Left, lambda: f"the end of {[each.words for each in self.processes().values()]}")
        # The next command takes away what killed processes could not.
        self.command("status", "last")
        bound = [line for line in pathlib.Path("/proc/net/unix").read_text(errors="replace").splitlines() if str(self.home) in line]
        if sockets := [*bound, *map(str, self.home.glob("jobs/*/*.sock"))]:
            raise Left(f"sockets: {sockets}")
        if left := shared_memory() - self.shared_memory:
            raise Left(f"shared memory: {left}")
        if self.place == "ssh":
            for name in self.sshds.hosts.names:
                wait_until(lambda name=name: not self.sshds.run_folders(name), Left,
                           lambda name=name: f"the end of folders on {name}: {self.all_left(name)}")

    def all_left(self, name):
        """Of jobs on a host, with each lock's text, and what runs there."""
        paths = sorted(self.sshds.cache(name).glob("gangrun/jobs/**/*"))
        left = [f"{path} {path.read_text() if path.name == 'lock' else ''}".strip() for path in paths]
        return f"{left}; {[process.words for process in filter(None, map(look_at, self.sshds.pids(name)))]}"

    def clean_up(self):
        for loop in self.loops:
            loop.kill()
            loop.wait()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.client:
            self.client.kill()
            self.client.wait(LIMIT_S)
        if self.place == "ssh":
            for name in self.sshds.hosts.names:
                shutil.rmtree(self.sshds.cache(name) / "gangrun/jobs", ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def at_ssh(sshds, slots):
    """The flags for a job on these hosts."""
    hosts = ",".join(f"{name}:{slots}" for name in sshds.hosts.names)
    return ["--on", "ssh", "--ssh-config", str(sshds.config), "--hosts", hosts]


def possible_levels(where):
    """Those that a job there can have."""
    with tempfile.TemporaryDirectory() as home:
        def has(level):
            return subprocess.run([BIN / "gangrun", "run", *where, "--containment", level, "-r", "worker:1", "--", "true"], cwd=home,
                                  env=os.environ | {"GANGRUN_HOME": home}, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=LIMIT_S).returncode == 0

        found = [level for level in LEVELS if has(level)]
    if not found:
        raise RuntimeError(f"no job of one task runs {' '.join(where) or 'here'}, with any level of containment")
    return found


@contextlib.contextmanager
def reached_hosts():
    """Two hosts with an sshd each; None where there can be none."""
    if os.geteuid() != 0 or not pathlib.Path(SSHD).exists():
        yield None
        return
    hosts = Hosts(HOSTS, ["10.214"])
    hosts.make()
    with tempfile.TemporaryDirectory(prefix="storm") as folder:
        sshds = Sshds(hosts, pathlib.Path(folder)).start()
        try:
            yield sshds
        finally:
            sshds.stop()
            hosts.remove_all()


def storm(runs, minutes, seed):
    """The numbers of runs and faults, and {kind of failure: its sentences}."""
    failures, faults, done = collections.defaultdict(list), 0, 0
    deadline = time.monotonic() + minutes * 60
    with reached_hosts() as sshds:
        levels = {"here": possible_levels([])} | ({"ssh": possible_levels(at_ssh(sshds, 1))} if sshds else {})
        print(f"seed {seed};", "; ".join(f"{place}: {', '.join(found)}" for place, found in levels.items()), flush=True)
        for number in range(seed, seed + runs):
            if time.monotonic() > deadline:
                break
            one = Run(number, levels, sshds)
            try:
                one.run()
            except (Hung, Left, Wrong) as failure:
                kind = type(failure).__name__.lower()
                failures[kind].append(f"--seed {number} --runs 1: {kind}: {one}: {failure}")
                print(failures[kind][-1], file=sys.stderr, flush=True)
            finally:
                one.clean_up()
            done += 1
            faults += len(one.done_to)
    return done, faults, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=int(os.environ.get("STORM_RUNS", 300)))
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("STORM_SEED", random.SystemRandom().randrange(1, 10**9))))
    options = parser.parse_args()
    started = time.monotonic()
    done, faults, failures = storm(options.runs, options.minutes, options.seed)
    counts = ", ".join(f"{len(failures[kind])} {kind}" for kind in ("hung", "left", "wrong"))
    print(f"storm: seed {options.seed}: {done} runs with {faults} faults in {time.monotonic() - started:.0f} s: {counts}")
    failed = sum(map(len, failures.values()))
    print(f"{done - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
