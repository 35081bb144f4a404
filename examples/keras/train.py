"""Trains a small network to tell good wines on several workers in step (MultiWorkerMirroredStrategy).

TensorFlow finds the workers in TF_CONFIG. The training is by model.fit, or by a loop of its own (--loop custom), which is
what Keras 3 has for several workers.
"""

import argparse
import json
import pathlib

import tensorflow as tf

import wines

BATCH = 128  # over all workers
LEARNING_RATE = 0.003


def is_chief(strategy):
    resolver = strategy.cluster_resolver
    has_chief = "chief" in resolver.cluster_spec().jobs
    return resolver.task_type == "chief" or (not has_chief and resolver.task_id == 0)


def batches(features, labels):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    data = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(len(labels), seed=1)
    return data.batch(BATCH, drop_remainder=True).with_options(options)


class Checkpoints:
    """One after each epoch. All workers must take part in the writing, but only what the chief writes is kept."""

    def __init__(self, folder, strategy, model):
        resolver = strategy.cluster_resolver
        mine = folder if is_chief(strategy) else folder / f"unused-{resolver.task_type}-{resolver.task_id}"
        self.manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), str(mine), max_to_keep=None)

    def write(self, epoch):
        self.manager.save(checkpoint_number=epoch)


def train_by_fit(strategy, data, epochs, folder):
    with strategy.scope():
        model = wines.make_model()
        loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        model.compile(optimizer=tf.keras.optimizers.Adam(LEARNING_RATE), loss=loss)
    checkpoints = Checkpoints(folder, strategy, model)

    def after_epoch(epoch, logs):
        checkpoints.write(epoch + 1)
        print(f"epoch {epoch + 1}, loss {logs['loss']:.4f}", flush=True)

    show = tf.keras.callbacks.LambdaCallback(on_epoch_end=after_epoch)
    model.fit(data, epochs=epochs, callbacks=[show], verbose=0)
    return model


def train_by_loop(strategy, data, epochs, folder):
    with strategy.scope():
        model = wines.make_model()
        optimizer = tf.keras.optimizers.Adam(LEARNING_RATE)
        optimizer.build(model.trainable_variables)
    checkpoints = Checkpoints(folder, strategy, model)

    def replica_step(features, labels):
        with tf.GradientTape() as tape:
            losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, model(features, training=True))
            loss = tf.reduce_sum(losses) / BATCH
        gradients = tape.gradient(loss, model.trainable_variables)
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        optimizer.apply(gradients, model.trainable_variables)
        return context.all_reduce(tf.distribute.ReduceOp.SUM, loss)

    @tf.function
    def step(features, labels):
        losses = strategy.run(replica_step, args=(features, labels))
        return strategy.experimental_local_results(losses)[0]

    parts = strategy.experimental_distribute_dataset(data)
    for epoch in range(1, epochs + 1):
        losses = [float(step(features, labels)) for features, labels in parts]
        checkpoints.write(epoch)
        print(f"epoch {epoch}, loss {sum(losses) / len(losses):.4f}", flush=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--loop", choices=["fit", "custom"], default="fit")
    arguments = parser.parse_args()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    resolver = strategy.cluster_resolver
    print(f"{resolver.task_type} {resolver.task_id} is one of {strategy.num_replicas_in_sync}", flush=True)

    known, held_out = wines.load(arguments.data)
    train = train_by_fit if arguments.loop == "fit" else train_by_loop
    model = train(strategy, batches(*known), arguments.epochs, arguments.out / "checkpoints")
    print(f"sum of all weights {sum(float(tf.reduce_sum(weight)) for weight in model.get_weights()):.4f}", flush=True)
    if is_chief(strategy):
        found = {"tensorflow": tf.__version__, "replicas": strategy.num_replicas_in_sync,
                 **wines.evaluate(model, *held_out)}
        (arguments.out / "evaluation.json").write_text(json.dumps(found))
        print("evaluated:", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
