"""The TensorBoard task: it listens on the loopback address of its host, at the task's port."""

from __future__ import annotations

import importlib
import logging
import os
import shlex
import shutil
import sys
from typing import Any, Callable, NoReturn

from gangrun import task

logger = logging.getLogger(__name__)


def model_dir(experiment_fn: Callable[[], Any]) -> str:
    """Return the folder to show: TB_MODEL_DIR, else the experiment's folder.

    Raises RuntimeError if there is neither.
    """
    said = os.environ.get("TB_MODEL_DIR")
    if said:
        return said
    experiment = experiment_fn()
    for holder in (experiment, getattr(experiment, "estimator", None)):
        found = getattr(holder, "model_dir", None) or getattr(holder, "tensorboard_hdfs_dir", None)
        if found:
            return str(found)
    raise RuntimeError(f"TensorBoard: {type(experiment).__name__} has no model_dir; set TaskSpec(tb_model_dir=...)")


def words(folder: str, port: str, extra: str) -> list[str]:
    """Return the command line of TensorBoard."""
    return ["tensorboard", "--logdir", folder, "--host", "127.0.0.1", "--port", port, *shlex.split(extra)]


def program() -> Callable[[], NoReturn]:
    """Return a function that runs TensorBoard: from this Python, else from the PATH.

    Exits with a message if it is not installed.
    """
    try:
        found: Callable[[], NoReturn] = importlib.import_module("tensorboard.main").run_main
        return found
    except ModuleNotFoundError as error:
        if error.name not in ("tensorboard", "tensorboard.main"):
            raise
    path = shutil.which("tensorboard")
    if path is None:
        sys.exit(f"gangrun: TensorBoard is not installed here: {sys.executable} has no module tensorboard, and the PATH has no program "
                 "tensorboard; it belongs into the environment of the tasks")
    return lambda: os.execv(path, sys.argv)


def run(experiment_fn: Callable[[], Any]) -> None:
    """Run TensorBoard in this process."""
    main = program()
    folder = model_dir(experiment_fn)
    logger.info("TensorBoard shows %s", folder)
    task.report(tb_model_dir=folder[-200:])
    sys.argv = words(folder, os.environ["GANGRUN_PORT"], os.environ.get("TB_EXTRA_ARGS", ""))
    main()
