"""Tells good wines by a small network, trained as scripts for `ytf-submit` do it: parameter servers, and workers that
each send their gradients when they have them (TensorFlow's sessions, by tf.compat.v1).

The cluster comes by the command line, where the task's DTF_* variables are written in. The data are read, and the
checkpoints and summaries written, wherever --data_dir and --train_dir point: a folder that all nodes see, or hdfs://.
"""

import argparse
import io

import numpy as np
import tensorflow.compat.v1 as tf

GOOD_QUALITY = 6  # points from which a wine is a good one
BATCH = 64


def load(folder):
    """((features, labels) to train on, (features, labels) to evaluate on): every fifth wine is kept for the latter."""
    with tf.io.gfile.GFile(folder.rstrip("/") + "/winequality-white.csv") as file:
        wines = np.loadtxt(io.StringIO(file.read()), delimiter=";", skiprows=1, dtype=np.float32)
    features, labels = wines[:, :-1], (wines[:, -1:] >= GOOD_QUALITY).astype(np.float32)
    held_out = np.arange(len(wines)) % 5 == 0
    known = features[~held_out]
    features = (features - known.mean(axis=0)) / known.std(axis=0)
    return (features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])


def dense(inputs, name, units):
    weights = tf.get_variable(name + "/weights", [inputs.shape[1], units])
    return inputs @ weights + tf.get_variable(name + "/bias", [units], initializer=tf.zeros_initializer())


class Evaluation(tf.train.SessionRunHook):
    """Says the accuracy at the end, while the session is still open."""

    def __init__(self, step, accuracy, feed):
        self.step, self.accuracy, self.feed = step, accuracy, feed

    def end(self, session):
        step, accuracy = session.run([self.step, self.accuracy], self.feed)
        print(f"step {step}, accuracy {accuracy:.4f}", flush=True)


def train(server, cluster, index, steps, data, train_dir):
    (features, labels), (test_features, test_labels) = data
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)):
        step = tf.train.get_or_create_global_step()
        x, y = tf.placeholder(tf.float32, [None, 11]), tf.placeholder(tf.float32, [None, 1])
        logits = dense(tf.nn.relu(dense(x, "hidden", 32)), "output", 1)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.cast(logits > 0, tf.float32), y), tf.float32))
        update = tf.train.AdamOptimizer(0.003).minimize(loss, global_step=step)
        tf.summary.scalar("loss", loss)
    # A session would wait for every other worker, also for one that has ended.
    own = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
    order = np.random.default_rng(index)
    hooks = [tf.train.StopAtStepHook(last_step=steps), Evaluation(step, accuracy, {x: test_features, y: test_labels})]
    with tf.train.MonitoredTrainingSession(server.target, is_chief=index == 0, checkpoint_dir=train_dir, hooks=hooks,
                                           save_checkpoint_steps=500, save_summaries_steps=100, config=own,
                                           log_step_count_steps=None) as session:
        while not session.should_stop():
            some = order.integers(len(labels), size=BATCH)
            session.run(update, {x: features[some], y: labels[some]})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job_name", required=True)
    parser.add_argument("--task_index", type=int, required=True)
    parser.add_argument("--ps_hosts", required=True)
    parser.add_argument("--worker_hosts", required=True)
    parser.add_argument("--data_dir", required=True)
    parser.add_argument("--train_dir", required=True)
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args()
    tf.disable_eager_execution()
    if "hdfs://" in options.data_dir + options.train_dir:
        import tensorflow_io  # noqa: F401  (teaches TensorFlow the scheme)
    cluster = tf.train.ClusterSpec({"ps": options.ps_hosts.split(","), "worker": options.worker_hosts.split(",")})
    server = tf.distribute.Server(cluster, job_name=options.job_name, task_index=options.task_index)
    if options.job_name == "ps":
        server.join()
    train(server, cluster, options.task_index, options.steps, load(options.data_dir), options.train_dir)


if __name__ == "__main__":
    main()
