"""How fast a gang of N x `true` starts and ends, beside a bare fork+exec loop and torchrun.

    python bench/gang_start.py [--runs 7] [--sizes 1,8,32,100]

With --sizes 1,10,100,1000 it is the start-up curve of README.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Figure, Series, Verdicts, build_folder, gangrun_program, in_turns

# Debian's torch 1.13 runs on Python 3.11 only with its output redirected (-r 1 -t 1).
TORCHRUN = ["/usr/bin/python3", "-m", "torch.distributed.run", "--standalone", "-r", "1", "-t", "1",
            "--no_python"]
# More of its processes take longer than there is to learn from them.
MOST_OF_TORCHRUN = 32
# It looks for the end of its processes every 5 s; told to look ten times a second it is at its best.
TUNED = ["--monitor_interval", "0.1"]


def bare_loop(size: int) -> float:
    done = subprocess.run([build_folder() / "bench" / "bare_loop", str(size), "true"], check=True, capture_output=True)
    return json.loads(done.stdout)["done_ms"]


class Gangrun:
    """Runs gangs; keeps the time to all started of each run beside the whole command's."""

    def __init__(self, home: str) -> None:
        self.environment = os.environ | {"GANGRUN_HOME": home}
        self.started: dict[int, list[float]] = {}

    def run(self, size: int) -> float:
        begin = time.monotonic()
        done = subprocess.run(
            [gangrun_program(), "run", "--json", "-r", f"worker:{size}", "--", "true"],
            check=True, capture_output=True, env=self.environment,
        )
        taken = (time.monotonic() - begin) * 1000
        status = json.loads(done.stdout.splitlines()[-1])
        self.started.setdefault(size, []).append(status["status"]["all_started_ms"])
        return taken


def torchrun(size: int, tuning: list[str]) -> float:
    with tempfile.TemporaryDirectory() as logs:
        begin = time.monotonic()
        subprocess.run([*TORCHRUN, *tuning, "--log_dir", logs, "--nproc_per_node", str(size), "true"],
                       check=True, capture_output=True)
        return (time.monotonic() - begin) * 1000


def has_torchrun() -> bool:
    probe = [*TORCHRUN[:3], "--help"]
    return Path(TORCHRUN[0]).exists() and subprocess.run(probe, capture_output=True).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sizes", default="1,8,32,100")
    arguments = parser.parse_args()
    verdicts = Verdicts()
    with_torchrun = has_torchrun()
    if not with_torchrun:
        print("torchrun is not installed (tools/install-deps bench): its column is missing",
              file=sys.stderr)
    figure = Figure("gang_start", "A gang that runs true on this machine: until all have ended", "ms, lower is better")
    print("milliseconds, minimum and median of", arguments.runs, "runs (torchrun: 1)")
    with tempfile.TemporaryDirectory() as home:
        gangrun = Gangrun(home)
        for size in map(int, arguments.sizes.split(",")):
            taken = in_turns(arguments.runs, {"bare": lambda n=size: bare_loop(n),
                                              "gangrun": lambda n=size: gangrun.run(n)})
            started = Series(tuple(gangrun.started[size]))
            print(f"{size:4} x true: bare loop done {taken['bare']}   gangrun all started {started}"
                  f"   gangrun done {taken['gangrun']}", flush=True)
            group = f"{size} task{'s' if size > 1 else ''}"
            figure.add(group, "fork and exec alone", taken["bare"].minimum)
            figure.add(group, "gangrun", taken["gangrun"].minimum)
            ratio = taken["gangrun"].minimum / taken["bare"].minimum
            if size in (32, 100):
                verdicts.at_most(f"gangrun done / bare loop done at {size}", ratio, 8)
            if with_torchrun and size <= MOST_OF_TORCHRUN:
                peers = in_turns(1, {"default": lambda n=size: torchrun(n, []),
                                     "tuned": lambda n=size: torchrun(n, TUNED)})
                figure.add(group, "torchrun", peers["default"].minimum)
                figure.add(group, "torchrun, told to look every 0.1 s", peers["tuned"].minimum)
                print(f"     torchrun done: by default {peers['default']}, looking every 0.1 s"
                      f" {peers['tuned']} ({peers['tuned'].minimum / taken['gangrun'].minimum:.0f}"
                      " times gangrun)")
                verdicts.at_least(f"torchrun done / gangrun done at {size}",
                                  peers["default"].minimum / taken["gangrun"].minimum, 50)
    figure.write()
    verdicts.finish()


if __name__ == "__main__":
    main()
