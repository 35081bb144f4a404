"""Trains a small classifier on the wine quality data: alone, or as one task of a gang.

Nothing here knows about gangrun. TensorFlow reads TF_CONFIG from the environment to learn which
task this process is and where the others are; without it, it trains and evaluates alone:

    python3 train.py --out out

The question: from eleven laboratory measurements of a white wine, is it good (quality 6 or more)?
About two wines in three are, so always saying "good" is the baseline that the model has to beat.
"""

import argparse
import json
import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before the import: warnings of the C++ part

import numpy as np
import tensorflow as tf

DATA = pathlib.Path(__file__).with_name("winequality-white.csv")
GOOD_QUALITY = 6
HELD_OUT = 0.2  # the part of the wines that no trainer ever sees
BATCH_SIZE = 64


def load_wines():
    """Returns ((features, labels) to train on, (features, labels) to evaluate on)."""
    wines = np.loadtxt(DATA, delimiter=";", skiprows=1, dtype=np.float32)
    # Many wines are listed more than once: a copy of a training wine must not be held out.
    wines = np.unique(wines, axis=0)
    # Every task shuffles with the same seed and so holds out the same wines.
    np.random.default_rng(seed=1).shuffle(wines)
    features, labels = wines[:, :-1], (wines[:, -1] >= GOOD_QUALITY).astype(np.int32)
    held_out = int(len(wines) * HELD_OUT)
    mean, deviation = features[held_out:].mean(axis=0), features[held_out:].std(axis=0)
    features = (features - mean) / deviation
    return (features[held_out:], labels[held_out:]), (features[:held_out], labels[:held_out])


def batches(features, labels, forever):
    data = tf.data.Dataset.from_tensor_slices(({"measurements": features}, labels))
    if forever:
        data = data.shuffle(len(labels)).repeat()
    return data.batch(BATCH_SIZE)


def make_classifier(model_dir, feature_count, max_steps):
    # RunConfig reads TF_CONFIG: the chief and the workers train, each at its own pace, the model
    # that the ps holds; the chief alone writes checkpoints and summaries to model_dir.
    config = tf.estimator.RunConfig(
        model_dir=str(model_dir),
        save_checkpoints_steps=max_steps // 4,
        save_summary_steps=200,
        log_step_count_steps=200,
    )
    return tf.estimator.DNNClassifier(
        feature_columns=[tf.feature_column.numeric_column("measurements", shape=(feature_count,))],
        hidden_units=[64, 32],
        dropout=0.2,
        optimizer=lambda: tf.keras.optimizers.legacy.Adam(learning_rate=0.001),
        config=config,
    )


class ShowProgress(tf.estimator.SessionRunHook):
    """Prints step and loss every few seconds, at once even where stdout is a pipe."""

    def __init__(self, every_seconds=2.0):
        self.every_seconds = every_seconds
        self.shown_at = 0.0

    def before_run(self, run_context):
        graph = run_context.session.graph
        loss = graph.get_collection(tf.compat.v1.GraphKeys.LOSSES)[-1]
        step = tf.compat.v1.train.get_global_step(graph)
        return tf.estimator.SessionRunArgs({"loss": loss, "step": step})

    def after_run(self, run_context, run_values):
        if time.monotonic() - self.shown_at >= self.every_seconds:
            self.shown_at = time.monotonic()
            results = run_values.results
            print(f"step {results['step']}, loss {results['loss']:.3f}", flush=True)


class WriteEvaluation(tf.estimator.Exporter):
    """Called after each evaluation; the last one, of the finished model, becomes a file."""

    name = "evaluation"

    def __init__(self, path, baseline):
        self.path = path
        self.baseline = baseline

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        evaluation = {
            "accuracy": round(float(eval_result["accuracy"]), 4),
            "loss": round(float(eval_result["average_loss"]), 4),
            "global_step": int(eval_result["global_step"]),
            "baseline_accuracy": round(self.baseline, 4),
        }
        print("evaluated:", json.dumps(evaluation), flush=True)
        if is_the_final_export:
            self.path.write_text(json.dumps(evaluation) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Is it a good wine?")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the results")
    parser.add_argument("--max-steps", type=int, default=5000, help="of all trainers together")
    args = parser.parse_args()

    tf.get_logger().setLevel("ERROR")
    args.out.mkdir(parents=True, exist_ok=True)
    train_data, eval_data = load_wines()
    classifier = make_classifier(args.out / "model", train_data[0].shape[1], args.max_steps)
    print(f"{classifier.config.task_type}:{classifier.config.task_id} is ready", flush=True)

    good = float(eval_data[1].mean())
    train_spec = tf.estimator.TrainSpec(
        input_fn=lambda: batches(*train_data, forever=True),
        max_steps=args.max_steps,
        hooks=[ShowProgress()],
    )
    eval_spec = tf.estimator.EvalSpec(
        input_fn=lambda: batches(*eval_data, forever=False),
        steps=None,  # all of the held out wines
        exporters=[WriteEvaluation(args.out / "evaluation.json", max(good, 1.0 - good))],
        start_delay_secs=0,
        throttle_secs=1,
    )
    # Chief and workers return at max_steps, the evaluator when it has evaluated the last
    # checkpoint. The ps serves until it is stopped.
    tf.estimator.train_and_evaluate(classifier, train_spec, eval_spec)


if __name__ == "__main__":
    main()
