"""What `batches` gives, for TensorFlow, PyTorch and JAX."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional

if TYPE_CHECKING:
    from gangrun.spark._data_feed import DataFeed


def _deep(convert: Callable[[Any], Any], columns: Any) -> Any:
    if isinstance(columns, dict):
        return {name: _deep(convert, column) for name, column in columns.items()}
    return convert(_plain(columns))


def _plain(column: Any) -> Any:
    """No framework has times: they become whole numbers, in the unit that they had (microseconds, days)."""
    return column.astype("int64") if column.dtype.kind in "mM" else column


def _tensor_spec(column: Any) -> Any:
    import tensorflow
    if column.dtype == object:
        first = next((value for value in column if value is not None), "")
        if not isinstance(first, (str, bytes)):
            raise TypeError(f"dataset: a column of {type(first).__name__} of several shapes, which no tensor is; take batches() and "
                            "make tensors of it, or give rows of one shape")
        return tensorflow.TensorSpec((None,), tensorflow.string)
    return tensorflow.TensorSpec((None, *column.shape[1:]), tensorflow.dtypes.as_dtype(column.dtype))


def dataset(feed: DataFeed, batch_size: Optional[int], output_signature: Any) -> Any:
    import tensorflow
    batches: Iterator[Any] = feed.batches(batch_size)
    if output_signature is None:
        first = next(batches, None)
        if first is None:
            raise ValueError("output_signature: missing, and no row came that shows it; allowed: one of tf.TensorSpec for each column")
        output_signature = _deep(_tensor_spec, first)
        batches = itertools.chain([first], batches)
    return tensorflow.data.Dataset.from_generator(lambda: (_deep(lambda column: column, columns) for columns in batches),
                                                  output_signature=output_signature)


def torch_dataset(feed: DataFeed, batch_size: Optional[int]) -> Any:
    import torch

    def tensor(column: Any) -> Any:
        # It may be written to, and the feed's memory may not.
        return column.tolist() if column.dtype == object else torch.from_numpy(column.copy())

    class Rows(torch.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[Any]:
            for columns in feed.batches(batch_size):
                yield _deep(tensor, columns)

    return Rows()


def jax_arrays(feed: DataFeed, batch_size: Optional[int]) -> Iterator[dict[str, Any]]:
    import jax.numpy

    def array(column: Any) -> Any:
        return column.tolist() if column.dtype == object else jax.numpy.asarray(column)

    for columns in feed.batches(batch_size):
        yield _deep(array, columns)
