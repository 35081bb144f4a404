"""A job on hosts that ssh reaches, whose tasks tell that they live."""

import os
import subprocess

from waiting import wait_until

LIMIT_S = 120
# Appends a line to a file on the client's disk, which all hosts share, as long as there is no file "go".
TICK = 'while ! test -e go; do echo "$GANGRUN_GENERATION" >> tick.$GANGRUN_TASK_INDEX; sleep 0.05; done; echo done'


class Job:
    """`gangrun run` on all hosts, with `tmp_path` as the folder of all."""

    def __init__(self, gangrun, home, folder, sshds, slots, *words, command=TICK):
        self.home, self.folder, self.sshds = home, folder, sshds
        hosts = ",".join(f"{name}:{slots}" for name in sshds.hosts.names)
        self.process = subprocess.Popen(
            [gangrun, "run", "--on", "ssh", "--ssh-config", sshds.config, "--hosts", hosts, *words, "--", "sh", "-c", command],
            cwd=folder, env=os.environ | {"GANGRUN_HOME": str(home)}, stdin=subprocess.DEVNULL,
            stdout=open(folder / "out", "w"), stderr=open(folder / "err", "w"))

    def ticks(self, index):
        path = self.folder / f"tick.{index}"
        return path.read_text().split() if path.exists() else []

    def wait_for_ticks(self, index, generation=None):
        """Until the task has lived a little more."""
        before = len(self.ticks(index))

        def lives():
            assert self.process.poll() in (None, 0), self.said()
            new = self.ticks(index)[before:]
            return len(new) > 3 and (generation is None or new[-1] == str(generation))

        wait_until(lives, lambda: f"worker:{index} in generation {generation}: {self.said()}", LIMIT_S)

    def said(self):
        return (self.folder / "out").read_text() + (self.folder / "err").read_text()

    def wait(self):
        return self.process.wait(timeout=LIMIT_S)

    def let_end(self):
        (self.folder / "go").touch()
        assert self.wait() == 0, self.said()


def wait_for_nothing(sshds, names=None):
    for name in names or sshds.hosts.names:
        wait_until(lambda: not sshds.agents(name), lambda: f"the end of agents on {name}: {sshds.agents(name)}", LIMIT_S)
        wait_until(lambda: not sshds.run_folders(name), lambda: f"{name}: {sshds.run_folders(name)}", LIMIT_S)
