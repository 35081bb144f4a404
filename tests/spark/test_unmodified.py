"""A program written for TensorFlowOnSpark, by the spark-submit of a real standalone cluster, which has not been told of gangrun."""

import json
import os
import subprocess
import sys

import pytest
from clusters.spark.fixtures import OPTIONS, ROOT, spark_home_of, spark_python
from waiting import wait_until

LIMIT_S = 240


@pytest.mark.parametrize("release", ["3.5"])
def test_spark_submit_runs_it_as_it_is(spark_cluster, tmp_path, release):
    cluster = spark_cluster(workers=2, release=release)
    path = subprocess.run([sys.executable, "-m", "gangrun.compat", "--path"], capture_output=True, text=True, timeout=60, check=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")}).stdout.strip()
    python = str(spark_python(release))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_", "PYTHONPATH"))}
    environment |= {**cluster.state["environment"], "PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1",
                    "GANGRUN_HOME": str(tmp_path / "h"), "GANGRUN_BIN": os.environ.get("GANGRUN_BIN", str(ROOT / "build/release/src"))}
    (tmp_path / "out").mkdir()
    options = [word for name, value in (OPTIONS | {"spark.cores.max": "2"}).items() for word in ("--conf", f"{name}={value}")]
    program = ROOT / "tests/spark/programs/unmodified.py"
    with open(tmp_path / "said", "wb") as said:
        done = subprocess.run([spark_home_of(release, tmp_path) / "bin/spark-submit", "--master", cluster.master, *options, path, program,
                               "--folder", tmp_path / "out"], env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=said, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, (tmp_path / "said").read_text()[-6000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["told"] == {name: "file:///x" for name in ("chief-0", "worker-0", "instance-0", "instance-1")}
    assert found["task"] == ["DataFeed"] and found["records"] == [[1, "a"]] and all(found["there"]) and found["estimator"] == 3
    wait_until(lambda: not cluster.executors(), "the end of the executors", 60)
