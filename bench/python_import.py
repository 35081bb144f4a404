"""How long `import gangrun` takes, beside a Python that does nothing.

    python bench/python_import.py [--runs 15]
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from measure import Verdicts, in_turns

PACKAGE = Path(__file__).parent.parent / "python"
CODE = {"nothing": "pass", "gangrun": "import gangrun", "what run needs": "import gangrun; gangrun.run", "json": "import json"}


def start_of(code: str) -> float:
    """Milliseconds from the command to its end."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); {code}"], check=True, timeout=60)
    return (time.monotonic() - began) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    measures = {name: lambda code=code: start_of(code) for name, code in CODE.items()}
    taken = in_turns(arguments.runs, measures)
    for name, series in taken.items():
        print(f"python -c '{CODE[name]}', ms, minimum and median: {series}")
    verdicts = Verdicts()
    verdicts.at_most("import gangrun over a Python that does nothing, ms", taken["gangrun"].minimum - taken["nothing"].minimum, 50)
    verdicts.tell_at_most("with what run needs, ms", taken["what run needs"].minimum - taken["nothing"].minimum, 150)
    verdicts.finish()


if __name__ == "__main__":
    main()
