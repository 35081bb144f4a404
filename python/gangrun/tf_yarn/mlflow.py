"""Record a run_on_yarn in MLflow. Only the client records, so the tasks do not need MLflow.

Recording is on if the program has set a tracking URI, unless TF_YARN_USE_MLFLOW=False. Errors of MLflow are logged and
do not affect the job.
"""

from __future__ import annotations

import collections
import importlib
import importlib.util
import logging
import os
import queue
import sys
import threading
from typing import Any, Callable, Mapping, Optional

from gangrun.tf_yarn.metrics import MONITORED, Metrics, type_of

logger = logging.getLogger("gangrun.tf_yarn")
# The most lines that are kept of each task's output; older ones are dropped.
MAX_LOG_LINES = 20_000
# Seconds to wait at the end of a job until everything is recorded.
LIMIT_S = 60.0
STATS = "tf_yarn_duration_stats"


def format_key(key: str) -> str:
    """Return the name with characters replaced that MLflow does not accept."""
    return key.replace(":", "_").replace("/", "_")


def find() -> Optional[Any]:
    """Return the module mlflow if a tracking URI is set; otherwise None."""
    if os.environ.get("TF_YARN_USE_MLFLOW", "") == "False":
        return None
    # A program that has neither set the variable nor imported MLflow has no tracking URI; the import takes seconds.
    if "MLFLOW_TRACKING_URI" not in os.environ and "mlflow" not in sys.modules:
        return None
    if importlib.util.find_spec("mlflow") is None:
        logger.warning("MLFLOW_TRACKING_URI is set, but mlflow is not installed: nothing is recorded")
        return None
    module = importlib.import_module("mlflow")
    return module if importlib.import_module("mlflow.tracking").is_tracking_uri_set() else None


class Recorder:
    """Records one run_on_yarn in a background thread. With `module=None` it does nothing."""

    def __init__(self, module: Optional[Any]) -> None:
        self._mlflow = module
        self.run_id = ""
        self._logs: dict[str, collections.deque[str]] = {}
        self._told: set[tuple[str, str, Any]] = set()
        self._orders: queue.Queue[Optional[Callable[[], Any]]] = queue.Queue()
        self._thread: Optional[threading.Thread] = None
        if module is not None:
            self._safely(self._join_run)

    def _join_run(self) -> None:
        assert self._mlflow is not None
        run = self._mlflow.active_run()
        if run is None:
            logger.warning("there is no active run of MLflow: one is started")
            run = self._mlflow.start_run()
        self.run_id = str(run.info.run_id)
        self._thread = threading.Thread(target=self._work, name="gangrun mlflow", daemon=True)
        self._thread.start()

    def variables(self) -> dict[str, str]:
        """Return the environment variables with which MLflow in the tasks finds the same run."""
        if self._mlflow is None or not self.run_id:
            return {}
        return {"MLFLOW_RUN_ID": self.run_id, "MLFLOW_TRACKING_URI": str(self._mlflow.get_tracking_uri()),
                "GIT_PYTHON_REFRESH": "quiet"}

    def on_line(self, task: str, stream: str, line: str) -> None:
        """Keep a line of a task's output for its log."""
        if self.run_id:
            self._logs.setdefault(task, collections.deque(maxlen=MAX_LOG_LINES)).append(line)

    def on_figures(self, figures: Mapping[str, Mapping[str, Any]], n_try: int) -> None:
        """Record values that are new. `figures` maps task names to their reported values."""
        for task, of_task in figures.items() if self.run_id else ():
            if type_of(task) == "chief" and "steps_per_sec" in of_task:
                self._metric(f"steps_per_sec_{n_try}", of_task["steps_per_sec"], of_task.get("global_step"))
            for name in MONITORED if type_of(task) == "evaluator" else ():
                if name in of_task:
                    self._metric(format_key(f"{task}_{name}_{n_try}"), of_task[name], of_task.get("last_training_step"))

    def _metric(self, name: str, value: Any, step: Any) -> None:
        at = int(step) if isinstance(step, (int, float)) else 0
        if (name, str(at), value) not in self._told:
            self._told.add((name, str(at), value))
            client, run_id = self._client(), self.run_id
            self._orders.put(lambda: client.log_metric(run_id, name, float(value), step=at))

    def on_end(self, statuses: Mapping[str, str], metrics: Metrics, n_try: int) -> None:
        """Record the logs and the durations of an ended job. `statuses` maps task names to their final status."""
        if not self.run_id:
            return
        client, run_id = self._client(), self.run_id
        for task, status in statuses.items():
            text = "".join(f"{line}\n" for line in self._logs.get(task, ()))
            self._orders.put(lambda text=text, name=format_key(f"{task}_{status}_{n_try}"):  # type: ignore[misc]
                             client.log_text(run_id, text, name))
        stats = "".join(f"{format_key(name)}_{n_try}: {value} secs\n" for name, value in metrics.items())
        self._orders.put(lambda: client.log_text(run_id, stats, STATS))
        self._logs.clear()

    def _client(self) -> Any:
        assert self._mlflow is not None
        return self._mlflow.MlflowClient()

    def _work(self) -> None:
        while (order := self._orders.get()) is not None:
            self._safely(order)

    def _safely(self, order: Callable[[], Any]) -> None:
        try:
            order()
        except Exception as error:  # of MLflow, its HTTP library or its server: the job is not theirs to fail
            logger.warning("MLflow: %s: %s", type(error).__name__, error)

    def close(self) -> None:
        """Wait until everything is recorded, at most 60 seconds."""
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join(LIMIT_S)
            if self._thread.is_alive():
                logger.warning("MLflow: not everything was recorded within %d s", LIMIT_S)
