"""gangrun-agent needs nothing of the machine that it runs on."""

import shutil
import subprocess


def test_agent_runs_in_an_empty_chroot(agent, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    shutil.copy(agent, root / "gangrun-agent")
    done = subprocess.run(["chroot", str(root), "/gangrun-agent", "--version"],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("gangrun-agent ")


def test_agent_is_one_static_file(agent):
    headers = subprocess.run(["readelf", "-l", str(agent)], capture_output=True, text=True, check=True)
    assert "INTERP" not in headers.stdout
    # A shared library given to the linker by its file's name is taken in silence, and fails when it is called.
    dynamic = subprocess.run(["readelf", "-d", str(agent)], capture_output=True, text=True, check=True)
    assert "NEEDED" not in dynamic.stdout


def test_bad_arguments_are_told(agent):
    done = subprocess.run([str(agent), "task", "--containment", "none"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage:" in done.stderr


def test_files_of_a_pod_are_put_together(agent, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode() * 3)
    whole = tmp_path / "whole"
    words = ["files", "--to", whole, "--mode", "0555", tmp_path / "a", tmp_path / "b", "--to", tmp_path / "other", "--mode", "0444", tmp_path / "b"]
    done = subprocess.run([agent, *words], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and done.stderr == "", done
    assert whole.read_bytes() == b"aaabbb" and whole.stat().st_mode & 0o7777 == 0o555
    assert (tmp_path / "other").read_bytes() == b"bbb"
    missing = subprocess.run([agent, "files", "--to", whole, "--mode", "0444", tmp_path / "absent"], capture_output=True, text=True, timeout=30)
    assert missing.returncode == 1 and str(tmp_path / "absent") in missing.stderr
    assert subprocess.run([agent, "files", "absent"], capture_output=True, timeout=30).returncode == 2
