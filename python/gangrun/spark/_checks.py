"""What of a Spark application's settings would keep its nodes from starting, found before anything is started."""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional

from gangrun.errors import InvalidJob

LOCAL = re.compile(r"local(?:\[(?P<slots>\d+|\*)(?:,\s*\d+)?\])?")
LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(?P<workers>\d+)\s*,\s*(?P<cores>\d+)\s*,\s*\d+\s*\]")
TRUE = ("true", "1", "yes")
THRESHOLD = "spark.speculation.task.duration.threshold"


def context_of(given: Any) -> Any:
    """The SparkContext of what a user has: one, or a session."""
    # A session has a _jsc too.
    if hasattr(given, "_jsc") and not hasattr(type(given), "sparkContext"):
        sc = given
    else:
        try:
            sc = given.sparkContext
        except Exception as error:  # Spark Connect has the attribute, and raises when somebody reads it
            raise InvalidJob(f"sc: {type(given).__name__} has no SparkContext ({type(error).__name__}); allowed: a SparkContext, "
                             "or a SparkSession that is not one of Spark Connect") from None
    if getattr(sc, "_jsc", None) is None:
        raise InvalidJob("sc: this SparkContext has been stopped")
    return sc


def is_local(master: str) -> bool:
    """Whether the executor is the driver's own JVM, which then has all nodes."""
    return LOCAL.fullmatch(master) is not None


def conf_of(sc: Any) -> dict[str, str]:
    """The application's settings, with the master that it has."""
    return dict(sc.getConf().getAll(), **{"spark.master": sc.master})


def _number(conf: Mapping[str, str], key: str) -> Optional[int]:
    text = conf.get(key, "")
    return int(text) if text.isdigit() else None


def check(conf: Mapping[str, str], wanted: int, total_slots: Optional[int] = None, executors: int = 0,
          fed: bool = False, held: int = 0) -> None:
    """Raises InvalidJob with the setting to change.

    `total_slots` is how many tasks the application can run at once now, on so many `executors`; both may still grow. So many nodes
    are `held`: theirs are tasks that last, also beside rows.
    """
    master = conf.get("spark.master", "")
    local = LOCAL.fullmatch(master)
    if local is not None:
        _check_local(local, wanted, total_slots)
        return
    if conf.get("spark.dynamicAllocation.enabled", "").lower() in TRUE:
        least, most = _number(conf, "spark.dynamicAllocation.minExecutors"), _number(conf, "spark.dynamicAllocation.maxExecutors")
        if least is None or least != most:
            raise InvalidJob("spark.dynamicAllocation.enabled: 'true' takes executors away from nodes that wait for rows; allowed: "
                             f"'false' with spark.executor.instances={wanted}")
    # The only copies that Spark makes of a task before another one of its stage has ended: they would keep an executor from its rows.
    if fed and held == 1 and conf.get("spark.speculation", "").lower() in TRUE and conf.get(THRESHOLD):
        raise InvalidJob(f"{THRESHOLD}: {conf[THRESHOLD]!r} starts a second task for the ps on an executor that is to be fed; allowed: "
                         "not set, or spark.speculation=false")
    per_task = _number(conf, "spark.task.cpus") or 1
    cluster = LOCAL_CLUSTER.fullmatch(master)
    cores = int(cluster["cores"]) if cluster else _number(conf, "spark.executor.cores")
    if cores is None and executors and total_slots is not None and total_slots > executors:
        raise InvalidJob(f"spark.executor.cores: not set, and the {executors} executors run {total_slots} tasks at once; each has to "
                         f"run one: set spark.task.cpus to the cores of an executor ({total_slots * per_task // executors})")
    if cores is not None and cores // per_task > 1:
        raise InvalidJob(f"spark.task.cpus: {per_task} with {cores} cores in each executor lets it run {cores // per_task} tasks at "
                         f"once, and two nodes would share one; allowed: spark.task.cpus={cores}, or spark.executor.cores={per_task}")
    if cores is not None and cores < per_task:
        raise InvalidJob(f"spark.task.cpus: {per_task}, and an executor has {cores} cores; no task can run; allowed: at most {cores}")
    _check_number(conf, wanted, cluster, cores)
    if fed and executors > wanted:
        raise InvalidJob(f"num_executors: {wanted} nodes, and the application has {executors} executors; a partition that runs where no "
                         f"node is cannot be fed; allowed: {executors} nodes, or as many executors as nodes (by "
                         f"spark.executor.instances={wanted}, on a standalone cluster by spark.cores.max)")


def _check_local(local: re.Match[str], wanted: int, total_slots: Optional[int]) -> None:
    given = local["slots"]
    slots = total_slots if given == "*" else int(given or 1)
    if slots is not None and slots < wanted:
        raise InvalidJob(f"num_executors: {wanted} nodes, and the master {local.group()!r} runs {slots} tasks at once; allowed: "
                         f"local[{wanted}] or more")


def _check_number(conf: Mapping[str, str], wanted: int, cluster: Optional[re.Match[str]], cores: Optional[int]) -> None:
    limits = {"spark.executor.instances": _number(conf, "spark.executor.instances")}
    if cluster:
        limits = {f"the master {cluster.group()!r}": int(cluster["workers"])}
    most = _number(conf, "spark.cores.max")
    if most is not None and cores:
        limits[f"spark.cores.max={most} with {cores} cores an executor"] = most // cores
    for name, number in limits.items():
        if number is not None and number < wanted:
            raise InvalidJob(f"num_executors: {wanted} nodes need {wanted} executors, and by {name} there are at most {number}")


def expected(conf: Mapping[str, str]) -> Optional[int]:
    """How many executors the settings say that there are going to be; in one JVM, how many nodes it has room for."""
    master = conf.get("spark.master", "")
    local, cluster = LOCAL.fullmatch(master), LOCAL_CLUSTER.fullmatch(master)
    if local is not None:
        return int(local["slots"] or 1) if local["slots"] != "*" else None
    if cluster is not None:
        return int(cluster["workers"])
    return _number(conf, "spark.executor.instances")
