"""Evaluates each checkpoint of a training that somebody else runs, until the last one, or until none comes any more."""

import argparse
import json
import pathlib

import tensorflow as tf

import wines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=5, help="the last checkpoint")
    parser.add_argument("--patience", type=float, default=300, help="seconds without a new one")
    arguments = parser.parse_args()
    _, held_out = wines.load(arguments.data)
    model = wines.make_model()
    checkpoint = tf.train.Checkpoint(model=model)
    folder = str(arguments.out / "checkpoints")
    for path in tf.train.checkpoints_iterator(folder, min_interval_secs=0.2, timeout=arguments.patience):
        checkpoint.restore(path).expect_partial()
        epoch = int(path.rsplit("-", 1)[1])
        print("evaluated:", json.dumps({"epoch": epoch, **wines.evaluate(model, *held_out)}), flush=True)
        if epoch == arguments.epochs:
            return
    raise SystemExit(f"no checkpoint for {arguments.patience:.0f} s")


if __name__ == "__main__":
    main()
