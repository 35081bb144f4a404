"""`DataFeed`: the rows that Spark feeds to this node, as its program wants them."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Union

from gangrun.spark import _rows
from gangrun.spark._feed import Feed, Piece

QUEUES = ("input", "output")
Columns = Dict[str, Any]  # of NumPy arrays; a struct is such a dict again


class DataFeed:
    """The rows that come by `train` and `inference`, in order. One thread reads, another one may give results."""

    def __init__(self, mgr: Feed, train_mode: bool = True, qname_in: str = "input", qname_out: str = "output",
                 input_mapping: Optional[Mapping[str, str]] = None) -> None:
        for name, value, allowed in zip(("qname_in", "qname_out"), (qname_in, qname_out), QUEUES):
            if value != allowed:
                raise ValueError(f"{name}: {value!r}; allowed: {allowed!r}: a node has one feed")
        if not isinstance(mgr, Feed):
            raise TypeError(f"mgr: a {type(mgr).__name__}; allowed: ctx.mgr of a node in InputMode.SPARK")
        self.mgr, self.train_mode, self.qname_in, self.qname_out = mgr, train_mode, qname_in, qname_out
        self.input_mapping = dict(sorted(input_mapping.items())) if input_mapping is not None else None
        self.input_tensors = list(self.input_mapping.values()) if self.input_mapping is not None else None
        self.done_feeding = False

    def next_batch(self, batch_size: int) -> Union[list[Any], dict[str, list[Any]]]:
        """The next rows: a list, or with `input_mapping` a dict of a list for each tensor. It waits for `batch_size` of them;
        fewer come where a partition of inference ends, where a `train` has fed everything, and at the end; none at the end."""
        rows: list[Any] = []
        for piece in self._take(batch_size):
            rows = _rows.objects(piece) if not rows else rows + _rows.objects(piece)
        if self.input_mapping is None:
            return rows
        return _rows.by_tensor(rows, self.input_mapping)

    def should_stop(self) -> bool:
        """All rows were given out, or no more are wanted."""
        return self.done_feeding or self.mgr.is_done

    def batch_results(self, results: Iterable[Any]) -> None:
        """One for each row of inference, in their order; they may come in other portions than the rows."""
        self.mgr.results(list(results))

    def terminate(self) -> None:
        """No more rows are wanted: what feeds stops at once, and partitions that would still come are skipped."""
        self.mgr.terminate()
        self.done_feeding = True

    def batches(self, batch_size: Optional[int] = None) -> Iterator[Columns]:
        """Columns as NumPy arrays: of so many rows, or without a number of those that came together.

        Those of a DataFrame lie in the feed's memory and are read-only; while all of half a ring is held, further ones are
        copies. Rows that are objects give their columns by name, by their place in a tuple ("0", "1", …), or, where a row is
        a list, an array or one value, as "value". With `input_mapping` the names are those of the tensors.
        """
        from gangrun.spark import _arrays
        while True:
            pieces = self._take(batch_size)
            if not pieces:
                return
            yield _arrays.columns(pieces, self.input_mapping)

    def dataset(self, batch_size: Optional[int] = None, output_signature: Any = None) -> Any:
        """A tf.data.Dataset of what `batches` gives. Without a signature it waits for the first batch, which has it."""
        from gangrun.spark import _adapters
        return _adapters.dataset(self, batch_size, output_signature)

    def torch(self, batch_size: Optional[int] = None) -> Any:
        """A PyTorch IterableDataset of dicts of tensors, which own their memory; for a DataLoader: batch_size=None."""
        from gangrun.spark import _adapters
        return _adapters.torch_dataset(self, batch_size)

    def jax(self, batch_size: Optional[int] = None) -> Iterator[dict[str, Any]]:
        """What `batches` gives, as arrays of JAX."""
        from gangrun.spark import _adapters
        return _adapters.jax_arrays(self, batch_size)

    def _take(self, count: Optional[int]) -> list[Piece]:
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise ValueError(f"batch_size: {count!r}; allowed: a whole number from 1 on")
        pieces = self.mgr.take(count)
        if not pieces:
            self.done_feeding = True
        return pieces
