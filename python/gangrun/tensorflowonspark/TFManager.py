"""Not supported: importing this module raises ModuleNotFoundError with the alternative."""

from __future__ import annotations

from gangrun import _refused

raise _refused.module("tensorflowonspark.TFManager", "a node's rows come by shared memory, and ctx.mgr is their feed; take them by ctx.get_data_feed() or TFNode.DataFeed(ctx.mgr)")
