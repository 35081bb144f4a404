"""Trains a small network to tell good wines with Keras 3 on JAX: model.fit on as many processes as there are."""

import argparse
import csv
import json
import os
import pathlib

os.environ["KERAS_BACKEND"] = "jax"  # before the import

import keras
import numpy as np

GOOD_QUALITY = 6  # points from which a wine is a good one
BATCH = 128  # over all processes


def load(path):
    """((features, labels) to train on, (features, labels) to evaluate on): every fifth wine is kept for the latter."""
    with open(path, newline="") as file:
        wines = np.array(list(csv.reader(file, delimiter=";"))[1:], dtype=np.float32)
    features, labels = wines[:, :-1], (wines[:, -1:] >= GOOD_QUALITY).astype(np.float32)
    held_out = np.arange(len(wines)) % 5 == 0
    known = features[~held_out]
    features = (features - known.mean(axis=0)) / known.std(axis=0)
    return (features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])


class OwnPart(keras.utils.PyDataset):
    """This process's part of every batch, in an order that all processes share."""

    def __init__(self, features, labels, process, processes):
        super().__init__()
        self.order = np.random.default_rng(1).permutation(len(labels))
        self.features, self.labels = features, labels
        self.process, self.processes = process, processes

    def __len__(self):
        return len(self.labels) // BATCH

    def __getitem__(self, number):
        mine = self.order[number * BATCH:(number + 1) * BATCH][self.process::self.processes]
        return self.features[mine], self.labels[mine]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=5)
    arguments = parser.parse_args()
    keras.distribution.initialize()
    import jax  # not before: the devices are counted when it is first used

    process, processes = jax.process_index(), jax.process_count()
    print(f"process {process} of {processes} with Keras {keras.__version__} on {keras.backend.backend()}", flush=True)
    keras.distribution.set_distribution(keras.distribution.DataParallel(auto_shard_dataset=False))
    keras.utils.set_random_seed(1)

    known, (features, labels) = load(arguments.data)
    model = keras.Sequential([keras.Input((11,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(0.003), loss=keras.losses.BinaryCrossentropy(from_logits=True))
    show = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: print(f"epoch {epoch + 1}, loss {logs['loss']:.4f}", flush=True))
    model.fit(OwnPart(*known, process, processes), epochs=arguments.epochs, callbacks=[show], verbose=0, shuffle=False)

    weights = [np.asarray(weight.value.addressable_data(0)) for weight in model.weights]
    print(f"sum of all weights {sum(float(weight.sum()) for weight in weights):.4f}", flush=True)
    if process == 0:
        hidden = np.maximum(features @ weights[0] + weights[1], 0)
        right = ((hidden @ weights[2] + weights[3] > 0) == (labels > 0)).mean()
        share = float(labels.mean())
        found = {"processes": processes, "accuracy": round(float(right), 4),
                 "baseline_accuracy": round(max(share, 1 - share), 4)}
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "evaluation.json").write_text(json.dumps(found))
        print("evaluated:", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
