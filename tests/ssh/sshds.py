"""Hosts that ssh reaches: a real sshd in each network namespace of tests/conftest.py's Hosts.

Each has a mount namespace of its own, an empty home folder, a cache folder of its own (XDG_CACHE_HOME, where the agent is
kept), and with `private` no folder in common with the client's.
"""

import contextlib
import os
import pathlib
import signal
import subprocess

from waiting import wait_until

SSHD = "/usr/sbin/sshd"
# Below /tmp and /var/tmp a private host has nothing of this machine's.
PRIVATE = "mount -t tmpfs none /tmp && mount -t tmpfs none /var/tmp && "


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, timeout=30)
    return path.with_suffix(".pub").read_text().split()[:2]


class Sshds:
    """One for each of `hosts`. `config` is the file for `ssh -F`, `folder` one of this machine.

    `environment` is what logins have beside their own.
    """

    def __init__(self, hosts, folder, private=False, before="", sshd_options="", environment=None):
        self.hosts = hosts
        self.folder = folder
        # With a mount namespace that hides /tmp, what sshd reads has to be read before.
        self.before = (PRIVATE if private else "") + before
        self.sshd_options = sshd_options
        self.environment = environment or {}
        self.config = folder / "ssh_config"
        self.known = folder / "known_hosts"
        self.processes = {}
        self.keys = pathlib.Path(f"/etc/gangrun-test-{os.getpid()}")

    def start(self):
        pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        # Where no private host hides it.
        self.keys.mkdir(mode=0o700)
        kind, key = make_key(self.keys / "host")
        (self.keys / "authorized").write_text(" ".join(make_key(self.keys / "user")) + "\n")
        lines, known = [], []
        for name in self.hosts.names:
            address = self.hosts.address(name)
            lines += [f"Host {name}", f"  HostName {address}"]
            known.append(f"{address} {kind} {key}\n")
        lines += ["Host *", f"  IdentityFile {self.keys}/user", "  IdentitiesOnly yes", "  ControlPath none",
                  f"  UserKnownHostsFile {self.known}", "  GlobalKnownHostsFile /dev/null", "  PreferredAuthentications publickey"]
        self.config.write_text("\n".join(lines) + "\n")
        self.known.write_text("".join(known))
        for name in self.hosts.names:
            self.start_one(name)
        return self

    def cache(self, name):
        """Where the host keeps the agent and the jobs' folders, as its own processes see it."""
        return self.keys / f"cache-{name}"

    def home(self, name):
        """Of its user, with the profile that logins read."""
        return self.keys / f"home-{name}"

    def start_one(self, name):
        self.cache(name).mkdir(mode=0o700, exist_ok=True)
        # A profile of this machine's may not stand being killed at any time.
        self.home(name).mkdir(mode=0o700, exist_ok=True)
        own = {"HOME": self.home(name), "XDG_CACHE_HOME": self.cache(name)}
        config = self.keys / f"sshd-{name}"
        variables = " ".join(f"{key}={value}" for key, value in (own | self.environment).items())
        config.write_text(f"Port 22\nListenAddress {self.hosts.address(name)}\nHostKey {self.keys}/host\n"
                          f"AuthorizedKeysFile {self.keys}/authorized\nPidFile none\nUsePAM no\nStrictModes no\n"
                          f"PermitRootLogin prohibit-password\nSetEnv {variables}\n{self.sshd_options}")
        script = f"{self.before.format(cache=self.cache(name))}exec {SSHD} -D -e -f {config}"
        log = open(self.folder / f"sshd-{name}.log", "a")
        self.processes[name] = subprocess.Popen(
            ["ip", "netns", "exec", name, "unshare", "-m", "--propagation", "private", "sh", "-c", script],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        wait_until(lambda: self.answers(name), lambda: f"sshd of {name}: {self.log(name)}")

    def log(self, name):
        return (self.folder / f"sshd-{name}.log").read_text()

    def answers(self, name):
        if self.processes[name].poll() is not None:
            raise AssertionError(self.log(name))
        return "Server listening" in self.log(name)

    def run(self, name, script):
        """What a shell on the host prints."""
        done = subprocess.run(["ssh", "-F", str(self.config), "-o", "BatchMode=yes", name, script], check=True, timeout=60,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return done.stdout

    def pids(self, name):
        shown = subprocess.run(["ip", "netns", "pids", name], check=True, capture_output=True, text=True, timeout=30).stdout
        return [int(pid) for pid in shown.split()]

    def commands(self, name, word):
        """Living processes of the host whose command line has the word."""
        found = {}
        for pid in self.pids(name):
            with contextlib.suppress(OSError):
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if word in line:
                    found[pid] = line
        return found

    def agents(self, name):
        return (self.commands(name, "--containment") | self.commands(name, " host --folder ") | self.commands(name, " caretaker "))

    def run_folders(self, name):
        return sorted(path.name for path in self.cache(name).glob("gangrun/jobs/*"))

    def kill_sshd(self, name):
        """The one that listens, and those of its connections; what they have started lives on."""
        for pid in self.commands(name, "sshd"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.processes[name].wait(timeout=60)
        (self.folder / f"sshd-{name}.log").write_text("")

    def freeze(self, name, number=signal.SIGSTOP):
        for pid in self.pids(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def thaw(self, name):
        self.freeze(name, signal.SIGCONT)

    def stop(self):
        for name in self.hosts.names:
            with contextlib.suppress(subprocess.CalledProcessError):
                wait_until(lambda: not self.kill_all(name), f"the end of all processes of {name}")
        for process in self.processes.values():
            process.wait(timeout=60)
        subprocess.run(["rm", "-rf", str(self.keys)], check=True, timeout=60)

    def kill_all(self, name):
        # All are stopped first, with what they were just starting, so that none can answer the death of another.
        stopped = set()
        while new := set(self.pids(name)) - stopped:
            self.tell(new, signal.SIGSTOP)
            stopped |= new
        self.tell(stopped, signal.SIGKILL)
        return stopped

    @staticmethod
    def tell(pids, number):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
