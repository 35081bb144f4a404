"""The environment that runs a program is shipped to a real YARN cluster and runs its tasks there."""

import json
import os
import pathlib
import subprocess
import sys
import tarfile

import pytest

from conftest import environment_folder  # of this folder

LIMIT_S = 240
# What the tasks answer: where everything that they have loaded comes from.
PROGRAM = """
import json, sys
import gangrun

def where():
    import os, loose, solid, ssl, sys
    # `__main__` says where the script is, which does not travel.
    modules = [module for name, module in list(sys.modules.items()) if name != "__main__"]
    files = [getattr(module, "__file__", None) for module in modules]
    inside = os.getcwd()
    foreign = [file for file in files if file and not os.path.abspath(file).startswith(inside)]
    return {"prefix": os.path.relpath(sys.prefix), "base": os.path.relpath(sys.base_prefix), "foreign": foreign,
            "names": [loose.NAME, solid.NAME], "version": list(sys.version_info[:2])}

run = gangrun.run({"worker": gangrun.TaskSpec(instances=2, memory="256 MiB")}, where, on="yarn",
                  environment=json.loads(sys.argv[1]), timeouts={"job": "3 min"})
print(json.dumps(run.results))
"""


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    """An environment of the test's own, with the system's interpreter and one editable package."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "own"], check=True, timeout=LIMIT_S)
    site = next((folder / "own/lib").glob("python3.*/site-packages"))
    (site / "solid.py").write_text("NAME = 'solid'\n")
    (folder / "source").mkdir()
    (folder / "source/loose.py").write_text("NAME = 'loose'\n")
    (site / "loose.pth").write_text(f"{folder / 'source'}\n")
    # Where this process has the package that pickles functions.
    import cloudpickle

    (site / "cloudpickle").symlink_to(pathlib.Path(cloudpickle.__file__).parent)
    return folder


@pytest.fixture
def run(venv, client, hadoop, monkeypatch):
    client(hadoop)
    monkeypatch.setenv("XDG_CACHE_HOME", str(venv / "cache"))
    program = venv / "program.py"
    program.write_text(PROGRAM)

    def start(environment=None):
        return subprocess.run([venv / "own/bin/python", program, json.dumps(environment)], cwd=venv, env=dict(os.environ),
                              capture_output=True, text=True, timeout=LIMIT_S)

    return start


def test_the_environment_runs_there_and_is_brought_once(run, venv):
    first = run()
    assert first.returncode == 0, first.stderr
    results = json.loads(first.stdout)
    assert sorted(results) == ["worker:0", "worker:1"]
    for result in results.values():
        assert result == {"prefix": "env", "base": "env", "foreign": [], "names": ["loose", "solid"],
                          "version": list(sys.version_info[:2])}
    assert "packs the environment" in first.stderr and "packed the environment" in first.stderr
    assert "uploads own-" in first.stderr
    second = run()
    assert second.returncode == 0, second.stderr
    assert "packs" not in second.stderr
    assert "uploads own-" not in second.stderr
    # An edit reaches the tasks, and the environment is not touched.
    (venv / "source/loose.py").write_text("NAME = 'edited'\n")
    third = run()
    assert third.returncode == 0, third.stderr
    assert json.loads(third.stdout)["worker:0"]["names"] == ["edited", "solid"]
    assert "packs" not in third.stderr and "uploads own-" not in third.stderr


@pytest.fixture(scope="module")
def conda_pack():
    return environment_folder("conda-pack") / "bin/conda-pack"


def make_conda_prefix(archive, prefix):
    """A folder laid out as conda lays out its environments: what lies in it is written down in conda-meta."""
    prefix.mkdir()
    with tarfile.open(archive) as packed:
        packed.extractall(prefix)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for name in ("python", "python3"):
        (prefix / "bin" / name).unlink()
        (prefix / "bin" / name).symlink_to(f"python{version}")
    files = [str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file() or path.is_symlink()]
    (prefix / "conda-meta").mkdir()
    (prefix / "conda-meta/history").touch()
    (prefix / "conda-meta/python-0.json").write_text(json.dumps(
        {"name": "python", "version": version, "url": "", "files": files, "link": {"source": str(prefix / "none")}}))


def test_an_archive_of_conda_pack_runs_there(conda_pack, run, venv, tmp_path):
    packing = "from gangrun import environments as e; print(e.prepare(None, on='yarn', env={}, progress=len).archives[e.FOLDER])"
    packed = subprocess.run([venv / "own/bin/python", "-c", packing], check=True, capture_output=True, text=True, timeout=LIMIT_S)
    prefix = tmp_path / "prefix"
    make_conda_prefix(packed.stdout.strip(), prefix)
    next(prefix.rglob("solid.py")).with_name("loose.py").write_text("NAME = 'by conda'\n")
    subprocess.run([conda_pack, "--quiet", "--prefix", prefix, "--output", tmp_path / "conda.tar.gz"], check=True,
                   capture_output=True, timeout=LIMIT_S)
    done = run(str(tmp_path / "conda.tar.gz"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["worker:1"] == {
        "prefix": "env", "base": "env", "foreign": [], "names": ["by conda", "solid"], "version": list(sys.version_info[:2])}
    assert "packs" not in done.stderr and "uploads conda.tar.gz" in done.stderr


def test_what_cannot_run_there_is_told_before_or_in_one_line(run, tmp_path):
    missing = run(f"{tmp_path}/none.tar.gz")
    assert missing.returncode == 1
    assert missing.stderr.rstrip().endswith(f"InvalidJob: environment: there is no {tmp_path}/none.tar.gz")
    away = run("hdfs:///tmp/no-such-env.tar.gz")
    assert away.returncode == 1
    assert "archives.env" in away.stderr and "no-such-env.tar.gz" in away.stderr
