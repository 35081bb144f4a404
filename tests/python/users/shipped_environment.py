"""A program for tf-yarn as its last release has it: with the environment shipped."""

import os
import sys

import cluster_pack
import tensorflow as tf
import winequality
from tf_yarn.tensorflow import Experiment, TaskSpec, run_on_yarn

import estimators

MODEL_DIR = sys.argv[1]


def experiment_fn() -> Experiment:
    assert tf.__version__.startswith("2.15.")
    return Experiment(*estimators.make(MODEL_DIR))


if __name__ == "__main__":
    pyenv_zip_path, _ = cluster_pack.upload_env()
    run_on_yarn(
        experiment_fn,
        task_specs={
            "chief": TaskSpec(memory="1 GiB", vcores=1),
            "evaluator": TaskSpec(memory="512 MiB", vcores=1),
        },
        files={
            os.path.basename(winequality.__file__): winequality.__file__,
            os.path.basename(estimators.__file__): estimators.__file__,
            "winequality.csv": os.environ["WINES"],
        },
        pyenv_zip_path=pyenv_zip_path)
    print("accuracy", experiment_fn().estimator.evaluate(estimators.inputs(1, repeat=False))["accuracy"])
