"""One task of a gang of 32 fails: from its failure to the last process gone, and to the command's exit.

    python bench/fail_fast.py [--runs 7] [--size 32]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Series, Verdicts, gangrun_program

# Task 0 waits until all others run, writes the time and fails; the others write the time when SIGTERM
# reaches them, and obey it. They wait for it as a blocked signal: a shell's trap would miss one that comes
# between its last look and its read().
TASK = """
import os, signal, time
os.chdir(os.environ["OUT"])
index = int(os.environ["GANGRUN_TASK_INDEX"])
if index == 0:
    # Opened for writing too, so that there is no end of file between two writers.
    with os.fdopen(os.open("running", os.O_RDWR)) as running:
        for _ in range(int(os.environ["OTHERS"])):
            running.readline()
    with open("failed", "w") as failed:
        failed.write(str(time.time()))
    os._exit(3)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
with open("running", "w") as running:
    running.write("\\n")
signal.sigwait({signal.SIGTERM})
with open(f"told.{index}", "w") as told:
    told.write(str(time.time()))
"""


def one_run(size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        out.mkdir()
        os.mkfifo(out / "running")
        environment = os.environ | {"GANGRUN_HOME": folder, "OUT": str(out), "OTHERS": str(size - 1)}
        done = subprocess.run(
            [gangrun_program(), "run", "-r", f"worker:{size}", "--", sys.executable, "-S", "-c", TASK],
            capture_output=True, env=environment,
        )
        ended = time.time()
        if done.returncode != 1:
            raise SystemExit(f"expected the job to fail: {done.returncode} {done.stderr.decode()}")
        failed = float((out / "failed").read_text())
        told = [float(path.read_text()) for path in out.glob("told.*")]
        if len(told) != size - 1:
            raise SystemExit(f"{len(told)} of {size - 1} tasks were told to stop")
        return {"last_told": (max(told) - failed) * 1000, "exit": (ended - failed) * 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--size", type=int, default=32)
    arguments = parser.parse_args()
    runs = [one_run(arguments.size) for _ in range(arguments.runs)]
    told = Series(tuple(run["last_told"] for run in runs))
    ended = Series(tuple(run["exit"] for run in runs))
    print(f"gang of {arguments.size}, milliseconds after the failure, minimum and median of"
          f" {arguments.runs} runs:")
    print(f"  last of the others obeys its SIGTERM {told}")
    print(f"  the command has exited, nothing alive {ended}")
    verdicts = Verdicts()
    verdicts.at_most("last task told to stop, ms", told.minimum, 100)
    verdicts.at_most("failure to the command's exit, ms", ended.minimum, 200)
    verdicts.finish()


if __name__ == "__main__":
    main()
