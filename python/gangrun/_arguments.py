"""Checks of times and counts among arguments: the errors name the argument as the caller does, its value, and what is allowed."""

from __future__ import annotations

import math
import numbers
import threading
from typing import Any, Optional


def seconds(name: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """A time as a float. NumPy's numbers are numbers too."""
    allowed = "a number of seconds" + _limits(least, most)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise _other_type(name, value, allowed)
    return float(_in_range(name, value, least, most, allowed))


def time_limit(name: str, value: Any) -> Optional[float]:
    """A time as waits of Python take it. None and infinity are no limit."""
    limit = None if value is None else seconds(name, value)
    return None if limit is None or limit > threading.TIMEOUT_MAX else limit


def count(name: str, value: Any, least: int, most: float = math.inf) -> int:
    allowed = "a whole number" + _limits(least, most)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise _other_type(name, value, allowed)
    return int(_in_range(name, value, least, most, allowed))


def _in_range(name: str, value: Any, least: float, most: float, allowed: str) -> Any:
    if not least <= value <= most:  # NaN is in no range
        raise ValueError(f"{name}: {value!r} is out of range; allowed: {allowed}")
    return value


def _limits(least: float, most: float) -> str:
    if most < math.inf:
        return f" from {least:g} to {_written(most)}"
    return f" from {least:g} on" if least > -math.inf else ""


def _written(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def _other_type(name: str, value: Any, allowed: str) -> TypeError:
    return TypeError(f"{name}: {value!r} is of the type {type(value).__name__}; allowed: {allowed}")
