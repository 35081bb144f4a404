"""Which group each test belongs to, and `pytest --group NAME`, which runs those of one group only.

A test is in exactly one group: that of its marker (`@pytest.mark.gate`, `@pytest.mark.soak`), the nearest one where a
module or a class has one too; without a marker that of its folder. The group `gate` decides about a change: `make test`
runs it. Each of the others is one name of `make acceptance ONLY=NAME`.
"""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

GATE = "gate"
GROUPS = {
    GATE: "what decides about a change",
    "programs": "the programs on this machine: what takes long, or waits",
    "package": "the Python package: what takes long, and wheels for every Python",
    "frameworks": "trainings with TensorFlow, PyTorch, JAX and Horovod",
    "yarn": "jobs on Hadoop: commands, faults, pages",
    "secure": "Hadoop with Kerberos, in each release and protection",
    "releases": "older releases of Hadoop and Spark: which part of their tests passes there",
    "spark": "the feed, pipelines, streams and faults on Spark",
    "ssh": "hosts that ssh reaches, and their faults",
    "kubernetes": "pods, their faults, detached jobs, tf-spawner",
    "docs": "the documentation site, built and looked at in a browser",
    "servers": "the scripts that start the servers of the tests",
    "attacks": "what strangers, other users, tasks, job files, hosts, pods and servers may try, over all places",
    "soak": "hundreds of rounds with processes killed at random",
}

# The group of a test without a marker.
FOLDERS = {
    "tests/tidy": GATE,
    "tests/toolchain": GATE,
    "tests/integration": GATE,
    "python/tests": GATE,
    "tests/end_to_end": "frameworks",
    "tests/yarn": "yarn",
    "tests/python": "yarn",
    "tests/spark": "spark",
    "tests/kubernetes": "kubernetes",
    "tests/ssh": "ssh",
    "tests/clusters": "servers",
    "tests/attacks": "attacks",
    "tests/docs": "docs",
}


def group_of(item):
    marked = next((mark.name for mark in item.iter_markers() if mark.name in GROUPS), None)
    if marked:
        return marked
    folder = item.path.parent.relative_to(ROOT).as_posix()
    assert folder in FOLDERS, f"{item.nodeid}: tests/groups.py says no group for the folder {folder}"
    return FOLDERS[folder]


def pytest_addoption(parser):
    parser.addoption("--group", choices=sorted(GROUPS), help="run only the tests of this group (tests/groups.py)")
    parser.addoption("--show-groups", action="store_true", help="with --collect-only: print the group of each test, too")


def pytest_configure(config):
    for name, what in GROUPS.items():
        config.addinivalue_line("markers", f"{name}: {what}")


def pytest_collection_modifyitems(config, items):
    chosen = config.getoption("--group")
    if chosen:
        config.hook.pytest_deselected(items=[item for item in items if group_of(item) != chosen])
        items[:] = [item for item in items if group_of(item) == chosen]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    if session.config.getoption("--show-groups"):
        for item in session.items:
            print(f"group {group_of(item)} {item.nodeid}")
