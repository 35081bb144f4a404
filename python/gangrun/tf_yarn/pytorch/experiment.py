"""What the `experiment_fn` of a PyTorch job returns."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional


class DataLoaderArgs(NamedTuple):
    """Arguments of the DataLoader for `train_dataset`.

    `batch_size` is per rank. With `shuffle`, the DistributedSampler shuffles; call `loader.sampler.set_epoch(epoch)` in each
    epoch for a new order. `timeout` is in seconds.
    """

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
    """Arguments of DistributedDataParallel. `bucket_cap_mb` is in MiB."""

    broadcast_buffers: bool = True
    bucket_cap_mb: int = 25
    find_unused_parameters: bool = False
    gradient_as_bucket_view: bool = False


class PytorchExperiment(NamedTuple):
    """A PyTorch training. Each rank calls `main_fn(model, loader, device, rank, tb_writer)`.

    model          a module; main_fn gets it wrapped in DistributedDataParallel, on its device
    main_fn        `device` is "cuda:1", "cpu" and so on; a function of four parameters is called without the writer
    train_dataset  the whole dataset; `loader` yields this rank's part
    tensorboard_hdfs_dir   a path or URL: when a rank ends, the files of `tb_writer` are copied to `worker<rank>` in it
    ddp_args       arguments of DistributedDataParallel; None: PyTorch's defaults
    n_workers_per_executor   for older programs; must equal TaskSpec.nb_proc_per_worker
    """

    model: Any
    main_fn: Callable[..., Any]
    train_dataset: Any
    dataloader_args: DataLoaderArgs = DataLoaderArgs()
    tensorboard_hdfs_dir: Optional[str] = None
    ddp_args: Optional[DistributedDataParallelArgs] = None
    # From releases without nb_proc_per_worker.
    n_workers_per_executor: Optional[int] = None
