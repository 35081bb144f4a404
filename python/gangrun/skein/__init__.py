"""What programs of tf-yarn import as `skein` where that is not installed: a client to hand on, and ACLs.

gangrun speaks to YARN itself, so a client here is connected to nothing, and whatever asks skein for an application is refused.
"""

from __future__ import annotations

from typing import Any

from gangrun import _refused
from gangrun.skein import model
from gangrun.skein.model import ACLs

__all__ = ["ACLs", "ApplicationClient", "Client", "model"]

_JOBS = "gangrun ps --on yarn, status, logs, kill and wait show and end applications"
_START = "gangrun.run(..., on='yarn') starts a job (docs/yarn.md, Coming from skein or TonY)"
_KEYS = "there is no key-value store; gangrun.task has the place of a task and takes its figures and result"


class Client:
    """For `run_on_yarn(skein_client=...)`, once or for several runs: `with skein.Client() as client`. Its arguments say how a driver
    is started, and there is none."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        pass

    @classmethod
    def from_global_driver(cls) -> Client:
        return cls()

    @staticmethod
    def start_global_driver(**_options: Any) -> str:
        return ""

    @staticmethod
    def stop_global_driver(force: bool = False) -> None:
        pass

    def close(self) -> None:
        pass

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        raise _refused.member("skein.Client", name, _START if name.startswith("submit") else _JOBS)


class ApplicationClient:
    """For the functions of tf_yarn._task_commons, which need none: `ApplicationClient.from_current()` in a task."""

    @classmethod
    def from_current(cls) -> ApplicationClient:
        return cls()

    def __getattr__(self, name: str) -> Any:
        raise _refused.member("skein.ApplicationClient", name, _KEYS)


__getattr__ = _refused.names("skein", {
    **dict.fromkeys(("ApplicationSpec", "File", "FileType", "FileVisibility", "LogLevel", "Master", "Resources", "Security", "Service"),
                    _START),
    **dict.fromkeys(("FinalStatus", "ApplicationState", "ApplicationReport"), _JOBS), "properties": _KEYS, "kv": _KEYS})
