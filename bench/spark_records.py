#!/usr/bin/env python3
"""TFRecord files written from a DataFrame and read into one, rows of 784 floats and a label per second: beside TensorFlowOnSpark's
dfutil with its jar, and beside Spark's own Parquet, in one application.

    bench/spark_records.py [--long] [--rows N] [--peer-rows N]     --long: a million rows
"""

import argparse
import pathlib

from measure import Verdicts
from spark.application import told_by

PROGRAM = pathlib.Path(__file__).parent / "spark/records.py"
LIMIT_S = 3000
OVER_PEER = {"write": 8, "read": 8}
OVER_PARQUET = {"write": 0.5, "read": 0.5}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--peer-rows", type=int)
    arguments = parser.parse_args()
    rows = arguments.rows or (1_000_000 if arguments.long else 20_000)
    peer_rows = arguments.peer_rows or (100_000 if arguments.long else 2_000)
    told = told_by(PROGRAM, "spark-peer", rows, peer_rows, limit_s=LIMIT_S)
    verdicts = Verdicts()
    for who, taken in told.items():
        print(f"  {who:8} {max(taken['write']) / 1000:8.1f} thousand rows/s written {max(taken['read']) / 1000:8.1f} read "
              f"{taken['bytes']:8.0f} bytes a row", flush=True)
    for what in ("write", "read"):
        best = {who: max(taken[what]) for who, taken in told.items()}
        verdicts.at_least(f"{what}, {rows} rows: rows/s over TensorFlowOnSpark's", best["ours"] / best["peer"], OVER_PEER[what])
        verdicts.at_least(f"{what}, {rows} rows: rows/s over Parquet's", best["ours"] / best["parquet"], OVER_PARQUET[what])
    verdicts.finish()


if __name__ == "__main__":
    main()
