"""The job's secret and its private key are in 0600 files and nowhere else that anybody could look."""

import contextlib
import os
import re
import resource
import signal
import stat
import subprocess
from pathlib import Path

from living import processes_with
from waiting import wait_until


def test_secret_is_nowhere_but_in_its_file(gangrun, home, tmp_path):
    go = tmp_path / "go"
    os.mkfifo(go)
    environment = os.environ | {"GANGRUN_HOME": str(home), "GO": str(go)}
    process = subprocess.Popen(
        [gangrun, "run", "--json", "-r", "worker:2", "--", "sh", "-c", 'env; read -r _ < "$GO"'],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    # Opening the fifo returns when a task reads it: the gang runs.
    with open(go, "w") as gate:
        folder = next((Path(home) / "jobs").iterdir())
        secret = (folder / "secret").read_text().strip()
        assert re.fullmatch(r"[0-9a-f]{64}", secret)
        assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o600
        key = (folder / "key.pem").read_text().splitlines()[1]
        assert len(key) == 64
        seen_processes = 0
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                for name in ("cmdline", "environ"):
                    content = (entry / name).read_bytes()
                    assert secret.encode() not in content and key.encode() not in content, entry
                seen_processes += 1
            except OSError:
                continue
        assert seen_processes > 4
        gate.write("\n\n")
        gate.flush()
        # The fifo stays open: the other task may not have opened it yet.
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert secret not in out + err and key not in out + err
    private = {"secret", "key.pem"}
    looked_at = 0
    for path in folder.rglob("*"):
        if path.is_file():
            if path.name in private:
                assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
                continue
            looked_at += 1
            content = path.read_text(errors="replace")
            assert secret not in content and key not in content, path
    assert looked_at >= 5  # spec, journal, master's log, the tasks' output
    plan = subprocess.run([gangrun, "run", "--dry-run", "--json", "-r", "worker:2", "--", "true"],
                          env=environment, capture_output=True, text=True, timeout=60)
    assert plan.returncode == 0
    assert not re.search(r"[0-9a-f]{64}", plan.stdout)


def leave_cores():
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    most = resource.RLIM_INFINITY if os.geteuid() == 0 else most
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))


def kill_holders(programs, home, master):
    """As a crash would, the master last."""
    holders = [pid for pid in processes_with(f"GANGRUN_HOME={home}") if os.path.realpath(f"/proc/{pid}/exe") in programs]
    assert master in holders and len(holders) >= 2
    # Else it may end the job, and itself, before its turn comes.
    os.kill(master, signal.SIGSTOP)
    for pid in sorted(holders, key=lambda pid: pid == master):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSEGV)
    os.kill(master, signal.SIGCONT)


def test_what_holds_the_secret_leaves_no_core_file(gangrun, agent, home, tmp_path):
    """Neither the agents nor the master, in a folder where other crashes leave one."""
    go = tmp_path / "go"
    os.mkfifo(go)
    process = subprocess.Popen(
        [gangrun, "run", "--containment", "subreaper", "--", "sh", "-c", 'read -r _ < "$GO"'],
        env=os.environ | {"GANGRUN_HOME": str(home), "GO": str(go)}, cwd=tmp_path, preexec_fn=leave_cores,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(go, "w"):
        (folder,) = (home / "jobs").iterdir()
        secret = (folder / "secret").read_bytes().strip()
        key = (folder / "key.pem").read_bytes().splitlines()[1]
        assert len(secret) == len(key) == 64
        kill_holders({str(agent.resolve()), str(gangrun.resolve())}, home, process.pid)
        _, status = os.waitpid(process.pid, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSEGV and not os.WCOREDUMP(status)
    wait_until(lambda: not processes_with(f"GANGRUN_HOME={home}"), "the end of the job's processes")
    # A guardian may leave one, as it has never held a secret.
    for path in tmp_path.glob("core*"):
        content = path.read_bytes()
        assert secret not in content and key not in content
