"""The wheel: what `pip install` gives a user who has nothing else of this project."""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import cloudpickle
import pytest

from conftest import ROOT

FUNCTION = """
import gangrun
def train(step):
    place = gangrun.task.current()
    return place.task, len(place.cluster_spec["worker"]), step * 2
run = gangrun.run({"worker": 2}, train, args=(7,))
print(gangrun.__version__, run.results, sep="\\n")
"""


def order(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=240, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    programs = os.environ.get("GANGRUN_BIN", str(ROOT / "build/release/src"))
    said = order(ROOT / "tools/wheel", tmp_path_factory.mktemp("wheel"), env=os.environ | {"GANGRUN_BIN": programs})
    return pathlib.Path(said.splitlines()[-1])


@pytest.fixture(scope="module")
def venv(wheel, tmp_path_factory):
    """An environment of nothing but this wheel and the one library that functions need."""
    folder = tmp_path_factory.mktemp("venv")
    order(sys.executable, "-m", "venv", "--without-pip", folder)
    order(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "bin/python", "install", "--quiet",
          "--no-deps", "--no-index", wheel)
    (packages,) = folder.glob("lib/python*/site-packages")
    shutil.copytree(pathlib.Path(cloudpickle.__file__).parent, packages / "cloudpickle")
    return folder


def test_it_is_for_the_python_of_its_module_and_has_all_programs(wheel):
    minor = sys.version_info[1]
    kind = f"cp3{minor}-cp3{minor}" if minor < 12 else "cp312-abi3"
    # What auditwheel has found: tools/packing/wheel.py.
    assert wheel.name.endswith(f"-{kind}-manylinux_2_17_x86_64.manylinux2014_x86_64.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        programs = {f"gangrun/bin/{name}" for name in ("gangrun", "gangrun-agent", "gangrun-loader", "gangrun-pod-agent.gz")}
        assert programs | {"gangrun/py.typed", "gangrun/__init__.py"} <= set(names)
        assert len([name for name in names if name.startswith("gangrun/_core.") and name.endswith(".so")]) == 1
        assert not [name for name in names if not name.startswith(("gangrun/", "gangrun-"))]


# libgcc_s is what the C library itself loads to end a thread.
@pytest.mark.parametrize("name, more", [("gangrun/bin/gangrun", set()), ("gangrun/_core.", {"libgcc_s.so.1"})])
def test_what_is_compiled_needs_the_c_library_only(wheel, tmp_path, name, more):
    with zipfile.ZipFile(wheel) as archive:
        (inside,) = [inside for inside in archive.namelist() if inside == name or (name[-1] == "." and inside.startswith(name)
                                                                                   and inside.endswith(".so"))]
        compiled = archive.extract(inside, tmp_path)
    shown = order("readelf", "-d", compiled)
    needed = {line.split("[")[1].rstrip("]") for line in shown.splitlines() if "(NEEDED)" in line}
    # The second and third are parts of the C library: files of their own before glibc 2.34.
    assert needed <= {"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "ld-linux-x86-64.so.2"} | more


def test_a_function_runs_as_a_gang_from_an_empty_environment(venv, folder, home):
    environment = {"PATH": "/usr/bin:/bin", "GANGRUN_HOME": str(home), "HOME": str(folder)}
    version, results = order(venv / "bin/python", "-c", FUNCTION, env=environment).splitlines()
    assert results == str({f"worker:{index}": (f"worker:{index}", 2, 14) for index in (0, 1)})
    assert order(venv / "bin/gangrun", "version", env=environment) == f"gangrun {version}\n"
    assert "gangrun run" in order(venv / "bin/gangrun", "--help", env=environment)


FEED = """
from gangrun import _native
core = _native.core()
node = core.Listener("gangrun-wheel-%d" % __import__("os").getpid(), bytes(32))
feeder = core.Feeder.connect("gangrun-wheel-%d" % __import__("os").getpid(), bytes(32), 9, 9)
feeder.write(1, b"a row")
print(bytes(node.read(9)).decode(), core.__file__)
"""


def test_the_module_is_there_without_any_folder_of_programs(venv, folder):
    said, where = order(venv / "bin/python", "-c", FEED, env={"PATH": "/usr/bin:/bin", "HOME": str(folder)}).rsplit(" ", 1)
    assert said == "a row" and where.startswith(str(venv))


@pytest.mark.parametrize("name", ["ytf-submit", "tf-spawner", "check_hadoop_env"])
def test_the_program_has_its_old_names_too(venv, folder, name):
    assert name in order(venv / "bin" / name, "--help", env={"PATH": "/usr/bin:/bin", "HOME": str(folder)})
