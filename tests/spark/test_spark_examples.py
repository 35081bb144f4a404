"""The example for Spark, each program by spark-submit as its README says, to an accuracy that guessing does not reach."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from clusters.spark.fixtures import SHORT_LIVED, spark_home_of, spark_python

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "spark_mnist"
LIMIT_S = 280
LEARNT = 0.85  # guessing: 0.1


@pytest.fixture
def submit(tmp_path):
    """submit("keras_fed.py", "--nodes", 2, release="3.5", executors=2): what the program said."""
    def run(program, *words, release="3.5", executors=2):
        python = spark_python(release)
        home = spark_home_of(release, tmp_path)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
        environment |= {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(python), "SPARK_HOME": str(home),
                        "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(tmp_path), "PYTHONPATH": str(ROOT / "python"),
                        "GANGRUN_HOME": str(tmp_path / "h"), "TF_CPP_MIN_LOG_LEVEL": "2", "OMP_NUM_THREADS": "1",
                        "GANGRUN_BIN": os.environ.get("GANGRUN_BIN", str(ROOT / "build/release/src"))}
        options = ["--conf", "spark.ui.enabled=false", "--conf", f"spark.executor.extraJavaOptions={SHORT_LIVED}",
                   "--driver-java-options", SHORT_LIVED]
        done = subprocess.run(
            [home / "bin/spark-submit", "--master", f"local-cluster[{executors},1,1024]", *options, "--py-files",
             ",".join(str(EXAMPLE / name) for name in ("digits.py", "training.py", "estimator.py")), program, *map(str, words)], cwd=EXAMPLE, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        return done.stdout
    return run


def evaluation(folder):
    return json.loads((folder / "evaluation.json").read_text())


@pytest.mark.parametrize("release, tensorflow", [("3.5", "2.15"), ("4", "2.21")])
def test_keras_is_fed_and_then_tells_digits(submit, tmp_path, release, tensorflow):
    said = submit("keras_fed.py", "--nodes", 2, "--out", tmp_path, release=release)
    found = evaluation(tmp_path)
    assert found["tensorflow"].startswith(tensorflow) and found["accuracy"] > LEARNT, found
    rows, right = re.search(r"^told (\d+) digits, (0\.\d+|1\.0+) of them right$", said, re.M).groups()
    assert int(rows) == 1000 and float(right) > LEARNT


def test_keras_reads_its_data_itself(submit, tmp_path):
    submit("keras_files.py", "--nodes", 2, "--out", tmp_path, release="4")
    assert evaluation(tmp_path)["accuracy"] > LEARNT


def test_a_residual_network_learns_from_tfrecords(submit, tmp_path):
    submit("resnet_records.py", "--nodes", 2, "--out", tmp_path)
    assert evaluation(tmp_path)["accuracy"] > LEARNT


def test_an_estimator_with_a_parameter_server(submit, tmp_path):
    submit("estimator.py", "--out", tmp_path, executors=3)
    found = evaluation(tmp_path)
    # The worker begins some seconds after the chief, whose own rows may be all that is trained on.
    assert found["accuracy"] > LEARNT and found["global_step"] > 0, found
    assert list((tmp_path / "model/eval").glob("events.*"))


def test_an_estimator_whose_nodes_read_their_data_themselves(submit, tmp_path):
    """The evaluator sees the last checkpoint, and ends; the parameter server beside the driver never would."""
    submit("estimator_files.py", "--out", tmp_path, executors=3)
    found = evaluation(tmp_path)
    assert found["evaluator"] == "evaluator" and found["accuracy"] > LEARNT and found["global_step"] >= 300, found


def test_a_stream_is_learnt_from_until_it_is_enough(submit, tmp_path):
    said = submit("stream_fed.py", "--out", tmp_path, executors=1)
    found = evaluation(tmp_path)
    assert found["accuracy"] > 0.9 and (tmp_path / "weights.npz").exists() and "learnt from" in said, found
    done = len([path for path in (tmp_path / "checkpoint/commits").iterdir() if path.name.isdigit()])
    assert found["images"] <= 500 * (done + 1), "rows of a batch that has not come"


def test_a_pipeline_of_spark_tells_digits(submit, tmp_path):
    said = submit("pipeline.py", "--nodes", 2, "--out", tmp_path)
    rows, right = re.search(r"^told (\d+) digits, (0\.\d+|1\.0+) of them right$", said, re.M).groups()
    assert int(rows) == 1000 and float(right) > LEARNT


def test_pytorch_is_fed_with_a_data_frame(submit):
    said = submit("pytorch_fed.py", "--nodes", 2)
    ranks = json.loads(re.search(r"^evaluated: (\[.*\])$", said, re.M).group(1))
    assert [rank["rank"] for rank in ranks] == [0, 1] and ranks[0]["weights"] == ranks[1]["weights"]
    assert ranks[0]["accuracy"] > LEARNT, ranks
