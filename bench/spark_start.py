#!/usr/bin/env python3
"""How long nodes on Spark take to start and to end, beside TensorFlowOnSpark, and how soon the driver knows of an error.

    bench/spark_start.py [--nodes 3] [--runs 2]

One application on a real standalone cluster, one executor for each node; both libraries run the same functions, in turns.
Spark's own launch is a job of as many tasks that do nothing.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from measure import ROOT, Series, Verdicts, build_folder, python_of
from spark.cluster import Cluster

DRIVER = pathlib.Path(__file__).parent / "spark/start.py"
LIMIT_S = 900
OURS, PEER = "gangrun.tensorflowonspark", "tensorflowonspark"
OPTIONS = ("spark.scheduler.minRegisteredResourcesRatio=1.0", "spark.scheduler.maxRegisteredResourcesWaitingTime=120s")


def measure(nodes: int, runs: int) -> dict[str, list[float]]:
    python = str(python_of("spark-peer"))
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = pathlib.Path(name)
        (folder / "told").mkdir()
        options = [word for option in (*OPTIONS, f"spark.cores.max={nodes}") for word in ("--set", option)]
        with Cluster(folder / "cluster", "--workers", nodes, *options) as environment:
            environment |= {"GANGRUN_BIN": str(build_folder() / "src"), "GANGRUN_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT / "python"),
                            "PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python, "TF_CPP_MIN_LOG_LEVEL": "2"}
            done = subprocess.run([python, "-W", "ignore", DRIVER, folder / "told", str(nodes), str(runs)], env=environment, cwd=folder,
                                  capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        sys.exit(done.stderr[-8000:])
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    found = measure(arguments.nodes, arguments.runs)
    print(f"seconds, {arguments.nodes} nodes, {arguments.runs} runs         cold   minimum  median")
    warm = {}
    for name, values in found.items():
        warm[name] = Series(tuple(values[1:]))
        print(f"{name:36} {values[0]:9.2f} {warm[name].minimum:9.2f} {warm[name].median:7.2f}")
    verdicts = Verdicts()
    start, end = warm[f"start {OURS}"], warm[f"shutdown {OURS}"]
    verdicts.tell_at_most("from run() to all nodes in map_fun, over Spark's own launch, s", start.minimum - warm["launch"].minimum, 1)
    verdicts.tell_at_most("shutdown(), s", end.minimum, 1)
    verdicts.tell_at_most("from the error in a node to the driver, s", warm["failure"].minimum, 2)
    verdicts.at_least("TensorFlowOnSpark's start beside ours", warm[f"start {PEER}"].minimum / start.minimum, 2)
    verdicts.at_least("TensorFlowOnSpark's shutdown beside ours", warm[f"shutdown {PEER}"].minimum / end.minimum, 5)
    verdicts.finish()


if __name__ == "__main__":
    main()
