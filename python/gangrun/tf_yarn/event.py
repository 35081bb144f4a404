"""Not supported: importing this module raises ModuleNotFoundError with the alternative."""

from __future__ import annotations

from gangrun import _refused

raise _refused.module("tf_yarn.event", "there is no key-value store; a task's place is in gangrun.task, and what it tells goes by "
                                       "gangrun.task.report")
