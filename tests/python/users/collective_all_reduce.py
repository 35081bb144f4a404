"""An Estimator under Horovod with gloo, by the name that tf-yarn's first releases had for it."""

import os
import sys

import estimators
import tensorflow as tf
import winequality
from gangrun.environments import NodePython
from gangrun.tf_yarn import Experiment, TaskSpec, run_on_yarn

MODEL_DIR = sys.argv[1]


def experiment_fn() -> Experiment:
    import horovod.tensorflow as hvd

    def optimizer():
        return hvd.DistributedOptimizer(tf.compat.v1.train.AdamOptimizer(0.002))

    return Experiment(*estimators.make(MODEL_DIR, 500, [hvd.BroadcastGlobalVariablesHook(0)],
                                       tf.compat.v1.estimator.DNNClassifier, optimizer))


if __name__ == "__main__":
    run_on_yarn(
        NodePython(sys.executable),
        experiment_fn,
        task_specs={
            "chief": TaskSpec(memory="1 GiB", vcores=1),
            "worker": TaskSpec(memory="1 GiB", vcores=1, instances=1),
            "evaluator": TaskSpec(memory="512 MiB", vcores=1),
        },
        files={
            os.path.basename(winequality.__file__): winequality.__file__,
            os.path.basename(estimators.__file__): estimators.__file__,
            "winequality.csv": os.environ["WINES"],
        },
        custom_task_module="tf_yarn.tasks.gloo_allred_task")
    print("accuracy", estimators.make(MODEL_DIR, classifier=tf.compat.v1.estimator.DNNClassifier)[0].evaluate(
        estimators.inputs(1, repeat=False))["accuracy"])
