"""The Estimator's experiment that the programs here share."""

import tensorflow as tf
import winequality


def inputs(part, repeat):
    def input_fn():
        features, labels = winequality.load()[part]
        data = tf.data.Dataset.from_tensor_slices((winequality.columns(features), labels))
        return data.shuffle(1000, seed=1).repeat().batch(128) if repeat else data.batch(256)
    return input_fn


def make(model_dir, steps=1000, hooks=(), classifier=tf.estimator.DNNClassifier, optimizer="Adam"):
    """(estimator, train_spec, eval_spec)"""
    names = [name.replace(" ", "_") for name in winequality.COLUMNS]
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=42, save_checkpoints_steps=500)
    estimator = classifier(
        hidden_units=[20, 20], feature_columns=[tf.feature_column.numeric_column(name) for name in names], n_classes=2,
        optimizer=optimizer, config=config)
    return (estimator, tf.estimator.TrainSpec(inputs(0, repeat=True), max_steps=steps, hooks=list(hooks)),
            tf.estimator.EvalSpec(inputs(1, repeat=False), steps=None, start_delay_secs=0, throttle_secs=1))
