"""Environments as they are packed and found again: without a cluster, by the Python of small environments."""

import gzip
import io
import json
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import time
import zipfile

import pytest

import gangrun
from gangrun import TaskSpec, _job, environments
from gangrun.environments import NodePython, _active, _cache, _given, _pack, _start, cluster_pack
from gangrun.errors import CommandFailed, InvalidJob

ROOT = pathlib.Path(__file__).resolve().parents[1]
PREPARE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from gangrun import TaskSpec, _job, environments
told = []
python = environments.prepare(None, on="yarn", env={}, progress=told.append)
print(json.dumps({"command": python.command, "archives": python.archives, "files": python.files, "told": told}))
"""
LIMIT_S = 120


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/gangrun/environments"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def prepared(python):
    done = subprocess.run([python, "-c", PREPARE, str(ROOT)], capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return json.loads(done.stdout)


class Venv:
    """A virtual environment with a package, a script, and two packages that are links to where they are written."""

    def __init__(self, folder):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True, timeout=LIMIT_S)
        self.folder = folder
        self.python = folder / "venv/bin/python"
        self.site = next((folder / "venv/lib").glob("python3.*/site-packages"))
        write(self.site / "solid/__init__.py", "NAME = 'solid'\n")
        script = write(folder / "venv/bin/tool", f"#!{self.python}\nimport solid, sys\nprint(solid.NAME, sys.prefix)\n")
        script.chmod(0o755)
        # As `setup.py develop` leaves them.
        write(folder / "flat/loose.py", "NAME = 'loose'\n")
        write(folder / "flat/rest/__init__.py", "NAME = 'rest'\n")
        write(folder / "flat/data/big.txt", "no module\n")
        write(self.site / "flat.egg-link", f"{folder / 'flat'}\n.")
        write(self.site / "easy-install.pth", f"{folder / 'flat'}\n")
        # As `pip install -e` does.
        write(folder / "project/source/inner/__init__.py", "NAME = 'inner'\n")
        mapping = {"outer.inner": str(folder / "project/source/inner")}
        write(self.site / "__editable___outer_1_0_finder.py",
              f"MAPPING: dict[str, str] = {mapping!r}\ndef install(): pass\n")
        write(self.site / "__editable__.outer-1.0.pth",
              "import __editable___outer_1_0_finder; __editable___outer_1_0_finder.install()")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A packed environment that no test changes, and what was told of it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("shared")
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        venv = Venv(folder)
        venv.first = prepared(venv.python)
        venv.second = prepared(venv.python)
        write(folder / "flat/loose.py", "NAME = 'loose, edited'\n")
        venv.edited = prepared(venv.python)
    place = folder / "elsewhere"
    (place / "env").mkdir(parents=True)
    subprocess.run(["tar", "-xf", venv.first["archives"]["env"], "-C", place / "env"], check=True, timeout=LIMIT_S)
    (place / "gangrun-editable").symlink_to(venv.edited["files"]["gangrun-editable"])
    venv.place = place
    return venv


def run_in(venv, code):
    words = [*venv.first["command"], "-c", code]
    environment = {"PATH": "/usr/bin:/bin"}
    return subprocess.run(words, cwd=venv.place, env=environment, capture_output=True, text=True, timeout=LIMIT_S)


def test_an_unchanged_environment_is_packed_once(shared):
    assert any(line.startswith("packs the environment") and "MiB" in line for line in shared.first["told"])
    assert shared.second["told"] == []
    assert shared.second["archives"] == shared.first["archives"]


def test_an_edit_of_what_is_editable_packs_nothing(shared):
    assert shared.edited["told"] == []
    assert shared.edited["archives"] == shared.first["archives"]
    before, after = (pathlib.Path(each["files"]["gangrun-editable"]) for each in (shared.first, shared.edited))
    assert (before / "loose.py").read_text() == "NAME = 'loose'\n"
    assert (after / "loose.py").read_text() == "NAME = 'loose, edited'\n"
    assert sorted(path.name for path in after.iterdir()) == ["loose.py", "outer", "rest"]


def test_it_runs_elsewhere_with_nothing_of_where_it_was(shared):
    done = run_in(shared, "import ctypes, json, solid, sqlite3, ssl, sys, loose, rest, outer.inner, zlib\n"
                          "print(json.dumps([sys.prefix, sys.base_prefix, sys.executable, loose.NAME, outer.inner.NAME,\n"
                          "      sorted(filter(None, (getattr(m, '__file__', None) for m in list(sys.modules.values()))))]))")
    assert done.returncode == 0, done.stderr
    prefix, base, executable, *names, files = json.loads(done.stdout)
    own = str(shared.place / "env")
    assert (prefix, base, executable, names) == (own, own, f"{own}/bin/python", ["loose, edited", "inner"])
    assert len(files) > 50
    assert [file for file in files if not file.startswith(str(shared.place))] == []
    # Nor does it lead there by a link.
    leading = [path for path in (shared.place / "env").rglob("*") if path.is_symlink() and os.path.isabs(os.readlink(path))]
    assert leading == []


def test_a_script_finds_the_python_beside_it(shared):
    done = subprocess.run([shared.place / "env/bin/tool"], capture_output=True, text=True, timeout=LIMIT_S, cwd="/")
    assert done.stdout == f"solid {shared.place / 'env'}\n", done.stderr


@pytest.mark.package
def test_a_changed_package_is_packed_anew_and_two_at_once_pack_once(tmp_path, cache):
    venv = Venv(tmp_path)
    words = [venv.python, "-c", PREPARE, str(ROOT)]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [json.loads(process.communicate(timeout=LIMIT_S)[0]) for process in both]
    assert said[0]["archives"] == said[1]["archives"]
    assert sorted(bool(each["told"]) for each in said) == [False, True]
    write(venv.site / "solid/__init__.py", "NAME = 'solid, changed'\n")
    changed = prepared(venv.python)
    assert changed["told"] and changed["archives"] != said[0]["archives"]
    assert [path.name for path in cache.iterdir() if ".part-" in path.name] == []


# What is kept.

def test_what_is_interrupted_leaves_nothing(cache):
    def interrupted(path):
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _cache.kept("x.tar.gz", interrupted)
    assert [path.name for path in cache.iterdir()] == ["x.tar.gz.lock"]
    # One that was killed could not clean up: the next one does.
    (cache / "x.tar.gz.part-1").write_text("half")
    path = _cache.kept("x.tar.gz", lambda part: part.write_text("whole"))
    assert path.read_text() == "whole"
    assert not (cache / "x.tar.gz.part-1").exists()


def test_a_full_disk_is_told(cache):
    def full(path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(CommandFailed, match="x.tar.gz could not be written: .*No space left"):
        _cache.kept("x.tar.gz", full)
    assert [path.name for path in cache.iterdir()] == ["x.tar.gz.lock"]


def test_the_old_ones_are_removed_but_none_that_was_just_asked_for(cache):
    for number in range(8):
        _cache.kept(f"{number}.tar.gz", lambda part: part.write_text("x"))
    assert len(list(cache.glob("*.tar.gz"))) == 8
    for number in range(8):
        old = time.time() - (number + 2) * 3600
        os.utime(cache / f"{number}.tar.gz.used", (old, old))
    _cache.kept("new.tar.gz", lambda part: part.write_text("x"))
    assert sorted(path.name for path in cache.glob("*.tar.gz")) == ["0.tar.gz", "1.tar.gz", "2.tar.gz", "new.tar.gz"]


def test_packing_compresses_what_can_be_and_any_gunzip_reads_it(tmp_path):
    random = os.urandom(3 * _pack.BLOCK // 2)
    files = {"random": write(tmp_path / "a", ""), "text": write(tmp_path / "b", "word " * _pack.BLOCK)}
    files["random"].write_bytes(random)
    (tmp_path / "link").symlink_to("a")
    content = {"r": str(files["random"]), "t": str(files["text"]), "l": str(tmp_path / "link"), "bin/x": b"#!/bin/sh\n"}
    told = []
    _pack.write(tmp_path / "x.tar.gz", content, "the test", told.append)
    packed = tmp_path / "x.tar.gz"
    assert packed.stat().st_size < len(random) + (1 << 20)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(packed.read_bytes()))) as archive:
        assert archive.extractfile("r").read() == random
        assert archive.extractfile("t").read() == files["text"].read_bytes()
        assert archive.getmember("l").linkname == "a"
        assert archive.getmember("bin/x").mode == 0o755
    assert told[0] == "packs the test: 4 files, 6.5 MiB"
    assert told[-1].startswith("packed the test: 4 files, 6.5 MiB in ")
    assert subprocess.run(["gzip", "-t", packed], timeout=LIMIT_S).returncode == 0


# What others have packed.

def archive_of(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return str(path)


def elf(machine):
    return b"\x7fELF\x02\x01" + bytes(12) + struct.pack("<H", machine) + bytes(40)


HERE = next(number for number, name in _given.MACHINES.items() if name == platform.machine())
OWN = f"lib/python{_start.version()}/site-packages/x.py"


def refusal(environment, on="yarn"):
    with pytest.raises(InvalidJob) as caught:
        environments.prepare(environment, on=on, env={}, progress=lambda text: None)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_archive_is_looked_into_before_anything_is_submitted(tmp_path):
    good = archive_of(tmp_path / "good.tar.gz", {"bin/python": elf(HERE), OWN: b"x"})
    python = environments.prepare(good, on="yarn", env={}, progress=lambda text: None)
    assert python.archives == {"env": good}
    assert "env/bin/python" in python.command
    old = archive_of(tmp_path / "old.tar.gz", {"bin/python3.5": elf(HERE), "lib/python3.5/os.py": b"x"})
    assert refusal(old).endswith(f"old.tar.gz is for Python 3.5, and this is Python {_start.version()}")
    # It is remembered, and still true.
    assert refusal(old).endswith(f"and this is Python {_start.version()}")
    other = archive_of(tmp_path / "other.tar.gz", {"bin/python": elf(183 if HERE != 183 else 62), OWN: b"x"})
    assert " is for " in refusal(other) and refusal(other).endswith(f"and this is {platform.machine()}")
    assert "has no bin/python, nor is it a pex" in refusal(archive_of(tmp_path / "none.tgz", {"x": b"x"}))
    assert "cannot be read" in refusal(str(write(tmp_path / "broken.tar.gz", "not this")))
    assert refusal(str(tmp_path / "missing.tar.gz")) == f"environment: there is no {tmp_path}/missing.tar.gz"
    assert "is a folder; allowed: an archive" in refusal(str(tmp_path))
    assert "is not an environment; allowed: .tar.gz" in refusal(str(write(tmp_path / "a.txt", "x")))
    assert "is not an environment; allowed: .tar.gz" in refusal("hdfs:///user/a/env.rar")
    assert "7 is a int" in refusal(7)


def test_an_archive_on_the_cluster_is_used_where_it_is():
    python = environments.prepare("hdfs://nn/user/a/env.tar.gz", on="yarn", env={}, progress=lambda text: None)
    assert python.archives == {"env": "hdfs://nn/user/a/env.tar.gz"}


def test_an_archive_whose_python_is_a_link_says_so_where_it_leads_nowhere(tmp_path):
    link = archive_of(tmp_path / "venv.tar.gz", {"bin/python": f"{tmp_path}/none/python3", OWN: b"x"})
    python = environments.prepare(link, on="yarn", env={}, progress=lambda text: None)
    done = subprocess.run([*python.command, "-c", "1"], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 1
    assert done.stderr.startswith(f"gangrun: the environment {link}, which has no interpreter but a link to {tmp_path}/none/python3,")
    assert done.stderr.count("\n") == 1


def pex_of(path, wheels):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("PEX-INFO", json.dumps({"distributions": dict.fromkeys(wheels, "hash")}))
        archive.writestr("__main__.py", "import os, sys; print('pex', os.environ['PEX_INTERPRETER'], sys.argv[1:], sys.prefix)\n")
    return str(path)


@pytest.mark.package
@pytest.mark.parametrize("form", [[], ["--venv"], ["--layout", "packed"]])
def test_a_real_pex_runs_what_it_has_and_what_python_path_says(tmp_path, form):
    for folder, name in (("packed", "inside"), ("beside", "outside")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.py").write_text(f"said = {name!r}\n")
    subprocess.run([sys.executable, "-m", "pex", "-D", "packed", *form, "-o", "app.pex"], cwd=tmp_path, check=True, timeout=120)
    made = tmp_path / "app.pex"
    if made.is_dir():
        with zipfile.ZipFile(tmp_path / "app.pex.zip", "w") as archive:
            for path in made.rglob("*"):
                archive.write(path, path.relative_to(made))
        made = tmp_path / "app.pex.zip"
    python = environments.prepare(str(made), on="yarn", env={}, progress=lambda text: None)
    task = tmp_path / "task"
    task.mkdir()
    for name, path in {**python.archives, **python.files}.items():
        if name == "env.pex":
            (task / name).symlink_to(path)
        else:
            (task / name).mkdir()
            shutil.unpack_archive(path, task / name)
    done = subprocess.run([*python.command, "-c", "import inside, outside; print(inside.said, outside.said)"], cwd=task,
                          env={**os.environ, **python.env, "PYTHONPATH": f"{tmp_path}/beside"}, capture_output=True, text=True,
                          timeout=120)
    assert done.stdout == "inside outside\n", done.stderr


def test_a_pex_gets_an_interpreter_beside_it(tmp_path):
    own = f"cp{_start.version().replace('.', '')}"
    pex = pex_of(tmp_path / "app.pex", [f"numpy-1-{own}-{own}-linux_x86_64.whl", "six-1-py3-none-any.whl"])
    python = environments.prepare(pex, on="yarn", env={}, progress=lambda text: None)
    (tmp_path / "task/env-python").mkdir(parents=True)
    subprocess.run(["tar", "-xf", python.archives["env-python"], "-C", tmp_path / "task/env-python"], check=True,
                   timeout=LIMIT_S)
    (tmp_path / "task/env.pex").symlink_to(python.files["env.pex"])
    done = subprocess.run([*python.command, "-m", "x"], cwd=tmp_path / "task", capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin", **python.env}, timeout=LIMIT_S)
    assert done.stdout == f"pex 1 ['-m', 'x'] {tmp_path}/task/env-python\n", done.stderr
    wrong = pex_of(tmp_path / "old.pex", ["numpy-1-cp36-cp36m-linux_x86_64.whl"])
    assert refusal(wrong).endswith(f"old.pex is for Python 3.6, and this is Python {_start.version()}")
    unpacked = environments.prepare("hdfs:///a/b.pex.zip", on="yarn", env={}, progress=lambda text: None)
    assert unpacked.archives["env"] == "hdfs:///a/b.pex.zip" and unpacked.command[-1] == "env"


# What a task says of a Python that it cannot use.

def started(tmp_path, python, **options):
    words = [*_start.command(python, "the environment of the test", **options), "-c", "print('ran')"]
    return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S)


def test_a_task_says_in_one_line_why_its_python_is_no_use(tmp_path):
    fake = write(tmp_path / "old/bin/python", "#!/bin/sh\necho 3.5\n")
    broken = write(tmp_path / "broken/bin/python", "#!/bin/sh\necho 'libc.so.6: version GLIBC_9 not found' >&2; exit 1\n")
    for program in (fake, broken):
        program.chmod(0o755)
    wrong = [(started(tmp_path, "old/bin/python"), "has Python 3.5 on this node"),
             (started(tmp_path, "broken/bin/python"), "GLIBC_9 not found"),
             (started(tmp_path, "none/bin/python"), "has no program none/bin/python"),
             (started(tmp_path, sys.executable, machine="vax"), "is for vax; this node")]
    for done, sentence in wrong:
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.startswith("gangrun: the environment of the test") and sentence in done.stderr
        assert done.stderr.count("\n") == 1
    assert started(tmp_path, sys.executable, machine=platform.machine()).stdout == "ran\n"
    assert started(tmp_path, "old/bin/python", any_version=True).stdout == "3.5\n"


def test_an_interpreter_of_the_nodes_is_looked_at_there(tmp_path):
    python = environments.prepare(NodePython("/usr/bin/no-python"), on="yarn", env={}, progress=lambda text: None)
    assert not python.archives
    done = subprocess.run([*python.command, "-c", "1"], capture_output=True, text=True, timeout=LIMIT_S)
    assert "NodePython('/usr/bin/no-python')" in done.stderr and "has no program" in done.stderr
    assert "is not a path of a program" in refusal(NodePython(""))


def test_on_this_machine_nothing_is_shipped(tmp_path):
    good = archive_of(tmp_path / "good.tar.gz", {"bin/python": elf(HERE)})
    for given in (None, environments.ACTIVE, good, pathlib.Path(good)):
        python = environments.prepare(given, on="local", env={}, progress=lambda text: None)
        assert python == environments.TaskPython((sys.executable,))
    assert "there is no" in refusal(str(tmp_path / "missing.zip"), on="local")


# What programs that were written for cluster-pack call.

def test_cluster_pack_stands_for_the_environment_that_runs_it(tmp_path):
    path, name = cluster_pack.upload_env()
    assert path == environments.ACTIVE and name == os.path.basename(sys.prefix)
    assert environments.prepare(path, on="local", env={}, progress=print).command == (sys.executable,)
    assert cluster_pack.upload_zip("hdfs:///a/b.zip") == "hdfs:///a/b.zip"
    with pytest.warns(UserWarning, match="nothing is put at hdfs:///x"):
        cluster_pack.upload_env("hdfs:///x")
    with pytest.raises(InvalidJob, match="additional_packages"):
        cluster_pack.upload_env(additional_packages={"a": "1"})


def test_other_folders_of_packages_are_packed_with_the_environment(tmp_path):
    """A .pth that leads to another folder of packages makes it one of the environment's."""
    venv = Venv(tmp_path)
    write(tmp_path / "more/site-packages/extra.py", "")
    write(venv.site / "more.pth", f"{tmp_path / 'more/site-packages'}\n")
    code = ("import sys; sys.path.insert(0, sys.argv[1]); from gangrun.environments import _active\n"
            "found = _active.environment(); print([n for n in found.content if n.endswith('/extra.py')], list(found.editable))")
    done = subprocess.run([venv.python, "-c", code, str(ROOT)], capture_output=True, text=True, timeout=LIMIT_S, check=True)
    packages = _active._packages_folder()
    assert done.stdout == f"['{packages}/extra.py'] ['loose.py', 'rest', 'outer/inner']\n" or \
        done.stdout == f"['{packages}/extra.py'] ['outer/inner', 'loose.py', 'rest']\n"


def hello():
    return "hello"


@pytest.mark.parametrize("configuration, more, said", [
    (None, {}, "HADOOP_CONF_DIR is not set"),
    ("nowhere", {}, "nowhere; expected the folder with the cluster's core-site.xml"),
    ("good", {"timeouts": {"jobs": "1 h"}}, "timeouts: 'jobs' is not a known key"),
    ("good", {"principal": "me@REALM"}, "needs a cluster with Kerberos"),
])
def test_what_can_be_refused_is_refused_before_an_environment_is_packed(tmp_path, monkeypatch, home, configuration, more, said):
    write(tmp_path / "good/core-site.xml", "<configuration><property><name>fs.defaultFS</name>"
                                           "<value>hdfs://localhost:1</value></property></configuration>")
    write(tmp_path / "good/yarn-site.xml", "<configuration/>")
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    packed = []
    monkeypatch.setattr(_pack, "write", lambda *arguments: packed.append(arguments))
    with pytest.raises(InvalidJob, match=re.escape(said)):
        gangrun.run({"worker": 1}, hello, on="yarn", display=False,
                    client_env={"HADOOP_CONF_DIR": str(tmp_path / configuration)} if configuration else None, **more)
    assert packed == [] and not list(home.glob("python/run-*"))


def test_each_type_has_its_own_by_its_name_or_its_label(folder):
    request = _job.Request(
        tasks={"worker": TaskSpec(label="gpu"), "ps": TaskSpec(), "chief": TaskSpec(),
               "evaluator": TaskSpec(environment=NodePython("/p"))},
        main="json:dumps", args=(1,), on="yarn", keys={"timeouts": {"stop": "5 s"}},
        environment={"gpu": "hdfs:///gpu.tar.gz", "ps": "hdfs:///ps.tar.gz", "*": "hdfs:///other.tar.gz"})
    prepared = _job.prepare(request, lambda text: None)
    try:
        job = json.loads(pathlib.Path(prepared.path).read_text())
        tasks = job["tasks"]
    finally:
        prepared.staging.remove()
    assert job["timeouts"] == {"roll_call": "10 min", "stop": "5 s"}
    assert {name: task.get("archives") for name, task in tasks.items()} == {
        "worker": {"env": "hdfs:///gpu.tar.gz"}, "ps": {"env": "hdfs:///ps.tar.gz"}, "chief": {"env": "hdfs:///other.tar.gz"},
        "evaluator": None}
