"""What the driver's log is told of a cluster, and what its caller is."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional

if TYPE_CHECKING:
    from gangrun.spark._cluster import Cluster

logger = logging.getLogger("gangrun.spark")

# How often the log has a line about a cluster that goes on.
LINE_S = 10
CLOSE_S = 10.0  # for the line that is being written
# Spark's words for a job that runs in a thread; all are put back after ours.
PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
PYTHON_ERROR = re.compile(r"^(?:\w+\.)*(?:\w+Error|\w+Exception|NotInstalled|Refused|PeerGone|NotThere|NotFed): .*", re.MULTILINE)
NOT_FED = re.compile(r"^gangrun\.spark\._feeding\.NotFed: (.*)", re.MULTILINE)
# Spark's error, as 3.5 and 4 write it; the executor's version, then the driver's.
OTHER_PYTHON = re.compile(r"different version:? \(?(\d+)[.,] ?(\d+)\)? than that in driver:? (\d+\.\d+)")
MAX_SAID = 2000


@contextlib.contextmanager
def job_group(sc: Any, group: str, description: str) -> Iterator[None]:
    """The jobs of this thread can be cancelled by this name."""
    before = [(name, sc.getLocalProperty(name)) for name in PROPERTIES]
    sc.setJobGroup(group, description, interruptOnCancel=True)
    try:
        yield
    finally:
        for name, value in before:
            sc.setLocalProperty(name, value)


def said_by(error: BaseException) -> str:
    """The words of an error of Spark's, without the frames of its JVM: the last error of Python in it, if there is one."""
    text = str(error)
    other = OTHER_PYTHON.search(text)
    if other is not None:
        return (f"the driver has Python {other[3]} and the executors have {other[1]}.{other[2]}; allowed: the same "
                f"of both: set PYSPARK_PYTHON, or spark.pyspark.python, to a Python {other[3]} of the executors, or start the driver "
                f"(PYSPARK_DRIVER_PYTHON, or spark.pyspark.driver.python) by a Python {other[1]}.{other[2]}")
    found = [line for line in PYTHON_ERROR.findall(text) if "pyspark.errors" not in line and "Py4J" not in line]
    if found:
        return str(found[-1]).strip()[:MAX_SAID]
    return (text.strip().splitlines() or [type(error).__name__])[0][:MAX_SAID]


def not_fed(error: BaseException) -> str:
    """Why rows had nobody who takes them, of an error of Spark's; empty where it is about something else."""
    found = NOT_FED.search(str(error))
    return "" if found is None else found[1].strip()[:MAX_SAID]


def records(cluster: Cluster) -> list[dict[str, Any]]:
    shown = {task["task"]: task for task in cluster.master.status.get("tasks", [])}
    board = shown.get("tensorboard:0", {})
    found = []
    for node in cluster.nodes:
        host, port = _place(shown.get(node.task, {}))
        record: dict[str, Any] = {"executor_id": node.index, "host": host, "job_name": node.type, "task_index": node.number,
                                  "port": port, "tb_pid": 0, "tb_port": 0, "addr": None, "authkey": None}
        if cluster.plan.tensorboard is not None and cluster.plan.tensorboard["beside"] == node.index:
            record.update(tb_pid=int(board.get("pid", 0)), tb_port=cluster.plan.tensorboard.get("port") or _place(board)[1])
        found.append(record)
    return found


def _place(shown: Mapping[str, Any]) -> tuple[str, int]:
    host, _, port = str(shown.get("address", "")).rpartition(":")
    return host.strip("[]"), int(port) if port.isdigit() else 0


def line(status: Mapping[str, Any]) -> str:
    """The nodes and their rows, from what they tell of themselves."""
    parts = []
    for task in status.get("tasks", []):
        if task.get("policy") == "sidecar":
            continue
        figures = task.get("figures") or {}
        words = [f"{task['task']} {task['state']}"]
        if "rows_in" in figures:
            words.append(f"{_number(figures.get('rows_in_per_s'))} rows/s in ({_number(figures['rows_in'])} in all)")
        if figures.get("rows_out"):
            words.append(f"{_number(figures.get('rows_out_per_s'))} rows/s out ({_number(figures['rows_out'])} in all)")
        if "queued_mib" in figures:
            words.append(f"{_number(figures['queued_mib'])} MiB queued")
        if figures.get("waits_for"):
            words.append(f"waits for {figures['waits_for']}")
        parts.append(", ".join(words))
    return "; ".join(parts)


def _number(value: Any) -> str:
    if not isinstance(value, (int, float)):
        return str(value) if value is not None else "0"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


class Telling:
    """The thread that writes a line now and then, as long as the cluster lives."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._over = threading.Event()
        self._waiting_for: Optional[str] = None
        master = cluster.master
        nodes = ", ".join(f"{name}: {len(indexes)}" for name, indexes in cluster.request.template.items())
        logger.info("%s: starting %s; gangrun logs %s shows what they write", master.id, nodes, master.id)
        self._thread = threading.Thread(target=self._run, name="gangrun spark log", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(LINE_S) and not self._cluster.master.ended.is_set():
            status = self._cluster.master.status
            logger.info("%s: %s", self._cluster.master.id, line(status))

    def while_starting(self) -> None:
        """Says what the cluster waits for, when that has changed."""
        waiting = str(self._cluster.master.status.get("waiting_for", ""))
        if waiting != self._waiting_for:
            self._waiting_for = waiting
            if waiting:
                logger.info("%s: %s", self._cluster.master.id, waiting)

    def failed(self, failure: BaseException) -> None:
        self._over.set()
        cause = f"\n{failure.__cause__}" if failure.__cause__ is not None else ""
        logger.error("%s%s", failure, cause)

    def close(self) -> None:
        self._over.set()
        self._thread.join(CLOSE_S)
