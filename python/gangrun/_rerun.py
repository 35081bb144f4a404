"""Submit a past job again: `rerun`."""

from __future__ import annotations

from typing import Callable, Mapping, Optional, Sequence, Union

from gangrun import _display
from gangrun._run import Run, Status


def rerun(job_id: str = "last", flags: Sequence[str] = (), *, block: bool = True, detach: bool = False,
          display: Union[None, bool, str] = None, on_status: Optional[Callable[[Status], None]] = None,
          on_line: Optional[Callable[[str, str, str], None]] = None, client_env: Optional[Mapping[str, str]] = None) -> Run:
    """Submit a past job again as a new job, with its flags, files, folder and place, and wait for its end.

    `flags` are those of `gangrun run`, such as ["-m", "8g"], and win over the job's own. The other arguments are those of `run`.
    Raises NoSuchJob if there is no such job or nothing is known of how it was submitted, and InvalidJob if a file of it is gone:
    a job that runs a Python function has none any more once it has ended.
    """
    if isinstance(flags, (str, bytes)) or not all(isinstance(flag, str) for flag in flags):
        raise TypeError(f"flags: {flags!r} is no list of texts; allowed: flags of gangrun run, such as ['-m', '8g']")
    kind = "none" if detach else _display.kind_of(display, block)
    started = Run(on="yarn" if job_id.startswith("application_") else "local", env=client_env or {}, owned=not detach,
                  on_status=on_status, on_line=on_line, with_lines=kind == "lines", display=_display.make(kind))
    return started._submit(["rerun", job_id, *flags], block, detach)
