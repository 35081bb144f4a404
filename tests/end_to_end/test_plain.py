"""Programs without a framework, which know their gang by variables: Python, bash and C++."""

import collections
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.gate

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WINES = EXAMPLES / "wine/winequality-white.csv"


@pytest.fixture
def folder(tmp_path):
    """A copy of the example's folder "plain", with the data beside it as its job files have it."""
    (tmp_path / "wine").mkdir()
    shutil.copy(WINES, tmp_path / "wine")
    return Path(shutil.copytree(EXAMPLES / "plain", tmp_path / "plain"))


@pytest.fixture
def environment(survivors):
    """What the jobs of a test are run with; no process with it may be left at the end."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    yield {"TEST_MARK": mark}
    assert survivors(f"TEST_MARK={mark}") == []


@pytest.mark.parametrize("workers", [1, 3, 7])
def test_python_passes_a_number_around(run_gangrun, folder, environment, workers):
    done = run_gangrun("run", "-r", f"worker:{workers}", "ring.yaml", cwd=folder, env=environment)
    assert done.status == 0, done.stderr
    assert re.findall(r"worker:0 \| sum of all indexes (\d+)$", done.stdout, re.M) == [str(sum(range(workers)))]
    got = re.findall(r"worker:(\d) \| worker (\d) of (\d) got (\d+)$", done.stdout, re.M)
    assert sorted(got) == [(str(i), str(i), str(workers), str(sum(range(i)))) for i in range(1, workers)]


def test_bash_takes_its_part_of_a_file(run_gangrun, folder, environment):
    done = run_gangrun("run", "share.yaml", cwd=folder, env=environment)
    assert done.status == 0, done.stderr
    counted = collections.Counter()
    for quality, count in re.findall(r"quality (\d+) (\d+)$", done.stdout, re.M):
        counted[quality] += int(count)
    assert counted == collections.Counter(line.split(";")[-1] for line in WINES.read_text().splitlines()[1:])
    assert sorted(re.findall(r"worker:(\d) \| worker (\d) of 3$", done.stdout, re.M)) == [(str(i), str(i)) for i in range(3)]


def test_cpp_sends_to_its_ps(run_gangrun, folder, environment):
    subprocess.run(["g++", "-O1", "-Wall", "-Wextra", "-Werror", "-o", "roles", "roles.cc"], cwd=folder, check=True, timeout=120)
    done = run_gangrun("run", "roles.yaml", cwd=folder, env=environment)
    assert done.status == 0, done.stderr
    assert "sum of 3 workers 7" in done.stdout
    sent = re.findall(r"worker:(\d) \| worker (\d) has sent (\d) of (\d)$", done.stdout, re.M)
    assert sorted(sent) == [("0", "0", "1", "7"), ("1", "1", "2", "7"), ("2", "2", "4", "7")]
