"""An Estimator on three executors of a Spark application whose nodes get their data by themselves. The parameter server runs
beside the driver; an evaluator tells digits while the others train (TensorFlow 2.15, the last one with Estimators).

    spark-submit --py-files digits.py,estimator.py estimator_files.py --out OUT

OUT is a folder that all executors see.
"""

import argparse
import json
import pathlib

from pyspark.sql import SparkSession

from gangrun.tensorflowonspark import TFCluster

IMAGES = 4000
BATCH = 32


def train(arguments, ctx):
    """In each node; its part in the cluster is in TF_CONFIG. The chief and the workers have a part of the images each."""
    import tensorflow as tf

    import estimator
    share = IMAGES // ctx.num_workers
    first = 0 if ctx.job_name == "chief" else share * (1 + ctx.task_index)

    def own_images():
        return estimator.own_input(range(first, first + share)).shuffle(share, seed=1).repeat().batch(BATCH)

    def held_out():
        return estimator.own_input(range(1_000_000, 1_000_500)).batch(100)

    class Note(tf.estimator.Exporter):
        """What the evaluator has found, each time; the last one is of the last checkpoint."""

        name = "note"

        def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
            found = {"evaluator": ctx.job_name, **{name: float(value) for name, value in eval_result.items()}}
            pathlib.Path(arguments.out, "evaluation.json").write_text(json.dumps(found))
            print("evaluated:", json.dumps(found), flush=True)

    tf.estimator.train_and_evaluate(
        estimator.make_estimator(arguments.out), tf.estimator.TrainSpec(own_images, max_steps=arguments.steps),
        tf.estimator.EvalSpec(held_out, steps=None, start_delay_secs=0, throttle_secs=1, exporters=[Note()]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=300)
    arguments = parser.parse_args()
    sc = SparkSession.builder.appName("digits").getOrCreate().sparkContext
    cluster = TFCluster.run(sc, train, arguments, 4, num_ps=1, input_mode=TFCluster.InputMode.TENSORFLOW, driver_ps_nodes=True,
                            master_node="chief", eval_node=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
