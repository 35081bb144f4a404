"""From a TaskSpec to the keys of a task type in a job file."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping


class TaskKeys:
    """What a TaskSpec can do. Its fields are in _task_spec.py."""

    def to_json(self) -> dict[str, Any]:
        """Return the task type as a dict for a job file, without `environment`."""
        keys: dict[str, Any] = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # of the class that inherits
            value = getattr(self, field.name)
            if field.name == "environment" or value is None or (field.name != "instances" and value == _default(field)):
                continue
            keys[field.name] = dict(value) if isinstance(value, Mapping) else _words(value)
        return keys


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default is not dataclasses.MISSING else {}


def _words(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value
