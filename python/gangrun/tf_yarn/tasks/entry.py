"""The entry point of a task's process."""

from __future__ import annotations

import importlib
import logging
import runpy
import time
from typing import Any

from gangrun import task
from gangrun.tf_yarn.tasks import order as orders
from gangrun.tf_yarn.tasks import prelude


def run(order: orders.Order) -> None:
    """Prepare the process, and run what the task type and the job's task module require."""
    prelude.prepare(order.pre_script_hook, order.cuda_folder)
    # As there: what libraries say at INFO is part of a task's log.
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    orders.set_current(order)
    task.report(container_start_time=time.time())
    try:
        if task.current().type == "tensorboard":
            tensorboard: Any = importlib.import_module("gangrun.tf_yarn.tasks.tensorboard_task")
            tensorboard.run(order.experiment_fn)
        elif order.ours:
            importlib.import_module(order.module).run(order.experiment_fn)
        else:
            runpy.run_module(order.module, run_name="__main__", alter_sys=True)
    finally:
        task.report(container_stop_time=time.time())
