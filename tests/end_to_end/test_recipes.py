"""The programs of docs/recipes, as readers find them there."""

import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "docs/recipes"
# Debian's PyTorch belongs to Debian's Python.
ENVIRONMENT = {"PATH": f"/usr/bin:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
LIMIT_S = 120


def python_of(page):
    """The first program of a page."""
    return re.search(r"^```python.*?\n(.*?)^```$", (RECIPES / page).read_text(), re.MULTILINE | re.DOTALL)[1]


def test_a_gang_goes_on_from_its_checkpoint(run_gangrun, tmp_path):
    # It fails once, after the third epoch.
    failing = "    if epoch == 2 and os.environ['GANGRUN_RESTARTS'] == '0':\n        raise SystemExit('as planned')\n"
    program = python_of("checkpoints.md")
    (tmp_path / "train.py").write_text(program.replace("dist.destroy_process_group()", f"{failing}dist.destroy_process_group()"))
    assert failing in (tmp_path / "train.py").read_text()
    environment = ENVIRONMENT | {"CHECKPOINT": str(tmp_path / "model.pt")}
    done = run_gangrun("run", "-r", "worker:2", "--framework", "pytorch", "--restarts", "3:gang", "--", "python3", "train.py",
                       env=environment, cwd=tmp_path, timeout=LIMIT_S)
    assert done.status == 0, done.stderr
    epochs = [int(epoch) for epoch in re.findall(r"epoch (\d+):", done.stdout)]
    assert epochs == list(range(10)), done.stdout
    assert "restart 1 of 3" in done.stderr


def test_data_is_unpacked_once(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images/one").write_text("pixels")
    archive = shutil.make_archive(tmp_path / "images", "tar", tmp_path / "images")
    names = {}
    exec(python_of("data.md").partition("data = ")[0], names)  # a program of our own
    made = tmp_path / "made"
    # As of a process that was killed.
    (tmp_path / "made.part").mkdir()
    together = [threading.Thread(target=names["unpacked"], args=(archive, made)) for _ in range(4)]
    for each in together:
        each.start()
    for each in together:
        each.join()
    assert (made / "one").read_text() == "pixels" and not (tmp_path / "made.part").exists()


def test_a_sweep_finds_the_best(gangrun, home, tmp_path):
    (tmp_path / "sweep.py").write_text(python_of("sweeps.md"))
    own = {"PYTHONPATH": str(ROOT / "python"), "GANGRUN_BIN": str(gangrun.parent), "GANGRUN_HOME": str(home)}
    done = subprocess.run([sys.executable, "sweep.py"], cwd=tmp_path, env=os.environ | own, capture_output=True, text=True,
                          timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    assert "{'rate': 0.01, 'loss': 0.0}" in done.stdout
