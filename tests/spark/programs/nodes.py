"""Functions for the tests of nodes: what a user's driver does, each with the SparkContext of the test."""

import json
import os
import pathlib
import threading
import time

from serving import leave, serve, wait_for_file


def tell(folder, **what):
    from gangrun import task
    place = task.current()
    leave(folder, place.task, {"task": place.task, **what})


def await_servers(folder, ctx):
    """They end when all others have ended, also before they have told anything."""
    for index in range(len(ctx.cluster_spec.get("ps", ()))):
        wait_for_file(os.path.join(folder, f"ps:{index}"))


def told(folder):
    return {path.name: json.loads(path.read_text()) for path in pathlib.Path(folder).iterdir() if not path.name.startswith(".")}


def places(sc, nodes, **options):
    """Each node's own place, what it was given, and the keys that all nodes have put."""
    import gangrun

    def place(given, more):
        found = gangrun.task.current()
        gangrun.task.kv.put(f"place/{found.task}", os.uname().nodename)
        gangrun.task.barrier("put", timeout=60)
        return {"task": found.task, "spec": found.cluster_spec, "given": given, "more": more, "keys": gangrun.task.kv.keys("place/")}
    return gangrun.spark.run(sc, place, (7,), nodes, kwargs={"more": "x"}, **options)


def context(args, ctx):
    members = {name: value for name, value in vars(ctx).items() if name not in ("mgr", "tmp_socket")}
    tell(args["folder"], ctx=members, path=ctx.absolute_path("model"), cwd=os.getcwd(), config=os.environ.get("TF_CONFIG"))
    if ctx.job_name == "ps":
        threading.Event().wait()
    await_servers(args["folder"], ctx)


def tensorflow_mode(sc, folder, nodes, options, variables=()):
    """A whole cluster in which the nodes read their data themselves; `variables` are the driver's meanwhile."""
    from gangrun.tensorflowonspark import TFCluster
    began = time.monotonic()
    os.environ.update(variables)
    try:
        cluster = TFCluster.run(sc, context, {"folder": folder}, nodes, **options)
    finally:
        for name in dict(variables):
            del os.environ[name]
    started = time.monotonic()
    info, meta, url = cluster.cluster_info, cluster.cluster_meta, cluster.tensorboard_url()
    cluster.shutdown()
    return {"told": told(folder), "info": info, "meta": meta, "url": url, "done": cluster.server.done, "id": cluster.cluster.id,
            "start_s": started - began, "shutdown_s": time.monotonic() - started}


def adds(args, ctx):
    """A user's loop over the rows of its node."""
    feed = ctx.get_data_feed()
    total, batches = 0, []
    while not feed.should_stop():
        batch = feed.next_batch(100)
        total += sum(batch)
        batches.append(len(batch))
    tell(args["folder"], total=total, rows=sum(batches))
    if ctx.job_name == "ps":
        threading.Event().wait()


def with_ps(args, ctx):
    if ctx.job_name == "ps":
        tell(args["folder"])
        threading.Event().wait()
    await_servers(args["folder"], ctx)
    adds(args, ctx)


def spark_mode(sc, folder, nodes, options, rows=3000, partitions=6, epochs=2):
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, with_ps, {"folder": folder}, nodes, input_mode=TFCluster.InputMode.SPARK, **options)
    cluster.train(sc.parallelize(range(rows), partitions), epochs)
    ended = time.monotonic()
    cluster.shutdown()
    return {"told": told(folder), "shutdown_s": time.monotonic() - ended}


def fed_and_told(sc, folder, nodes):
    """Tells of a cluster whose nodes were fed, and ends it when the test says so."""
    from gangrun.tensorflowonspark import TFCluster
    rows = os.path.join(folder, "rows")
    cluster = TFCluster.run(sc, adds, {"folder": rows}, nodes, 0, input_mode=TFCluster.InputMode.SPARK)
    cluster.train(sc.parallelize(range(3000), 2 * nodes), 2)
    leave(folder, "info", {"id": cluster.cluster.id, "ports": [node["port"] for node in cluster.cluster_info]})
    wait_for_file(os.path.join(folder, "end"))
    cluster.shutdown()
    return told(rows)


def doubles(args, ctx):
    feed = ctx.get_data_feed(train_mode=False)
    while not feed.should_stop():
        feed.batch_results([2 * row for row in feed.next_batch(64)])


def inference(sc, nodes, rows):
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, doubles, None, nodes, 0, input_mode=TFCluster.InputMode.SPARK)
    found = cluster.inference(sc.parallelize(range(rows), 2 * nodes)).collect()
    cluster.shutdown()
    return found


def raises(args, ctx):
    if ctx.task_index == 1:
        raise ValueError("this row is bad: 17")
    threading.Event().wait()


def leaves(args, ctx):
    """Status 0, with rows unread."""
    if ctx.task_index == 1:
        ctx.get_data_feed().next_batch(10)
        os._exit(0)
    adds(args, ctx)


def leaving(sc, folder, nodes):
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, leaves, {"folder": folder}, nodes, 0, input_mode=TFCluster.InputMode.SPARK)
    cluster.train(sc.parallelize(range(30000), 2 * nodes), 1)
    cluster.shutdown()


def failing(sc, nodes, mode):
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, raises, None, nodes, 0, input_mode=mode)
    if mode == TFCluster.InputMode.SPARK:
        cluster.train(sc.parallelize(range(10000), 2 * nodes), 1)
    cluster.shutdown()


def waits(args, ctx):
    threading.Event().wait()


def shutdown_timeout(sc, nodes):
    """The cluster's id, and how shutdown ended."""
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, waits, None, nodes, 0)
    try:
        cluster.shutdown(timeout=1)
    except TimeoutError as error:
        return {"said": str(error), "id": cluster.cluster.id}


def missing(sc, folder, nodes):
    """One of the executors is busy with something else."""
    import gangrun
    end = os.path.join(folder, "end")
    other = threading.Thread(target=lambda: sc.parallelize([end], 1).foreach(lambda path: until_file(path, None)))
    other.start()
    try:
        limit = time.monotonic() + 60
        while not [sc.statusTracker().getStageInfo(stage) for stage in sc.statusTracker().getActiveStageIds()]:
            assert time.monotonic() < limit
            other.join(0.05)
        gangrun.spark.run(sc, os.getpid, (), nodes, reservation_timeout=3)
    finally:
        pathlib.Path(end).touch()
        other.join()


def leftovers(sc):
    """Jobs of Spark that go on, and threads of ours."""
    status = sc.statusTracker()
    return {"jobs": list(status.getActiveJobsIds()), "threads": sorted(thread.name for thread in threading.enumerate()
                                                                      if "gangrun" in thread.name)}


def wait_for_page(sc, folder, nodes):
    """TensorBoard answers for as long as the nodes live."""
    import urllib.request

    from gangrun.tensorflowonspark import TFCluster
    os.mkdir(os.path.join(folder, "events"))
    cluster = TFCluster.run(sc, until_file, os.path.join(folder, "end"), nodes, 0, tensorboard=True, log_dir=os.path.join(folder, "events"))
    url = cluster.tensorboard_url()
    limit = time.monotonic() + 90
    status = None
    while status is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                status = answer.status
        except OSError:
            if time.monotonic() > limit:
                raise
            threading.Event().wait(0.2)
    pathlib.Path(folder, "end").touch()
    cluster.shutdown()
    try:
        urllib.request.urlopen(url, timeout=5)
    except OSError as error:
        return {"status": status, "after": type(error).__name__}


def until_file(path, ctx):
    while not os.path.exists(path):
        threading.Event().wait(0.05)


if __name__ == "__main__":
    serve(globals())
