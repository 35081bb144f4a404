"""Code that runs inside the tasks of a tf_yarn job."""

from __future__ import annotations
