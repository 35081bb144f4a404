"""Trains a small network to tell good wines with Keras under Horovod: each rank sees its own part of the wines.

Nothing here knows of the launcher: hvd.init() finds the other ranks.
"""

import argparse
import csv
import json
import pathlib

import horovod.tensorflow.keras as hvd
import numpy
import tensorflow as tf

GOOD = 6  # points from which a wine is a good one
BATCH = 64  # on each rank
SEED = 20


def wines(path):
    """Features and labels: every fifth wine is kept for the evaluation."""
    with open(path, newline="") as file:
        table = numpy.array([[float(cell) for cell in row] for row in list(csv.reader(file, delimiter=";"))[1:]])
    features, labels = table[:, :-1], (table[:, -1] >= GOOD).astype("float32")
    held_out = numpy.arange(len(table)) % 5 == 0
    known = features[~held_out]
    features = ((features - known.mean(0)) / known.std(0)).astype("float32")
    return (features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])


def model():
    # Another beginning on every rank: the broadcast of rank 0 has to make them equal.
    tf.keras.utils.set_random_seed(SEED + hvd.rank())
    network = tf.keras.Sequential([tf.keras.Input((11,)), tf.keras.layers.Dense(64, "relu"),
                                   tf.keras.layers.Dense(1)])
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.legacy.Adam(0.001 * hvd.size()))
    network.compile(optimizer, tf.keras.losses.BinaryCrossentropy(from_logits=True), ["accuracy"])
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=8)
    arguments = parser.parse_args()
    hvd.init()
    print(f"rank {hvd.rank()} of {hvd.size()}, {hvd.local_rank()} of {hvd.local_size()} on its host, "
          f"{hvd.cross_rank()} of {hvd.cross_size()} hosts", flush=True)
    (features, labels), (test_features, test_labels) = wines(arguments.data)
    # As many wines on every rank: whoever had a batch more would wait for the others forever.
    mine = numpy.arange(len(features) // hvd.size()) * hvd.size() + hvd.rank()
    network = model()
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()]
    history = network.fit(features[mine], labels[mine], BATCH, arguments.epochs, verbose=2 if hvd.rank() == 0 else 0,
                          callbacks=callbacks)
    sum_of_ranks = float(hvd.allreduce(float(hvd.rank()), average=False))
    checksums = hvd.allgather(tf.constant([sum(float(abs(part).sum()) for part in network.get_weights())]))
    print(f"sum of ranks {sum_of_ranks}, weights {checksums.numpy().tolist()}", flush=True)
    if hvd.rank() == 0:
        right = float(numpy.mean((network.predict(test_features, verbose=0)[:, 0] > 0) == test_labels))
        found = {"ranks": hvd.size(), "losses": [float(loss) for loss in history.history["loss"]], "accuracy": right,
                 "baseline_accuracy": float(max(test_labels.mean(), 1 - test_labels.mean())),
                 "sum_of_ranks": sum_of_ranks, "weights": checksums.numpy().tolist()}
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "evaluation.json").write_text(json.dumps(found))
        print(f"accuracy {right:.4f}; always answering the same: {found['baseline_accuracy']:.4f}", flush=True)


if __name__ == "__main__":
    main()
