"""One rank of a PyTorch job: joins the process group, makes the experiment and calls its `main_fn`."""

from __future__ import annotations

import inspect
import logging
import os
import sys
import tempfile
import time
from typing import Any, Callable, Dict, Optional, Tuple

from gangrun import task
from gangrun.tf_yarn import storage
from gangrun.tf_yarn.pytorch.experiment import DataLoaderArgs, PytorchExperiment

_logger = logging.getLogger(__name__)

NEEDED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def run(experiment_fn: Callable[[], Any]) -> None:
    """Run one rank. Raises RuntimeError in a task without a rank, such as an evaluator."""
    missing = [name for name in NEEDED if name not in os.environ]
    if missing:
        raise RuntimeError(f"this task has no rank ({', '.join(missing)} not set): PyTorch jobs have task types that are "
                           "tracked, like worker and chief, and no ps or evaluator")
    import torch
    import torch.distributed as dist

    rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    processes = int(os.environ["LOCAL_WORLD_SIZE"])
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    backend, gpu = choose(local_rank, processes, gpus)
    if gpu is not None:
        torch.cuda.set_device(gpu)
    # Before the experiment is made: datasets ask for their rank.
    dist.init_process_group(backend)
    experiment = checked(experiment_fn(), processes)
    task.report(train_eval_start_time=time.time())
    train(experiment, rank, gpu)
    task.report(train_eval_stop_time=time.time())
    # PyTorch before 2 waits in it forever while a DistributedDataParallel is alive; the end of the process does as well.
    if backend == "nccl" and int(torch.__version__.split(".")[0]) >= 2:
        dist.destroy_process_group()


def choose(local_rank: int, processes: int, gpus: int) -> Tuple[str, Optional[int]]:
    """Return (backend, GPU index or None) of a process.

    NCCL can deadlock when processes share a GPU, so it is used only if there is a GPU for each process of the task.
    """
    if not gpus:
        return "gloo", None
    return ("nccl" if processes <= gpus else "gloo"), local_rank % gpus


def checked(experiment: Any, processes: int) -> PytorchExperiment:
    """Return the experiment, or raise TypeError or ValueError if it does not fit this job."""
    if not isinstance(experiment, PytorchExperiment):
        raise TypeError(f"experiment_fn returned {type(experiment).__name__}; a PytorchExperiment is needed")
    asked = experiment.n_workers_per_executor
    if asked is not None and asked != processes:
        raise ValueError(f"n_workers_per_executor: {asked}, but each task has {processes}; how many processes a task has is "
                         f"said to the cluster: TaskSpec(..., nb_proc_per_worker={asked})")
    return experiment


def train(experiment: PytorchExperiment, rank: int, gpu: Optional[int]) -> None:
    """Wrap the model, make the loader and the writer, and call `main_fn`."""
    from torch.nn.parallel import DistributedDataParallel

    device = "cpu" if gpu is None else f"cuda:{gpu}"
    options = experiment.ddp_args._asdict() if experiment.ddp_args else {}
    model = DistributedDataParallel(experiment.model.to(device), device_ids=None if gpu is None else [gpu], **options)
    loader = make_loader(experiment.train_dataset, experiment.dataloader_args)
    with tempfile.TemporaryDirectory() as folder:
        writer = make_writer(folder, bool(experiment.tensorboard_hdfs_dir))
        arguments = (model, loader, device, rank, writer)
        experiment.main_fn(*arguments[:parameters(experiment.main_fn)])
        writer.close()
        if experiment.tensorboard_hdfs_dir:
            storage.copy_folder(folder, storage.join(experiment.tensorboard_hdfs_dir, f"worker{rank}"))


def parameters(main_fn: Callable[..., Any]) -> int:
    """Return how many arguments `main_fn` takes: 4 without the writer, else 5."""
    try:
        inspect.signature(main_fn).bind(*range(5))
    except TypeError:
        return 4
    except ValueError:  # it does not tell its parameters
        return 5
    return 5


def make_loader(dataset: Any, wanted: DataLoaderArgs) -> Any:
    """Return a loader of this rank's part of the dataset.

    An IterableDataset or a webdataset splits itself among the ranks.
    """
    import torch
    from torch.utils.data import DistributedSampler

    options: Dict[str, Any] = {name: value for name, value in wanted._asdict().items() if value is not None}
    options["batch_size"] = wanted.batch_size  # None is a value of its own: the dataset makes the batches
    shuffle = options.pop("shuffle")
    if not wanted.num_workers:
        for name in ("prefetch_factor", "persistent_workers"):
            options.pop(name, None)
    web = sys.modules.get("webdataset")
    if web is not None and isinstance(dataset, tuple(getattr(web, name) for name in ("WebDataset", "DataPipeline")
                                                     if hasattr(web, name))):
        return web.WebLoader(dataset, **options)
    if isinstance(dataset, torch.utils.data.IterableDataset):
        if wanted.batch_size is None:
            options.pop("drop_last")
        return torch.utils.data.DataLoader(dataset, **options)
    if not wanted.drop_last:
        _logger.info("DataLoaderArgs.drop_last is False: the last batch of an epoch may be smaller than the others")
    sampler: Any = DistributedSampler(dataset, shuffle=shuffle, drop_last=wanted.drop_last)
    return torch.utils.data.DataLoader(dataset, sampler=sampler, **options)


class NoWriter:
    """Replaces SummaryWriter if TensorBoard is not installed; accepts every call and writes nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


def make_writer(folder: str, is_wanted: bool) -> Any:
    """Return a SummaryWriter for this folder, or a NoWriter if TensorBoard is not installed.

    Raises ModuleNotFoundError instead if the writer's files are wanted.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        if is_wanted:
            raise ModuleNotFoundError("tensorboard_hdfs_dir: the environment of the tasks has no tensorboard, which writes "
                                      f"what goes there ({error})", name=error.name) from error
        _logger.info("tb_writer writes nothing: tensorboard is not installed")
        return NoWriter()
    return SummaryWriter(folder)
