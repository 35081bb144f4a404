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
