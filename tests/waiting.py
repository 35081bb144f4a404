"""How tests wait for what happens in other processes, which tell nobody."""

import select
import time

LIMIT_S = 60
# Between two looks the processor is left to those that are waited for.
PAUSE_S = 0.005


def wait_until(condition, what, seconds=LIMIT_S, pause_s=PAUSE_S):
    """Polls until the condition is something, and returns that. `what` is for the reader of the failure, who may want
    to know how things stand then: it may be a function."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if value := condition():
            return value
        select.select([], [], [], pause_s)
    raise AssertionError(f"waited {seconds} s for {what() if callable(what) else what}")
