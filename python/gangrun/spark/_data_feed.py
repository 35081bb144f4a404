"""`DataFeed`: the rows that Spark sends to this node, as lists, NumPy arrays or framework tensors."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Union

from gangrun.spark import _rows
from gangrun.spark._feed import Feed, Piece

QUEUES = ("input", "output")
Columns = Dict[str, Any]  # of NumPy arrays; a struct is such a dict again


class DataFeed:
    """The rows that `train` and `inference` send to this node, in order.

    Read from one thread only. Another thread may pass results to `batch_results`.
    """

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
        """Return the next rows: a list, or with `input_mapping` a dict of tensor name → list.

        Waits for `batch_size` rows. A batch is smaller at the end of a partition of inference, of a `train` call and of the feed;
        it is empty when the feed has ended.
        """
        rows: list[Any] = []
        for piece in self._take(batch_size):
            rows = _rows.objects(piece) if not rows else rows + _rows.objects(piece)
        if self.input_mapping is None:
            return rows
        return _rows.by_tensor(rows, self.input_mapping)

    def should_stop(self) -> bool:
        """Return whether the feed is over: all rows were returned, or `terminate` was called."""
        return self.done_feeding or self.mgr.is_done

    def batch_results(self, results: Iterable[Any]) -> None:
        """Send results of inference: one for each row, in row order.

        They may be grouped differently than the batches of rows.
        """
        self.mgr.results(list(results))

    def terminate(self) -> None:
        """Stop taking rows. The feeding stops at once, and partitions that are not fed yet are skipped."""
        self.mgr.terminate()
        self.done_feeding = True

    def batches(self, batch_size: Optional[int] = None) -> Iterator[Columns]:
        """Yield batches as dicts of NumPy arrays, one array for each column.

        A batch has `batch_size` rows, or without it as many as arrived together. Columns of a DataFrame are read-only views of
        the feed's shared memory; while your code keeps arrays that fill half of that memory, further batches are copies.

        Rows of an RDD have columns by field name, by position in a tuple ("0", "1", …), or "value" if a row is a list, an array
        or a single value. With `input_mapping`, names are those of the tensors.
        """
        from gangrun.spark import _arrays
        while True:
            pieces = self._take(batch_size)
            if not pieces:
                return
            yield _arrays.columns(pieces, self.input_mapping)

    def dataset(self, batch_size: Optional[int] = None, output_signature: Any = None) -> Any:
        """Return a tf.data.Dataset of the dicts that `batches` yields.

        Without `output_signature`, wait for the first batch and derive the signature from it; ValueError if there is no row.
        """
        from gangrun.spark import _adapters
        return _adapters.dataset(self, batch_size, output_signature)

    def torch(self, batch_size: Optional[int] = None) -> Any:
        """Return a PyTorch IterableDataset of dicts of tensors, which own their memory. Use DataLoader(..., batch_size=None)."""
        from gangrun.spark import _adapters
        return _adapters.torch_dataset(self, batch_size)

    def jax(self, batch_size: Optional[int] = None) -> Iterator[dict[str, Any]]:
        """Yield the dicts of `batches` with JAX arrays."""
        from gangrun.spark import _adapters
        return _adapters.jax_arrays(self, batch_size)

    def _take(self, count: Optional[int]) -> list[Piece]:
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise ValueError(f"batch_size: {count!r}; allowed: a whole number from 1 on")
        pieces = self.mgr.take(count)
        if not pieces:
            self.done_feeding = True
        return pieces
