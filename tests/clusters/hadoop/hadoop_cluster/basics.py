"""What all modules use: failures, messages, files, commands with a log and a time limit."""

import os
import shutil
import subprocess
import sys
from xml.sax.saxutils import escape

COMMAND_LIMIT_S = 120


class Failure(Exception):
    """What the person at the command line is told, without a trace."""


def say(*words):
    print("hadoop-cluster:", *words, file=sys.stderr, flush=True)


def need(tool, hint):
    """The path of a program that must be installed."""
    path = shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Failure(f"{tool} is not installed ({hint})")
    return path


def write(path, text, mode=None):
    """Replaces a file as a whole, so that nobody reads half of it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    new = path + ".new"
    with open(new, "w") as out:
        out.write(text)
    if mode is not None:
        os.chmod(new, mode)
    os.replace(new, path)


def write_properties(path, properties):
    """A configuration file as Hadoop reads it."""
    rows = [f"  <property><name>{escape(name)}</name><value>{escape(str(value))}</value></property>"
            for name, value in sorted(properties.items())]
    write(path, "\n".join(['<?xml version="1.0"?>', "<configuration>", *rows, "</configuration>"]) + "\n")


def run_logged(command, log, env=None, text="", limit=COMMAND_LIMIT_S):
    """Runs a command whose output goes to the end of a log; is it well?"""
    with open(log, "ab") as sink:
        try:
            return subprocess.run(command, input=text.encode(), stdout=sink, stderr=sink, env=env,
                                  timeout=limit).returncode == 0
        except subprocess.TimeoutExpired:
            raise Failure(f"{command[0]} took longer than {limit} s; see {log}") from None
