"""P9: what a program sees and may do is what it would without gangrun, but for what docs/job.md lists.

A table: each level, as root and as an ordinary user, beside the same two programs started by a shell.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

SEEN = pathlib.Path(__file__).with_name("seen.py")
USER, GROUP, OTHER_GROUP = 65534, 65534, 100

# What differs from a program that a shell in a terminal has started, and why: docs/job.md, "What programs notice".
ALWAYS = {"terminal", "signals ignored", "descriptors", "signal at the parent's death", "parent of an orphan"}
PID_NAMESPACE = {"process 1"}
USER_NAMESPACE = {"user namespace", "owner of root's files", "user of a setuid program", "user and groups", "capabilities"}
NOTICED = {
    ("root", "pid_namespace"): PID_NAMESPACE,
    ("root", "cgroup"): {"cgroup"},
    ("root", "subreaper"): set(),
    ("user", "pid_namespace"): PID_NAMESPACE | USER_NAMESPACE,
    ("user", "subreaper"): set(),
    ("user", "auto"): set(),
}
IS_ROOT = os.geteuid() == 0


@pytest.fixture
def folder():
    """Open to all users, and with a setuid program, which pytest's own folders are not for."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="gangrun-seen-"))
    made.chmod(0o777)
    shutil.copy("/usr/bin/id", made / "setuid-id")
    (made / "setuid-id").chmod(0o4755)
    shutil.copy(SEEN, made / "seen.py")
    for name in ("sibling", "over"):
        os.mkfifo(made / name)
        (made / name).chmod(0o666)
    yield made
    shutil.rmtree(made)


def as_user(user, command):
    if user == "root" or not IS_ROOT:
        return command
    return ["setpriv", f"--reuid={USER}", f"--regid={GROUP}", f"--groups={GROUP},{OTHER_GROUP}", "--", *command]


def in_a_terminal(command, folder, environment):
    """Runs it as its user would: in a terminal, with settings that are not everybody's."""
    script = " ".join(f"'{word}'" for word in command)
    (folder / "seen.json").unlink(missing_ok=True)
    done = subprocess.run(["script", "-qec", f"umask 027; ulimit -n 333; ulimit -c 0; exec nice -n 3 taskset -c 0 {script}", "/dev/null"],
                          cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert (folder / "seen.json").exists(), done.stdout
    return json.loads((folder / "seen.json").read_text())


@pytest.mark.parametrize("user, level", [case for case in NOTICED if IS_ROOT or case[0] == "user"])
def test_programs_see_what_they_would_without_gangrun(gangrun, folder, user, level):
    # Whoever has logged in by ssh has these. Over ssh they are gangrun's own, and gone: docs/job.md, test_ssh_keeper.
    login = {"SSH_CLIENT": "10.0.0.1 5 22", "SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22", "SSH_TTY": "/dev/pts/7"}
    environment = os.environ | login | {"GANGRUN_HOME": str(folder / "home"), "HOME": str(folder)}
    # Not the Python of the tests, which other users may not run.
    program = f"/usr/bin/python3 {folder}/seen.py"
    by_shell = as_user(user, ["sh", "-c", f"{program} 1 {folder} & {program} 0 {folder}; wait"])
    bare = in_a_terminal(by_shell, folder, environment)
    seen = in_a_terminal(
        as_user(user, [str(gangrun), "run", "--containment", level, "-r", "worker:2", "--", "sh", "-c",
                       f"exec {program} $GANGRUN_TASK_INDEX {folder}"]), folder, environment)
    assert seen.keys() == bare.keys()
    different = {name for name in seen if seen[name] != bare[name]}
    assert different <= NOTICED[user, level] | ALWAYS, {name: (bare[name], seen[name]) for name in different}
    # What the table lists is so: a line that is no longer true goes.
    assert PID_NAMESPACE & NOTICED[user, level] <= different
    assert seen["number of the sibling is another"] is True


@pytest.mark.programs
def test_a_process_that_became_root_outlives_an_ordinary_users_task_and_is_named(gangrun, folder):
    """Only the agent's own log said it. Where the tests are not root's, neither is the program, and it is killed."""
    shutil.copy("/usr/bin/setpriv", folder / "rise")
    (folder / "rise").chmod(0o4755)
    script = (f"{folder}/rise --reuid 0 --clear-groups sleep 1000 & echo $! > {folder}/pid; "
              "until grep -qE '^(Uid:.0.0.0.0$|State:.Z)' /proc/$!/status; do :; done")
    environment = os.environ | {"GANGRUN_HOME": str(folder / "home"), "HOME": str(folder)}
    done = subprocess.run(as_user("user", [gangrun, "run", "--containment", "subreaper", "--logs", "--", "sh", "-c", script]),
                          env=environment, capture_output=True, text=True, timeout=60, cwd=folder)
    pid = int((folder / "pid").read_text())
    try:
        assert done.returncode == 0, done.stderr
        told = f"gangrun: left alive on this host: 1 process survived being killed: {pid} (sleep, state S)"
        assert (told in done.stdout + done.stderr) == IS_ROOT, done
    finally:
        if IS_ROOT:
            os.kill(pid, signal.SIGKILL)


def numbers_in(folder):
    return [line for path in folder.glob("numbers.*") for line in path.read_text().split()]


def test_process_numbers_are_those_of_one_task_only(gangrun, home, tmp_path):
    """Files that are named by host and process number: of ranks, of their second runs, of the jobs of a sweep."""
    environment = os.environ | {"GANGRUN_HOME": str(home)}
    # None ends before all have written theirs: the first that fails ends the others.
    script = f"""echo $$ > {tmp_path}/numbers.$GANGRUN_GENERATION.$GANGRUN_TASK_INDEX
        until test -e {tmp_path}/numbers.$GANGRUN_GENERATION.0 -a -e {tmp_path}/numbers.$GANGRUN_GENERATION.1; do :; done
        test $GANGRUN_GENERATION = 2"""
    done = subprocess.run([gangrun, "run", "-r", "worker:2", "--restarts", "1:gang", "--", "sh", "-c", script],
                          env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    programs = f"""for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sh -c 'echo $$'; done >> {tmp_path}/numbers.$GANGRUN_JOB_ID
        echo $$ >> {tmp_path}/numbers.$GANGRUN_JOB_ID; test $GANGRUN_GENERATION = 3"""
    sweep = [subprocess.Popen([gangrun, "run", "-r", "worker:1", "--restarts", "2:gang", "--restart-pause", "0s", "--", "sh", "-c", programs],
                              env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(6)]
    assert [job.wait(timeout=60) for job in sweep] == [0] * 6
    numbers = numbers_in(tmp_path)
    assert len(numbers) == 2 * 2 + 6 * 3 * 13
    assert len(set(numbers)) == len(numbers), sorted(numbers)
