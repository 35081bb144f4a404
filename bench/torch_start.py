"""How soon a gang of 8 PyTorch ranks has done its first collective, beside torchrun.

    python bench/torch_start.py [--runs 3] [--ranks 8]

From the command to the moment when the last rank has the result of an all-reduce; the two in turns.
Most of it is the ranks' own import of PyTorch, which both have to wait for. On a machine that is busy with
other things, Linux shares the processors by session: each task is one, and all that torchrun starts is one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Verdicts, gangrun_program, in_turns

PYTHON = "/usr/bin/python3"  # Debian's PyTorch belongs to it
# Debian's torch 1.13 runs on Python 3.11 only with its output redirected (-r 1 -t 1). It looks for the end of
# its processes every 5 s: the end is not measured here, but waited for.
TORCHRUN = [PYTHON, "-m", "torch.distributed.run", "--standalone", "-r", "1", "-t", "1", "--monitor_interval", "0.1"]
LIMIT_S = 300

# The monotonic clock is one for all processes.
RANK = """
import os, sys, time
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
assert total.item() == dist.get_world_size()
with open(os.path.join(sys.argv[1], os.environ["RANK"]), "w") as file:
    file.write(str(time.monotonic()))
"""


class Gangs:
    """Runs them; every measurement is in milliseconds."""

    def __init__(self, folder: str, ranks: int) -> None:
        self.folder = Path(folder)
        self.ranks = ranks
        self.script = self.folder / "rank.py"
        self.script.write_text(RANK)
        self.environment = os.environ | {"GANGRUN_HOME": str(self.folder / "home"), "OMP_NUM_THREADS": "1"}

    def measure(self, command: list) -> float:
        with tempfile.TemporaryDirectory(dir=self.folder) as done:
            begin = time.monotonic()
            subprocess.run([*map(str, command), self.script, done], check=True, capture_output=True,
                           env=self.environment, timeout=LIMIT_S)
            ends = [float(file.read_text()) for file in Path(done).iterdir()]
        assert len(ends) == self.ranks
        return (max(ends) - begin) * 1000

    def gangrun(self, tasks: int) -> float:
        return self.measure([gangrun_program(), "run", "--framework", "pytorch", "-r", f"worker:{tasks}",
                             "--processes", self.ranks // tasks, "--", PYTHON])

    def torchrun(self) -> float:
        return self.measure([*TORCHRUN, "--log_dir", self.folder / "logs", "--nproc_per_node", self.ranks])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=8)
    arguments = parser.parse_args()
    if not Path(PYTHON).exists() or subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        sys.exit("PyTorch is not installed: tools/install-deps bench")
    verdicts = Verdicts()
    print(f"milliseconds to the first collective of {arguments.ranks} ranks, minimum and median of {arguments.runs} runs")
    with tempfile.TemporaryDirectory() as folder:
        gangs = Gangs(folder, arguments.ranks)
        gangs.gangrun(1)  # brings PyTorch into the page cache
        taken = in_turns(arguments.runs, {
            f"gangrun, {arguments.ranks} tasks": lambda: gangs.gangrun(arguments.ranks),
            "torchrun": gangs.torchrun,
            f"gangrun, {arguments.ranks} processes in a task": lambda: gangs.gangrun(1),
        })
    for name, series in taken.items():
        print(f"{name:32} {series}")
    tasks, peer, processes = taken.values()
    ratios = [own / other for own, other in zip(tasks.values, peer.values)]
    print(f"{arguments.ranks} tasks / torchrun, run by run: {' '.join(f'{ratio:.2f}' for ratio in ratios)}")
    verdicts.at_most("tasks / torchrun in the worst run", max(ratios), 1)
    verdicts.at_most("processes in a task / torchrun, minima", processes.minimum / peer.minimum, 1)
    verdicts.finish()


if __name__ == "__main__":
    main()
