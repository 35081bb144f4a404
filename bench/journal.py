"""What the journal costs a gang's start, and how soon a long one has been replayed.

    python bench/journal.py [--runs 7] [--size 32]
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from measure import Series, Verdicts, build_folder, gangrun_program


def one_start(size: int) -> dict[str, float]:
    """Milliseconds of a gang's start, and of writing the same records once more."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([gangrun_program(), "run", "--json", "-r", f"worker:{size}", "--", "true"],
                              env=os.environ | {"GANGRUN_HOME": folder}, capture_output=True, text=True, check=True)
        status = json.loads(done.stdout.splitlines()[-1])["status"]
        again = Path(folder) / "again"
        again.mkdir()
        wrote = subprocess.run([build_folder() / "bench/journal_append", f"{status['folder']}/journal", again],
                               capture_output=True, text=True, check=True)
        micros, records = map(int, wrote.stdout.split())
        return {"start": status["all_started_ms"], "journal": micros / 1000, "records": records}


def replay_of_many() -> tuple[float, str]:
    done = subprocess.run([build_folder() / "bench/journal_replay"], capture_output=True, text=True, check=True)
    return sum(map(int, re.findall(r"in (\d+) ms", done.stdout))), done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--size", type=int, default=32)
    arguments = parser.parse_args()
    runs = [one_start(arguments.size) for _ in range(arguments.runs)]
    start = Series(tuple(run["start"] for run in runs))
    journal = Series(tuple(run["journal"] for run in runs))
    print(f"gang of {arguments.size}, ms, minimum and median of {arguments.runs} runs:")
    print(f"  command to all started          {start}")
    print(f"  its {runs[0]['records']} records written once more {journal}")
    replays = [replay_of_many() for _ in range(3)]
    print("\n".join(words for _, words in replays))
    verdicts = Verdicts()
    verdicts.at_most("the journal's part of a gang's start, per cent", 100 * journal.minimum / start.minimum, 2)
    verdicts.at_most("100,000 records read and replayed, ms", min(ms for ms, _ in replays), 1000)
    verdicts.finish()


if __name__ == "__main__":
    main()
