"""Many files into one archive, as fast as the disk and all cores allow."""

from __future__ import annotations

import collections
import concurrent.futures
import io
import os
import pathlib
import tarfile
import time
import zlib
from typing import BinaryIO, Callable, Deque, Mapping, Union

from gangrun import _texts

BLOCK = 1 << 20
SAMPLE = 1 << 16
# Less than this share saved in the sample: the block is stored as it is.
WORTH = 0.97
LEVEL = 1
GZIP = 31  # zlib's word for gzip's own header
TOLD_EVERY_S = 1.0

# The path of a file or symbolic link, or the contents of a small file that may be executed.
Source = Union[str, bytes]


def _packed(block: bytes) -> bytes:
    sample = block[:SAMPLE]
    level = LEVEL if len(zlib.compress(sample, 1)) < WORTH * len(sample) else 0
    packer = zlib.compressobj(level, zlib.DEFLATED, GZIP)
    return packer.compress(block) + packer.flush()


class ParallelGzip(io.RawIOBase):
    """A file for writing that passes blocks on, each compressed by itself: one gzip file of several members."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        workers = min(8, os.cpu_count() or 1)
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)
        self.limit = 2 * workers
        self.pending: Deque[concurrent.futures.Future[bytes]] = collections.deque()
        self.buffer = bytearray()
        self.taken = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.taken

    def write(self, data: Union[bytes, bytearray, memoryview]) -> int:  # type: ignore[override]
        self.buffer += data
        self.taken += len(data)
        while len(self.buffer) >= BLOCK:
            self._put(bytes(self.buffer[:BLOCK]))
            del self.buffer[:BLOCK]
        return len(data)

    def _put(self, block: bytes) -> None:
        self.pending.append(self.pool.submit(_packed, block))
        while len(self.pending) > self.limit:
            self.file.write(self.pending.popleft().result())

    def finish(self) -> None:
        if self.buffer:
            self._put(bytes(self.buffer))
            self.buffer.clear()
        while self.pending:
            self.file.write(self.pending.popleft().result())

    def close(self) -> None:
        self.pool.shutdown(wait=True)
        super().close()


class Told:
    """Says how far packing is: at the beginning, once a second, and at the end."""

    def __init__(self, what: str, files: int, size: int, progress: Callable[[str], None]) -> None:
        self.what, self.files, self.size, self.progress = what, files, size, progress
        self.begun = self.last = time.monotonic()
        self.done_files = self.done_bytes = 0
        progress(f"packs {what}: {files} files, {_texts.size(size)}")

    def add(self, size: int) -> None:
        self.done_files += 1
        self.done_bytes += size
        now = time.monotonic()
        if now - self.last >= TOLD_EVERY_S:
            self.last = now
            self.progress(f"packs {self.what}: {self.done_files} of {self.files} files, "
                          f"{_texts.size(self.done_bytes)} of {_texts.size(self.size)}")

    def end(self, packed: int) -> None:
        self.progress(f"packed {self.what}: {self.done_files} files, {_texts.size(self.done_bytes)} in {_texts.size(packed)}, "
                      f"{time.monotonic() - self.begun:.1f} s")


def write(path: pathlib.Path, content: Mapping[str, Source], what: str, progress: Callable[[str], None]) -> None:
    """A .tar.gz of `content`, name in the archive → source. Times are kept, so that compiled modules stay valid."""
    told = Told(what, len(content), sum(map(_size, content.values())), progress)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        packer = ParallelGzip(file)
        try:
            with tarfile.open(fileobj=packer, mode="w", format=tarfile.PAX_FORMAT) as archive:
                setattr(archive, "copybufsize", BLOCK)  # what its class says nothing of
                for name in sorted(content):
                    told.add(_add(archive, name, content[name]))
            packer.finish()
        finally:
            packer.close()
        file.flush()
        os.fsync(file.fileno())
        told.end(file.tell())


def _size(source: Source) -> int:
    return len(source) if isinstance(source, bytes) else os.lstat(source).st_size


def _add(archive: tarfile.TarFile, name: str, source: Source) -> int:
    info = tarfile.TarInfo(name)
    if isinstance(source, bytes):
        info.size, info.mode = len(source), 0o755
        archive.addfile(info, io.BytesIO(source))
        return info.size
    if os.path.islink(source):
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(source)
        archive.addfile(info)
        return 0
    with open(source, "rb") as file:
        status = os.fstat(file.fileno())
        info.size, info.mtime = status.st_size, int(status.st_mtime)
        info.mode = 0o755 if status.st_mode & 0o100 else 0o644
        archive.addfile(info, file)
    return info.size
