"""Hosts and users of hosts that mean no good. What ssh gives to gangrun comes from a program of the test."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

from waiting import wait_until

ATTACKER, VICTIM = 65534, 65533
LOGINS = 200


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
    test = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setgroups([])
        os.setgid(ATTACKER)
        os.setuid(ATTACKER)
        os.chdir(folder)
        while os.getppid() == test:
            for target in targets:
                os.symlink(target, "next")
                os.rename("next", name)
    finally:
        os._exit(1)


@pytest.mark.parametrize("mode", [0o777, 0o1777])
@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_no_user_of_the_host_gets_his_program_run_by_flipping_a_link(run_gangrun, fake_ssh, open_folder, tmp_path, shell, mode):
    open_folder.chmod(mode)
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


def test_no_program_is_run_from_a_folder_that_was_swapped_while_another_host_logs_in(run_gangrun, fake_ssh, tmp_path):
    """The caretakers were started by a path, at which an attacker had his own program by then."""
    cache, taken = tmp_path / "cache", tmp_path / "taken"
    # When the fast host has its keeper, the slow one's login does what an attacker would.
    swap = (f"while ! pgrep -f -- '[h]ost --folder {cache}/gangrun ' >/dev/null; do sleep 0.05; done; "
            f"cd {cache} && mv gangrun away && mkdir -p gangrun/agents && for name in away/agents/*; do "
            f"printf '#!/bin/sh\\ntouch {taken}\\n' >gangrun/agents/${{name##*/}}; done; chmod 755 gangrun/agents/*; "
            f"cd /; XDG_CACHE_HOME={tmp_path}/other exec /bin/sh")
    fake_ssh(f'case "$*" in *slow*) {swap} ;; *) exec /bin/sh ;; esac')
    done = run_gangrun("run", "--on", "ssh", "--hosts", "fast:1,slow:1", "-r", "worker:2", "--timeout", "allocation=3s,stop=1s",
                       "--restarts", "0", "--", "true", cwd=tmp_path, env={"XDG_CACHE_HOME": str(cache)})
    assert (cache / "away").exists() and done.status == 3, done
    assert f"host fast refuses: \"{cache}/gangrun is not the folder any more" in done.stderr, done
    assert not taken.exists() and not (cache / "gangrun" / "jobs").exists()


ROGUE = pathlib.Path(__file__).parent / "rogue.py"


@pytest.fixture
def run_beside_rogue(run_gangrun, fake_ssh, tmp_path):
    """run_beside_rogue(what, *words): a job with a task on this machine and one on a rogue host."""

    def run(what, *words):
        fake_ssh(f'case "$*" in *rogue*) exec {sys.executable} {ROGUE} "{what}" ;; *) exec /bin/sh ;; esac')
        (tmp_path / "home").mkdir(exist_ok=True)
        return run_gangrun("run", "--on", "ssh", "--hosts", "good:1,rogue:1", "-r", "worker:2", *words, "--", "sh", "-c",
                           "echo honest", cwd=tmp_path, env={"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": ""})

    return run


@pytest.mark.parametrize("what, why", [
    ("repeats its marker", "host rogue asks twice for gangrun-agent"),
    ("has a wrong address", "is not an address"),
    ("goes on after its hello", "host rogue sends "),
    ("greets twice", 'host rogue sends "hello", which is not its to send now'),
    ("says nothing known", 'host rogue is not understood: unknown message "dance"'),
])
def test_a_host_that_is_none_is_refused(run_beside_rogue, what, why):
    done = run_beside_rogue(what)
    assert done.status == 3 and why in done.stderr, done


@pytest.mark.parametrize("what, why", [
    ("begins twice", 'sends "begun", which is not its to send now'),
    ("waits without end", 'sends "waiting", which is not its to send now'),
    ("sends a file", "sends a file, which nobody asked for"),
    ("leaves out a part", "leaves out a part of a log"),
    ("answers without end", 'sends "pong", which is not its to send now'),
    ("ends others", ""),
    ("ends others with lines", ""),
    ("writes logs of others", ""),
    ("opens without end", ""),
    ("opens one again", ""),
])
def test_a_rogue_host_harms_no_other(run_beside_rogue, home, what, why):
    done = run_beside_rogue(what, "--timeout", "allocation=3s,stop=1s", "--restarts", "0")
    assert done.status == 3, done
    # It never gives a place to its task, which is all that is wrong with the job.
    sentence = f"worker:1 got no place within 3.0 s (timeouts.allocation){f': host rogue {why}' if why else ''}"
    assert sentence in done.stderr and "worker:0 " not in done.stderr, done.stderr
    log = "".join(path.read_text() for path in home.glob("jobs/*/master.log"))
    assert f"host rogue {why}" in log, log
    assert not list(home.glob("jobs/*/logs/worker-0.out")) and "of a rogue" not in log


def test_rm_does_not_wait_for_a_keeper_that_leaves(run_beside_rogue, run_gangrun, home):
    """It waited for five minutes, as that is no answer, and told no reason."""
    assert run_beside_rogue("leaves", "--timeout", "allocation=3s,stop=1s", "--restarts", "0").status == 3
    (job,) = home.glob("jobs/*-*")
    (job / "hosts.json").write_text(json.dumps([{"host": "rogue", "run_folder": "x", "path": "/x/x", "works_here": False}]))
    removed = run_gangrun("rm", "--yes", "last")
    assert removed.status != 0, removed
    assert "host rogue still has /x/x: the program of gangrun there was told to end" in removed.stderr, removed


def test_a_host_that_removes_for_long_hears_of_its_client(run_beside_rogue, run_gangrun, fake_ssh, home):
    assert run_beside_rogue("leaves", "--timeout", "allocation=3s,stop=1s", "--restarts", "0").status == 3
    (job,) = home.glob("jobs/*-*")
    (job / "hosts.json").write_text(json.dumps([{"host": "rogue", "run_folder": "x", "path": "/x/x", "works_here": False}]))
    fake_ssh(f'exec {sys.executable} {ROGUE} "removes for long"')
    removed = run_gangrun("rm", "--yes", "last")
    assert removed.status == 0, removed


def test_what_a_host_says_does_nothing_to_the_terminal(run_beside_rogue):
    done = run_beside_rogue("refuses")
    assert done.status == 3 and len(done.stderr) < 1000, done.stderr[:4000]
    (line,) = [each for each in done.stderr.splitlines() if "refuses" in each]
    # One line, which says whose words they are.
    assert line.startswith('gangrun: host rogue refuses: "worker:0 succeeded gangrun: rogue-1 succeeded xxx'), line
    assert not any(ord(char) < 32 for char in done.stderr.replace("\n", "")), done.stderr


@pytest.mark.parametrize("login, why", [
    # It prints what it reads, which has the marker.
    ("while read -r line; do echo \"$line\"; done", "host odd has a login that reads what is for its shell"),
    ("while :; do echo y; done", "host odd has a login that prints without end; it said \"y y y"),
    ("printf 'This account is not available.\\r\\n'; exit 1",
     "host odd ended the connection: its login shell ended it (ssh exited with status 1); it said \"This account is not available.\""),
    ("printf '\\033[2JNo.\\a\\n' >&2; exit 255", "host odd ended the connection: ssh exited with status 255; it said \"No.\uFFFD\""),
])
def test_an_odd_login_is_told_as_what_it_is(run_gangrun, fake_ssh, tmp_path, login, why):
    fake_ssh(login)
    done = run_gangrun("run", "--on", "ssh", "--hosts", "odd", "--", "true", cwd=tmp_path)
    assert done.status == 3 and why in done.stderr, done
    assert len(done.stderr.splitlines()) < 3, done


@pytest.fixture
def run_here(run_gangrun, fake_ssh, tmp_path):
    """run_here(login): a job on this machine, whose login is a script before the shell."""

    def run(login, *words):
        fake_ssh(f"{login}\nexec /bin/sh")
        return run_gangrun("run", "--on", "ssh", "--hosts", "here", *words, "--", "sh", "-c", "echo done", cwd=tmp_path,
                           env={"XDG_CACHE_HOME": str(tmp_path / "cache")})

    return run


@pytest.mark.parametrize("login, why", [
    ("ulimit -f 2048", "could not keep gangrun-agent: \"files may have 1024 KiB there (ulimit -f), and it has "),
    ("ulimit -n 40", "refuses: \"processes may have 40 open files at once there (ulimit -Hn); at least 64 are needed"),
    # What others have said.
    ("echo 'Permission denied (publickey).' >&2; exit 1", "ended the connection: its login shell ended it (ssh exited with status 1); "
                                                         "it said \"Permission denied (publickey).\""),
    ("echo 'Unknown: Connection refused' >&2; exit 255", "ended the connection: ssh exited with status 255"),
])
def test_what_a_host_lacks_is_named(run_here, login, why):
    done = run_here(login)
    assert done.status == 3 and f"host here {why}" in done.stderr, done


@pytest.mark.parametrize("login", ["PATH=", "unset PATH", "PATH=$PWD/none", "ulimit -n 64",
                                   "i=0; while [ $i -lt 500 ]; do i=$((i + 1)); read -r line; done"])
def test_a_job_runs_after_an_odd_login(run_gangrun, fake_ssh, tmp_path, login):
    fake_ssh(f"{login}\nexec /bin/sh")
    done = run_gangrun("run", "--on", "ssh", "--hosts", "here", "--", "/bin/sh", "-c", "echo done", cwd=tmp_path,
                       env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert done.status == 0 and "done" in done.stdout, done


def test_a_login_that_asks_for_a_line_gets_an_empty_one(run_here):
    done = run_here('read -r answer; echo "environment [$answer]"; read -r more')
    assert done.status == 0 and "done" in done.stdout, done


def test_an_ssh_that_does_not_know_our_options_is_called_without_them(run_here):
    refuse = ('case "$*" in *{0}=*) echo "command-line: line 0: Bad configuration option: {1}" >&2; exit 255 ;; esac')
    older = "\n".join(refuse.format(name, name.lower()) for name in ("StdinNull", "SessionType", "ForkAfterAuthentication"))
    done = run_here(older)
    assert done.status == 0 and "done" in done.stdout, done


@pytest.mark.parametrize("killed", ["ssh", "the shell beside it", "the keeper"])
def test_who_is_killed_at_once_is_tried_again(run_here, tmp_path, killed):
    """In the first moment nothing has begun that could be lost."""
    once = f"mkdir {tmp_path}/tried 2>/dev/null && "
    kill = {"ssh": f"{once} kill -9 $$", "the shell beside it": f"{once} kill -9 $PPID",
            # As sshd tells that it was killed.
            "the keeper": f"{once} {{ sed -n '/^main; exit$/q'; exit 255; }}"}
    done = run_here(kill[killed])
    assert done.status == 0 and "done" in done.stdout, done


@pytest.mark.parametrize("private", [False, True])
def test_the_shell_of_a_host_may_be_bash(make_sshds, run_on_ssh, private):
    """As on Red Hat, SUSE and Arch. It reads its input byte by byte."""
    sshds = make_sshds(1, private=private, before="mount --bind /usr/bin/bash /usr/bin/dash && ")
    assert run_on_ssh(sshds, 1, "-r", "worker:1", "--", "true").status == 0
    assert run_on_ssh(sshds, 1, "-r", "worker:1", "--", "true").status == 0


@pytest.mark.parametrize("option", ["batchmode", "clearallforwardings", "permitlocalcommand", "stdinnull", "x$(wc -l <{calls})"])
def test_a_host_cannot_have_options_of_ssh_dropped(run_gangrun, fake_ssh, tmp_path, option):
    """A line of a login or a banner was taken for ssh's own: thousands of ssh, without BatchMode too."""
    calls = tmp_path / "calls"
    calls.touch()
    option = option.format(calls=calls)
    fake_ssh(f'echo "$*" >>{calls}; echo Welcome >&2; echo "command-line: line 0: Bad configuration option: {option}" >&2; exit 255')
    done = run_gangrun("run", "--on", "ssh", "--hosts", "odd:1", "--", "true", cwd=tmp_path)
    assert done.status == 3, done
    (call,) = calls.read_text().splitlines()
    assert "BatchMode=yes" in call and "StdinNull=no" in call


def test_an_ssh_that_is_not_here_is_no_fault_of_the_host(run_gangrun, tmp_path):
    """The host's login shell was blamed."""
    for program in ("sh", "env"):
        (tmp_path / program).symlink_to(shutil.which(program))
    done = run_gangrun("run", "--on", "ssh", "--hosts", "gpu1:1", "--", "true", cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert done.status == 3 and done.stderr == "gangrun: host gpu1 is not reached: there is no `ssh` in the folders of PATH here\n"


@pytest.mark.parametrize("line, said", [
    ('printf "enter your one-time code: "; sleep 300', 'does not come to its commands; it said "enter your one-time code:"'),
    ('echo "enter your one-time code:" >&2; sleep 300', 'does not come to its commands; it said "enter your one-time code:"'),
    # The last line that has come, perhaps in part.
    ("yes aaaa >&2", 'has a login that prints without end; it said "a'),
], ids=["question", "question-on-standard-error", "endless-standard-error"])
def test_what_a_login_says_instead_of_coming_to_its_commands_is_told(sshds, run_on_ssh, line, said):
    """It "may wait for an input", and nobody saw the question."""
    profiles = [sshds.home(name) / ".bashrc" for name in sshds.hosts.names]
    try:
        for profile in profiles:
            profile.write_text(line + "\n")
        done = run_on_ssh(sshds, 1, "-r", "worker:1", "--", "true")
    finally:
        for profile in profiles:
            profile.unlink()
    assert done.status == 3 and said in done.stderr, done
