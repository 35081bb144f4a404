"""Exceptions of gangrun.

Most of them also derive from the builtin exception that fits, so that `except TimeoutError` and the like work.
"""

from __future__ import annotations

from typing import Any, Optional

from gangrun import _texts


class GangrunError(Exception):
    """Base class of all exceptions in this package."""


class InvalidJob(GangrunError, ValueError):
    """The arguments do not describe a valid job. Nothing was started."""


class NotInstalled(GangrunError, FileNotFoundError):
    """A required gangrun program or library is not installed."""


class NoSuchJob(GangrunError, LookupError):
    """There is no job or task with this name."""


class NoResult(GangrunError, LookupError):
    """The task has no result, or its return value could not be sent back."""


class CommandFailed(GangrunError, OSError):
    """A gangrun command failed for a reason outside the job, such as an unreachable master or a full disk."""


class JobError(GangrunError):
    """The job did not succeed. `status` is its last known status, a dict; empty if there is none."""

    def __init__(self, message: str, status: Optional[dict[str, Any]] = None) -> None:
        super().__init__(message)
        self.status: dict[str, Any] = status or {}

    @property
    def cause(self) -> Optional[dict[str, Any]]:
        """The first failure of the job, or None if it is not known.

        Its keys are `task`, `host`, `reason`, `sentence`, `why` (the values of the sentence, such as `code` and `signal`), `last_lines`
        and `traceback`.
        """
        found: Optional[dict[str, Any]] = self.status.get("cause")
        return found

    @property
    def reason(self) -> str:
        """The first failure as one word, such as "exit_status" or "preempted"; "unknown" if it is not known.

        `gangrun explain` lists all reasons.
        """
        return str((self.cause or {}).get("reason", "unknown"))

    @property
    def job_id(self) -> str:
        """The job's id; empty if it is not known."""
        return str(self.status.get("id", ""))


class JobFailed(JobError, RuntimeError):
    """A task failed, or the job could not be started."""


class JobTimeout(JobError, TimeoutError):
    """The job reached one of its time limits."""


# Values of `reason` that raise JobTimeout.
TIME_LIMITS = ("allocation_timeout", "roll_call_timeout", "job_timeout")


class JobKilled(JobError, RuntimeError):
    """The job was stopped from outside, for example with `gangrun kill`."""


class JobLost(JobError, ConnectionError):
    """The job's master disappeared before it reported how the job ended."""


class RemoteTraceback(Exception):
    """The traceback from inside a task, set as the `__cause__` of the exception that is raised here.

    `text` is the traceback; `task`, `host` and `job_id` say where it comes from.
    """

    def __init__(self, text: str, task: str = "", host: str = "", job_id: str = "") -> None:
        super().__init__(text, task, host, job_id)
        self.text, self.task, self.host, self.job_id = _texts.harmless_lines(text), task, host, job_id

    def __str__(self) -> str:
        where = f" on {self.host}" if self.host else ""
        job = f" of {self.job_id}" if self.job_id else ""
        return f"in {self.task}{job}{where}:\n\n{self.text.rstrip()}" if self.task else self.text
