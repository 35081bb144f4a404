"""Checkpoints named `model_<epoch>.pt` in a local folder or at a URL (`hdfs://…`)."""

from __future__ import annotations

import inspect
import logging
import os
import re
from typing import Any, Dict, Optional, Union

from gangrun.tf_yarn import storage

NAME = re.compile(r"model_(\d+)\.pt")

_logger = logging.getLogger(__name__)


def find_latest_ckpt(model_dir: str) -> Optional[str]:
    """Return the path of the checkpoint with the highest epoch; None if there is none."""
    epochs = [int(found.group(1)) for found in map(NAME.fullmatch, storage.names(model_dir)) if found]
    return storage.join(model_dir, f"model_{max(epochs)}.pt") if epochs else None


def load_latest_ckpt(model_dir: str, model: Any, optimizer: Any, device: Union[int, str]) -> Optional[Dict[Any, Any]]:
    """Load the latest checkpoint into model and optimizer.

    Returns the same dict as `load_ckpt`, or None if there is no checkpoint.
    """
    latest = find_latest_ckpt(model_dir)
    if latest is None:
        _logger.info("no checkpoint in %s", model_dir)
        return None
    return load_ckpt(latest, model, optimizer, device)


def load_ckpt(model_ckpt_path: str, model: Any, optimizer: Any, device: Union[int, str]) -> Dict[Any, Any]:
    """Load a checkpoint into model and optimizer, and return its whole content as a dict.

    It has the keys `model`, `optimizer`, `epoch` and the keyword arguments of `save_ckpt`. The file is unpickled: load only
    files that you trust.
    """
    import torch

    # Since 2.6 PyTorch takes only tensors unless it is told that the file is to be trusted.
    trusted = {"weights_only": False} if "weights_only" in inspect.signature(torch.load).parameters else {}
    with storage.open_to_read(model_ckpt_path) as file:
        state: Dict[Any, Any] = torch.load(file, map_location=torch.device(device), **trusted)
    _unwrap_model(model).load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state


def save_ckpt(model_dir: str, model: Any, optimizer: Any, epoch: int, **kwargs: Any) -> Optional[str]:
    """Write `model_<epoch>.pt` and return its path. Only rank 0 writes; other ranks get None.

    The file appears only when it is complete. `kwargs` are stored with it. `model` may be wrapped in DistributedDataParallel.
    """
    import torch

    if _rank() != 0:
        return None
    path = storage.join(model_dir, f"model_{epoch}.pt")
    storage.make_folder(model_dir)
    state = {"model": _unwrap_model(model).state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch, **kwargs}
    with storage.written_whole(path) as file:
        torch.save(state, file)
    return path


def _rank() -> int:
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        return int(dist.get_rank())
    return int(os.environ.get("RANK", "0"))


def _unwrap_model(model: Any) -> Any:
    from torch.nn.parallel import DistributedDataParallel

    return model.module if isinstance(model, DistributedDataParallel) else model
