"""Hosts and users of hosts that mean no good. What ssh gives to gangrun comes from a program of the test."""

import os
import signal
import subprocess

import pytest

from waiting import wait_until

ATTACKER, VICTIM = 65534, 65533
LOGINS = 400


@pytest.fixture
def open_folder(tmp_path_factory):
    """A folder in which everybody can do everything, and that everybody can reach."""
    folder = tmp_path_factory.mktemp("open")
    for above in [folder, *folder.parents][:3]:
        above.chmod(above.stat().st_mode | 0o755)
    folder.chmod(0o777)
    return folder


def give(user, *paths):
    for path in paths:
        os.chown(path, user, user, follow_symlinks=False)


def flip(folder, name, targets):
    """Another user's process that lets a link lead to one target after the other; its number."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setgroups([])
        os.setgid(ATTACKER)
        os.setuid(ATTACKER)
        os.chdir(folder)
        while True:
            for target in targets:
                os.symlink(target, "next")
                os.rename("next", name)
    finally:
        os._exit(1)


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_no_user_of_the_host_gets_his_program_run_by_flipping_a_link(run_gangrun, fake_ssh, open_folder, tmp_path, shell):
    (tmp_path / "job.yaml").write_text("on: ssh\nhosts: [gpu1]\ntasks: {worker: {}}\ncommand: 'true'\n"
                                       f"ssh: {{folder: {open_folder}/gangrun}}\n")
    # The script is one write, and less than that.
    fake_ssh(f"dd of={tmp_path}/script bs=64k count=1 2>/dev/null; exit 255")
    assert run_gangrun("run", "job.yaml", cwd=tmp_path).status == 3
    script = (tmp_path / "script").read_text()
    (name,) = [line.partition("=")[2] for line in script.splitlines() if line.startswith("hash=")]
    # The victim's own folder, the attacker's with a program of the victim, and the same with his own.
    own, half, whole = (open_folder / part for part in ("own", "half", "whole"))
    for folder in (own, half, whole):
        (folder / "agents").mkdir(parents=True)
    (own / "program").write_text("#!/bin/sh\n")
    (half / "agents" / name).symlink_to(own / "program")
    (whole / "agents" / name).write_text(f"#!/bin/sh\nid -u >>{open_folder}/taken\n")
    for program in (own / "program", whole / "agents" / name):
        program.chmod(0o755)
    give(VICTIM, own, own / "agents", own / "program")
    give(ATTACKER, open_folder, half, half / "agents", whole, whole / "agents", whole / "agents" / name)
    attack = flip(open_folder, "gangrun", (own, half, whole))
    try:
        wait_until((open_folder / "gangrun").is_symlink, "the attack")
        # It says "agent" before it becomes one.
        for _ in range(LOGINS):
            done = subprocess.run(["setpriv", f"--reuid={VICTIM}", f"--regid={VICTIM}", "--clear-groups", shell], input=script,
                                  capture_output=True, text=True, timeout=60, check=False)
            assert " folders " in done.stdout and len(done.stdout.splitlines()) == 1, done
    finally:
        os.kill(attack, signal.SIGKILL)
        os.waitpid(attack, 0)
    assert not (open_folder / "taken").exists() and not (own / "jobs").exists()
