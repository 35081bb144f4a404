"""What `make dist` makes: the same bytes each time, and each of it works where nothing else of this project is."""

import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import cloudpickle
import pytest

from conftest import ROOT
from test_wheel import FEED

sys.path.append(str(ROOT / "tools"))
from packing import release  # noqa: E402: after the path above

# The modules for three Pythons are compiled, twice.
pytestmark = [pytest.mark.package, pytest.mark.timeout(1800)]
PROGRAMS = ("gangrun", "ytf-submit", "tf-spawner", "check_hadoop_env")
OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"


def order(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=1700, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pythons():
    """{3.9: its program} of those that pyenv has, and the tests' own."""
    found = {OWN: sys.executable}
    for path in sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python")):
        version = ".".join(path.parts[-3].split(".")[:2])
        if tuple(map(int, version.split("."))) >= (3, 9):
            found.setdefault(version, str(path))
    return found


def make(folder, **variables):
    programs = os.environ.get("GANGRUN_BIN", str(ROOT / "build/release/src"))
    environment = {name: value for name, value in os.environ.items() if name != "GANGRUN_BIN"}
    order(ROOT / "tools/dist", "--programs", programs, folder, env=environment | variables)
    return folder


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    return make(tmp_path_factory.mktemp("dist") / "made")


def one(dist, pattern):
    (path,) = dist.glob(pattern)
    return path


def empty_environment(folder):
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "GANGRUN_HOME": str(folder / "h")}


def works(program, folder):
    """The program runs a gang, which takes the agent beside it."""
    said = order(program, "run", "-r", "worker:2", "--", "sh", "-c", "echo I am $GANGRUN_TASK", cwd=folder,
                 env=empty_environment(folder))
    assert "worker:0" in said and "worker:1" in said


def test_two_runs_make_the_same_bytes(dist, tmp_path):
    """The modules are compiled once more, too."""
    for compiled in (ROOT / "build/wheel-of-programs").glob("cp3*"):
        shutil.rmtree(compiled)
    again = make(tmp_path / "again", CCACHE_RECACHE="1")
    assert sorted(path.name for path in again.iterdir()) == sorted(path.name for path in dist.iterdir())
    assert (again / "SHA256SUMS").read_text() == (dist / "SHA256SUMS").read_text()


def test_the_sums_are_those_of_all_files(dist):
    said = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert said == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.iterdir() if path.name != "SHA256SUMS"}


def test_there_is_a_wheel_for_every_python_from_3_9_on(dist):
    kinds = {re.fullmatch(r"gangrun-[\d.]+-(\w+-\w+)-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", path.name).group(1)
             for path in dist.glob("*.whl")}
    assert kinds == {"cp39-cp39", "cp310-cp310", "cp311-cp311", "cp312-abi3"}


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13"])
def test_a_wheel_works_where_there_is_no_compiler(dist, tmp_path, version):
    python = pythons().get(version)
    assert python, f"there is no Python {version} here"
    order(python, "-m", "venv", tmp_path / "venv")
    order(tmp_path / "venv/bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index",
          "--only-binary=:all:", "--find-links", dist, "gangrun", env=empty_environment(tmp_path))
    (packages,) = tmp_path.glob("venv/lib/python*/site-packages")
    shutil.copytree(pathlib.Path(cloudpickle.__file__).parent, packages / "cloudpickle")
    works(tmp_path / "venv/bin/gangrun", tmp_path)
    for name in PROGRAMS:
        assert "Usage" in order(tmp_path / "venv/bin" / name, "--help", env=empty_environment(tmp_path))
    said = order(tmp_path / "venv/bin/python", "-c", FEED, env=empty_environment(tmp_path))
    assert said.startswith("a row ") and str(tmp_path) in said


def test_the_sources_make_a_wheel_that_works(dist, tmp_path):
    """On a machine with a compiler and the libraries, as for a Python or a processor without a wheel."""
    order(sys.executable, "-m", "venv", tmp_path / "venv")
    pip = [tmp_path / "venv/bin/python", "-m", "pip", "--disable-pip-version-check"]
    (sources,) = [path for path in dist.glob("*.tar.gz") if "linux" not in path.name]
    order(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path / "made", sources)
    order(*pip, "install", "--quiet", "--no-deps", "--no-index", one(tmp_path / "made", "gangrun-*.whl"))
    works(tmp_path / "venv/bin/gangrun", tmp_path)


def test_a_wheel_has_the_licenses_of_what_is_in_it(dist):
    with zipfile.ZipFile(one(dist, "*-cp312-abi3-*.whl")) as archive:
        names = archive.namelist()
    assert any(name.endswith("licenses/licenses/components.txt") for name in names), names


def test_the_tarball_works_wherever_it_is_unpacked(dist, tmp_path):
    with tarfile.open(one(dist, "*-linux-x86_64.tar.gz")) as archive:
        archive.extractall(tmp_path / "some where")
    (top,) = (tmp_path / "some where").iterdir()
    works(top / "bin/gangrun", tmp_path)
    for name in PROGRAMS:
        assert "Usage" in order(top / "bin" / name, "--help", env=empty_environment(tmp_path))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gangrun").symlink_to(top / "bin/gangrun")
    works(tmp_path / "bin/gangrun", tmp_path)
    pages = {path.name for path in (top / "share/man/man1").iterdir()}
    assert {"gangrun.1", "gangrun-run.1", "gangrun-version.1", "ytf-submit.1"} <= pages
    assert (top / "share/man/man1/gangrun-run.1").read_text().startswith('.TH "GANGRUN-RUN" "1"')
    assert (top / "share/bash-completion/completions/gangrun").stat().st_size > 1000
    assert {"Apache-2.0.txt", "GPL-3.0.txt", "LGPL-2.1.txt", "MIT.txt"} <= {path.name for path in
                                                                          (top / "share/doc/gangrun/licenses").iterdir()}


def test_the_debian_package_has_the_same_in_its_places(dist, tmp_path):
    package = one(dist, "*.deb")
    order("dpkg-deb", "--extract", package, tmp_path / "root")
    works(tmp_path / "root/usr/bin/gangrun", tmp_path)
    told = order("dpkg-deb", "--info", package)
    assert "Depends: libc6 (>= 2.17)" in told and "Architecture: amd64" in told
    assert "root/root" in order("dpkg-deb", "--contents", package)
    for name in ("man/man1/gangrun.1.gz", "zsh/vendor-completions/_gangrun", "doc/gangrun/copyright"):
        assert (tmp_path / "root/usr/share" / name).exists()


def test_the_image_has_the_agent_of_the_tarball(dist, tmp_path):
    """Its form: test_agent_image.py."""
    with tarfile.open(one(dist, "gangrun-agent-*-linux-x86_64.oci.tar")) as archive:
        layer = max(archive.getmembers(), key=lambda member: member.size)
        with tarfile.open(fileobj=archive.extractfile(layer), mode="r:gz") as files:
            agent = files.extractfile("gangrun-agent").read()
    with tarfile.open(one(dist, "*-linux-x86_64.tar.gz")) as archive:
        (inside,) = [name for name in archive.getnames() if name.endswith("/libexec/gangrun-pod-agent.gz")]
        assert gzip.decompress(archive.extractfile(inside).read()) == agent


def test_no_artefact_has_names_of_functions(dist, tmp_path):
    """They are a quarter of gangrun. CONTRIBUTING.md tells how to get them."""
    order("dpkg-deb", "--extract", one(dist, "*.deb"), tmp_path / "deb")
    with tarfile.open(one(dist, "*-linux-x86_64.tar.gz")) as archive:
        archive.extractall(tmp_path / "tarball")
    for wheel in dist.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path / wheel.name)
    found = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"]
    assert len(found) == 3 + 3 + 4 * 4, found
    assert [path for path in found if ".symtab" in order("readelf", "--wide", "--sections", path)] == []


def test_the_debian_package_names_who_publishes_it(dist):
    assert "Maintainer: The gangrun authors\n" in order("dpkg-deb", "--field", one(dist, "*.deb"))
    publisher = "Ann Example <ann@example.org>"
    assert release.maintainer({"GANGRUN_DEB_MAINTAINER": publisher}) == publisher
    for wrong in ("Ann", "ann@example.org", "Ann <>", "Ann <ann@example.org>\nPre-Depends: x", "<ann@example.org>"):
        with pytest.raises(SystemExit, match="GANGRUN_DEB_MAINTAINER"):
            release.maintainer({"GANGRUN_DEB_MAINTAINER": wrong})


def test_the_bill_of_materials_has_each_library_with_its_version(dist):
    bill = json.loads(one(dist, "*.spdx.json").read_text())
    packages = {package["name"]: package for package in bill["packages"]}
    linked = {line.split(": ")[1] for line in (ROOT / "licenses/components.txt").read_text().splitlines() if line.startswith("Name: ")}
    assert linked < set(packages) and all(packages[name]["versionInfo"] for name in linked)
    identifiers = [package["SPDXID"] for package in bill["packages"]]
    assert len(set(identifiers)) == len(identifiers)
    used = {relation["spdxElementId"] for relation in bill["relationships"]} | {
        relation["relatedSpdxElement"] for relation in bill["relationships"]}
    assert used == {*identifiers, "SPDXRef-DOCUMENT"}
    tarball = one(dist, "*-linux-x86_64.tar.gz")
    assert packages[tarball.name]["checksums"][0]["checksumValue"] == hashlib.sha256(tarball.read_bytes()).hexdigest()
