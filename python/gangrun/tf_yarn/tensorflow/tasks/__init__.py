"""The task modules for TensorFlow, by the names that custom_task_module has for them."""

from __future__ import annotations
