"""The master knows tasks, and no kind of them: what runs them is behind cluster::Tasks."""

import re

import pytest

from house import cpp_files, read, report

# What only some kinds of tasks have, as code names it.
KINDS = re.compile(r"""
    \bAgents\b | \b(?:agents|wire):: | \bLauncher\b
    | \b(?:direct|joining|joined|pods?|sessions?)_?\b
    | \#include[ ]"(?:agents/|wire/|cluster/launcher\.h|(?:local|ssh|yarn|kubernetes|spark)/)
    """, re.VERBOSE | re.IGNORECASE)


def kinds_named(text):
    """The kinds of tasks that this source names. Comments may name any: they say why."""
    code = re.sub(r"//.*", "", text)
    return sorted({found.group() for found in KINDS.finditer(code)})


def test_no_file_of_the_master_names_a_kind_of_tasks():
    offences = [f"{path} names {', '.join(named)}" for path in cpp_files("src")
                if path.parent.name == "master" and not path.stem.endswith("_test")
                for named in [kinds_named(read(path))] if named]
    assert not offences, report(offences)


@pytest.mark.parametrize("code, is_named", [
    ("agents::Server server_;", True),
    ("std::unique_ptr<cluster::Launcher> launcher;", True),
    ("if (settings_.joining != nullptr) return;", True),
    ('#include "kubernetes/pods/pod_runs.h"', True),
    ('#include "cluster/tasks.h"', False),
    ("tasks_.kill(decision);", False),
    ("std::get_if<job::AgentEnded>(&event)", False),
    ("// Agents and pods alike.", False),
])
def test_kinds_are_seen(code, is_named):
    assert bool(kinds_named(code)) is is_named
