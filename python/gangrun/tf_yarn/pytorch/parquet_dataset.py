"""Batches of the Parquet files of a folder, shared out among the ranks."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Tuple

import torch.distributed as dist
from torch.utils.data import IterableDataset, get_worker_info

from gangrun.tf_yarn import storage


class ParquetDataset(IterableDataset):  # type: ignore[misc]  # PyTorch is not there where types are checked
    """Yields `pyarrow.RecordBatch` of exactly `batch_size` rows; its loader is made with `batch_size=None`.

    Every rank gets as many batches, since one that had more would wait for the others for ever: of the files' full
    batches those that do not go round are left out, as are the rows at the end of a file that make no full one. The
    processes of a loader (`num_workers`) share the batches of their rank.
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
        """The batches of this rank; with `num_samples` without a look into the files."""
        if self.num_samples is not None:
            return self.num_samples // self.batch_size // self.world_size
        return sum(self.counts()) // self.world_size

    def counts(self) -> List[int]:
        """How many full batches each file has."""
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
            # A batch of pyarrow ends with its row group, so it may be shorter than what was asked for.
            for part in pyarrow.parquet.ParquetFile(opened).iter_batches(self.batch_size, columns=self.columns):
                table = pyarrow.Table.from_batches([part])
                rest = table if rest is None else pyarrow.concat_tables([rest, table])
                while rest.num_rows >= self.batch_size and count:
                    yield rest.slice(0, self.batch_size).combine_chunks().to_batches()[0]
                    rest, count = rest.slice(self.batch_size), count - 1


def place() -> Tuple[int, int]:
    if dist.is_available() and dist.is_initialized():
        return int(dist.get_rank()), int(dist.get_world_size())
    return 0, 1
