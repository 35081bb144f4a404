"""The last step of the page docs/start/this-machine.md, which needs PyTorch."""

import pathlib
import shutil

import pages

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def test_a_network_is_trained_on_this_machine(gangrun, home, tmp_path):
    folder = tmp_path / "checkout"
    for name in ("pytorch", "wine"):
        shutil.copytree(EXAMPLES / name, folder / "examples" / name, ignore=shutil.ignore_patterns("out"))
    environment = pages.with_programs(gangrun, home)
    # Debian's PyTorch belongs to Debian's Python.
    environment["PATH"] = f"/usr/bin:{environment['PATH']}"
    pages.follow(pages.fences("start/this-machine", section="Train with a framework"), folder, environment)
