"""From the keyword arguments of `run` to the keys of a job file that have an argument of their own."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence

from gangrun.errors import InvalidJob


def keys_of(on: str, job: Optional[Mapping[str, Any]], own: Mapping[str, Any], *, queue: Optional[str],
            kubernetes: Optional[Mapping[str, Any]], yarn: Optional[Mapping[str, Any]], principal: Optional[str],
            keytab: Any, run_as: Optional[str], hosts: Any, hostfile: Any, ssh_config: Any) -> dict[str, Any]:
    """`own`: those that are called in a job file as they are here; None means that one was not given."""
    keys = {**(job or {}), **_said(own)}
    of_yarn = {"principal": principal, "as": run_as,
               "keytab": None if keytab is None else os.path.abspath(os.fspath(keytab))}
    _add_hosts(keys, on, hosts, hostfile, ssh_config)
    _add_keys(keys, "kubernetes", kubernetes, {"queue": queue} if on == "kubernetes" else {})
    _add_keys(keys, "yarn", yarn, of_yarn if on == "kubernetes" else {"queue": queue, **of_yarn})
    return keys


def check_agents(keys: Mapping[str, Any]) -> None:
    """Refuses a job whose functions run in pods where no agent brings back what they return or raise."""
    kubernetes = keys.get("kubernetes", {})
    if isinstance(kubernetes, Mapping) and kubernetes.get("agents") == "none":
        raise InvalidJob("kubernetes.agents: 'none' is not allowed with a function: an agent in its pod brings back what it returns or "
                         "raises; allowed: without `agents`, or main as a list of words or a line for the shell")


def _add_keys(keys: dict[str, Any], cluster: str, given: Optional[Mapping[str, Any]], more: Mapping[str, Any]) -> None:
    """What a cluster is told, of three places; the later ones win."""
    if given is not None or _said(more):
        keys[cluster] = {**keys.get(cluster, {}), **(given or {}), **_said(more)}


def _add_hosts(keys: dict[str, Any], on: str, hosts: Any, hostfile: Any, config: Any) -> None:
    """Where the program may be called in another folder than ours, paths are absolute."""
    for argument, value in {"hosts": hosts, "hostfile": hostfile, "ssh_config": config}.items():
        if value is not None and on != "ssh":
            raise InvalidJob(f"{argument}: {value!r} is only for hosts that ssh reaches; allowed with on='ssh'")
    if hosts is not None:
        if isinstance(hosts, (str, bytes)) or not isinstance(hosts, Sequence) or not all(isinstance(one, str) for one in hosts):
            raise InvalidJob(f"hosts: {hosts!r} is no list of hosts; allowed: ['gpu1:8', 'gpu2:8'], with or without the "
                                    "number of tasks")
        keys["hosts"] = list(hosts)
    paths = {"hostfile": hostfile, "config": config}
    _add_keys(keys, "ssh", None, {key: None if path is None else os.path.abspath(os.fspath(path)) for key, path in paths.items()})
    own = keys.get("ssh")
    if isinstance(own, Mapping):
        keys["ssh"] = {key: os.path.abspath(value) if key in paths and isinstance(value, str) else value for key, value in own.items()}


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
