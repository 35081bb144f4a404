"""Stages: a list of them, each with its budget, what they wait for, and the tables that a run ends with."""

import dataclasses
import time
import typing

from .commands import Beside
from .tally import Tally

SLOWEST = 10


@dataclasses.dataclass(frozen=True)
class Stage:
    """`run(tally)` does it. `needs` names scripts of the run that are joined first: their time counts as this stage's."""

    name: str
    what: str
    budget_s: int  # on two cores, with everything in the caches; 0: none
    run: typing.Callable[[Tally], None]
    needs: tuple = ()


@dataclasses.dataclass(frozen=True)
class Took:
    stage: Stage
    seconds: float
    waited: float  # of those: for what was made beside the stages before it
    passed: int
    failed: int


def minutes(seconds):
    return f"{seconds // 60:.0f}:{seconds % 60:02.0f}"


def line_of(took):
    waited = f", {minutes(took.waited)} of it for what it needs" if took.waited >= 1 else ""
    return (f"--- {took.stage.name}: {took.passed} passed, {took.failed} failed in {minutes(took.seconds)}{waited}"
            + (f" (budget {minutes(took.stage.budget_s)})" if took.stage.budget_s else ""))


def run_stage(tally, stage, beside):
    """Joins what the stage needs, runs it, and returns what it took."""
    print(f"\n=== {stage.name}: {stage.what}", flush=True)
    started, own = time.monotonic(), Tally(unsteady=list(tally.unsteady))
    for name in stage.needs:
        if name in beside and beside[name].join():
            print(f"run_tests: failed: {beside[name].script}; the stage tries again")
    waited = time.monotonic() - started
    stage.run(own)
    own.unsteady = own.unsteady[len(tally.unsteady):]
    tally.add(own)
    took = Took(stage, time.monotonic() - started, waited, own.passed, own.failed)
    print(line_of(took), flush=True)
    return took


def run_stages(tally, stages, scripts, keep_going):
    """Runs them in order, with the scripts {name: shell command} beside them from the start. After a stage that failed the
    later ones are left out, unless the run keeps going. Returns what each took."""
    beside = {name: Beside(script) for name, script in scripts.items()}
    times = []
    try:
        for position, stage in enumerate(stages):
            times.append(run_stage(tally, stage, beside))
            left_out = [later.name for later in stages[position + 1:]]
            if times[-1].failed and left_out and not keep_going:
                print(f"\nrun_tests: not run after the failure: {', '.join(left_out)}")
                break
    finally:
        for one in beside.values():
            one.stop()
    return times


def table(times):
    """One row a stage beside its budget; who took more than twice that is named."""
    rows = [f"{'stage':<14} {'passed':>6} {'failed':>6} {'time':>7} {'waited':>7} {'budget':>7}"]
    for took in times:
        late = "  over twice its budget" if 0 < 2 * took.stage.budget_s < took.seconds - took.waited else ""
        budget = minutes(took.stage.budget_s) if took.stage.budget_s else "-"
        rows.append(f"{took.stage.name:<14} {took.passed:>6} {took.failed:>6} {minutes(took.seconds):>7}"
                    f" {minutes(took.waited):>7} {budget:>7}{late}")
    budgets = [took.stage.budget_s for took in times]
    rows.append(f"{'together':<14} {sum(took.passed for took in times):>6} {sum(took.failed for took in times):>6}"
                f" {minutes(sum(took.seconds for took in times)):>7} {minutes(sum(took.waited for took in times)):>7}"
                f" {minutes(sum(budgets)) if all(budgets) else '-':>7}")
    return "\n".join(rows)


def report(tally, times):
    """The end of a run; its last line is the one that counts."""
    slowest = sorted(tally.times, reverse=True)[:SLOWEST]
    if slowest:
        print("\nthe slowest tests:")
    for seconds, name in slowest:
        print(f"{seconds:6.1f} s  {name}")
    print(f"\n{table(times)}")
    for name in tally.names:
        print(f"failed: {name}")
    for name in tally.unsteady:
        print(f"unsteady: {name}")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
