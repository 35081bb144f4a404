"""Learns to tell good wines on several workers in step (MultiWorkerMirroredStrategy), as a script for tf-spawner does it: one
file, told by TF_CONFIG where the others are, and by WORKER_NUMBER which of them it is."""

import argparse
import json
import os
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

GOOD_QUALITY = 6  # points from which a wine is a good one
BATCH = 128  # over all workers
LEARNING_RATE = 0.003


def load(path):
    """((features, labels) to train on, (features, labels) to evaluate on): every fifth wine is kept for the latter."""
    wines = np.loadtxt(path, delimiter=";", skiprows=1, dtype=np.float32)
    features, labels = wines[:, :-1], (wines[:, -1:] >= GOOD_QUALITY).astype(np.float32)
    held_out = np.arange(len(wines)) % 5 == 0
    known = features[~held_out]
    features = (features - known.mean(axis=0)) / known.std(axis=0)
    return (features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])


def batches(features, labels):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    data = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(len(labels), seed=1)
    return data.batch(BATCH, drop_remainder=True).with_options(options)


def make_model():
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input((11,)), tf.keras.layers.Dense(32, activation="relu"),
                                 tf.keras.layers.Dense(1)])
    model.compile(optimizer=tf.keras.optimizers.Adam(LEARNING_RATE),
                  loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))
    return model


def evaluate(model, features, labels):
    right = (model(features, training=False).numpy() > 0) == (labels > 0)
    share = float(labels.mean())
    return {"accuracy": round(float(right.mean()), 4), "baseline_accuracy": round(max(share, 1 - share), 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("WINE_DATA", "/data/winequality-white.csv"))
    parser.add_argument("--out", type=pathlib.Path, default=os.environ.get("WINE_OUT", "model"))
    parser.add_argument("--epochs", type=int, default=int(os.environ.get("WINE_EPOCHS", "5")))
    arguments = parser.parse_args()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    worker = int(os.environ.get("WORKER_NUMBER", "0"))
    print(f"worker {worker} of {os.environ.get('TOT_WORKERS', '1')}", flush=True)

    known, held_out = load(arguments.data)
    with strategy.scope():
        model = make_model()
    callbacks = [tf.keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: print(f"epoch {epoch + 1}, loss {logs['loss']:.4f}", flush=True))]
    if logs := os.environ.get("WINE_LOGS"):
        callbacks.append(tf.keras.callbacks.TensorBoard(os.path.join(logs, f"worker{worker}")))
    model.fit(batches(*known), epochs=arguments.epochs, callbacks=callbacks, verbose=0)

    # All workers must take part in the saving; what the first one writes is kept.
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as unused:
        model.save(arguments.out / "saved" if worker == 0 else unused)
    if worker == 0:
        found = {"tensorflow": tf.__version__, "replicas": strategy.num_replicas_in_sync, **evaluate(model, *held_out)}
        (arguments.out / "evaluation.json").write_text(json.dumps(found))
        print("evaluated:", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
