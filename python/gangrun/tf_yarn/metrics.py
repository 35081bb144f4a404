"""How long the tasks of a job took, computed from the values that they reported."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Mapping, NamedTuple, Optional, Sequence

Figures = Mapping[str, Any]
# Values that an evaluator reports, by tf-yarn's names, with their units.
MONITORED = {"awake_time_ratio": "", "eval_step_mean_duration": " s", "last_training_step": "", "nb_eval_steps": ""}


class Metrics(NamedTuple):
    """Durations of a job, returned by run_on_yarn. A duration is None if the task did not get that far.

    total_training_duration    from the first start to the last end of training in chief and workers
    total_eval_duration        the same for the evaluator
    container_duration         task name → how long its process ran
    train_eval_time_per_node   task name → how long it trained or evaluated
    """

    total_training_duration: Optional[timedelta]
    total_eval_duration: Optional[timedelta]
    container_duration: dict[str, Optional[timedelta]]
    train_eval_time_per_node: dict[str, Optional[timedelta]]

    def items(self) -> list[tuple[str, float]]:
        """Return all known durations as pairs (unique name, seconds)."""
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
    """Return the task type of a task name such as "worker:0"."""
    return task.partition(":")[0]


def metrics_of(figures: Mapping[str, Figures]) -> Metrics:
    """Compute Metrics from task name → reported values, with times in seconds since 1970."""
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
    """Selects the evaluator's values to log, from `eval_monitor_log_thresholds`.

    It maps a value's name to a range (lowest, highest); None means no limit. Raises ValueError for a wrong name or range.
    """

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
        """Return one line for each evaluator with values that are new since the last call and within their range."""
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
