"""gangrun-agent and gangrun-pod-agent need nothing of the machine that they run on."""

import shutil
import subprocess

import pytest


@pytest.fixture(params=["agent", "pod_agent"])
def each(request):
    return request.getfixturevalue(request.param)


def test_an_agent_runs_in_an_empty_chroot(each, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    shutil.copy(each, root / "agent")
    done = subprocess.run(["chroot", str(root), "/agent", "--version"],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{each.name} ")


def test_an_agent_is_one_static_file(each):
    headers = subprocess.run(["readelf", "-l", str(each)], capture_output=True, text=True, check=True)
    assert "INTERP" not in headers.stdout
    # A shared library given to the linker by its file's name is taken in silence, and fails when it is called.
    dynamic = subprocess.run(["readelf", "-d", str(each)], capture_output=True, text=True, check=True)
    assert "NEEDED" not in dynamic.stdout


@pytest.mark.parametrize("words", [["task", "--containment", "none"], ["pod", "--attempt", "1"], ["starter", "5"], ["unknown"], []])
def test_bad_arguments_are_told(each, words):
    done = subprocess.run([str(each), *words], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert done.stderr.startswith(f"usage: {each.name} "), done.stderr


def test_files_of_a_pod_are_put_together(pod_agent, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode() * 3)
    whole = tmp_path / "whole"
    words = ["files", "--to", whole, "--mode", "0555", tmp_path / "a", tmp_path / "b", "--to", tmp_path / "other", "--mode", "0444", tmp_path / "b"]
    done = subprocess.run([pod_agent, *words], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and done.stderr == "", done
    assert whole.read_bytes() == b"aaabbb" and whole.stat().st_mode & 0o7777 == 0o555
    assert (tmp_path / "other").read_bytes() == b"bbb"
    missing = subprocess.run([pod_agent, "files", "--to", whole, "--mode", "0444", tmp_path / "absent"], capture_output=True, text=True, timeout=30)
    assert missing.returncode == 1 and str(tmp_path / "absent") in missing.stderr
    assert subprocess.run([pod_agent, "files", "absent"], capture_output=True, timeout=30).returncode == 2
