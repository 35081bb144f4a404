"""Manual pages from what the commands say of themselves with --help."""

import re
import subprocess
import time

# Each is a program of its own, too.
PROGRAMS = ("ytf-submit", "tf-spawner", "check_hadoop_env")
SECTION = re.compile(r"^([A-Z][^\n:]*):(?: (.*))?$")


def help_of(gangrun, *words):
    return subprocess.run([gangrun, *words, "--help"], check=True, capture_output=True, text=True).stdout


def commands(text):
    """The names in the list of commands."""
    listed = re.search(r"^Commands:\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL).group(1)
    return re.findall(r"^  ([\w-]+) ", listed, re.MULTILINE)


def escaped(line):
    """A line that no formatter takes for an order."""
    line = line.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + line if line[:1] in (".", "'") else line


def literal(lines):
    return [".nf", *map(escaped, lines), ".fi"]


def parts(text):
    """The summary, and [heading, its lines] of the rest, as --help has them."""
    summary, _, rest = text.partition("\n\n")
    found = []
    for line in rest.splitlines():
        heading = SECTION.match(line)
        if heading:
            found.append([heading.group(1), [heading.group(2)] if heading.group(2) else []])
        elif found:
            found[-1][1].append(line)
    for one in found:
        while one[1] and not one[1][-1]:
            one[1].pop()
    return " ".join(summary.split()), found


def page(name, text, version, date):
    summary, sections = parts(text)
    day = time.strftime("%Y-%m-%d", time.gmtime(date))
    lines = [f'.TH "{name.upper()}" "1" "{day}" "gangrun {version}" "User Commands"', ".SH NAME",
             f"{escaped(name)} \\- {escaped(summary.rstrip('.'))}"]
    for heading, inside in sections:
        title = "SYNOPSIS" if heading == "Usage" else heading.upper()
        lines += [f".SH {escaped(title)}", *literal(inside)]
    if name != "gangrun":
        lines += [".SH SEE ALSO", r".BR gangrun (1)"]
    return "\n".join(lines) + "\n"


def pages(gangrun, version, date):
    """{file name: text} of all commands."""
    own = help_of(gangrun)
    made = {"gangrun.1": page("gangrun", own, version, date)}
    for command in commands(own):
        name = command if command in PROGRAMS else f"gangrun-{command}"
        made[f"{name}.1"] = page(name, help_of(gangrun, command), version, date)
    return made
