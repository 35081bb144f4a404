"""One task of a gang of 32 fails: from its failure to the last process gone, and to the command's exit.

    python bench/fail_fast.py [--runs 7] [--size 32]
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

from measure import Series, Verdicts, gangrun_program

# Task 0 waits until all others run, writes the time and fails; the others write the time when SIGTERM
# reaches them, and obey it. Reading a fifo that nobody else writes is how they wait.
TASK = r"""
cd "$OUT"
if [ "$GANGRUN_TASK_INDEX" = 0 ]; then
  exec 3<> running
  for ((i = 0; i < OTHERS; ++i)); do read -r -u 3; done
  echo "$EPOCHREALTIME" > failed
  exit 3
fi
trap 'echo "$EPOCHREALTIME" > told.$GANGRUN_TASK_INDEX; exit 0' TERM
exec 3<> never.$GANGRUN_TASK_INDEX
echo > running
read -r -u 3
"""


def one_run(size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        out.mkdir()
        for name in ["running", *(f"never.{index}" for index in range(1, size))]:
            os.mkfifo(out / name)
        environment = os.environ | {"GANGRUN_HOME": folder, "OUT": str(out), "OTHERS": str(size - 1)}
        done = subprocess.run(
            [gangrun_program(), "run", "-r", f"worker:{size}", "--", "bash", "-c", TASK],
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
