"""Functions for the tests of what goes wrong: what a user's driver does, each with the SparkContext of the test."""

import ctypes
import itertools
import os
import pathlib
import resource
import select
import signal
import threading
import time

from serving import leave, serve, wait_for_file

LIMIT_S = 60
ENOUGH = 200  # rows that a node has read when it fails
MEMORY = 64 << 20
MOST_PARTS = 48


def forever():
    threading.Event().wait()


def tell_start(folder):
    """A line in a file for each process that is started; how the tests see that none was started twice."""
    from gangrun import task
    with open(os.path.join(folder, f"started-{task.current().task}"), "a") as file:
        file.write(f"{os.getpid()}\n")


def started(folder):
    return {path.name.split("-", 1)[1]: [int(line) for line in path.read_text().split()]
            for path in pathlib.Path(folder).glob("started-*")}


def break_node(way, folder):
    pathlib.Path(folder, "broke").write_text(str(time.time()))
    if way == "error":
        raise KeyError("no such word: zebra")
    if way == "exit":
        os._exit(7)
    if way == "sys.exit":
        raise SystemExit(5)
    if way == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "segfault":
        ctypes.string_at(0)
    if way == "memory":
        used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        bytearray(4 * MEMORY)
    if way == "kernel":
        # Of all in the group whose memory is limited this is the one to end.
        pathlib.Path("/proc/self/oom_score_adj").write_text("1000")
        kept = []
        while len(kept) < MOST_PARTS:
            pathlib.Path(folder, "broke").write_text(str(time.time()))
            kept.append(b"x" * MEMORY)
    raise AssertionError(f"{way}: still alive")


def breaks(args, ctx):
    """Node 1 breaks: before, while or after it is fed, or by itself; the others wait or read."""
    tell_start(args["folder"])
    feed = ctx.get_data_feed() if ctx.mgr is not None else None
    mine = ctx.task_index == args.get("node", 1)
    if args["when"] == "alone":
        if mine:
            for index in range(ctx.num_workers):  # the others are told of its end while they run
                wait_for_file(os.path.join(args["folder"], f"started-worker:{index}"))
            break_node(args["way"], args["folder"])
        forever()
    if mine and args["when"] == "background":
        threading.Thread(target=lambda: (wait_for_file(os.path.join(args["folder"], "break")), break_node(args["way"], args["folder"]))).start()
    count = 0
    while not feed.should_stop():
        count += len(feed.next_batch(10))
        if mine and args["when"] == "feeding" and count >= ENOUGH:
            return args["way"] == "returns" or break_node(args["way"], args["folder"])
    if mine and args["when"] == "after":
        break_node(args["way"], args["folder"])


def endless(_):
    """Rows for as long as somebody takes them."""
    return itertools.count()


def outcome(call, folder):
    """What a call has raised, how long after the node broke, and what the driver knows of the cluster then."""
    try:
        call()
    except Exception as error:
        raised = time.time()
        broke = pathlib.Path(folder, "broke")
        import traceback
        return {"kind": type(error).__name__, "text": str(error), "trace": traceback.format_exc(), "started": started(folder),
                "id": getattr(error, "status", {}).get("id"),
                "late_s": raised - float(broke.read_text()) if broke.exists() else None}
    return {"kind": None}


def broken(sc, folder, way, when, mode):
    """A cluster of three in which one node breaks; what the driver gets to know of it, and by which call."""
    from gangrun.tensorflowonspark import TFCluster
    made = []

    def go():
        cluster = TFCluster.run(sc, breaks, {"folder": folder, "way": way, "when": when}, 3, 0, input_mode=mode)
        made.append(cluster)
        if when == "feeding":
            cluster.train(sc.parallelize(range(6), 6).flatMap(endless), 1, feed_timeout=LIMIT_S)
        elif when != "alone":
            cluster.train(sc.parallelize(range(3000), 6), 1, feed_timeout=LIMIT_S)
        if when == "background":
            pathlib.Path(folder, "break").touch()
            limit = time.monotonic() + LIMIT_S
            while not cluster.server.done and time.monotonic() < limit:
                select.select([], [], [], 0.02)
        cluster.shutdown(timeout=LIMIT_S)

    told = outcome(go, folder)
    # A node that breaks at once may do so before run() has heard of all the others.
    after = outcome(lambda: made[0].shutdown(timeout=LIMIT_S), folder) if made else told
    return told | {"after": after["kind"], "id": made[0].cluster.id if made else told["id"]}


def idle(args, ctx):
    """Each takes one row; when all are fed, node 0 dies."""
    tell_start(args["folder"])
    ctx.get_data_feed().next_batch(1)
    pathlib.Path(args["folder"], f"fed-{ctx.task_index}").touch()
    if ctx.task_index == 0:
        for index in range(ctx.num_workers):
            wait_for_file(os.path.join(args["folder"], f"fed-{index}"))
        os.kill(os.getpid(), signal.SIGKILL)
    forever()


def feeders_of_a_dead_node(sc, folder):
    """What Spark's own tasks say whose node dies while they wait for room: they fail by themselves, nobody cancels them."""
    from gangrun.spark import _feeding
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, idle, {"folder": folder}, 3, 0, input_mode=TFCluster.InputMode.SPARK)
    plan = cluster.cluster._feed_plan(LIMIT_S, "input")
    row = b"x" * (1 << 20)
    # In no group of the cluster's, so that it is not cancelled.
    sc.setJobGroup("of the test", "")
    told = outcome(lambda: _feeding.train(sc, sc.parallelize(range(3), 3).flatMap(lambda _: itertools.repeat(row)), 1, plan), folder)
    return told, outcome(lambda: cluster.shutdown(timeout=LIMIT_S), folder)


def feeding(sc, folder, nodes=3):
    """Feeds until somebody breaks something."""
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, breaks, {"folder": folder, "way": "none", "when": "feeding", "node": -1}, nodes, 0,
                            input_mode=TFCluster.InputMode.SPARK)
    leave(folder, "id", {"id": cluster.cluster.id, "info": cluster.cluster_info, "folder": cluster.cluster.status()["folder"]})
    told = outcome(lambda: cluster.train(sc.parallelize(range(6), 6).flatMap(endless), 1, feed_timeout=LIMIT_S), folder)
    outcome(cluster.shutdown, folder)
    return told


def waits_for_file(args, ctx):
    tell_start(args["folder"])
    wait_for_file(os.path.join(args["folder"], "end"))
    return os.getpid()


def stage_of(sc):
    """The figures of the stage that runs, or None."""
    stages = sc.statusTracker().getActiveStageIds()
    return sc.statusTracker().getStageInfo(stages[0]) if len(stages) == 1 else None


def active_tasks(sc):
    stages = [sc.statusTracker().getStageInfo(stage) for stage in sc.statusTracker().getActiveStageIds()]
    return sum(stage.numActiveTasks for stage in stages if stage is not None)


def looks(sc, seconds):
    """How many tasks Spark ran during that time, each time it was looked at."""
    found, limit = set(), time.monotonic() + seconds
    while time.monotonic() < limit:
        found.add(active_tasks(sc))
        select.select([], [], [], 0.05)
    return sorted(found)


def copied(sc, folder):
    """A node whose start task Spark starts a second time beside the first, because it takes long; where other tasks run then."""
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, waits_for_file, {"folder": folder}, 1, 0)
    limit = time.monotonic() + LIMIT_S
    while active_tasks(sc) < 2:
        if time.monotonic() > limit:
            raise TimeoutError(f"no copy in {LIMIT_S} s")
        select.select([], [], [], 0.02)
    seen = looks(sc, 3)  # the copy hears that the node is there, and could end
    given = sc.parallelize(range(6), 6).map(lambda _: os.environ["SPARK_LOCAL_IP"]).collect()
    pathlib.Path(folder, "end").touch()
    cluster.shutdown(timeout=LIMIT_S)
    return {"active": seen, "given": given, "host": cluster.cluster_info[0]["host"], "started": started(folder),
            "states": [task["state"] for task in cluster.cluster.status()["tasks"]]}


def fed_beside_ps(sc, folder):
    """A ps, whose start task lasts when those of the other nodes have ended, and rows for these."""
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, totals, {"folder": folder}, 3, 1, input_mode=TFCluster.InputMode.SPARK)
    limit = time.monotonic() + LIMIT_S
    while active_tasks(sc) > 1 and time.monotonic() < limit:
        select.select([], [], [], 0.02)
    seen = looks(sc, 2)  # Spark could make a copy of it
    cluster.train(sc.parallelize(range(3000), 30), 2)
    cluster.shutdown(timeout=LIMIT_S)
    return {"active": seen, "started": started(folder), "sum": total_in(folder)}


def total_in(folder):
    return sum(int(path.read_text()) for path in pathlib.Path(folder).glob("total-*"))


def refused(sc, folder, nodes, num_ps=0):
    from gangrun.tensorflowonspark import TFCluster
    return outcome(lambda: TFCluster.run(sc, totals, {"folder": folder}, nodes, num_ps, input_mode=TFCluster.InputMode.SPARK), folder)


def started_once(sc, folder, nodes, ended, failed):
    """Nodes that live until so many of their start tasks have ended and failed; the test sees to that."""
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, waits_for_file, {"folder": folder}, nodes, 0)
    pathlib.Path(folder, "running").touch()
    limit, seen = time.monotonic() + LIMIT_S, None
    while True:
        seen = stage_of(sc)
        # A stage whose tasks have all ended is not there any more.
        if seen is None or seen.numCompletedTasks >= ended and seen.numFailedTasks >= failed:
            break
        if time.monotonic() > limit:
            raise TimeoutError(f"{seen} after {LIMIT_S} s")
        select.select([], [], [], 0.02)
    pathlib.Path(folder, "end").touch()
    cluster.shutdown(timeout=LIMIT_S)
    return {"started": started(folder), "states": [task["state"] for task in cluster.cluster.status()["tasks"]]}


def totals(args, ctx):
    tell_start(args["folder"])
    if ctx.job_name == "ps":
        forever()
    feed = ctx.get_data_feed()
    total = 0
    while not feed.should_stop():
        total += sum(feed.next_batch(100))
    pathlib.Path(args["folder"], f"total-{ctx.task_index}").write_text(str(total))


def sums(sc, folder, first, last, stay=False):
    """The sums of the rows that the nodes of this application were fed; both applications feed at the same time."""
    from gangrun.tensorflowonspark import TFCluster
    cluster = TFCluster.run(sc, totals, {"folder": folder}, 3, 0, input_mode=TFCluster.InputMode.SPARK)
    pathlib.Path(folder, "there").touch()
    wait_for_file(os.path.join(folder, "go"))
    cluster.train(sc.parallelize(range(first, last), 30), 2)
    leave(folder, "info", {"id": cluster.cluster.id, "ports": [node["port"] for node in cluster.cluster_info]})
    if stay:
        wait_for_file(os.path.join(folder, "end"))
    cluster.shutdown()
    return total_in(folder)


def too_few(sc, folder):
    """More nodes than there are executors."""
    from gangrun.tensorflowonspark import TFCluster
    return outcome(lambda: TFCluster.run(sc, breaks, {"folder": folder, "way": "none", "when": "alone", "node": -1}, 4, 0,
                                         reservation_timeout=15), folder)


def too_many(sc, folder):
    """Fewer nodes than executors, and rows: a partition may run where no node is."""
    from gangrun.tensorflowonspark import TFCluster
    return outcome(lambda: TFCluster.run(sc, breaks, {"folder": folder, "way": "none", "when": "feeding", "node": -1}, 2, 0,
                                         input_mode=TFCluster.InputMode.SPARK), folder)


def quiet(sc):
    """No job of Spark's goes on, once it has cancelled what it was told to, and it runs another."""
    limit = time.monotonic() + LIMIT_S
    while sc.statusTracker().getActiveJobsIds() and time.monotonic() < limit:
        select.select([], [], [], 0.02)
    return list(sc.statusTracker().getActiveJobsIds()), sc.parallelize(range(100), 3).sum()


if __name__ == "__main__":
    serve(globals())
