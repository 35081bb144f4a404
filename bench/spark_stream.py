#!/usr/bin/env python3
"""From a batch's arrival to its rows in the training process, beside Spark's own: a foreachBatch that only brings the rows to Python.

Both queries run in one application, and batches come to one after the other in turns.
"""

import pathlib
import statistics

from measure import Verdicts
from spark.application import told_by

PROGRAM = pathlib.Path(__file__).parent / "spark/stream.py"
LIMIT_S = 200
OVER_SPARK_MS = 100


def main() -> None:
    told = told_by(PROGRAM, "spark-3.5", limit_s=LIMIT_S)
    for who, taken in told.items():
        print(f"  {who:6} {min(taken):8.0f} ms at least {statistics.median(taken):8.0f} ms median of {len(taken)} batches", flush=True)
    verdicts = Verdicts()
    print(f"medians: {statistics.median(told['ours']) - statistics.median(told['spark']):.0f} ms over Spark's own")
    verdicts.at_most("ms from a batch's arrival to its rows, over Spark's own", min(told["ours"]) - min(told["spark"]), OVER_SPARK_MS)
    verdicts.finish()


if __name__ == "__main__":
    main()
