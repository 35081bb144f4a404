"""skein.model: the ACLs of run_on_yarn."""

from __future__ import annotations

import dataclasses
from typing import Optional, Sequence

from gangrun import _refused


@dataclasses.dataclass
class ACLs:
    """Who may see an application and end it; nothing counts before `enable` does, as in skein."""

    enable: bool = False
    view_users: Optional[Sequence[str]] = None
    view_groups: Optional[Sequence[str]] = None
    modify_users: Optional[Sequence[str]] = None
    modify_groups: Optional[Sequence[str]] = None
    ui_users: Optional[Sequence[str]] = None


__getattr__ = _refused.names("skein.model", dict.fromkeys(
    ("ApplicationSpec", "File", "FileType", "FileVisibility", "FinalStatus", "LogLevel", "Master", "Resources", "Security", "Service",
     "ApplicationReport", "ApplicationState", "Container", "ContainerState"), "a job is described by gangrun.run or a job file (docs/yarn.md)"))
