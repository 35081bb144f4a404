"""Trains a small network to tell good wines with ParameterServerStrategy: a coordinator, workers and parameter servers.

TensorFlow finds them in TF_CONFIG. The chief is the coordinator: it gives the steps to the workers, which, like the
parameter servers, serve until they are stopped. The training is a loop of its own, or model.fit (--loop fit), which Keras 3
does not have for this strategy.
"""

import argparse
import json
import pathlib

import numpy as np
import tensorflow as tf

GOOD_QUALITY = 6  # points from which a wine is a good one
BATCH = 64
STEPS = 60  # of an epoch, over all workers


def load(path):
    """((features, labels) to train on, (features, labels) to evaluate on): every fifth wine is kept for the latter."""
    wines = np.loadtxt(path, delimiter=";", skiprows=1, dtype=np.float32)
    features, labels = wines[:, :-1], (wines[:, -1:] >= GOOD_QUALITY).astype(np.float32)
    held_out = np.arange(len(wines)) % 5 == 0
    known = features[~held_out]
    features = (features - known.mean(axis=0)) / known.std(axis=0)
    return (features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])


def batches(features, labels):
    return tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(len(labels)).repeat().batch(BATCH)


def make_model():
    tf.keras.utils.set_random_seed(1)
    return tf.keras.Sequential([
        tf.keras.Input((11,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1),
    ])


def train_by_fit(strategy, known, epochs):
    with strategy.scope():
        model = make_model()
        loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        model.compile(optimizer=tf.keras.optimizers.Adam(0.003), loss=loss)
    show = tf.keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: print(f"epoch {epoch + 1}, loss {logs['loss']:.4f}", flush=True))
    model.fit(batches(*known), epochs=epochs, steps_per_epoch=STEPS, callbacks=[show], verbose=0)
    return model


def train_by_loop(strategy, known, epochs):
    with strategy.scope():
        model = make_model()
        optimizer = tf.keras.optimizers.Adam(0.003)
        optimizer.build(model.trainable_variables)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

    def replica_step(features, labels):
        with tf.GradientTape() as tape:
            losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, model(features, training=True))
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function
    def step(iterator):
        features, labels = next(iterator)
        return strategy.run(replica_step, args=(features, labels))

    data = iter(coordinator.create_per_worker_dataset(lambda: batches(*known)))
    for epoch in range(1, epochs + 1):
        losses = [coordinator.schedule(step, args=(data,)) for _ in range(STEPS)]
        coordinator.join()
        print(f"epoch {epoch}, loss {np.mean([loss.fetch() for loss in losses]):.4f}", flush=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--loop", choices=["fit", "custom"], default="custom")
    arguments = parser.parse_args()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type,
                                      task_index=resolver.task_id, protocol="grpc")
        print(f"{resolver.task_type} {resolver.task_id} serves", flush=True)
        server.join()  # does not return

    strategy = tf.distribute.ParameterServerStrategy(resolver)
    known, (features, labels) = load(arguments.data)
    train = train_by_fit if arguments.loop == "fit" else train_by_loop
    model = train(strategy, known, arguments.epochs)
    right = (model(features, training=False).numpy() > 0) == (labels > 0)
    share = float(labels.mean())
    # Keras 3 has TensorFlow's variables inside its own.
    variables = [variable if hasattr(variable, "device") else variable.value for variable in model.trainable_variables]
    found = {"tensorflow": tf.__version__, "accuracy": round(float(right.mean()), 4),
             "baseline_accuracy": round(max(share, 1 - share), 4), "variables_on": sorted({variable.device for variable in variables})}
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "evaluation.json").write_text(json.dumps(found))
    print("evaluated:", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
