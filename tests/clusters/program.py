"""What the fixtures of clusters share whose daemons a program of ours starts and stops."""

import os
import pathlib
import subprocess

ORDER_LIMIT_S = 240


class RunningCluster:
    """A running cluster. Its options are those of the program's `up`: nodes=2, kerberos=True, set=["a.b=c"], ..."""

    program: pathlib.Path

    def __init__(self, folder, **options):
        self.folder = pathlib.Path(folder)
        words = ["--until", str(os.getpid())]
        for name, value in options.items():
            for item in value if isinstance(value, (list, tuple)) else [value]:
                flag = "--" + name.replace("_", "-")
                words += [] if item is False else [flag] if item is True else [flag, str(item)]
        self.order("up", *words)

    def order(self, command, *words):
        """Runs a command of the program, which must be well, and returns what it printed."""
        done = subprocess.run([str(self.program), command, "--dir", str(self.folder), *map(str, words)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ORDER_LIMIT_S)
        assert done.returncode == 0, f"{self.program.name} {command} {' '.join(map(str, words))}: {done.stderr}"
        return done.stdout
