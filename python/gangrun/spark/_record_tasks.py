"""What Spark's Python workers do with TFRecord files: columns of Arrow from their bytes, and bytes from such columns."""

from __future__ import annotations

import dataclasses
import io
import struct
import zlib
from typing import TYPE_CHECKING, Any, Iterator, Optional

from gangrun.spark._record_types import Column

if TYPE_CHECKING:
    import pyarrow

CHUNK_BYTES = 4 << 20  # of a file at a time
BATCH_BYTES = 8 << 20  # of records in a batch of rows, and of rows that are made records at a time
BATCH_ROWS = 10_000
LINE_BYTES = 1 << 20  # of a line for Spark's writer
HEAD_BYTES = 12  # of a record; what a file's first bytes are judged by
GZIP_OR_ZLIB = 47  # whichever it is


def worker_core() -> Any:
    """The compiled module, in a Python worker of Spark."""
    from gangrun import _native
    from gangrun.spark import _runtime

    _runtime.on_executor()
    return _native.core()


# --- reading

class Unpacked(io.RawIOBase):
    """The content of a file of gzip or zlib, of any number of parts one after the other."""

    def __init__(self, source: Any, name: str) -> None:
        self.source, self.name = source, name
        self._unpacker = zlib.decompressobj(GZIP_OR_ZLIB)
        self._packed = b""

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        while True:
            if not self._packed:
                self._packed = self.source.read(CHUNK_BYTES)
            if not self._packed:
                if not self._unpacker.eof:
                    raise ValueError(f"{self.name}: the file is truncated: what is packed in it does not end")
                return 0
            if self._unpacker.eof:
                self._unpacker = zlib.decompressobj(GZIP_OR_ZLIB)
            try:
                content = self._unpacker.decompress(self._packed, len(view))
            except zlib.error as error:
                raise ValueError(f"{self.name}: the file cannot be unpacked: {error}") from None
            self._packed = self._unpacker.unconsumed_tail or self._unpacker.unused_data
            if content:
                view[:len(content)] = content
                return len(content)


def is_packed(core: Any, head: bytes) -> bool:
    """By the first bytes of a file. A record may be as long as gzip's mark says, but then the checksum behind it is right."""
    return not core.begins_with_a_record(head) and (head[:3] == b"\x1f\x8b\x08" or (head[:1] == b"\x78" and len(head) > 1
                                                                                   and int.from_bytes(head[:2], "big") % 31 == 0))


@dataclasses.dataclass(frozen=True)
class ReadTask:
    """Rows of files. As Spark calls it; it is pickled by reference."""

    columns: tuple[Column, ...]
    ignores_others: bool
    # Files of this machine for each number of a batch; None: batches have paths and contents.
    bundles: Optional[tuple[tuple[str, ...], ...]]

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        core = worker_core()
        for batch in batches:
            if self.bundles is None:
                for path, content in zip(batch.column(0), batch.column(1)):
                    yield from self._rows(core, pyarrow.BufferReader(content.as_buffer()), path.as_py())
                continue
            for number in batch.column(0).to_pylist():
                for path in self.bundles[number]:
                    with open(path, "rb") as source:
                        yield from self._rows(core, source, path)

    def _rows(self, core: Any, source: Any, name: str) -> Iterator[pyarrow.RecordBatch]:
        head = source.read(HEAD_BYTES)
        source.seek(0)
        if is_packed(core, head):
            name = f"{name} (unpacked)"
            source = Unpacked(source, name)
        decoder = core.RecordDecoder([column.field for column in self.columns], name, self.ignores_others, BATCH_ROWS, BATCH_BYTES)
        try:
            for rows in _full_batches(decoder, source):
                yield self._batch(decoder.take_batch(), rows, name)
        except core.BadRecord as error:
            raise ValueError(str(error)) from None

    def _batch(self, found: list[Any], rows: int, name: str) -> pyarrow.RecordBatch:
        import pyarrow

        arrays = []
        for column, buffers in zip(self.columns, found):
            try:
                arrays.append(_array(column, rows, *buffers))
            except pyarrow.ArrowInvalid as error:
                raise ValueError(f"{name}: column '{column.name}' is of the type {column.type}: {error}") from None
        return pyarrow.RecordBatch.from_arrays(arrays, [column.name for column in self.columns])


def _full_batches(decoder: Any, source: Any) -> Iterator[int]:
    """The number of rows, each time that there is a batch of them."""
    buffer = bytearray(CHUNK_BYTES)
    begin = end = 0
    while True:
        with memoryview(buffer) as whole:
            begin += decoder.take(whole[begin:end])
        if decoder.is_full:
            yield decoder.rows
            continue
        # The record that is next is not whole. A length is believed as far as there are bytes.
        rest = buffer[begin:end]
        if len(rest) * 2 > len(buffer):
            buffer = bytearray(max(len(buffer), min(len(buffer) * 2, decoder.wanted + CHUNK_BYTES)))
        buffer[:len(rest)] = rest
        begin, end = 0, len(rest)
        with memoryview(buffer) as whole:
            count = source.readinto(whole[end:])
        if not count:
            decoder.end(rest)
            break
        end += count
    if decoder.rows:
        yield decoder.rows


def _array(column: Column, rows: int, nulls: int, validity: Any, list_offsets: Any, items: int, values: Any,
           byte_offsets: Any) -> pyarrow.Array:
    import pyarrow

    kind = column.field[1]
    read = {"int64": pyarrow.int64(), "float": pyarrow.float32(), "text": pyarrow.string(), "bytes": pyarrow.binary()}[kind]
    wanted = {"boolean": pyarrow.bool_(), "tinyint": pyarrow.int8(), "smallint": pyarrow.int16(), "int": pyarrow.int32(),
              "double": pyarrow.float64()}.get(column.type, read)
    buffers = [None if buffer is None else pyarrow.py_buffer(buffer) for buffer in (validity, byte_offsets, values)]
    inner = [None if column.is_list else buffers[0], *([] if buffers[1] is None else [buffers[1]]), buffers[2]]
    made = pyarrow.Array.from_buffers(read, items, inner, 0 if column.is_list else nulls)
    if wanted != read:
        made = made.cast(wanted)
    if column.is_list:
        made = pyarrow.Array.from_buffers(pyarrow.list_(pyarrow.field("element", wanted)), rows,
                                          [buffers[0], pyarrow.py_buffer(list_offsets)], nulls, children=[made])
    return made


# --- writing

@dataclasses.dataclass(frozen=True)
class WriteTask:
    """A partition as lines for Spark's writer of texts, which puts a zero byte behind each."""

    columns: tuple[Column, ...]

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        core = worker_core()
        lines = core.RecordLines([column.field for column in self.columns])
        try:
            for batch in batches:
                buffers = column_buffers(self.columns, batch)
                step = max(1, batch.num_rows * BATCH_BYTES // max(1, batch.nbytes))
                for begin in range(0, batch.num_rows, step):
                    yield from _texts(*lines.add(buffers, begin, min(begin + step, batch.num_rows), LINE_BYTES))
            yield from _texts(*lines.end(LINE_BYTES))
        except core.BadRecord as error:
            raise ValueError(str(error)) from None


def column_buffers(columns: tuple[Column, ...], batch: pyarrow.RecordBatch) -> list[tuple[Any, ...]]:
    """As gangrun._core takes columns. What is of the right type is not copied."""
    import pyarrow

    types = {"int64": pyarrow.int64(), "float": pyarrow.float32(), "text": pyarrow.binary(), "bytes": pyarrow.binary()}
    found = []
    for column, array in zip(columns, batch.columns):
        wanted = types[column.field[1]]
        made = array.cast(pyarrow.list_(wanted) if column.is_list else wanted, safe=False)
        buffers = made.buffers()
        outer = buffers[:2] if column.is_list else [buffers[0], None]
        inner = buffers[2:] if column.is_list else [None, *buffers[1:]]
        offsets = inner[1] if wanted == pyarrow.binary() else None
        found.append((*outer, inner[0], inner[-1], offsets, made.offset, made.values.offset if column.is_list else 0))
    return found


def _texts(data: Any, places: list[tuple[int, int]]) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    whole = pyarrow.py_buffer(data)
    for begin, end in places:
        offsets = pyarrow.py_buffer(struct.pack("=2i", 0, end - begin))
        text = pyarrow.Array.from_buffers(pyarrow.string(), 1, [None, offsets, whole.slice(begin, end - begin)], 0)
        yield pyarrow.RecordBatch.from_arrays([text], ["value"])
