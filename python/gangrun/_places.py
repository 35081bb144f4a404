"""The places that run tasks (`on`), as far as Python starts them; docs/job.md has all."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence

from gangrun import _program, errors

PLACES = ("local", "yarn", "kubernetes", "ssh")
# Places whose master runs on this machine, and reads from it what the job needs until its end.
LED_FROM_HERE = ("local", "ssh")
# Places of jobs of other tools' interfaces: those tools know YARN, and this machine is to try them.
OTHER_TOOLS = ("local", "yarn")


def problem_of(on: object, allowed: Sequence[str] = PLACES) -> Optional[str]:
    """Why `on` is none of these places; None where it is one."""
    return None if on in allowed else f"{on!r} is not a known place; allowed: {', '.join(allowed)}"


def of_defaults(env: Optional[Mapping[str, str]]) -> str:
    """The place of jobs that name none: the one of the files of defaults, which only the program reads, else this machine."""
    if _program.environment(env).get("GANGRUN_NO_DEFAULTS"):
        return "local"
    place = _program.call(["default-place"], env=env).stdout.decode().strip()
    if place not in PLACES:
        raise errors.InvalidJob(f"on: a file of defaults says {place!r}, where `run` starts no jobs; allowed: on= with one of "
                                f"{', '.join(PLACES)}, or defaults=False")
    return place
