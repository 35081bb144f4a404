"""Files by path or URL. Local files use Python; URLs (`hdfs://`, `viewfs://`, `webhdfs://`, `s3://`…) use fsspec or pyarrow.

fsspec is preferred if it is installed. `hdfs://` and `webhdfs://` fall back to WebHDFS if neither works.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import uuid
from typing import IO, Any, Iterator, List, Tuple

SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://")


def local_path(url: str) -> str:
    """Return the path of a local file, without `file://`; empty for any other URL."""
    found = SCHEME.match(url)
    if found is None:
        return url
    return url[len("file://"):] if found.group(1).lower() == "file" else ""


class Remote:
    """A path on a remote file system, with the few operations that are needed, by fsspec or pyarrow."""

    def __init__(self, url: str) -> None:
        self.fsspec: Any = None  # or what has the same few methods
        self.arrow: Any = None
        try:
            self.fsspec, self.path = importlib.import_module("fsspec.core").url_to_fs(url)
            return
        except (ImportError, OSError, ValueError):  # it is not there, has no libhdfs, or does not know viewfs://
            pass
        try:
            self.arrow, self.path = self._by_arrow(url)
        except (ImportError, OSError):  # it is not there, or has no libhdfs
            if not url.startswith(("hdfs://", "webhdfs://")):
                raise
            from gangrun import _web_hdfs

            self.fsspec, self.path = _web_hdfs.of(url)

    @staticmethod
    def _by_arrow(url: str) -> Tuple[Any, str]:
        try:
            fs = importlib.import_module("pyarrow.fs")
        except ModuleNotFoundError:
            raise ModuleNotFoundError(f"{url!r} is not a path of this machine, and to reach it fsspec or pyarrow must be "
                                      "installed; neither is", name="fsspec") from None
        system, path = fs.FileSystem.from_uri(url)
        return system, path

    def names(self) -> List[str]:
        """Return the names in this folder; empty if there is no such folder."""
        if self.fsspec is not None:
            if not self.fsspec.isdir(self.path):
                return []
            return [str(entry).rstrip("/").rpartition("/")[2] for entry in self.fsspec.ls(self.path, detail=False)]
        fs = importlib.import_module("pyarrow.fs")
        return [info.base_name for info in self.arrow.get_file_info(fs.FileSelector(self.path, allow_not_found=True))]

    def make_folder(self) -> None:
        """Create this folder and its parents; it may exist already."""
        if self.fsspec is not None:
            self.fsspec.makedirs(self.path, exist_ok=True)
        else:
            self.arrow.create_dir(self.path, recursive=True)

    def open(self, mode: str) -> Any:
        """Open this file; `mode` is "rb" or "wb"."""
        if self.fsspec is not None:
            return self.fsspec.open(self.path, mode)
        return self.arrow.open_input_file(self.path) if mode == "rb" else self.arrow.open_output_stream(self.path)

    def kind(self) -> str:
        """Return "file" or "folder", or an empty text if this path does not exist."""
        if self.fsspec is not None:
            return "folder" if self.fsspec.isdir(self.path) else "file" if self.fsspec.exists(self.path) else ""
        found = self.arrow.get_file_info(self.path)
        return "" if found.type.name == "NotFound" else "folder" if found.type.name == "Directory" else "file"

    def remove(self) -> None:
        """Remove this file, or this folder with its content."""
        if self.fsspec is not None:
            self.fsspec.rm(self.path, recursive=True)
        elif self.kind() == "folder":
            self.arrow.delete_dir(self.path)
        else:
            self.arrow.delete_file(self.path)

    def rename(self, target: "Remote") -> None:
        """Rename this file, replacing `target` if it exists."""
        if self.fsspec is not None:
            # HDFS refuses a name that is taken.
            if self.fsspec.exists(target.path):
                self.fsspec.rm(target.path)
            self.fsspec.mv(self.path, target.path)
        else:
            self.arrow.move(self.path, target.path)


def join(folder: str, name: str) -> str:
    """Return the path or URL of `name` in `folder`."""
    return f"{folder.rstrip('/')}/{name}" if folder.rstrip("/") else f"/{name}"


def names(folder: str) -> List[str]:
    """Return the sorted names in a folder; empty if there is no such folder."""
    path = local_path(folder)
    if not path:
        return sorted(Remote(folder).names())
    return sorted(os.listdir(path)) if os.path.isdir(path) else []


def kind(url: str) -> str:
    """Return "file" or "folder", or an empty text if the path does not exist."""
    path = local_path(url)
    if not path:
        return Remote(url).kind()
    return "folder" if os.path.isdir(path) else "file" if os.path.lexists(path) else ""


def remove(url: str) -> None:
    """Remove a file, or a folder with its content."""
    path = local_path(url)
    if not path:
        Remote(url).remove()
    elif os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def rename(url: str, target: str) -> None:
    """Rename a file, replacing `target` if it exists.

    Raises ValueError if only one of the two is on this machine.
    """
    path, new = local_path(url), local_path(target)
    if bool(path) != bool(new):
        raise ValueError(f"{url} cannot be renamed to {target}, which is on another file system")
    if path:
        os.replace(path, new)
    else:
        Remote(url).rename(Remote(target))


def make_folder(folder: str) -> None:
    """Create a folder and its parents; it may exist already."""
    path = local_path(folder)
    if path:
        os.makedirs(path, exist_ok=True)
    else:
        Remote(folder).make_folder()


def open_to_read(url: str) -> Any:
    """Open a file for reading bytes."""
    path = local_path(url)
    return open(path, "rb") if path else Remote(url).open("rb")


def open_to_write(url: str) -> Any:
    """Open a file for writing bytes; it may be incomplete until it is closed. See `written_whole`."""
    path = local_path(url)
    return open(path, "wb") if path else Remote(url).open("wb")


@contextlib.contextmanager
def written_whole(url: str) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes so that it appears under its name only when it is complete.

    If the body raises, a file that exists under this name stays as it is. Symbolic links are followed. A device or FIFO is
    written to directly.
    """
    place = local_path(url)
    if place and os.path.exists(place) and not os.path.isfile(place):
        with open(place, "wb") as file:
            yield file
        return
    if place and os.path.islink(place):
        url = os.path.realpath(place)
    folder, _, name = url.rpartition("/")
    beside = f"{folder}/.{name}.{uuid.uuid4().hex[:12]}" if folder else f".{name}.{uuid.uuid4().hex[:12]}"
    path, target = local_path(beside), local_path(url)
    if not path:
        with Remote(beside).open("wb") as file:
            yield file
        Remote(beside).rename(Remote(url))
        return
    try:
        with open(path, "wb") as file:
            yield file
        os.replace(path, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        raise


def copy_folder(source: str, target: str) -> None:
    """Copy the content of a local folder, with subfolders, to a path or URL."""
    for folder, _, files in os.walk(source):
        inner = os.path.relpath(folder, source)
        there = target if inner == "." else join(target, inner)
        make_folder(there)
        for name in files:
            with open(os.path.join(folder, name), "rb") as file, written_whole(join(there, name)) as copy:
                for block in iter(lambda: file.read(1 << 20), b""):
                    copy.write(block)
