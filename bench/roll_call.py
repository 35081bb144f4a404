"""The roll call of 100, 1,000 and 10,000 agents over TLS, beside two peers without encryption.

    python bench/roll_call.py [--runs 2] [--sizes 100,1000,10000]

Measured are the time from the last agent's first byte to the cluster spec being with every agent, and the
CPU time and memory of the process that serves them. The peers are TensorFlowOnSpark's reservation server,
which polls, and the store of PyTorch's c10d, in which everyone waits for a key; neither runs with more
than 1,000 clients, which is all that the first can hold.
"""

import argparse
import json
import subprocess
from pathlib import Path

from measure import Figure, Series, Verdicts, build_folder, in_turns, python_of

# Not a benchmark of its own, so it has no main program.
PEER = (f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import roll_call_peer;"
        " roll_call_peer.main()")
MOST_CLIENTS_OF_A_PEER = 1000
LIMIT_S = 300
# What 10,000 agents may take of a processor is more: every log of the numbers grows.
CPU_MS_PER_AGENT = {100: 1, 1000: 1, 10_000: 2}
BYTES_PER_AGENT = 100_000


def figures(*command: object) -> dict[str, float]:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


class Measured:
    """Runs one kind of roll call and keeps all figures of each run."""

    def __init__(self, *command: object) -> None:
        self.command = command
        self.runs: list[dict[str, float]] = []

    def __call__(self) -> float:
        self.runs.append(figures(*self.command))
        return self.runs[-1]["last_report_to_spec_ms"]

    def series(self, name: str) -> Series:
        return Series(tuple(run[name] for run in self.runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--sizes", default="100,1000,10000")
    arguments = parser.parse_args()
    verdicts = Verdicts()
    figure = Figure("roll_call", "Roll call: from the last agent's first byte until all have the cluster spec", "ms, lower is better")
    names = {"gangrun": "gangrun", "reservation": "TensorFlowOnSpark's reservation server", "tcpstore": "c10d's TCPStore"}
    pythons = {"reservation": str(python_of("peers")), "tcpstore": "/usr/bin/python3"}
    for size in map(int, arguments.sizes.split(",")):
        measures = {"gangrun": Measured(build_folder() / "bench" / "roll_call", size, "all"),
                    "gangrun, pytorch": Measured(build_folder() / "bench" / "roll_call", size, "pytorch")}
        if size <= MOST_CLIENTS_OF_A_PEER:
            for name, python in pythons.items():
                measures[name] = Measured(python, "-c", PEER, name, size)
        runs = arguments.runs if size <= MOST_CLIENTS_OF_A_PEER else 1
        in_turns(runs, measures)
        print(f"{size} agents, minimum and median of {runs}: ms to the spec at all, CPU ms and KB an agent")
        for name, measured in measures.items():
            cpu = measured.series("master_cpu_ms")
            print(f"  {name:17} {measured.series('last_report_to_spec_ms')}   {cpu.minimum / size:6.3f}"
                  f" {cpu.median / size:6.3f}   {measured.series('master_bytes').median / size / 1000:6.1f}",
                  flush=True)
        for name, who in names.items():
            if name in measures:
                figure.add(f"{size:,} agents", who, measures[name].series("last_report_to_spec_ms").minimum)
        own = measures.pop("gangrun")
        verdicts.at_most(f"CPU ms an agent at {size}", own.series("master_cpu_ms").minimum / size,
                         CPU_MS_PER_AGENT.get(size, 2))
        verdicts.at_most(f"KB an agent at {size}", own.series("master_bytes").median / size / 1000,
                         BYTES_PER_AGENT / 1000)
        for name in [name for name in pythons if name in measures]:
            ratio = (measures[name].series("last_report_to_spec_ms").minimum
                     / own.series("last_report_to_spec_ms").minimum)
            verdicts.at_least(f"{name}'s time to the spec / gangrun's at {size}", ratio, 1)
    figure.write()
    verdicts.finish()


if __name__ == "__main__":
    main()
