"""Memory of a master with 8 tasks, and the size of gangrun-agent.

    python bench/footprint.py [--runs 5]
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

from measure import Series, Verdicts, gangrun_program

MEGABYTE = 1e6


def memory_of(pid: int, field: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status).group(1)) * 1024


def master_memory(tasks: int) -> float:
    """Peak resident bytes of the process that is client and master, while all tasks run."""
    with tempfile.TemporaryDirectory() as home:
        go = Path(home) / "go"
        os.mkfifo(go)
        # The gate is open before the task says that it runs: one opened later would find no writer any more.
        command = f'exec 3< "{go}"; : > "{home}/running.$GANGRUN_TASK_INDEX"; read -r -u 3'
        environment = os.environ | {"GANGRUN_HOME": home}
        process = subprocess.Popen(
            [gangrun_program(), "run", "-r", f"worker:{tasks}", "--", "bash", "-c", command],
            env=environment, stdout=subprocess.DEVNULL,
        )
        with open(go, "w") as gate:
            while len(list(Path(home).glob("running.*"))) < tasks:
                if process.poll() is not None:
                    raise SystemExit("the gang ended before it was measured")
                os.sched_yield()
            taken = memory_of(process.pid, "VmHWM")
            gate.write("\n" * tasks)
        if process.wait(timeout=60) != 0:
            raise SystemExit("the gang failed")
        return taken / MEGABYTE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    memory = Series(tuple(master_memory(8) for _ in range(arguments.runs)))
    agent = (gangrun_program().with_name("gangrun-agent")).stat().st_size / MEGABYTE
    print(f"client and master with 8 tasks, peak MB, minimum and median: {memory}")
    print(f"gangrun-agent, MB: {agent:.1f}")
    verdicts = Verdicts()
    verdicts.at_most("memory of a master with 8 tasks, MB", memory.median, 15)
    verdicts.at_most("size of gangrun-agent, MB", agent, 10)
    verdicts.finish()


if __name__ == "__main__":
    main()
