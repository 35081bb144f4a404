"""The job's secret and its private key are in 0600 files and nowhere else that anybody could look."""

import os
import re
import stat
import subprocess
from pathlib import Path


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


def test_no_core_of_the_master_is_written(gangrun, home, tmp_path):
    go = tmp_path / "go"
    os.mkfifo(go)
    environment = os.environ | {"GANGRUN_HOME": str(home), "GO": str(go)}
    process = subprocess.Popen([gangrun, "run", "--", "sh", "-c", 'read -r _ < "$GO"'],
                               env=environment, stdout=subprocess.DEVNULL)
    with open(go, "w") as gate:
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        core = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
        assert core.split()[4] == "0"
        gate.write("\n")
    assert process.wait(timeout=60) == 0
