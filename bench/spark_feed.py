#!/usr/bin/env python3
"""Rows of Spark in a training process, per second and in CPU seconds: beside TensorFlowOnSpark, which runs the same function of
the node in an application of its own, and beside what Spark itself needs to bring rows to Python (the floor), in turns with ours.

    bench/spark_feed.py [--long] [--nodes N]     --long: more rows, one node and two
"""

import argparse
import pathlib
import secrets

from measure import Figure, Verdicts
from spark.application import told_by

PROGRAM = pathlib.Path(__file__).parent / "spark/rows.py"
LIMIT_S = 1500
OURS, PEER = "gangrun.tensorflowonspark", "tensorflowonspark"
RATE_OVER_PEER = {"784 floats + label": 12, "10 floats": 150, "10 KB": 10}
CPU_UNDER_PEER = {"784 floats + label": 10, "10 floats": 10, "10 KB": 8}
OVER_FLOOR = 0.8
INFERENCE_OVER_PEER = 10
RING_MIB = 256
GROWTH_MIB = RING_MIB + 64  # of a node that reads nothing


def measure(nodes: int, size: str, library: str) -> dict:
    return told_by(PROGRAM, "spark-peer", nodes, size, library, limit_s=LIMIT_S, SPARK_ROWS_BENCH=secrets.token_hex(8))


def best(taken: list, what: str) -> float:
    values = [one[what] for one in taken]
    return max(values) if what == "rate" else min(values)


def show(title: str, who: str, taken: list) -> None:
    print(f"  {title:24} {who:18} {best(taken, 'rate') / 1000:10.1f} thousand rows/s {best(taken, 'cpu'):8.1f} CPU s per million rows",
          flush=True)


def over_peer(verdicts: Verdicts, what: str, ratio: float, aim: float, permitted: float) -> None:
    """Nobody brings rows out of Spark faster than Spark does: where its floor in this run permits less than the aim, that counts."""
    if permitted < aim:
        print(f"{what}: {ratio:.2f} (aim: at least {aim:g}) {'reached' if ratio >= aim else 'missed'}; Spark's floor permits {permitted:.2f}")
    verdicts.at_least(what, ratio, min(aim, permitted))


def draw(ours: dict, peer: dict, figure: Figure) -> None:
    for shape in RATE_OVER_PEER:
        for who, taken in (("gangrun", ours["rows"][shape]["fed"]), ("TensorFlowOnSpark", peer["rows"][shape]["fed"]),
                           ("Spark task that only reads", ours["rows"][shape]["floor"])):
            figure.add(shape, who, best(taken, "rate"))


def judge_rows(ours: dict, peer: dict, nodes: int, verdicts: Verdicts) -> None:
    of = f", {nodes} node{'s' if nodes > 1 else ''}"
    for shape, taken in ours.items():
        for who, series in taken.items():
            show(shape, "Spark's floor" if who == "floor" else "gangrun", series)
        if shape not in RATE_OVER_PEER:
            continue
        show(shape, "TensorFlowOnSpark", peer[shape]["fed"])
        floor, fed, theirs = taken["floor"], taken["fed"], peer[shape]["fed"]
        ratio = best(fed, "rate") / best(theirs, "rate")
        if nodes == 1:
            over_peer(verdicts, f"{shape}{of}: rows/s over TensorFlowOnSpark's", ratio, RATE_OVER_PEER[shape],
                      OVER_FLOOR * best(floor, "rate") / best(theirs, "rate"))
        else:
            print(f"{shape}{of}: {ratio:.1f} times TensorFlowOnSpark's rows/s")
        verdicts.at_least(f"{shape}{of}: rows/s over the floor's", best(fed, "rate") / best(floor, "rate"), OVER_FLOOR)
        over_peer(verdicts, f"{shape}{of}: TensorFlowOnSpark's CPU over ours", best(theirs, "cpu") / best(fed, "cpu"), CPU_UNDER_PEER[shape],
                  OVER_FLOOR * best(theirs, "cpu") / best(floor, "cpu"))


def judge_others(ours: dict, peer: dict, nodes: int, verdicts: Verdicts) -> None:
    """DataFrames, inference, and a node that reads nothing."""
    of = f", {nodes} node{'s' if nodes > 1 else ''}"
    frame = ours["frame"]
    show("DataFrame, 784 + label", "Spark's mapInArrow", frame["floor"])
    show("DataFrame, 784 + label", "gangrun", frame["fed"])
    verdicts.at_least(f"DataFrame{of}: rows/s over mapInArrow that only consumes", best(frame["fed"], "rate") / best(frame["floor"], "rate"),
                      OVER_FLOOR)
    show("inference, 10 floats", "gangrun", ours["inference"])
    show("inference, 10 floats", "TensorFlowOnSpark", peer["inference"])
    verdicts.at_least(f"inference{of}: rows/s over TensorFlowOnSpark's", best(ours["inference"], "rate") / best(peer["inference"], "rate"),
                      INFERENCE_OVER_PEER)
    if "idle" in ours:
        idle = ours["idle"]
        print(f"a node that reads nothing: {idle['fed_mib']:.0f} MiB were to be fed, the producer "
              f"{'waits' if idle['producer_waits'] else 'DOES NOT WAIT'}")
        verdicts.at_most("the most that a process has grown by, MiB", idle["growth_mib"], GROWTH_MIB)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--nodes", type=int)
    arguments = parser.parse_args()
    counts = [arguments.nodes] if arguments.nodes else [1, 2] if arguments.long else [1]
    verdicts = Verdicts()
    figure = Figure("spark_feed", "Spark: rows that reach one training process", "rows/s, higher is better")
    for nodes in counts:
        print(f"{nodes} node{'s' if nodes > 1 else ''}", flush=True)
        ours, peer = (measure(nodes, "long" if arguments.long else "short", name) for name in (OURS, PEER))
        judge_rows(ours["rows"], peer["rows"], nodes, verdicts)
        judge_others(ours, peer, nodes, verdicts)
        if nodes == 1:
            draw(ours, peer, figure)
    figure.write()
    verdicts.finish()


if __name__ == "__main__":
    main()
