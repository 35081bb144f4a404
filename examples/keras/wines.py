"""The data and the model, for the training and for the evaluation."""

import pathlib

import numpy as np
import tensorflow as tf

GOOD_QUALITY = 6  # points from which a wine is a good one


def load(path: pathlib.Path):
    """((features, labels) to train on, (features, labels) to evaluate on): every fifth wine is kept for the latter."""
    wines = np.loadtxt(path, delimiter=";", skiprows=1, dtype=np.float32)
    features, labels = wines[:, :-1], (wines[:, -1:] >= GOOD_QUALITY).astype(np.float32)
    held_out = np.arange(len(wines)) % 5 == 0
    known = features[~held_out]
    features = (features - known.mean(axis=0)) / known.std(axis=0)
    return (features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])


def make_model():
    tf.keras.utils.set_random_seed(1)
    return tf.keras.Sequential([
        tf.keras.Input((11,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1),
    ])


def evaluate(model, features, labels):
    right = (model(features, training=False).numpy() > 0) == (labels > 0)
    share = float(labels.mean())
    return {"accuracy": round(float(right.mean()), 4), "baseline_accuracy": round(max(share, 1 - share), 4)}
