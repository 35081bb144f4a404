"""Does to jobs in pods, at random, what happens on real clusters, and judges each job's end.

    pod_storm.py [--runs N] [--minutes N] [--seed S] [--record FILE]
    pod_storm.py --table FILE...

On a real API server with two real nodes, which this program starts (GANGRUN_TEST_KUBERNETES is the folder of one that runs).
Each run has a number, which decides everything about it (storm_run.py): whether its job is attached or detached, which then has
its master in a pod, or has no agents; how many tasks it has, how often they restart, whether they obey SIGTERM, and what happens to
them, and when (pod_faults.py). Afterwards every command has to end (else it hung), with the right verdict (else it is wrong), and
nothing may be left: no object, no pod, no process on a node. Where the client of an attached job is killed, all has to go by itself.
A failure prints its number; --seed NUMBER --runs 1 runs that one again. A seed S of N runs has the numbers S to S + N - 1. At the
end there is a table of what happened; --record adds a line for each run to a file, and --table prints the table of such files. It
needs root, and the machine for itself. GANGRUN_BIN is the folder of the programs.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import random
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from kubernetes.jobs import account_objects, documented_master_rights  # noqa: E402
from kubernetes.pod_faults import JOBS, MOMENTS, OUTAGES  # noqa: E402
from kubernetes.storm_run import ACCOUNT, NAMESPACE, Hung, Left, Wrong, run_of  # noqa: E402

from clusters.kubernetes.fixtures import Kubectl, Kubernetes, short_folder  # noqa: E402

GIT_LIMIT_S = 60
KINDS_OF_FAILURES = ("hung", "left", "wrong")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What is known of a run afterwards."""

    number: int
    job: str
    faults: list  # names, each as often as it struck
    failure: str | None = None  # hung, left or wrong
    seconds: float = 0


def row_of(what, outcomes):
    failures = collections.Counter(outcome.failure for outcome in outcomes)
    return f"| {what} | {len(outcomes)} | {' | '.join(str(failures[kind]) for kind in KINDS_OF_FAILURES)} |"


def table_of(outcomes):
    """For each kind of job, and each fault that struck, the runs with it and how they failed."""
    names = [name for name in (*MOMENTS, *OUTAGES) if any(name in outcome.faults for outcome in outcomes)]
    return "\n".join([
        f"| what | runs | {' | '.join(KINDS_OF_FAILURES)} |", f"|---|{'---|' * (1 + len(KINDS_OF_FAILURES))}",
        *(row_of(f"job: {job}", [outcome for outcome in outcomes if outcome.job == job]) for job in JOBS),
        *(row_of(name, [outcome for outcome in outcomes if name in outcome.faults]) for name in names),
        row_of("all", outcomes)])


def started_cluster():
    """(cluster, what ends it)"""
    if folder := os.environ.get("GANGRUN_TEST_KUBERNETES"):
        return Kubernetes.running(folder), lambda: None
    cluster = Kubernetes(short_folder(), real_nodes=2, nodes=0)
    return cluster, cluster.down


def again(number):
    return f"{pathlib.Path(__file__).relative_to(ROOT)} --seed {number} --runs 1"


def outcome_of(number, cluster, kubectl):
    """What one run came to; a failure is printed."""
    started, failure = time.monotonic(), None
    one = run_of(number, cluster, kubectl)
    try:
        one.run()
    except (Hung, Left, Wrong) as failed:
        failure = type(failed).__name__.lower()
        print(f"{again(number)}: {failure}: {one}: {failed}", file=sys.stderr, flush=True)
    except BaseException:
        print(f"{again(number)}: the storm itself could not go on: {one}", file=sys.stderr, flush=True)
        raise
    finally:
        one.clean_up()
    seconds = time.monotonic() - started
    print(f"{number}: {failure or 'well'}, {seconds:.0f} s: {one}", flush=True)
    return Outcome(number, one.plan.job, [name for name, _ in one.told], failure, round(seconds, 1))


def storm(runs, minutes, seed, record=None):
    """The outcomes of as many runs as there is time for."""
    outcomes = []
    cluster, end = started_cluster()
    try:
        kubectl = Kubectl(cluster.environment, NAMESPACE)
        kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
                      {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}},
                      *account_objects(NAMESPACE, ACCOUNT, documented_master_rights()))
        deadline = time.monotonic() + minutes * 60
        for number in range(seed, seed + runs):
            if time.monotonic() > deadline:
                break
            outcomes.append(outcome_of(number, cluster, kubectl))
            if record:
                with open(record, "a") as file:
                    file.write(json.dumps(dataclasses.asdict(outcomes[-1])) + "\n")
    finally:
        end()
    return outcomes


def recorded(paths):
    return [Outcome(**json.loads(line)) for path in paths for line in path.read_text().splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=int(os.environ.get("POD_STORM_RUNS", 150)))
    # The last run, and the cluster's start and end, come on top.
    parser.add_argument("--minutes", type=float, default=54)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("POD_STORM_SEED", random.SystemRandom().randrange(1, 10**9))))
    parser.add_argument("--record", type=pathlib.Path, default=os.environ.get("POD_STORM_RECORD"))
    parser.add_argument("--table", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    if options.table:
        print(table_of(recorded(options.table)))
        return 0
    print(f"seed {options.seed}", flush=True)
    started = time.monotonic()
    outcomes = storm(options.runs, options.minutes, options.seed, options.record)
    taken, hit = time.monotonic() - started, sum(len(outcome.faults) for outcome in outcomes)
    failures = collections.Counter(outcome.failure for outcome in outcomes if outcome.failure)
    print(table_of(outcomes))
    counts = [failures[kind] for kind in KINDS_OF_FAILURES]
    print(f"pod_storm: seed {options.seed}: {len(outcomes)} of {options.runs} runs with {hit} faults in {taken:.0f} s: "
          + ", ".join(f"{number} {kind}" for number, kind in zip(counts, KINDS_OF_FAILURES, strict=True)))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, timeout=GIT_LIMIT_S).stdout.strip()
    print(f"| {commit} | {options.seed} | {len(outcomes)}, in {taken:,.0f} s | {hit} | {' | '.join(map(str, counts))} |")
    failed = sum(counts)
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
