"""A program for tf-skein: a small network for the quality of wines, on a chief and an evaluator."""

import os
import sys

import estimators
import winequality
from tf_skein import Experiment, TaskSpec, YARNCluster

MODEL_DIR = sys.argv[1]


def experiment_fn():
    return Experiment(*estimators.make(MODEL_DIR))


if __name__ == "__main__":
    cluster = YARNCluster(task_specs={
        "chief": TaskSpec(memory=2 * 2**9, vcores=1),
        "evaluator": TaskSpec(memory=2**9, vcores=1)
    })
    cluster.run(experiment_fn, files={
        os.path.basename(winequality.__file__): winequality.__file__,
        os.path.basename(estimators.__file__): estimators.__file__,
        "winequality.csv": os.environ["WINES"],
    }, queue="ml-gpu")
    print("accuracy", experiment_fn().estimator.evaluate(estimators.inputs(1, repeat=False))["accuracy"])
