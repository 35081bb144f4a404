"""What runs in the tasks of a job of tf_yarn."""

from __future__ import annotations
