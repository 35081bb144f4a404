"""Rows as columns, for NumPy and the frameworks; the feeder is a thread, so no Spark is started."""

import json
import os
import pathlib
import subprocess

import pytest
from clusters.spark.fixtures import environment_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(__file__).parent / "programs/columns.py"
LIMIT_S = 120


def run(check, python=None):
    python = python or environment_folder("3.5") / "bin/python"
    programs = os.environ.get("GANGRUN_BIN", str(ROOT / "build/release/src"))
    done = subprocess.run([python, "-W", "ignore", PROGRAM, check], capture_output=True, text=True, timeout=LIMIT_S,
                          env={**os.environ, "GANGRUN_BIN": programs, "TF_CPP_MIN_LOG_LEVEL": "3"})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.gate
def test_columns_of_a_data_frame():
    found = run("from_arrow")
    assert found["f"] == ["float64", [3], [0.5, 1.5, 2.5]]
    assert found["i"][:2] == ["float64", [3]] and found["i"][2][0] == 1.0 and found["i"][2][1] != found["i"][2][1]
    assert found["s"] == ["object", [3], ["a", None, "c"]] and found["b"] == ["object", [3], ["x\0", "", "z"]]
    assert found["o"] == ["bool", [3], [True, False, True]]
    assert found["t"][:2] == ["datetime64[us]", [3]] and found["t"][2][0].startswith("2020-01-02 03:04:05.000006")
    assert found["m"] == ["float64", [3, 2], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]
    assert found["r"][:2] == ["object", [3]]
    assert found["q"][1] == [3, 2, 2]
    assert found["st"] == {"p": ["int64", [3], [1, 1, 1]], "v": ["float64", [3, 2], [[0.0, 1.0]] * 3]}


def test_columns_in_numbers_of_rows():
    assert run("in_numbers") == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11]]


def test_columns_of_numbers_are_not_copied():
    assert run("without_a_copy") == {"f": [False, False], "m": [False, False]}


def test_columns_that_are_held_stay_what_they_are():
    assert run("kept") == [40, [float(number) for number in range(40)]]


@pytest.mark.gate
def test_columns_of_objects():
    found = run("from_rows")
    assert found["lists"] == {"value": ["float64", [2, 2], [[1.0, 2.0], [3.0, 4.0]]]}
    assert found["scalars"] == {"value": ["int64", [2], [1, 2]]}
    assert found["tuples"] == {"0": ["int64", [2], [1, 2]], "1": ["object", [2], ["a", None]]}
    assert found["dicts"] == {"x": ["int64", [2, 1], [[1], [2]]]}
    assert found["rows"]["u"][2][0] == 1.5 and found["rows"]["v"] == ["object", [2], ["\0", "b\0"]]
    assert found["ragged"] == {"value": ["object", [2], [[1], [2, 3]]]}
    assert found["vectors"] == {"value": ["float64", [2, 2], [[1.0, 0.0], [0.0, 2.0]]]}


def test_columns_by_the_names_of_tensors():
    mapped, rows, columns = run("by_tensor")
    assert mapped == {"first": ["int64", [2], [1, 2]], "second": ["float64", [2], [10.0, 20.0]]}
    assert rows == {"half": [0.5, 1.5], "whole": [1, None]}
    assert columns == {"half": ["float64", [3], [0.5, 1.5, 2.5]]}


def test_a_dataset_of_tensorflow():
    spec, sums, rows = run("tensorflow")
    assert "(None, 2), dtype=tf.float64" in spec["x"] and "tf.string" in spec["s"]
    assert sums == [[24.0, 7, "a"], [18.0, 5, "b"]]
    assert rows == [[[[1.0, 2.0], [3.0, 4.0]], [0, 1]]]


def test_a_dataset_of_pytorch_owns_its_tensors():
    assert run("torch") == [[[[2.0, 3.0], [4.0, 5.0]], [0, 1], ["a", "b"]], [[[5.0, 6.0]], [2], ["c"]]]


def test_arrays_of_jax():
    python = environment_folder("3.5").parent / "jax-0.10/bin/python"
    assert run("jax", python) == [["jaxlib", [[1.0, 2.0], [3.0, 4.0]], [0, 1]]]
