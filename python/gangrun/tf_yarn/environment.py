"""Environment variables of a job's tasks, and the job's settings for YARN."""

from __future__ import annotations

import urllib.parse
from typing import Any, Mapping, Optional, Sequence

from gangrun.tf_yarn.topologies import TaskSpec

# Heap sizes of the JVM that libhdfs starts in a task.
_LIBHDFS_OPTS = "-Xms64m -Xmx512m"


def job_variables(env: Optional[Mapping[str, str]], n_try: int, mlflow: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of all tasks as a new dict. `n_try` is the number of earlier tries."""
    given = {str(name): str(value) for name, value in (env or {}).items()}
    options = f"{_LIBHDFS_OPTS} {given['LIBHDFS_OPTS']}" if "LIBHDFS_OPTS" in given else _LIBHDFS_OPTS
    return {**mlflow, **given, "LIBHDFS_OPTS": options, "TF_YARN_N_TRY": str(n_try)}


def task_variables(spec: TaskSpec) -> dict[str, str]:
    """Return the variables with the TensorBoard settings of a TaskSpec."""
    found = {}
    if spec.tb_termination_timeout_seconds >= 0:
        found["TB_TERMINATION_TIMEOUT_SECONDS"] = str(spec.tb_termination_timeout_seconds)
    if spec.tb_model_dir:
        found["TB_MODEL_DIR"] = str(spec.tb_model_dir)
    if spec.tb_extra_args:
        found["TB_EXTRA_ARGS"] = str(spec.tb_extra_args)
    return found


def check_file_systems(file_systems: Optional[Sequence[str]]) -> None:
    """Raise ValueError unless this is a list of file system URLs, such as "hdfs://nameservice"."""
    if isinstance(file_systems, str):
        raise ValueError(f"file_systems: {file_systems!r} is a text; allowed: a list, as [{file_systems!r}]")
    for url in file_systems or ():
        parts = urllib.parse.urlsplit(str(url))
        if not parts.scheme or not parts.netloc:
            raise ValueError(f"file_systems: {url!r} is not an address of a file system; allowed: as hdfs://nameservice")


def _names(acls: Any, field: str) -> list[str]:
    value = acls.get(field) if isinstance(acls, Mapping) else getattr(acls, field, None)
    if value is None:
        return []
    if isinstance(value, str) or not all(isinstance(name, str) and name and not set(name) & set(" ,") for name in value):
        raise ValueError(f"acls: {field}: {value!r} is not a list of names; allowed: as ['ann', 'bob'], or ['*'] for all")
    return list(value)


def yarn_acls(acls: Any) -> dict[str, str]:
    """Return the job keys view_acl and modify_acl; empty if the ACLs are not enabled.

    `acls` is a dict, or an object, with the fields of skein's ACLs. Raises ValueError for anything else.
    """
    if acls is None:
        return {}
    if isinstance(acls, Mapping):
        known = {"enable", "ui_users", *(f"{what}_{who}" for what in ("view", "modify") for who in ("users", "groups"))}
        for field in acls:
            if field not in known:
                raise ValueError(f"acls: {field!r} is not a field; allowed: {', '.join(sorted(known))}")
    elif not hasattr(acls, "view_users"):
        raise ValueError(f"acls: {acls!r} has no view_users; allowed: a dict as {{'view_users': ['ann']}}, or skein's ACLs")
    if not (acls.get("enable", True) if isinstance(acls, Mapping) else getattr(acls, "enable", True)):
        return {}
    found = {}
    for what in ("view", "modify"):
        users, groups = _names(acls, f"{what}_users"), _names(acls, f"{what}_groups")
        if "*" in users + groups:
            found[f"{what}_acl"] = "*"
        elif users or groups:
            found[f"{what}_acl"] = f"{','.join(users)} {','.join(groups)}".rstrip()
    return found


def yarn_keys(acls: Any, file_systems: Optional[Sequence[str]]) -> dict[str, Any]:
    """Return the job's keys for YARN: its ACLs, and the file systems for which its tasks need tokens."""
    keys: dict[str, Any] = dict(yarn_acls(acls))
    if file_systems:
        keys["file_systems"] = [str(url) for url in file_systems]
    return keys
