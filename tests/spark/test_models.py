"""Saved models over Arrow's batches, in the Python of Spark; no Spark is started, since what it adds is in test_pipelines.py."""

import json
import os
import pathlib
import subprocess

import pytest
from clusters.spark.fixtures import spark_python

PROGRAM = pathlib.Path(__file__).parent / "programs/models.py"
LIMIT_S = 200


def run(release, folder, *checks):
    done = subprocess.run([spark_python(release), "-W", "ignore", PROGRAM, folder, *checks], capture_output=True, text=True, timeout=LIMIT_S,
                          env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode == 0, done.stderr[-6000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """TensorFlow 2.15 with its Keras, and PyTorch."""
    return run("3.5", tmp_path_factory.mktemp("models"), "saved_model", "keras_files", "torch_files", "params", "exports")


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """The newest TensorFlow, with Keras 3."""
    return run("4", tmp_path_factory.mktemp("models"), "keras_files", "exports")


def test_a_saved_model_gives_every_type_in_the_order_of_its_tensors(old):
    told, types, rows = old["saved_model"]["all"]
    assert told == [["o_by", "array<double>"], ["o_is", "boolean"], ["o_square", "array<array<double>>"], ["o_sum", "double"],
                    ["o_text", "binary"], ["o_whole", "bigint"]]
    assert types == ["list<double>", "bool", "list<list<double>>", "double", "binary", "int64"]
    assert rows == [[[2.0, 5.0], True, [[1.0], [2.5]], 7.0, "1.0", 1], [[-2.0, 0.0], False, [[-1.0], [0.0]], -2.0, "-1.0", -1],
                    [[6.0, 0.0], True, [[3.0], [0.0]], 6.0, "3.0", 3]]
    assert [name for name, _ in old["saved_model"]["unnamed"]] == ["by", "is", "square", "sum", "text", "whole"]


def test_a_signature_is_chosen_by_its_key_and_rows_get_its_shape(old):
    assert old["saved_model"]["words"][2] == [[3, "aa"], [7, "bb"]]


@pytest.mark.parametrize("mistake, said", [
    ("no tensor", "input_mapping: 'x' goes to 'z', which the signature 'serving_default' of "),
    ("no column", "input_mapping: no column goes to 'pairs' of the signature 'words' of "),
    ("no output", "does not have; its outputs are by, is, square, sum, text, whole"),
    ("no signature", "has no signature 'mine'; it has serving_default, words"),
    ("no tags", "tag_set: 'gpu' of "),
    ("no model", "is not there on "),
    ("empty folder", "has no model; allowed: a SavedModel, or one file that ends with .keras"),
    ("shape", "the column 'y' and the tensor 'x': a row of it has the shape [], the tensor [2]"),
    ("ragged", "its rows do not make a tensor of float32"),
    ("text", "its rows do not make a tensor of float32: could not convert string to float: 'a'"),
    ("nulls", "the column 'x' and the tensor 'x': there are nulls in it"),
    ("null number", "the column 'p' and the tensor 'pairs': there are nulls in it, and int64 has none"),
    ("struct", "a struct is not a tensor; allowed: a column for each of its fields (a)"),
    ("sizes", "its output 'short' has the shape (1,) for 2 rows"),
    ("complex", "'many' is a tensor of complex64, which Spark has no type for"),
    ("twice", "input_mapping: 'x' is there more than once"),
])
def test_what_does_not_fit_a_model_is_one_error(old, mistake, said):
    assert said in old["saved_model"][mistake]


@pytest.mark.parametrize("which, release, output", [("old", "2.", "sum"), ("new", "3.", "output_0")])
def test_models_of_keras(request, which, release, output):
    found = request.getfixturevalue(which)["keras_files"]
    assert found["keras"].startswith(release)
    assert found["two"][0] == [["both", "array<double>"], ["sum", "array<double>"]]
    assert found["two"][2] == [[[6.0, 6.0], [6.0]], [[15.0, 15.0], [15.0]]]
    assert found["dicts"] == [[["t", "array<double>"]], ["list<double>"], [[[6.0, 6.0]], [[15.0, 15.0]]]] or release == "2.", found["dicts"]
    assert found["one"] == [[[output, "array<double>"]], ["list<double>"], [[[3.0]], [[9.0]]]]
    assert "in its safe mode" in found["code"] and "arbitrary code execution" in found["code"]


def test_models_of_pytorch(old):
    found = old["torch_files"]
    expected = [[["told", "array<double>"], ["sum", "double"]], ["list<double>", "double"], [[[3.5], 2.0], [[2.5], 2.0]]]
    assert found["script"] == expected and found["state"] == expected
    assert "its inputs are shift, x" in found["no tensor"] and "its outputs are output_0, output_1" in found["no output"]


def test_nothing_of_pytorch_is_unpickled(old):
    found = old["torch_files"]
    assert "is not TorchScript (torch.jit.save)" in found["no factory"] and "model_factory" in found["no factory"]
    assert "is not TorchScript" in found["evil"][0] and "is not a state_dict of the module of model_factory, a Net" in found["evil"][1]
    assert not found["read"]


@pytest.mark.parametrize("which", ["old", "new"])
def test_models_are_exported_by_the_chief(request, which):
    assert request.getfixturevalue(which)["exports"] == {"told": [[[3.0]]], "others": False, "policy": "OFF", "gpu": False}


def test_params_have_the_names_and_defaults_that_they_have_always_had(old):
    found = old["params"]
    assert found["TFEstimator"] == {
        "input_mapping": {}, "cluster_size": 1, "num_ps": 0, "driver_ps_nodes": False, "input_mode": 1, "master_node": "chief",
        "protocol": "grpc", "tensorboard": False, "model_dir": None, "export_dir": None, "tfrecord_dir": None, "batch_size": 100,
        "epochs": 1, "readers": 1, "steps": 1000, "grace_secs": 30, "feed_timeout": 600.0, "reservation_timeout": 600.0}
    assert found["TFModel"] == {"input_mapping": {}, "output_mapping": {}, "batch_size": 100, "model_dir": None, "export_dir": None,
                                "signature_def_key": None, "tag_set": None}
    assert found["TFEstimator methods"] == sorted(
        ["InputMapping", "ClusterSize", "NumPS", "DriverPSNodes", "InputMode", "MasterNode", "Protocol", "GraceSecs", "Tensorboard",
         "ModelDir", "ExportDir", "TFRecordDir", "BatchSize", "Epochs", "Readers", "Steps", "FeedTimeout", "ReservationTimeout"])
    assert found["TFModel methods"] == sorted(["InputMapping", "OutputMapping", "BatchSize", "ModelDir", "ExportDir", "SignatureDefKey",
                                               "TagSet"])


def test_params_go_before_arguments_of_the_same_name(old):
    found = old["params"]
    assert found["merged"] == [4, 9, 5] and found["TFEstimator merged"] == found["TFModel merged"] == 1
    assert found["words"] == [True, ["--a", "b"], "['--a', 'b']", True] and found["same"] == [True, False]
    assert found["mode"].startswith("input_mode: 0; allowed: InputMode.SPARK (1)")
    assert "[1] is a list; allowed: a dict" in found["mapping"] and found["arguments"].startswith("tf_args: 7 is a int; allowed: a dict")
