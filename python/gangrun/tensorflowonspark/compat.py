"""Functions that behave the same in all supported TensorFlow releases."""

from __future__ import annotations

import os
import tempfile
from typing import Any


def export_saved_model(model: Any, export_dir: str, is_chief: bool = False) -> None:
    """Save a Keras model as a SavedModel.

    Call it on every node, because saving may need all of them. Only the output of the chief is kept.
    """
    if is_chief:
        _export(model, export_dir)
        return
    with tempfile.TemporaryDirectory(prefix="gangrun-export-") as folder:
        _export(model, os.path.join(folder, "model"))


def _export(model: Any, folder: str) -> None:
    if hasattr(model, "export"):
        import tensorflow as tf

        # Keras 3 saves in a format of its own; the Keras inside of TensorFlow 2.15 does not tell its number there.
        if not getattr(tf.keras, "__version__", "2.15").startswith("2."):
            model.export(folder)
            return
    model.save(folder, save_format="tf")


def disable_auto_shard(options: Any) -> None:
    """Turn off tf.data's automatic sharding in these tf.data.Options: each node already reads only its own data."""
    import tensorflow as tf

    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF


def is_gpu_available() -> bool:
    """Return whether TensorFlow sees a GPU."""
    import tensorflow as tf

    return len(tf.config.list_physical_devices("GPU")) > 0
