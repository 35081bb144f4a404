"""What the benchmarks share: repeated runs, minimum and median, and ratios that can fail.

Times on a shared machine drift by a factor of two, so every figure is taken beside its peer in the same
run, in turns, and judged by the ratio of the minima.
"""

import dataclasses
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV_LIMIT_S = 300
# A ratio may be missed by half before a run fails: the machine's noise is no reason to stop a change.
TOLERANCE = 1.5


@dataclasses.dataclass(frozen=True)
class Series:
    """Several measurements of one thing, in one unit."""

    values: tuple[float, ...]

    @property
    def minimum(self) -> float:
        return min(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def __str__(self) -> str:
        return f"{self.minimum:8.1f} {self.median:8.1f}"


def in_turns(runs: int, measures: dict[str, Callable[[], float]]) -> dict[str, Series]:
    """Calls every measure `runs` times, one after another, so that a slow minute is slow for all."""
    values: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(runs):
        for name, measure in measures.items():
            values[name].append(measure())
    return {name: Series(tuple(taken)) for name, taken in values.items()}


class Figure:
    """What a program has measured, to be drawn in docs/benchmarks.md: for each group one bar for each who was measured.

    `unit` is what the values are in, "lower is better" or "higher is better" included. Written as NAME.json to the folder
    $GANGRUN_FIGURES, which `make bench` sets; tools/plots draws it. Without that it is only measured.
    """

    def __init__(self, name: str, title: str, unit: str) -> None:
        self.name, self.title, self.unit = name, title, unit
        self.groups: dict[str, dict[str, float]] = {}

    def add(self, group: str, who: str, value: float) -> None:
        self.groups.setdefault(group, {})[who] = float(f"{value:.3g}")

    def write(self) -> None:
        folder = os.environ.get("GANGRUN_FIGURES")
        if folder and self.groups:
            Path(folder).mkdir(parents=True, exist_ok=True)
            content = {"title": self.title, "unit": self.unit, "groups": self.groups}
            (Path(folder) / f"{self.name}.json").write_text(json.dumps(content, indent=2) + "\n")


class Verdicts:
    """Collects the claims of a program; `finish` ends it with 1 when one was missed by half."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def at_most(self, what: str, value: float, aim: float) -> None:
        self._judge(what, value, aim, value <= aim, value <= aim * TOLERANCE, "at most")

    def at_least(self, what: str, value: float, aim: float) -> None:
        self._judge(what, value, aim, value >= aim, value >= aim / TOLERANCE, "at least")

    def tell_at_most(self, what: str, value: float, aim: float) -> None:
        """For a time that has no peer in the same run: on a busy machine it says little, so it fails nothing."""
        print(f"{what}: {value:.2f} (aim: at most {aim:g}) {'reached' if value <= aim else 'missed'}", flush=True)

    def _judge(
        self, what: str, value: float, aim: float, reached: bool, tolerated: bool, relation: str
    ) -> None:
        word = "reached" if reached else "missed, within tolerance" if tolerated else "MISSED"
        print(f"{what}: {value:.2f} (aim: {relation} {aim:g}) {word}", flush=True)
        if not tolerated:
            self.missed.append(what)

    def finish(self) -> None:
        sys.exit(1 if self.missed else 0)


def build_folder() -> Path:
    """The build whose programs are measured: $GANGRUN_BUILD, or the release build."""
    given = os.environ.get("GANGRUN_BUILD")
    return Path(given) if given else ROOT / "build" / "release"


def gangrun_program() -> Path:
    return build_folder() / "src" / "gangrun"


def python_of(environment: str) -> Path:
    """The Python of an environment of tools/install-deps, such as spark-peer."""
    done = subprocess.run([ROOT / "tools/install-deps", "--venv", environment], check=True, capture_output=True, text=True,
                          timeout=VENV_LIMIT_S)
    return Path(done.stdout.strip()) / "bin" / "python"
