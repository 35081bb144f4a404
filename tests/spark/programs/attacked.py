"""A driver whose cluster is attacked while it is fed (tests/attacks/test_spark_nodes.py)."""

import os
import pathlib

from serving import leave, serve

ROWS = 60


def totals(folder):
    """The sum of all rows of this node."""
    import gangrun
    from gangrun import task
    name = task.current().task
    with open(os.path.join(folder, f"started-{name}"), "a") as file:
        file.write(f"{os.getpid()}\n")
    feed, total = gangrun.spark.feed(), 0
    while not feed.should_stop():
        total += sum(feed.next_batch(10))
    pathlib.Path(folder, f"total-{name}").write_text(str(total))


def victim(sc, folder, nodes):
    """Feeds the same rows again and again until the test says that it is enough: how many times."""
    import gangrun
    cluster = gangrun.spark.start(sc, totals, (folder,), nodes)
    times = 0
    while not os.path.exists(os.path.join(folder, "go")):
        cluster.train(sc.parallelize(range(ROWS), 4))
        times += 1
        leave(folder, "fed", {"id": cluster.id, "times": times})
    cluster.shutdown()
    return times


def says(row, words):
    """A node that fails with words of a row."""
    import gangrun
    feed = gangrun.spark.feed()
    for _ in feed.next_batch(1):
        raise KeyError(words)


def hostile(sc, words):
    """What the driver is told of a node that fails with these words."""
    import gangrun
    cluster = gangrun.spark.start(sc, says, ("x", words), 2)
    told = ""
    for way in (lambda: cluster.train(sc.parallelize([words] * 40, 4)), cluster.shutdown):
        try:
            way()
        except Exception as error:  # of Spark's, whose task has failed first, or ours
            told += str(error)
    return {"id": cluster.id, "text": told}


if __name__ == "__main__":
    serve(globals())
