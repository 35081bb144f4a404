"""How soon a gang runs on 2, 16 and 100 hosts that ssh reaches, beside `ssh HOST true` alone.

    python bench/ssh_start.py [--runs 3] [--sizes 2,16,100] [--kex curve25519-sha256]

The hosts are processes of sshd on this machine, each with its own port and its own home folder, which is empty: what a
user's shell does at a login is not measured. From the command until the last of the tasks, one on each host, runs: the
first time, when no host has the agent, and again. In turns with it, what ssh alone takes: one host after another, and 16
at a time, which is the limit of what the machine can do. Most of that is the key exchange, on both sides; --kex has
another one.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from gate import Gate
from measure import Figure, Series, Verdicts, gangrun_program, in_turns

SSHD = "/usr/sbin/sshd"
LIMIT_S = 300
AT_ONCE = 16  # as gangrun logs in
JUDGED = 16  # hosts: fewer are over too soon, and more want more processors than there are
SSHD_CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/user_key.pub
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
StrictModes no
PrintMotd no
SetEnv HOME={folder}/{name}
"""
HOST = """
Host {name}
  HostName 127.0.0.1
  Port {port}
"""
ALL_HOSTS = """
Host *
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  ControlPath none
  BatchMode yes
{more}
"""


def free_ports(count: int) -> list[int]:
    """All are bound at once, so that none comes twice."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Hosts:
    """So many sshd, which end when it is left."""

    def __init__(self, folder: pathlib.Path, count: int, kex: str = "") -> None:
        self.folder = folder
        self.more = f"  KexAlgorithms {kex}" if kex else ""
        self.ports = {f"h{number}": port for number, port in enumerate(free_ports(count))}
        self.names = list(self.ports)
        self.config = folder / "ssh_config"
        self.servers: list[subprocess.Popen] = []

    def __enter__(self) -> "Hosts":
        for key in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key], check=True)
        key = (self.folder / "host_key.pub").read_text()
        known = [f"[127.0.0.1]:{port} {key}" for port in self.ports.values()]
        (self.folder / "known_hosts").write_text("".join(known))
        entries = [HOST.format(name=name, port=port) for name, port in self.ports.items()]
        self.config.write_text("".join(entries) + ALL_HOSTS.format(folder=self.folder, more=self.more))
        # sshd changes into it where it has no rights, and will not start without it.
        pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        try:
            for name, port in self.ports.items():
                (self.folder / name).mkdir()
                config = self.folder / f"{name}.conf"
                config.write_text(SSHD_CONFIG.format(name=name, port=port, folder=self.folder))
                self.servers.append(subprocess.Popen([SSHD, "-D", "-f", config, "-E", self.folder / f"{name}.log"]))
            for name in self.names:
                self.wait_for(name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for server in self.servers:
            server.kill()
            server.wait()

    def wait_for(self, name: str) -> None:
        deadline = time.monotonic() + LIMIT_S
        while self.ssh(name, check=False) != 0:
            if time.monotonic() > deadline:
                raise SystemExit(f"sshd of {name} does not answer: {(self.folder / f'{name}.log').read_text()}")

    def ssh(self, name: str, check: bool = True) -> int:
        # As gangrun starts it: on a busy machine Linux shares the processors by session.
        done = subprocess.run(["ssh", "-F", self.config, name, "true"], capture_output=True, text=True, timeout=LIMIT_S,
                              start_new_session=True)
        if check and done.returncode:
            raise SystemExit(f"ssh {name}: {done.stderr}")
        return done.returncode

    def in_a_loop(self, count: int) -> float:
        begin = time.monotonic()
        for name in self.names[:count]:
            self.ssh(name)
        return time.monotonic() - begin

    def at_once(self, count: int) -> float:
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self.ssh, self.names[:count]))
        return time.monotonic() - begin

    def forget_agents(self) -> None:
        for name in self.names:
            shutil.rmtree(self.folder / name / ".cache", ignore_errors=True)

    def gang(self, count: int) -> float:
        """From the command until the last task runs."""
        hosts = ",".join(f"{name}:1" for name in self.names[:count])
        environment = os.environ | {"GANGRUN_HOME": str(self.folder / "home")}
        with Gate(self.folder) as gate:
            begin = time.time()
            job = subprocess.Popen(
                [gangrun_program(), "run", "--quiet", "--on", "ssh", "--ssh-config", self.config, "--hosts", hosts,
                 "-r", f"worker:{count}", "--", *gate.words],
                env=environment, stdin=subprocess.DEVNULL, cwd=self.folder)
            try:
                taken = gate.wait(count, job) - begin
            except BaseException:
                job.terminate()  # and its tasks end with it
                raise
        if job.wait(LIMIT_S):
            raise SystemExit(f"gangrun run: status {job.returncode}")
        return taken

    def first_gang(self, count: int) -> float:
        self.forget_agents()
        return self.gang(count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sizes", default="2,16,100")
    parser.add_argument("--kex", default="", help="the key exchange of ssh, instead of its own choice")
    arguments = parser.parse_args()
    if not pathlib.Path(SSHD).exists():
        raise SystemExit("sshd is not installed: tools/install-deps bench")
    sizes = [int(size) for size in arguments.sizes.split(",")]
    verdicts = Verdicts()
    figure = Figure("ssh_start", "Hosts that ssh reaches: until the last task runs", "s, lower is better")
    print(f"seconds, minimum and median of {arguments.runs} runs")
    with tempfile.TemporaryDirectory() as name, Hosts(pathlib.Path(name), max(sizes), arguments.kex) as hosts:
        for size in sizes:
            taken: dict[str, Series] = in_turns(arguments.runs, {
                "ssh, one after another": lambda n=size: hosts.in_a_loop(n),
                f"ssh, {AT_ONCE} at a time": lambda n=size: hosts.at_once(n),
                "gangrun, the first time": lambda n=size: hosts.first_gang(n),
                "gangrun": lambda n=size: hosts.gang(n),
            })
            for who, series in taken.items():
                print(f"{size:4} hosts: {who:24} {series.minimum:7.2f} {series.median:7.2f}", flush=True)
                figure.add(f"{size} hosts", who, series.minimum)
            loop, limit, first, again = (series.minimum for series in taken.values())
            print(f"{size:4} hosts: / one after another: the first time {first / loop:.2f}, again {again / loop:.2f};"
                  f" / {AT_ONCE} at a time: {first / limit:.2f}, {again / limit:.2f}", flush=True)
            if size == JUDGED:
                verdicts.at_most(f"gangrun / ssh one after another at {size}", again / loop, 1.5)
            verdicts.tell_at_most(f"gangrun / ssh {AT_ONCE} at a time at {size}", again / limit, 1.5)
            if size == 100:
                verdicts.tell_at_most(f"seconds to start {size}, the second time", again, 3)
    figure.write()
    verdicts.finish()


if __name__ == "__main__":
    main()
