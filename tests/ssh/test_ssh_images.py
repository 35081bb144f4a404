"""Tasks in container images on hosts that ssh reaches, by a real engine that all of them use."""

import os
import signal

import pytest
from clusters.engine.fixtures import SMALL
from ssh_job import TICK, wait_for_nothing
from test_ssh_start import nothing_left
from waiting import wait_until

# Some of the image's own, and what a task sees of its host.
TELL = 'cat input; cat /proc/1/comm; test -x /usr/bin/env || echo "in the image, at $GANGRUN_HOST"'
STUBBORN = f"trap '' TERM INT HUP; {TICK}"


@pytest.fixture
def hosts_with_engine(make_sshds, engine):
    """hosts_with_engine(count, before=…): hosts whose logins have the engine."""

    def make(count, **options):
        return make_sshds(count, environment=engine.environment, **options)

    return make


@pytest.mark.parametrize("hides", ["nothing", "the folder"])
def test_tasks_run_in_an_image_and_find_their_files(hosts_with_engine, run_on_ssh, tmp_path, engine, hides):
    sshds = hosts_with_engine(2, before=f"mount -t tmpfs none {tmp_path} && " if hides == "the folder" else "")
    (tmp_path / "input").write_text("from the folder\n")
    done = run_on_ssh(sshds, 1, "-r", "worker:2", "--image", SMALL, "-f", "input", "--", "sh", "-c", TELL)
    assert done.status == 0, done
    for line in ("from the folder", ".gangrun-agent"):
        assert sum(each.endswith(f"| {line}") for each in done.stdout.splitlines()) == 2, done
    for name in sshds.hosts.names:
        assert f"in the image, at {sshds.hosts.address(name)}" in done.stdout
    assert engine.containers() == []
    nothing_left(sshds)


@pytest.mark.parametrize("victim", ["client", "agent"])
def test_no_container_is_left_whoever_is_killed(hosts_with_engine, start, engine, victim):
    sshds = hosts_with_engine(2)
    job = start(sshds, 1, "-r", "worker:2", "--image", SMALL, "--timeout", "stop=1s,master_lost=1h", command=STUBBORN)
    for index in range(2):
        job.wait_for_ticks(index)
    assert len(engine.containers()) == 2
    name = sshds.hosts.names[1]
    if victim == "client":
        job.process.kill()
    else:
        agents = [pid for pid, line in sshds.commands(name, "--containment").items() if " task " in line]
        os.kill(max(agents), signal.SIGKILL)
    job.wait()
    wait_until(lambda: not engine.containers(), lambda: f"the end of {engine.containers()}")
    wait_for_nothing(sshds)


def test_an_image_that_cannot_be_fetched_is_the_first_cause(hosts_with_engine, run_on_ssh, engine):
    sshds = hosts_with_engine(1)
    done = run_on_ssh(sshds, 1, "-r", "worker:1", "--image", "localhost:1/no-such-image:1", "--", "true")
    assert done.status == 3, done
    assert f"worker:0 on {sshds.hosts.names[0]} could not be started" in done.stderr
    assert "localhost:1" in done.stderr
    nothing_left(sshds)


def test_a_host_without_an_engine_is_refused_before_anything_starts(make_sshds, run_on_ssh, run_gangrun, home):
    sshds = make_sshds(1, environment={"GANGRUN_CONTAINER_ENGINE": "no-engine"})
    (name,) = sshds.hosts.names
    done = run_on_ssh(sshds, 1, "-r", "worker:1", "--image", SMALL, "--", "true")
    assert done.status == 2, done
    assert f"image: '{SMALL}': host {name}: \"GANGRUN_CONTAINER_ENGINE: 'no-engine' is in none of the folders" in done.stderr
    nothing_left(sshds)
    shown = run_gangrun("doctor", "--on", "ssh", "--ssh-config", sshds.config, "--hosts", name)
    assert "; no container engine; " in shown.stdout, shown
