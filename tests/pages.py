"""Pages of docs/ as a reader follows them: the files that they show, their commands, and what these print."""

import fnmatch
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(?P<language>\w+)(?: title=\"(?P<file>[^\"]+)\")?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "---- the commands before this line have ended ----"
# What a page says to install is there already: the stages of the gate build it and test the wheel.
INSTALLED = {"make": ("wheel",), "pip": ("install",)}
LIMIT_S = 280


def fences(name, section=None, without=()):
    """The blocks of a page, "start/yarn", or of one section of it, or of all but some."""
    parts = re.split(r"^(?=## )", (ROOT / "docs" / f"{name}.md").read_text(), flags=re.MULTILINE)
    headings = [part.partition("\n")[0].removeprefix("## ") for part in parts]
    assert {section, *without} - {None} <= set(headings), headings
    chosen = (part for part, heading in zip(parts, headings) if section in (None, heading) and heading not in without)
    return list(FENCE.finditer("".join(chosen)))


def write_files(name, folder):
    """Saves the files that a page shows."""
    for fence in fences(name):
        if fence["file"]:
            (folder / fence["file"]).write_text(fence["text"])


def steps(blocks):
    """(commands, the lines that they print) of each block of commands, in their order."""
    found = []
    for fence in blocks:
        if fence["language"] == "sh":
            found.append((fence["text"], []))
        elif fence["language"] == "text" and found:
            found[-1][1].extend(fence["text"].splitlines())
    return found


def stand_ins(folder):
    """A folder of programs that stand for those that install."""
    folder.mkdir()
    for name, words in INSTALLED.items():
        (folder / name).write_text(f'#!/bin/sh\ncase "$1" in {"|".join(words)}) ;; *) exit 9 ;; esac\n')
        (folder / name).chmod(0o755)
    return folder


def printed(line, output):
    """Whether the output has this line, in which "…" stands for anything."""
    pattern = "*".join(map(lambda part: re.sub(r"([\[?*])", r"[\1]", part), line.split("…")))
    return any(fnmatch.fnmatchcase(one.rstrip(), pattern) for one in output.splitlines())


def follow(blocks, folder, environment, replaced=None):
    """Types the commands of the blocks into one shell, which begins in this folder, and checks what they print. `replaced`
    are words of the page that are others on the test's cluster."""
    chosen = steps(blocks)
    script = f"\necho '{MARK}'\n".join(commands for commands, _ in chosen)
    for word, other in (replaced or {}).items():
        assert word in script, word
        script = script.replace(word, other)
    path = f"{stand_ins(folder.with_name(folder.name + '-bin'))}:{environment['PATH']}"
    done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=environment | {"PATH": path}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout
    outputs = done.stdout.split(MARK)
    assert len(outputs) == len(chosen), done.stdout
    missing = [line for (_, lines), output in zip(chosen, outputs) for line in lines if not printed(line, output)]
    assert not missing, f"{missing} in\n{done.stdout}"


def with_programs(gangrun, home, environment=None):
    """The environment of a reader who has built gangrun."""
    own = os.environ | (environment or {})
    return own | {"GANGRUN_HOME": str(home), "PATH": f"{gangrun.parent}:{own['PATH']}"}
