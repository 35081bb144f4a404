"""A Keras program by tf-yarn's call, for any TensorFlow: chief and worker train in step, an evaluator looks on."""

import os
import sys

from gangrun.environments import NodePython
from gangrun.tf_yarn import KerasExperiment, TaskSpec, run_on_yarn

MODEL_DIR, ENDING, PYTHON = sys.argv[1:]
ENVIRONMENT = None if PYTHON == "shipped" else NodePython(PYTHON)
EPOCHS = 4


def experiment_fn() -> KerasExperiment:
    import tensorflow as tf
    import winequality

    known, held_out = winequality.load()
    data = tf.data.Dataset.from_tensor_slices(known).shuffle(4000, seed=1).batch(128, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input((11,)), tf.keras.layers.Dense(32, "relu"),
                                 tf.keras.layers.Dense(2, "softmax")])
    model.compile(tf.keras.optimizers.Adam(0.003), "sparse_categorical_crossentropy", metrics=["accuracy"])
    os.makedirs(MODEL_DIR, exist_ok=True)
    history = f"{MODEL_DIR}/{os.environ['GANGRUN_TASK_TYPE']}.csv"
    return KerasExperiment(
        model, MODEL_DIR,
        {"epochs": EPOCHS, "verbose": 0, "callbacks": [tf.keras.callbacks.CSVLogger(history), tf.keras.callbacks.ModelCheckpoint(
            f"{MODEL_DIR}/checkpoint-{{epoch}}{ENDING}", save_weights_only="weights" in ENDING)]},
        input_data_fn=lambda: data.with_options(options),
        validation_data_fn=lambda: tf.data.Dataset.from_tensor_slices(held_out).batch(256))


if __name__ == "__main__":
    run_on_yarn(ENVIRONMENT, experiment_fn,
                {"chief": TaskSpec(memory="1 GiB", vcores=1), "worker": TaskSpec(memory="1 GiB", vcores=1),
                 "evaluator": TaskSpec(memory="512 MiB", vcores=1)},
                files={"winequality.py": os.path.join(os.path.dirname(__file__), "winequality.py"),
                       "winequality.csv": os.environ["WINES"]}, name="keras")
