"""Another user of the same machine tries what he can: he reads nothing, changes nothing, and ends nothing."""

import os
import pathlib
import stat
import subprocess

import pytest

from living import processes_with

OTHER = 65534
PYTHON = "import ctypes, json, os, socket, sys, urllib.request\n"
# What runs as the other user: it has to fail. {folder}, {home}, {port}, {master}, {agent}, {task} and the like are told.
SHELL = {
    "list the jobs": "ls {home}/jobs",
    "list the job's folder": "ls {folder}",
    "enter the job's folder": "cd {folder}",
    "read the secret": "cat {folder}/secret",
    "read the key": "cat {folder}/key.pem",
    "read the journal": "cat {folder}/journal/*",
    "read the log": "cat {folder}/master.log",
    "read the output": "cat {folder}/logs/*",
    "write the spec": "echo x >> {folder}/spec.json",
    "put a socket there": "ln -s /tmp {folder}/other.sock",
    "replace the folder": "mv {folder} {folder}.old",
    "remove the folder": "rm -rf {folder}",
    "read the environment of the master": "cat /proc/{master}/environ",
    "read the environment of an agent": "cat /proc/{agent}/environ",
    "read the environment of a task": "cat /proc/{task}/environ",
    "read the memory of the master": "dd if=/proc/{master}/mem bs=1 count=1 skip=4194304",
    "see the memory of an agent": "cat /proc/{agent}/maps",
    "see the files of the master": "ls /proc/{master}/fd",
    "enter the root of a task": "cd /proc/{task}/root",
    "end the master": "kill -9 {master}",
    "end an agent": "kill -9 {agent}",
    "end a task": "kill -9 {task}",
    "freeze the master": "kill -STOP {master}",
    "give notice": "kill -USR1 {master}",
    "change its priority": "renice -n 19 -p {master}",
    "enter its namespaces": "nsenter -t {task} -p -m true",
    "look at the job by our own command": "GANGRUN_HOME={home} {gangrun} status last",
    "end the job by our own command": "GANGRUN_HOME={home} {gangrun} kill last",
    "read its lines by our own command": "GANGRUN_HOME={home} {gangrun} logs last",
    "remove it by our own command": "GANGRUN_HOME={home} {gangrun} history | grep sh-",
}
CODE = {
    "the Unix socket": "s = socket.socket(socket.AF_UNIX); s.connect('{folder}/master.sock')",
    "the Unix socket through the master's folder": "s = socket.socket(socket.AF_UNIX); s.connect('/proc/{master}/cwd/../{folder}/master.sock')",
    "a trace of the master": "l = ctypes.CDLL(None, use_errno=True); sys.exit(0 if l.ptrace(16, {master}, 0, 0) == 0 else 1)",
    "a trace of an agent": "l = ctypes.CDLL(None, use_errno=True); sys.exit(0 if l.ptrace(16, {agent}, 0, 0) == 0 else 1)",
    "a descriptor of the master": "p = os.pidfd_open({master}); l = ctypes.CDLL(None); sys.exit(0 if l.syscall(438, p, 5, 0) >= 0 else 1)",
    "a signal by a descriptor": "import signal; signal.pidfd_send_signal(os.pidfd_open({master}), 9)",
    "the memory of a task": "b = ctypes.create_string_buffer(8); i = (ctypes.c_void_p * 2)(ctypes.addressof(b), 8); "
                            "l = ctypes.CDLL(None); sys.exit(0 if l.process_vm_readv({task}, i, 1, i, 1, 0) == 8 else 1)",
}


@pytest.fixture(scope="module")
def told(victim, gangrun):
    """Where things are; as a careless user has it, all folders above may be entered."""
    for folder in (victim.home, *victim.home.parents):
        if str(folder) != "/":
            folder.chmod(folder.stat().st_mode | 0o055)
    ours = processes_with(f"GANGRUN_HOME={victim.home}")

    def of(word):
        return next(pid for pid, words in ours.items() if any(word in each for each in words))

    return {"folder": victim.job_folder, "home": victim.home, "port": victim.port, "master": victim.process.pid,
            "agent": of("gangrun-agent"), "task": of("while ! test"), "gangrun": gangrun, "socket": victim.socket}


def as_other(*words):
    return subprocess.run(["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", "--no-new-privs", *words],
                          cwd="/", capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                          env={"PATH": os.environ["PATH"], "HOME": "/proc/self/none"})


def fill(text, told):
    for key, value in told.items():
        text = text.replace("{" + key + "}", str(value))
    return text


@pytest.mark.parametrize("name", SHELL)
def test_the_other_user_cannot(victim, told, name):
    done = as_other("sh", "-c", fill(SHELL[name], told))
    assert done.returncode != 0, done
    assert victim.secret not in done.stdout + done.stderr
    assert victim.process.poll() is None


@pytest.mark.parametrize("name", CODE)
def test_nor_by_system_calls(victim, told, name):
    done = as_other("/usr/bin/python3", "-c", PYTHON + fill(CODE[name], told))
    assert done.returncode != 0, done
    assert victim.process.poll() is None


def test_nor_without_the_secret_by_tls(victim, told):
    code = ("import ssl, socket; c = ssl._create_unverified_context(); s = c.wrap_socket(socket.create_connection(('127.0.0.1', {port})));"
            "s.sendall(b'GET /v1/status HTTP/1.1\\r\\n\\r\\n'); print(s.recv(100).decode())")
    done = as_other("/usr/bin/python3", "-c", fill(code, told))
    assert "401" in done.stdout, done


def test_nothing_of_the_job_is_open_to_others(victim):
    """Files, folders and sockets, whatever the umask of the user is."""
    for path in [victim.job_folder, *victim.job_folder.rglob("*")]:
        mode = path.lstat().st_mode
        if path.parent == victim.job_folder or path == victim.job_folder:
            assert stat.S_IMODE(victim.job_folder.stat().st_mode) == 0o700
        if path.name in ("secret", "key.pem", "certificate.pem", "spec.json", "master.sock", "master.log"):
            assert stat.S_IMODE(mode) & 0o077 == 0, path


def test_what_somebody_has_left_in_our_way_is_not_used(gangrun, tmp_path):
    """A folder of gangrun that belongs to another user, or is a link to one."""
    trap = tmp_path / "trap"
    trap.mkdir(mode=0o777)
    os.chown(trap, OTHER, OTHER)
    before = sorted(trap.rglob("*"))
    done = subprocess.run([gangrun, "run", "-r", "worker:1", "--", "true"], env=os.environ | {"GANGRUN_HOME": str(trap / "none")},
                          cwd=tmp_path, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        # Root may use any folder; what it makes there is closed to the owner of the folder above.
        for path in (trap / "none").rglob("*"):
            assert path.lstat().st_uid == 0
        (job,) = (trap / "none" / "jobs").iterdir()
        assert stat.S_IMODE(job.stat().st_mode) == 0o700
    else:
        assert sorted(trap.rglob("*")) == before


def test_the_job_has_not_noticed(victim):
    victim.assert_well()
    assert pathlib.Path(victim.socket).exists()
