"""How soon the tasks of tf-yarn's call run on a real YARN cluster, and how long its wine job takes.

    python bench/tf_yarn_start.py [--runs 2] [--peer-runs 1] [--no-wine]
    python bench/tf_yarn_start.py --runs 50 --peer-runs 0 --no-wine      50 starts in a row, of which none may fail

From run_on_yarn to the start of the last task's Python, a chief, a worker, a ps and an evaluator, with everything uploaded and
localised by a run before. The peer is skein, which starts the containers of tf-yarn, used as tf-yarn uses it (with a driver of
its own) and in the same run; it is given a script of the shell alone, without tf-yarn's own meeting of the tasks or its
environment. The wine job is examples/tf_yarn_wine with the same four tasks; what it is compared with is a figure that was
measured once, on a machine with two processors, for tf-yarn 0.7.0 and such a job.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from gate import Gate
from measure import ROOT, Verdicts, gangrun_program, in_turns, python_of
from cluster import LIMIT_S, YarnCluster

AIM = 1 / 4
AIM_FAILURE_S = 2
# The fastest of three runs, whole, for about 3 s of training.
PEER_WINE_S = 74
WORDS = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); import tf_yarn_client; tf_yarn_client.main()"


class Starts:
    """Runs them; every measurement is in milliseconds."""

    def __init__(self, folder: pathlib.Path, environment: dict) -> None:
        self.folder = folder
        self.environment = environment | {
            "GANGRUN_HOME": str(folder / "home"), "SKEIN_CONFIG": str(folder / "skein"),
            "GANGRUN_BIN": os.path.dirname(gangrun_program()), "PYTHONPATH": str(ROOT / "python")}

    def measure(self, who: str, python: str) -> float:
        gate = Gate(self.folder)
        begin = gate.folder / "begin"
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen([python, "-c", WORDS, who, str(begin), str(gate.folder)], env=self.environment,
                                       cwd=self.folder, stdout=output, stderr=output)
            try:
                with gate:
                    last = gate.wait(4, process)
                failed = process.wait(LIMIT_S)
            except SystemExit:
                failed = True
            if failed:
                output.seek(0)
                raise SystemExit(f"{who}: {output.read().decode()}")
            return (last - float(begin.read_text())) * 1000

    def gangrun(self) -> float:
        return self.measure("gangrun", sys.executable)

    def skein(self) -> float:
        return self.measure("skein", str(python_of("skein")))

    def failure(self) -> float:
        """Seconds from a worker's failure to the RunFailed with its traceback."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            done = subprocess.run([sys.executable, "-c", WORDS, "fails", f"{folder}/begin", folder], env=self.environment,
                                  capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode:
            raise SystemExit(f"fails: {done.stderr}")
        return float(done.stdout)

    def wine(self) -> float:
        """Seconds of the whole job, with the start of the program that calls it."""
        begin = time.monotonic()
        done = subprocess.run(
            [sys.executable, ROOT / "examples/tf_yarn_wine/run.py", "--out", self.folder / "wine", "--workers", "1",
             "--tensorboard-seconds", "-1", "--memory", "512 MiB", "--max-steps", "500",
             "--python", str(python_of("tensorflow-2.15"))], env=self.environment, capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode:
            raise SystemExit(f"wine: {done.stderr}")
        return time.monotonic() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--peer-runs", type=int, default=1)
    parser.add_argument("--wine", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()
    verdicts = Verdicts()
    print(f"milliseconds, minimum and median of {arguments.runs} runs, of the peer of {arguments.peer_runs}")
    with (tempfile.TemporaryDirectory() as text,
          YarnCluster(folder := pathlib.Path(text) / "cluster", "--nodes", 2, "--vcores", 64) as environment):
        starts = Starts(folder.parent, environment)
        starts.gangrun()
        own = in_turns(arguments.runs, {"run_on_yarn": starts.gangrun})["run_on_yarn"]
        print(f"{'run_on_yarn, 4 tasks':32} {own}", flush=True)
        if arguments.peer_runs:
            peer = in_turns(arguments.peer_runs, {"skein": starts.skein})["skein"]
            print(f"{'skein as tf-yarn uses it':32} {peer}", flush=True)
            verdicts.at_most("run_on_yarn / skein, minima", own.minimum / peer.minimum, AIM)
        verdicts.tell_at_most("s from a worker's failure to RunFailed with its traceback", starts.failure(), AIM_FAILURE_S)
        if arguments.wine:
            verdicts.tell_at_most("s of the whole wine job, 4 tasks; half of tf-yarn's (measured elsewhere)", starts.wine(),
                                  PEER_WINE_S / 2)
    verdicts.finish()


if __name__ == "__main__":
    main()
