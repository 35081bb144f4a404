"""The first pages of the documentation, as somebody follows them who has a checkout, and what to type for other launchers."""

import os
import pathlib
import sys

import pages
import pytest

WITH_A_FRAMEWORK = "Train with a framework"


INSTALL = """\
make wheel && python3 -m venv ~/gangrun-env && ~/gangrun-env/bin/pip install out/wheel/gangrun-*.whl
export PATH="$HOME/gangrun-env/bin:$PATH"
"""


@pytest.mark.parametrize("page", ["../README", "index", "start/index"])
def test_pages_for_newcomers_install_it_in_the_same_way(page):
    """README, the home page and the first page of the tutorial named three."""
    first = next(fence["text"] for fence in pages.fences(page) if "export PATH" in fence["text"])
    assert first.startswith(INSTALL)
    assert not [fence for fence in pages.fences(page) if "make build" in fence["text"]]


def test_gangrun_is_installed_and_looked_at(gangrun, home, tmp_path):
    """Through the page's own path, which the build of this checkout may not be."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (tmp_path / "gangrun-env").mkdir()
    (tmp_path / "gangrun-env/bin").symlink_to(gangrun.parent)
    reader = pages.with_programs(gangrun, home, {"HOME": str(tmp_path)})
    # The wheel is made and installed by the tests of the package.
    pages.follow(pages.fences("start/index"), folder, reader, {INSTALL.splitlines()[0]: "true"})


def test_a_model_is_trained_on_this_machine(gangrun, home, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    pages.write_files("start/this-machine", folder)
    # The package of this checkout, for a Python that has what it needs.
    own = {"PYTHONPATH": str(pages.ROOT / "python"), "GANGRUN_BIN": str(gangrun.parent),
           "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    pages.follow(pages.fences("start/this-machine", without=[WITH_A_FRAMEWORK]), folder,
                 pages.with_programs(gangrun, home, own))


@pytest.mark.parametrize("name", ["from-torchrun", "from-horovodrun", "from-ssh-launchers", "ssh"])
def test_what_to_type_instead_is_accepted(gangrun, home, tmp_path, name):
    """As a plan: the frameworks are not here, nor the hosts."""
    folder = tmp_path / "job"
    folder.mkdir()
    commands = [fence for fence in pages.fences(name) if fence["language"] == "sh"]
    assert commands
    replaced = {"gangrun run": "gangrun run --dry-run"}
    if any("gangrun doctor" in fence["text"] for fence in commands):
        replaced["gangrun doctor"] = "gangrun doctor --help"
    pages.follow(commands, folder, pages.with_programs(gangrun, home), replaced)


def test_the_job_for_hosts_with_ssh_is_accepted(run_gangrun, tmp_path):
    (job,) = [fence["text"] for fence in pages.fences("ssh") if fence["language"] == "yaml"]
    (tmp_path / "job.yaml").write_text(job)
    done = run_gangrun("run", "job.yaml", "--dry-run", cwd=tmp_path)
    assert done.status == 0 and "hosts         gpu1:8, gpu2:8" in done.stdout, done.stderr


def test_the_job_of_tony_is_accepted(run_gangrun, tmp_path):
    """Up to where a cluster is asked for."""
    (job,) = [fence["text"] for fence in pages.fences("from-tony") if fence["language"] == "yaml"]
    (tmp_path / "job.yaml").write_text(job)
    (tmp_path / "src").mkdir()
    (tmp_path / "venv.zip").touch()
    done = run_gangrun("run", "job.yaml", "--dry-run", cwd=tmp_path, env={"HADOOP_CONF_DIR": os.devnull})
    assert done.status == 2 and os.devnull in done.stderr, done.stderr
