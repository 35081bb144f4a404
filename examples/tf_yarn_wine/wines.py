"""The wine data as an Estimator takes it. Shipped to the tasks by `files=`, which import it as any module."""

import pathlib

import numpy as np
import tensorflow as tf

DATA = pathlib.Path("winequality-white.csv")  # beside the task: it is among `files`
GOOD_QUALITY = 6
HELD_OUT = 0.2
BATCH_SIZE = 64


def load():
    """((features, labels) to train on, (features, labels) to evaluate on), the same in every task."""
    wines = np.unique(np.loadtxt(DATA, delimiter=";", skiprows=1, dtype=np.float32), axis=0)
    np.random.default_rng(seed=1).shuffle(wines)
    features, labels = wines[:, :-1], (wines[:, -1] >= GOOD_QUALITY).astype(np.int32)
    held_out = int(len(wines) * HELD_OUT)
    features = (features - features[held_out:].mean(axis=0)) / features[held_out:].std(axis=0)
    return (features[held_out:], labels[held_out:]), (features[:held_out], labels[:held_out])


def train_input_fn():
    (features, labels), _ = load()
    return tf.data.Dataset.from_tensor_slices(({"measurements": features}, labels)) \
        .shuffle(len(labels)).repeat().batch(BATCH_SIZE)


def eval_input_fn():
    _, (features, labels) = load()
    return tf.data.Dataset.from_tensor_slices(({"measurements": features}, labels)).batch(BATCH_SIZE)
