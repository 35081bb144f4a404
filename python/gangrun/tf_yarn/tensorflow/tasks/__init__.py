"""Task modules for TensorFlow, under the names that custom_task_module takes."""

from __future__ import annotations
