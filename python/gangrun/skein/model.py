"""Replacement of skein.model: the ACLs for run_on_yarn."""

from __future__ import annotations

import dataclasses
from typing import Optional, Sequence

from gangrun import _refused


@dataclasses.dataclass
class ACLs:
    """Who may view and modify a YARN application. As in skein, nothing applies unless `enable` is True.

    `ui_users` is accepted and ignored.
    """

    enable: bool = False
    view_users: Optional[Sequence[str]] = None
    view_groups: Optional[Sequence[str]] = None
    modify_users: Optional[Sequence[str]] = None
    modify_groups: Optional[Sequence[str]] = None
    ui_users: Optional[Sequence[str]] = None


__getattr__ = _refused.names("skein.model", dict.fromkeys(
    ("ApplicationSpec", "File", "FileType", "FileVisibility", "FinalStatus", "LogLevel", "Master", "Resources", "Security", "Service",
     "ApplicationReport", "ApplicationState", "Container", "ContainerState"), "a job is described by gangrun.run or a job file (docs/yarn.md)"))
