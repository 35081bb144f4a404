"""How long a job's tasks took, from what they have reported."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Mapping, NamedTuple, Optional, Sequence

Figures = Mapping[str, Any]
# What an evaluator tells of itself, by tf-yarn's names, and the unit of each.
MONITORED = {"awake_time_ratio": "", "eval_step_mean_duration": " s", "last_training_step": "", "nb_eval_steps": ""}


class Metrics(NamedTuple):
    """What run_on_yarn returns. A duration is None where the task never came so far."""

    total_training_duration: Optional[timedelta]
    total_eval_duration: Optional[timedelta]
    container_duration: dict[str, Optional[timedelta]]
    train_eval_time_per_node: dict[str, Optional[timedelta]]

    def items(self) -> list[tuple[str, float]]:
        """All of them that are known, in seconds, each by a name of its own."""
        found = [("total_training_duration", self.total_training_duration), ("total_eval_duration", self.total_eval_duration)]
        found += [(f"container_duration_{task}", value) for task, value in self.container_duration.items()]
        found += [(f"train_eval_time_per_node_{task}", value) for task, value in self.train_eval_time_per_node.items()]
        return [(name, value.total_seconds()) for name, value in found if value is not None]


def _between(figures: Figures, first: str, last: str) -> Optional[timedelta]:
    begin, end = figures.get(first), figures.get(last)
    if not isinstance(begin, (int, float)) or not isinstance(end, (int, float)):
        return None
    return timedelta(seconds=max(0.0, end - begin))


def _span(figures: Sequence[Figures]) -> Optional[timedelta]:
    """From the first of the tasks that began to the last that ended."""
    begins = [task["train_eval_start_time"] for task in figures if "train_eval_start_time" in task]
    ends = [task["train_eval_stop_time"] for task in figures if "train_eval_stop_time" in task]
    return timedelta(seconds=max(0.0, max(ends) - min(begins))) if begins and ends else None


def type_of(task: str) -> str:
    return task.partition(":")[0]


def metrics_of(figures: Mapping[str, Figures]) -> Metrics:
    """`figures`: of each task by its name, with times in seconds since 1970."""
    trained = [of_task for task, of_task in figures.items() if type_of(task) in ("chief", "worker")]
    evaluated = [of_task for task, of_task in figures.items() if type_of(task) == "evaluator"]
    work = {task: of_task for task, of_task in figures.items() if type_of(task) in ("chief", "worker", "evaluator")}
    return Metrics(
        total_training_duration=_span(trained),
        total_eval_duration=_span(evaluated),
        container_duration={task: _between(of_task, "container_start_time", "container_stop_time")
                            for task, of_task in figures.items()},
        train_eval_time_per_node={task: _between(of_task, "train_eval_start_time", "train_eval_stop_time")
                                  for task, of_task in work.items()})


def _number(value: float) -> str:
    """A count of steps is told whole, however large."""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


class Thresholds:
    """Which of an evaluator's figures are told: eval_monitor_log_thresholds, (lowest, highest) by figure, None is no limit."""

    def __init__(self, thresholds: Optional[Mapping[str, tuple[Optional[float], Optional[float]]]]) -> None:
        self._limits = dict(thresholds or {})
        for name, limits in self._limits.items():
            if name not in MONITORED:
                raise ValueError(f"eval_monitor_log_thresholds: {name!r} is not a figure of an evaluator; allowed: "
                                 f"{', '.join(MONITORED)}")
            if not isinstance(limits, (tuple, list)) or len(limits) != 2:
                raise ValueError(f"eval_monitor_log_thresholds[{name!r}]: {limits!r} is not a range; allowed: (lowest, highest), "
                                 "None for no limit")
        self._told: dict[tuple[str, str], Any] = {}

    def lines(self, figures: Mapping[str, Figures]) -> list[str]:
        """What is new of the evaluators since the last call, one line for each of them that has something."""
        found = []
        for task in sorted(task for task in figures if type_of(task) == "evaluator"):
            parts = [f"{name.replace('_', ' ')} {_number(figures[task][name])}{unit}" for name, unit in MONITORED.items()
                     if self._is_new(task, name, figures[task].get(name))]
            found += [f"{task}: {', '.join(parts)}"] if parts else []
        return found

    def _is_new(self, task: str, name: str, value: Any) -> bool:
        if not isinstance(value, (int, float)) or self._told.get((task, name)) == value:
            return False
        self._told[task, name] = value
        lowest, highest = self._limits.get(name, (None, None))
        return (lowest is None or value >= lowest) and (highest is None or value <= highest)
