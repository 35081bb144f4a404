"""A PyTorch dataset of the Parquet files in a folder, split among the ranks."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Tuple

import torch.distributed as dist
from torch.utils.data import IterableDataset, get_worker_info

from gangrun.tf_yarn import storage


class ParquetDataset(IterableDataset):  # type: ignore[misc]  # PyTorch is not there where types are checked
    """Yields `pyarrow.RecordBatch` objects of exactly `batch_size` rows. Use a loader with `batch_size=None`.

    Every rank gets the same number of batches, because a rank with more would wait for the others forever. Therefore some
    rows are left out: those at the end of a file that do not fill a batch, and the last batches if they do not go around.
    The processes of a loader (`num_workers`) share the batches of their rank.

    dataset_path  a folder or URL with .parquet files
    num_samples   total number of rows, so that `len()` does not have to read the files
    columns       the columns to read; None: all

    Raises ValueError if batch_size is less than 1, and FileNotFoundError if there are no .parquet files.
    """

    def __init__(self, dataset_path: str, batch_size: int, num_samples: Optional[int] = None,
                 columns: Optional[List[str]] = None) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size: {batch_size} is not a number of rows; allowed: 1 and more")
        names = [name for name in storage.names(dataset_path) if name.endswith(".parquet")]
        if not names:
            raise FileNotFoundError(f"dataset_path: there is no .parquet file in {dataset_path!r}")
        self.files = [storage.join(dataset_path, name) for name in names]
        self.batch_size, self.columns, self.num_samples = batch_size, columns, num_samples
        self.rank, self.world_size = place()
        self._counts: Optional[List[int]] = None

    def __len__(self) -> int:
        """Return the number of batches of this rank. With `num_samples`, the files are not read."""
        if self.num_samples is not None:
            return self.num_samples // self.batch_size // self.world_size
        return sum(self.counts()) // self.world_size

    def counts(self) -> List[int]:
        """Return the number of full batches in each file."""
        if self._counts is None:
            self._counts = [self._rows(file) // self.batch_size for file in self.files]
        return self._counts

    def __iter__(self) -> Iterator[Any]:
        reader = get_worker_info()
        readers, mine = (reader.num_workers, reader.id) if reader else (1, 0)
        counts = self.counts()
        usable = sum(counts) // self.world_size * self.world_size
        if not usable:
            raise ValueError(f"{sum(counts)} batches of {self.batch_size} rows are too few for {self.world_size} ranks")
        number = 0
        for file, count in zip(self.files, counts):
            for batch in self._full_batches(file, count):
                turn, rank = divmod(number, self.world_size)
                if number < usable and rank == self.rank and turn % readers == mine:
                    yield batch
                number += 1

    def _rows(self, file: str) -> int:
        import pyarrow.parquet

        with storage.open_to_read(file) as opened:
            return int(pyarrow.parquet.ParquetFile(opened).metadata.num_rows)

    def _full_batches(self, file: str, count: int) -> Iterator[Any]:
        import pyarrow
        import pyarrow.parquet

        with storage.open_to_read(file) as opened:
            rest = None
            # A batch of pyarrow ends with its row group, so it may be shorter than requested.
            for part in pyarrow.parquet.ParquetFile(opened).iter_batches(self.batch_size, columns=self.columns):
                table = pyarrow.Table.from_batches([part])
                rest = table if rest is None else pyarrow.concat_tables([rest, table])
                while rest.num_rows >= self.batch_size and count:
                    yield rest.slice(0, self.batch_size).combine_chunks().to_batches()[0]
                    rest, count = rest.slice(self.batch_size), count - 1


def place() -> Tuple[int, int]:
    """Return (rank, world size); (0, 1) if torch.distributed is not initialized."""
    if dist.is_available() and dist.is_initialized():
        return int(dist.get_rank()), int(dist.get_world_size())
    return 0, 1
