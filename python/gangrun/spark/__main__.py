"""Command line: `python -m gangrun.spark stop JOB` asks a cluster's streams to stop, as `request_stop` does."""

from __future__ import annotations

import argparse
import sys

from gangrun import errors
from gangrun.spark import _streams


def main() -> int:
    """Run the command line program and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m gangrun.spark", description="What can be asked of a cluster on Spark from outside.")
    commands = parser.add_subparsers(required=True)
    stop = commands.add_parser("stop", help="ask that its streams end: what has come is fed, then its driver goes on")
    stop.add_argument("job", metavar="JOB", help="the cluster's id, as `gangrun ps` shows it")
    asked = parser.parse_args()
    try:
        _streams.request_stop(asked.job)
    except (errors.GangrunError, OSError) as error:
        print(f"python -m gangrun.spark: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
