"""What can go wrong, each also as the builtin that one would look for."""

from __future__ import annotations

from typing import Any, Optional


class GangrunError(Exception):
    """Every error of this package."""


class InvalidJob(GangrunError, ValueError):
    """What was asked for cannot be a job: nothing has been started."""


class NotInstalled(GangrunError, FileNotFoundError):
    """A program of gangrun, or a library that is needed for what was asked, is not there."""


class NoSuchJob(GangrunError, LookupError):
    """There is no job, or no task, of that name."""


class NoResult(GangrunError, LookupError):
    """The task has left no result, or one that could not be sent."""


class CommandFailed(GangrunError, OSError):
    """A command of gangrun failed by itself: a master that does not answer, a full disk."""


class JobError(GangrunError):
    """A job did not succeed. `status` is its last known status, `cause` the first cause in it, or None."""

    def __init__(self, message: str, status: Optional[dict[str, Any]] = None) -> None:
        super().__init__(message)
        self.status: dict[str, Any] = status or {}

    @property
    def cause(self) -> Optional[dict[str, Any]]:
        """`task`, `host`, `sentence`, `last_lines` and `traceback` of what failed first."""
        found: Optional[dict[str, Any]] = self.status.get("cause")
        return found

    @property
    def job_id(self) -> str:
        return str(self.status.get("id", ""))


class JobFailed(JobError, RuntimeError):
    """A task failed, or the job could not be started."""


class JobTimeout(JobError, TimeoutError):
    """One of the job's time limits was reached."""


class JobKilled(JobError, RuntimeError):
    """Somebody ended the job."""


class JobLost(JobError, ConnectionError):
    """The job's master is gone without a verdict."""


class RemoteTraceback(Exception):
    """The traceback of an exception as the task has seen it; the `__cause__` of the exception that is raised here."""

    def __init__(self, text: str, task: str = "", host: str = "", job_id: str = "") -> None:
        super().__init__(text, task, host, job_id)
        self.text, self.task, self.host, self.job_id = text, task, host, job_id

    def __str__(self) -> str:
        where = f" on {self.host}" if self.host else ""
        job = f" of {self.job_id}" if self.job_id else ""
        return f"in {self.task}{job}{where}:\n\n{self.text.rstrip()}" if self.task else self.text
