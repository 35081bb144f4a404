"""Messages to the user about a job: events while it runs, and a summary of its tasks at the end."""

from __future__ import annotations

import logging
import sys
from typing import Any, Mapping, Optional

from gangrun.tf_yarn.metrics import Figures, Metrics, Thresholds, type_of

logger = logging.getLogger("gangrun.tf_yarn")

Status = Mapping[str, Any]
# States in which no process of the user has run yet.
_NOT_STARTED = ("waiting", "allocated", "registered", "spare", "starting")
_TOLD = {"running": "runs", "succeeded": "has succeeded", "failed": "has failed", "stopped": "was stopped",
         "lost": "is lost"}
_JOB_TOLD = {"running": "all tasks have started"}


def tell(sentence: str) -> None:
    """Log the sentence at INFO level, or print it to standard error if the program does not show such messages."""
    if logger.hasHandlers() and logger.isEnabledFor(logging.INFO):
        logger.info("%s", sentence)
    else:
        sys.stderr.write(f"tf_yarn: {sentence}\n")
        sys.stderr.flush()


def status_of(task: Status, succeeded: bool) -> str:
    """Return tf-yarn's status of a task: SUCCEEDED, FAILED, KILLED or REQUESTED."""
    state = str(task.get("state", ""))
    if state in ("succeeded", "failed"):
        return state.upper()
    if state in _NOT_STARTED:
        return "REQUESTED"
    # A task that is only stopped because the others were ready has done its duty.
    return "SUCCEEDED" if succeeded and state == "stopped" else "KILLED"


class Events:
    """Logs what is new in each status of a job. `figures` maps task names to their last reported values."""

    def __init__(self, thresholds: Thresholds, which_try: str = "") -> None:
        self.status: Status = {}
        self.figures: dict[str, dict[str, Any]] = {}
        self._thresholds = thresholds
        self._which_try = which_try
        self._states: dict[str, str] = {}
        self._job_state = ""

    def on_status(self, status: Status) -> None:
        """Log what is new in this status."""
        self.status = status
        for sentence in self.news(status):
            tell(sentence)

    def news(self, status: Status) -> list[str]:
        """Return the messages about what is new in this status."""
        job, state = str(status.get("id", "")), str(status.get("state", ""))
        found = [] if self._states or not job else [f"{job} is submitted{self._which_try}"]
        for task in status.get("tasks", ()):
            name, now = str(task["task"]), str(task["state"])
            self.figures[name] = {**self.figures.get(name, {}), **(task.get("figures") or {})}
            if self._states.get(name) != now and now in _TOLD:
                found.append(f"{name} {_TOLD[now]}{_place(task) if now == 'running' else ''}")
                if type_of(name) == "tensorboard" and now == "running":
                    found.append(tensorboard_line(job))
            self._states[name] = now
        if state != self._job_state and state in _JOB_TOLD:
            found.append(f"{job}: {_JOB_TOLD[state]}")
        self._job_state = state
        return found + self._thresholds.lines(self.figures)


def _place(task: Status) -> str:
    return f" at {task['address']}" if task.get("address") else ""


def tensorboard_line(job: str) -> str:
    """Return the message that says how to open the job's TensorBoard."""
    return f"TensorBoard listens on its own host's 127.0.0.1; to see it here: gangrun open {job} tensorboard"


def _seconds(what: str, duration: Any) -> str:
    return f"{what} {duration.total_seconds():.1f} s" if duration is not None else ""


def final(status: Status, metrics: Metrics, failure: Optional[str] = None) -> str:
    """Return the summary of an ended job, with one line for each task.

    `failure` is the text about the first failure; it is appended.
    """
    job, succeeded = str(status.get("id", "")), status.get("state") == "succeeded"
    lines = [f"{job} {'has ' if succeeded else ''}{status.get('state', '')} after {status.get('elapsed_ms', 0) / 1000:.1f} s"]
    tasks = status.get("tasks", ())
    width = max((len(str(task["task"])) for task in tasks), default=0)
    for task in tasks:
        name = str(task["task"])
        what = "Evaluation time" if type_of(name) == "evaluator" else "Training time"
        parts = [f"{status_of(task, succeeded):9}", str(task.get("address") or "(no address)"),
                 _seconds("ran", metrics.container_duration.get(name)),
                 _seconds(what, metrics.train_eval_time_per_node.get(name)),
                 str(task.get("exit") or ""), f"logs: gangrun logs {job} {name}"]
        lines.append(f"  {name:{width}}  {'  '.join(part for part in parts if part)}")
    for what, duration in (("Training time", metrics.total_training_duration), ("Evaluation time", metrics.total_eval_duration)):
        lines += [f"  {what}: {duration}"] if duration is not None else []
    return "\n".join(lines + ([failure] if failure else []))


def ended(figures: Mapping[str, Figures], status: Status, now: float) -> dict[str, dict[str, Any]]:
    """Return the reported values with `now` as the end of tasks that could not report one, such as stopped tasks."""
    running = {str(task["task"]) for task in status.get("tasks", ()) if str(task.get("state")) in _NOT_STARTED}
    found = {}
    for task, of_task in figures.items():
        found[task] = dict(of_task)
        if "container_start_time" in of_task and task not in running:
            found[task].setdefault("container_stop_time", now)
    return found
