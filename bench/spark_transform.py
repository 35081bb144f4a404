#!/usr/bin/env python3
"""Rows per second that TFModel.transform brings through a saved model: beside TensorFlowOnSpark's, by the same model and the same rows in
one application, and beside `mapInArrow` that only consumes.

    bench/spark_transform.py [--rows N]
"""

import argparse
import pathlib

from measure import Verdicts
from spark.application import told_by

PROGRAM = pathlib.Path(__file__).parent / "spark/transform.py"
LIMIT_S = 600
OVER_PEER = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000, help="of ours; the peer gets a twentieth")
    told = told_by(PROGRAM, "spark-peer", parser.parse_args().rows, limit_s=LIMIT_S)
    for who, rates in told["rates"].items():
        print(f"  10 floats, {told['batch_size']} rows a batch: {who:6} {max(rates) / 1000:10.1f} thousand rows/s", flush=True)
    print(f"  the model alone, without Spark: {told['alone'] / 1000:.1f} thousand rows/s")
    verdicts = Verdicts()
    verdicts.at_least("TFModel.transform, 10 floats: rows/s over TensorFlowOnSpark's", max(told["rates"]["ours"]) / max(told["rates"]["peer"]),
                      OVER_PEER)
    verdicts.finish()


if __name__ == "__main__":
    main()
