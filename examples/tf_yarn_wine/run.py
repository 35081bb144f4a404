"""Is it a good wine? The experiment is written as for tf-yarn; only the import differs.

    python3 run.py --out OUT [--on local] [--workers 2] [--queue ml-gpu --gpu] [--train-only] [--evaluate-only]

OUT is a folder that all tasks see: a shared one, or a URL that the tasks' TensorFlow can write to.
"""

import argparse
import functools
import pathlib

from gangrun.environments import NodePython
from gangrun.tf_yarn import Experiment, NodeLabel, TaskSpec, run_on_yarn

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "wine/winequality-white.csv"


def experiment_fn(out, max_steps):
    import tensorflow as tf
    import wines

    config = tf.estimator.RunConfig(model_dir=f"{out}/model", save_checkpoints_steps=max(1, max_steps // 4),
                                    save_summary_steps=200, log_step_count_steps=200)
    estimator = tf.estimator.DNNClassifier(
        feature_columns=[tf.feature_column.numeric_column("measurements", shape=(11,))], hidden_units=[64, 32],
        dropout=0.2, optimizer=lambda: tf.keras.optimizers.legacy.Adam(learning_rate=0.001), config=config)
    return Experiment(
        estimator,
        tf.estimator.TrainSpec(wines.train_input_fn, max_steps=max_steps),
        tf.estimator.EvalSpec(wines.eval_input_fn, steps=None, start_delay_secs=0, throttle_secs=1))


def task_specs(arguments):
    label = NodeLabel.GPU if arguments.gpu else NodeLabel.CPU
    memory = arguments.memory
    if arguments.evaluate_only:
        return {"evaluator": TaskSpec(memory=memory, vcores=1)}
    specs = {"chief": TaskSpec(memory=memory, vcores=1, label=label)}
    if not arguments.train_only:
        specs["evaluator"] = TaskSpec(memory=memory, vcores=1)
    if arguments.tensorboard_seconds >= 0:
        specs["tensorboard"] = TaskSpec(memory=memory, vcores=1, tb_model_dir=f"{arguments.out}/model",
                                        tb_termination_timeout_seconds=arguments.tensorboard_seconds)
    if arguments.workers:
        specs["worker"] = TaskSpec(memory=memory, vcores=1, instances=arguments.workers, label=label)
        specs["ps"] = TaskSpec(memory=memory, vcores=1)
    return specs


def environment(arguments):
    if arguments.python == "ship" or arguments.on == "local":
        return None
    return arguments.python if arguments.python.endswith((".tar.gz", ".zip", ".pex")) else NodePython(arguments.python)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--on", default="yarn", choices=["yarn", "local"])
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--queue", default="default")
    parser.add_argument("--gpu", action="store_true", help="chief and workers on the nodes with the label gpu")
    parser.add_argument("--train-only", action="store_true")
    parser.add_argument("--evaluate-only", action="store_true")
    parser.add_argument("--max-steps", type=int, default=2000)
    parser.add_argument("--memory", default="2 GiB")
    parser.add_argument("--tensorboard-seconds", type=int, default=30, help="that TensorBoard stays after the training; -1: none")
    parser.add_argument("--python", default="ship",
                        help="'ship' brings this environment to the nodes; or the archive of one; or a Python that they have")
    arguments = parser.parse_args()
    metrics = run_on_yarn(
        environment(arguments),
        functools.partial(experiment_fn, arguments.out, arguments.max_steps),
        task_specs(arguments),
        files={"wines.py": str(HERE / "wines.py"), DATA.name: str(DATA)},
        queue=arguments.queue,
        custom_task_module="tf_yarn.tasks.evaluator_task" if arguments.evaluate_only else None,
        name="wine",
        on=arguments.on)
    print(f"trained for {metrics.total_training_duration}, evaluated for {metrics.total_eval_duration}")


if __name__ == "__main__":
    main()
