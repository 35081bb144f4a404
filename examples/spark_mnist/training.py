"""What the programs for TensorFlow share: the network, and how it is trained on several nodes in step.

Brought to the nodes by --py-files.
"""

import json
import pathlib

import tensorflow as tf

import digits

BATCH = 32  # of each node
HELD_OUT = range(1_000_000, 1_001_000)  # images that nobody trains with
LEARNING_RATE = 0.01


def make_model():
    return tf.keras.Sequential([tf.keras.Input((digits.SIDE ** 2,), name="image"), tf.keras.layers.Dense(64, activation="relu"),
                                tf.keras.layers.Dense(digits.CLASSES)])


def own_data(data):
    """Every node has data of its own: TensorFlow must not share them out again."""
    from gangrun.tensorflowonspark import compat
    options = tf.data.Options()
    compat.disable_auto_shard(options)
    return data.batch(BATCH, drop_remainder=True).with_options(options)


def fit(strategy, make, data, steps):
    """Keras 2's own loop."""
    with strategy.scope():
        model = make()
        model.compile(optimizer=tf.keras.optimizers.Adam(LEARNING_RATE), metrics=["accuracy"],
                      loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    # Nodes that train in step have to make the same number of steps, however many rows each is fed.
    model.fit(own_data(data), epochs=1, steps_per_epoch=steps, verbose=2)
    return model


def loop(strategy, make, data, steps):
    """A custom loop, which is what Keras 3 has for several workers."""
    with strategy.scope():
        model = make()
        optimizer = tf.keras.optimizers.Adam(LEARNING_RATE)
        optimizer.build(model.trainable_variables)

    def replica_step(images, labels):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images, training=True))
            loss = tf.reduce_mean(losses) / strategy.num_replicas_in_sync
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, tape.gradient(loss, model.trainable_variables))
        optimizer.apply(gradients, model.trainable_variables)

    @tf.function
    def step(images, labels):
        strategy.run(replica_step, args=(images, labels))

    batches = iter(own_data(data))
    for _ in range(steps):
        step(*next(batches))
    return model


def train(make_data, arguments, make=make_model):
    """MultiWorkerMirroredStrategy finds the other nodes in TF_CONFIG, and has to be made before anything else of TensorFlow."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    train_by = loop if hasattr(tf.keras.optimizers.Adam, "apply") else fit  # Keras 3 has it
    return train_by(strategy, make, make_data(), arguments.steps)


def evaluate(model, out):
    images, labels = digits.arrays(HELD_OUT)
    right = model(images).numpy().argmax(axis=1) == labels
    found = {"tensorflow": tf.__version__, "accuracy": float(right.mean())}
    pathlib.Path(out, "evaluation.json").write_text(json.dumps(found))
    print("evaluated:", json.dumps(found), flush=True)
