"""What a PyTorch `experiment_fn` returns."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional


class DataLoaderArgs(NamedTuple):
    """What the loader of `train_dataset` is made with. `batch_size` is that of each rank; `shuffle` acts by the
    DistributedSampler, anew for each epoch that is told to it (`loader.sampler.set_epoch(epoch)`)."""

    batch_size: Optional[int] = 1
    num_workers: int = 0
    pin_memory: bool = False
    drop_last: bool = False
    timeout: float = 0
    prefetch_factor: Optional[int] = None
    shuffle: bool = False
    persistent_workers: bool = False
    collate_fn: Optional[Callable[[Any], Any]] = None


class DistributedDataParallelArgs(NamedTuple):
    """What DistributedDataParallel is made with."""

    broadcast_buffers: bool = True
    bucket_cap_mb: int = 25
    find_unused_parameters: bool = False
    gradient_as_bucket_view: bool = False


class PytorchExperiment(NamedTuple):
    """`main_fn(model, loader, device, rank, tb_writer)` runs in each rank: the model is wrapped by
    DistributedDataParallel and on its device ("cuda:1", "cpu"), the loader has the rank's part of `train_dataset`.
    A `main_fn` of four parameters is not given the writer.

    `tensorboard_hdfs_dir` is where what `tb_writer` wrote goes when the rank has ended, as `worker<rank>`.
    """

    model: Any
    main_fn: Callable[..., Any]
    train_dataset: Any
    dataloader_args: DataLoaderArgs = DataLoaderArgs()
    tensorboard_hdfs_dir: Optional[str] = None
    ddp_args: Optional[DistributedDataParallelArgs] = None
    # Releases before nb_proc_per_worker; there it was said in the experiment, which only the tasks see.
    n_workers_per_executor: Optional[int] = None
