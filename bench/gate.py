"""Processes that tell when they run and then wait: so that all of a gang are there when it is measured."""

import os
import pathlib
import select
import subprocess
import tempfile
import time

LIMIT_S = 300
LOOK_S = 1

SCRIPT = """#!/bin/bash
exec 3< "$1/go"
echo "$EPOCHREALTIME" > "$1/told"
read -r -u 3
exit 0
"""


# The shell of small images knows no fractions of a second.
SCRIPT_OF_PODS = """#!/bin/sh
exec 3<"$1/go"
echo here >"$1/told"
read -r _ <&3
exit 0
"""


class Gate:
    """Its processes run `words` and end when it is left."""

    script = SCRIPT

    def __init__(self, folder: pathlib.Path) -> None:
        self.inner = tempfile.TemporaryDirectory(dir=folder)
        self.folder = pathlib.Path(self.inner.name)
        script = self.folder / "task"
        script.write_text(self.script)
        script.chmod(0o755)
        self.words = [str(script), str(self.folder)]
        for name in ("told", "go"):
            os.mkfifo(self.folder / name)

    def __enter__(self) -> "Gate":
        # For both ends, so that neither side waits for the other to open its own.
        self.told, self.go = (os.open(self.folder / name, os.O_RDWR) for name in ("told", "go"))
        return self

    def __exit__(self, *_: object) -> None:
        if self.go is not None:
            self.release()
        os.close(self.told)

    def release(self) -> None:
        """Its processes end, once."""
        os.close(self.go)
        self.go = None

    def wait(self, count: int, started_by: subprocess.Popen) -> float:
        """When the last of so many processes has said that it runs, by time.time()."""
        lines, read_at = b"", 0.0
        deadline = time.monotonic() + LIMIT_S
        while lines.count(b"\n") < count:
            if select.select([self.told], [], [], LOOK_S)[0]:
                lines += os.read(self.told, 4096)
                read_at = time.time()
            elif started_by.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{' '.join(map(str, started_by.args))}: not all tasks have run")
        assert lines.count(b"\n") == count, "more tasks have run than there are"
        return self.last_of(lines, read_at)

    @staticmethod
    def last_of(lines: bytes, read_at: float) -> float:
        return max(float(line) for line in lines.split())


class PodGate(Gate):
    """For processes in pods of this machine, which see its folder under the same path; their words are read by a program
    that looks at the clock then."""

    script = SCRIPT_OF_PODS

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.folder.chmod(0o755)
        self.words = ["sh", *self.words]

    @staticmethod
    def last_of(lines: bytes, read_at: float) -> float:
        return read_at
