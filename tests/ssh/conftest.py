import contextlib
import os

import pytest

from ssh_job import Job
from sshds import Sshds


@pytest.fixture
def make_sshds(make_hosts, tmp_path_factory):
    """make_sshds(count, private=…, before=…), once a test: that many hosts with an sshd each."""
    with contextlib.ExitStack() as stack:

        def make(count=3, blocks=("10.214",), **options):
            sshds = Sshds(make_hosts(count, blocks), tmp_path_factory.mktemp("s"), **options)
            stack.callback(sshds.stop)
            return sshds.start()

        yield make


@pytest.fixture
def sshds(make_sshds):
    """Three hosts that share all folders with the client."""
    return make_sshds()


@pytest.fixture
def private(make_sshds, tmp_path):
    """Two hosts that share no folder with the client, which has two files."""
    (tmp_path / "train.py").write_text("print('trained')\n")
    (tmp_path / "same").write_text("as it was\n")
    return make_sshds(2, private=True)


@pytest.fixture
def run_on_ssh(run_gangrun, tmp_path):
    """run_on_ssh(sshds, slots, *words): `gangrun run` on all hosts, to its end."""

    def run(sshds, slots, *words, **options):
        hosts = ",".join(f"{name}:{slots}" for name in sshds.hosts.names)
        options.setdefault("cwd", tmp_path)
        return run_gangrun("run", "--on", "ssh", "--ssh-config", sshds.config, "--hosts", hosts, *words, **options)

    return run


@pytest.fixture
def start(gangrun, home, tmp_path):
    """start(sshds, slots, *words): `gangrun run` in the background; see Job."""
    jobs = []

    def begin(sshds, slots, *words, **options):
        jobs.append(Job(gangrun, home, tmp_path, sshds, slots, *words, **options))
        return jobs[-1]

    yield begin
    for job in jobs:
        job.process.kill()
        job.wait()


@pytest.fixture
def fake_ssh(monkeypatch, tmp_path_factory):
    """fake_ssh(script): a program for all that gangrun says to a host by ssh, in place of OpenSSH's."""
    folder = tmp_path_factory.mktemp("bin")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def make(script):
        (folder / "ssh").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "ssh").chmod(0o755)

    return make
