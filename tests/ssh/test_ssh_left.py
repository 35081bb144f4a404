"""What a job leaves on its host where those were killed that would have removed it, and what a login that was cut leaves."""

import os
import signal
import subprocess

from ssh_job import LIMIT_S, wait_for_nothing
from waiting import wait_until


def start_one(sshds, start):
    job = start(sshds, 1, "-r", "worker:1", "--timeout", "master_lost=5s")
    job.wait_for_ticks(0)
    (name,) = sshds.hosts.names
    assert len(sshds.run_folders(name)) == 1
    return job, name


def test_a_host_clears_up_by_itself_where_keeper_sshd_master_and_a_caretaker_were_killed(make_sshds, start):
    """The folder stayed until another job of the next day came to the host."""
    sshds = make_sshds(1)
    job, name = start_one(sshds, start)
    # So that none of them can answer the death of another.
    job.process.send_signal(signal.SIGSTOP)
    (keeper,) = [pid for pid, line in sshds.commands(name, " host --folder ").items() if " task " not in line]
    first, _second = sshds.commands(name, " caretaker ")
    for pid in (keeper, first):
        os.kill(pid, signal.SIGKILL)
    sshds.kill_sshd(name)
    job.process.kill()
    job.wait()
    wait_for_nothing(sshds)


def test_the_next_login_clears_up_where_all_were_killed(make_sshds, start, run_on_ssh):
    sshds = make_sshds(1)
    job, name = start_one(sshds, start)
    job.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: not sshds.kill_all(name), "the end of all processes", LIMIT_S)
    job.process.kill()
    job.wait()
    sshds.processes[name].wait(timeout=LIMIT_S)
    (sshds.folder / f"sshd-{name}.log").write_text("")
    sshds.start_one(name)
    (left,) = sshds.cache(name).glob("gangrun/jobs/*")
    # A client might still come again.
    assert run_on_ssh(sshds, 1, "-r", "worker:1", "--", "true").status == 0
    assert left.exists()
    for path in [*left.rglob("*"), left]:
        os.utime(path, (0, 0))
    assert run_on_ssh(sshds, 1, "-r", "worker:1", "--", "true").status == 0
    wait_for_nothing(sshds)


def test_an_agent_that_came_in_part_is_not_used(make_sshds, run_on_ssh):
    """Where the first login was cut, each later job of the host failed."""
    sshds = make_sshds(1, private=True)
    assert run_on_ssh(sshds, 1, "-r", "worker:1", "--", "true").status == 0
    (agent,) = sshds.cache(sshds.hosts.names[0]).glob("gangrun/agents/*")
    whole = agent.stat().st_size
    # In its place: what is left of the first job may still run it for a moment.
    part = agent.with_name("part")
    part.write_bytes(agent.read_bytes()[:1 << 20])
    part.chmod(agent.stat().st_mode)
    part.replace(agent)
    assert run_on_ssh(sshds, 1, "-r", "worker:1", "--", "true").status == 0
    assert agent.stat().st_size == whole


def test_the_next_login_removes_what_killed_logins_have_left(make_sshds, start, run_on_ssh, tmp_path, monkeypatch):
    """A file stayed in the user's working folder, and a part of the agent on the host."""
    sshds = make_sshds(1, private=True)
    (name,) = sshds.hosts.names
    # Of the agent only a part goes through it.
    folder = tmp_path / "bin"
    folder.mkdir()
    gate = folder / "gate"
    os.mkfifo(gate)
    (folder / "ssh").write_text(f'#!/bin/sh\n{{ dd bs=4k count=200 2>/dev/null; cat {gate}; }} | /usr/bin/ssh "$@"\n')
    (folder / "ssh").chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        job = start(sshds, 1, "-r", "worker:1")
    parts = sshds.cache(name) / "gangrun" / "agents"

    def begun():
        # Not the program by which the login tries whether there is a place for it.
        return [path for path in parts.glob("*.*") if not path.name.startswith("try.") and path.stat().st_size > 0]

    wait_until(begun, lambda: f"a part: {job.said()}", LIMIT_S)
    job.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: not sshds.kill_all(name), "the end of all processes", LIMIT_S)
    job.process.kill()
    job.wait()
    gate.open("w").close()
    sshds.processes[name].wait(timeout=LIMIT_S)
    (sshds.folder / f"sshd-{name}.log").write_text("")
    sshds.start_one(name)
    (mark,), (part,) = tmp_path.glob(".gangrun-mark-*"), parts.glob("*.*")
    for path in (mark, part):
        os.utime(path, (0, 0))
    assert run_on_ssh(sshds, 1, "-r", "worker:1", "--", "true").status == 0
    assert not mark.exists() and not part.exists()


def test_what_cannot_be_removed_is_said_and_rm_asks_for_it(make_sshds, run_on_ssh, run_gangrun):
    """The job ended without a word, and `rm` said that it was removed."""
    sshds = make_sshds(1)
    (name,) = sshds.hosts.names
    # As a file of root that a container has left in an ordinary user's folder.
    command = f'for folder in {sshds.cache(name)}/gangrun/jobs/*/logs; do : > "$folder/fixed"; chattr +i "$folder/fixed"; done'
    done = run_on_ssh(sshds, 1, "-r", "worker:1", "--", "sh", "-c", command)
    (folder,) = sshds.cache(name).glob("gangrun/jobs/*")
    try:
        assert done.status == 0, done.stderr
        assert f"host {name} may still have {folder}: " in done.stderr and "Operation not permitted" in done.stderr, done.stderr
        removed = run_gangrun("rm", "--yes", "last")
        assert removed.status == 7 and f"host {name} still has {folder}: " in removed.stderr, removed
    finally:
        subprocess.run(["chattr", "-i", folder / "logs/fixed"], check=True, timeout=LIMIT_S)
    assert run_gangrun("rm", "--yes", "last").status == 0
    assert not folder.exists()


def test_a_killed_client_leaves_no_ssh_where_tasks_say_much(make_sshds, start):
    """It waited for ever for somebody to read what it had, and its connection lived on the host."""
    sshds = make_sshds(1)
    (name,) = sshds.hosts.names
    job = start(sshds, 1, "-r", "worker:1", "--timeout", "master_lost=2s", command="yes abcdefghijklmnopqrstuvwxyz")
    log = job.home / "jobs"
    wait_until(lambda: any(path.stat().st_size > 1 << 20 for path in log.glob("*/logs/worker-0.out")), job.said, LIMIT_S)
    job.process.kill()
    job.wait()
    wait_for_nothing(sshds)
    wait_until(lambda: not command_lines(f"-F {sshds.config}"), "the end of ssh", LIMIT_S)
    wait_until(lambda: len(sshds.commands(name, "sshd")) == 1, lambda: sshds.commands(name, "sshd"), LIMIT_S)


def command_lines(word):
    shown = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout
    return [line for line in shown.splitlines() if word in line]
