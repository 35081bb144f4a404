"""A minimal replacement of `skein` for tf-yarn programs, used if skein is not installed: a client, and ACLs.

gangrun talks to YARN itself, so a client here is not connected to anything. Calls that need skein raise an error that
names the alternative.
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
    """A placeholder for `run_on_yarn(skein_client=...)`; all arguments are ignored.

    It is a context manager, as in `with skein.Client() as client`.
    """

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        pass

    @classmethod
    def from_global_driver(cls) -> Client:
        """Return a Client; there is no driver."""
        return cls()

    @staticmethod
    def start_global_driver(**_options: Any) -> str:
        """Do nothing and return an empty address; there is no driver."""
        return ""

    @staticmethod
    def stop_global_driver(force: bool = False) -> None:
        """Do nothing; there is no driver."""
        pass

    def close(self) -> None:
        """Do nothing; nothing is open."""
        pass

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        raise _refused.member("skein.Client", name, _START if name.startswith("submit") else _JOBS)


class ApplicationClient:
    """A placeholder for the `client` argument of the functions in tf_yarn._task_commons, which ignore it."""

    @classmethod
    def from_current(cls) -> ApplicationClient:
        """Return an ApplicationClient."""
        return cls()

    def __getattr__(self, name: str) -> Any:
        raise _refused.member("skein.ApplicationClient", name, _KEYS)


__getattr__ = _refused.names("skein", {
    **dict.fromkeys(("ApplicationSpec", "File", "FileType", "FileVisibility", "LogLevel", "Master", "Resources", "Security", "Service"),
                    _START),
    **dict.fromkeys(("FinalStatus", "ApplicationState", "ApplicationReport"), _JOBS), "properties": _KEYS, "kv": _KEYS})
