"""Text that others have made, on its way to a person: of tasks, hosts, clusters and servers. The one place of this package
where it is cleaned, shortened and marked as theirs; `base/terminal_text` of the programs does the same.
"""

from __future__ import annotations

import re
import unicodedata

# Limits of what others say in a sentence of ours, and of a sentence that has some of it.
MAX_THEIRS = 300
MAX_SENTENCE = 4096
ESCAPES = re.compile(r"\x1b(?:\[[ -?]*[@-~]?|[\]P_^X].*?(?:\x07|\x1b\\|$)|[ -/]*[0-~]?)", re.DOTALL)


def _shown(char: str) -> str:
    shows = char.isprintable() or char in "\t\n" or unicodedata.category(char) == "Zs"
    return char if shows else f"\\x{ord(char):02x}"


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most - 1] + "…"


def harmless_lines(text: str) -> str:
    """Lines that do nothing to a terminal but show themselves."""
    return "".join(map(_shown, ESCAPES.sub("", text)))


def harmless(text: str) -> str:
    """The same as one line."""
    return "".join(map(_shown, " ".join(ESCAPES.sub("", text).splitlines())))


def sentence(text: str) -> str:
    """One of ours that may have text of others in it."""
    return shortened(harmless(text), MAX_SENTENCE)


def stopped(job: str, cause: str) -> str:
    """The sentence that a job was stopped. Its cause mostly says that itself: it is said once."""
    if cause == "the job was stopped":
        return f"{job} was stopped"
    return f"{job} was {cause}" if cause.startswith("stopped by ") else f"{job} was stopped: {cause}"


def size(count: int) -> str:
    """ "5 B", "1.5 KiB", "812 MiB", as the programs write it."""
    if count < 1024:
        return f"{count} B"
    left, text = float(count), ""
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        left /= 1024
        shown = round(left, 1) if left < 99.95 else round(left)
        text = f"{shown:g} {unit}"
        if shown < 1024:
            break
    return text


def theirs(text: object, most: int = MAX_THEIRS) -> str:
    """What others say, in quotes, for a sentence of ours."""
    said = shortened(harmless(str(text)).strip(), most).replace('"', "'")
    return f'"{said}"'
