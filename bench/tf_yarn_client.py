"""What tf_yarn_start.py runs as a client: one run_on_yarn whose tasks tell that they run, or the same containers by skein.

    ... gangrun BEGIN GATE    ... skein BEGIN GATE    the file BEGIN gets the time before the call
    ... fails BEGIN GATE    one of the tasks fails when it has written the time to BEGIN; its caller tells after which time it knew
"""

import functools
import os
import pathlib
import shlex
import sys
import threading
import time

# The peer's own example: these types, one task of each.
TASKS = ("chief", "worker", "ps", "evaluator")
LOOK_S = 0.2


def started():
    """When this process was, as the kernel has it: to a hundredth of a second."""
    ticks = int(pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")


def tell_and_wait(gate, local_rank):
    """A task's function: as the script of gate.py does it, but with the time at which Python itself was started."""
    go = os.open(f"{gate}/go", os.O_RDONLY)
    with open(f"{gate}/told", "w") as told:
        told.write(f"{started():.6f}\n")
    os.read(go, 1)


def by_gangrun(begin, gate):
    from gangrun.environments import NodePython
    from gangrun.tf_yarn import TaskSpec, run_on_yarn

    specs = {task: TaskSpec(memory="128 MiB", vcores=1) for task in TASKS}
    pathlib.Path(begin).write_text(str(time.time()))
    run_on_yarn(NodePython(sys.executable), functools.partial(tell_and_wait, gate), specs,
                custom_task_module="tf_yarn.distributed.task")


def fail_or_wait(begin, local_rank):
    if os.environ["GANGRUN_TASK_TYPE"] != "worker":
        threading.Event().wait()
    pathlib.Path(begin).write_text(str(time.time()))
    raise ValueError("no wine")


def fails(begin, gate):
    from gangrun.environments import NodePython
    from gangrun.tf_yarn import RunFailed, TaskSpec, run_on_yarn

    specs = {task: TaskSpec(memory="128 MiB", vcores=1) for task in TASKS}
    try:
        run_on_yarn(NodePython(sys.executable), functools.partial(fail_or_wait, begin), specs,
                    custom_task_module="tf_yarn.distributed.task")
    except RunFailed as failure:
        if "ValueError: no wine" in str(failure):
            print(time.time() - float(pathlib.Path(begin).read_text()))
            return
        raise


def by_skein(begin, gate):
    """As tf-yarn calls it: a client with a driver of its own, one service for each task type."""
    import skein
    import skein_start

    resources = skein.Resources(memory="128 MiB", vcores=1)
    script = shlex.join([f"{gate}/task", gate])
    spec = skein.ApplicationSpec(
        name="tf_yarn", master=skein.Master(resources=skein.Resources(memory="512 MiB", vcores=1)),
        services={task: skein.Service(resources=resources, instances=1, script=script) for task in TASKS})
    pathlib.Path(begin).write_text(str(time.time()))
    with skein.Client() as client:
        skein_start.run_to_its_end(client, spec)


def main():
    who, begin, gate = sys.argv[1:]
    {"gangrun": by_gangrun, "skein": by_skein, "fails": fails}[who](begin, gate)
