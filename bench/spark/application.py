"""A Spark application of its own on this machine for a benchmark, which tells what it has found in its last line."""

import json
import os
import pathlib
import subprocess
import tempfile

from measure import ROOT, build_folder, python_of


def told_by(program: pathlib.Path, environment: str, *words: object, limit_s: float, **variables: str) -> dict:
    """`program` is run by the Python of that environment of tools/install-deps, with these words and variables, in a folder that is
    removed afterwards."""
    python = str(python_of(environment))
    with tempfile.TemporaryDirectory() as home:
        variables = {**os.environ, "GANGRUN_HOME": home, "PYSPARK_PYTHON": python, "GANGRUN_BIN": str(build_folder() / "src"),
                     "PYTHONPATH": str(ROOT / "python"), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": home, "TMPDIR": home,
                     "TF_CPP_MIN_LOG_LEVEL": "3", **variables}
        done = subprocess.run([python, "-W", "ignore", program, *map(str, words)],
                              env=variables, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=limit_s)
    if done.returncode != 0:
        raise SystemExit(f"{program}: status {done.returncode}\n{done.stderr[-8000:]}")
    return json.loads(done.stdout.splitlines()[-1])
