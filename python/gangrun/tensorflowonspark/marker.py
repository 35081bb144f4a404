"""Refused by its name."""

from __future__ import annotations

from gangrun import _refused

raise _refused.module("tensorflowonspark.marker", "no markers are among the rows; DataFeed.next_batch and should_stop say where a partition and the feed end")
