"""Replacement of cluster_pack.filesystem: file operations by path or URL, using gangrun.tf_yarn.storage."""

from __future__ import annotations

import io
import os
import shutil
from typing import Any, Iterator

from gangrun import _refused, _web_hdfs
from gangrun.tf_yarn import storage


class _Written:
    """A file that takes text too, as UTF-8."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, data: Any) -> Any:
        return self._file.write(data.encode() if isinstance(data, str) else data)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __enter__(self) -> _Written:
        self._file.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._file.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class EnhancedFileSystem:
    """A file system, local or remote. Methods take a path on it, or a whole URL.

    Methods that need an existing file raise FileNotFoundError if it is missing.
    """

    def __init__(self, root: str = "") -> None:
        self._root = root  # scheme://authority; nothing is this machine

    def _url(self, path: Any) -> str:
        given = str(os.fspath(path))
        return given if storage.SCHEME.match(given) else self._root + given

    def exists(self, path: Any) -> bool:
        """Return whether there is a file or folder at this path."""
        return storage.kind(self._url(path)) != ""

    def isfile(self, path: Any) -> bool:
        """Return whether there is a file at this path."""
        return storage.kind(self._url(path)) == "file"

    def isdir(self, path: Any) -> bool:
        """Return whether there is a folder at this path."""
        return storage.kind(self._url(path)) == "folder"

    def ls(self, path: Any, detail: bool = False) -> list[Any]:
        """Return the paths of a folder's content, or of the file itself, in the form of the given path.

        With `detail`, return a dict with `name` and `kind` ("file" or "directory") for each.
        """
        given, url = os.fspath(path), self._url(path)
        self._must_exist(path)
        if storage.kind(url) == "file":
            found = [given]
        else:
            found = [storage.join(given, name) for name in storage.names(url)]
        return [{"name": name, "kind": "directory" if self.isdir(name) else "file"} for name in found] if detail else found

    def walk(self, path: Any) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield (folder, names of its folders, names of its files), top down."""
        given = os.fspath(path)
        inner = storage.names(self._url(given))
        folders = [name for name in inner if self.isdir(storage.join(given, name))]
        yield given, folders, [name for name in inner if name not in folders]
        for name in folders:
            yield from self.walk(storage.join(given, name))

    def mkdir(self, path: Any, create_parents: bool = True, **_other: Any) -> None:
        """Create a folder, always with its parents. It may exist already."""
        storage.make_folder(self._url(path))

    makedirs = mkdir

    def rm(self, path: Any, recursive: bool = False) -> None:
        """Remove a file or folder. Raises OSError for a folder that is not empty, unless `recursive`."""
        self._must_exist(path)
        url = self._url(path)
        if storage.kind(url) == "folder" and not recursive and storage.names(url):
            raise OSError(f"{url} is a folder that is not empty; rm(path, recursive=True) removes it with what is in it")
        storage.remove(url)

    delete = rm

    def mv(self, path: Any, new_path: Any) -> None:
        """Rename a file, replacing `new_path` if it exists."""
        self._must_exist(path)
        storage.rename(self._url(path), self._url(new_path))

    rename = mv

    def open(self, path: Any, mode: str = "rb") -> Any:
        """Open a file for bytes; `mode` is "rb" or "wb" ("r" and "w" mean the same). Text is written as UTF-8.

        What is written is complete when the file is closed. Raises ValueError for other modes.
        """
        url = self._url(path)
        if mode in ("r", "rb"):
            self._must_exist(path)
            file = storage.open_to_read(url)
            return file if isinstance(file, io.IOBase) else io.BufferedReader(file)
        if mode in ("w", "wb"):
            return _Written(storage.open_to_write(url))
        raise ValueError(f"open({url!r}, {mode!r}): the mode is not answered by gangrun; allowed: rb, wb")

    def cat(self, path: Any) -> bytes:
        """Return the content of a file as bytes."""
        with self.open(path) as file:
            return bytes(file.read())

    def put(self, filename: Any, path: Any, chunk: int = 1 << 20) -> None:
        """Copy the local file `filename` to `path`. `chunk` is in bytes."""
        with open(filename, "rb") as source, self.open(path, "wb") as target:
            shutil.copyfileobj(source, target, chunk)
        local = storage.local_path(self._url(path))
        if local:
            shutil.copymode(filename, local)  # a pex stays executable

    def get(self, filename: Any, path: Any, chunk: int = 1 << 20) -> None:
        """Copy the file `filename` to the local `path`. `chunk` is in bytes."""
        with self.open(filename) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target, chunk)

    def _must_exist(self, path: Any) -> None:
        if not self.exists(path):
            raise FileNotFoundError(f"{self._url(path)}: there is no such file or folder")

    def __getattr__(self, name: str) -> Any:
        there = [known for known in vars(EnhancedFileSystem) if not known.startswith("_")]
        raise _refused.member("cluster_pack.filesystem.EnhancedFileSystem", name, f"there are {', '.join(there)}; fsspec and pyarrow.fs have all")


def resolve_filesystem_and_path(uri: str, **_options: Any) -> tuple[EnhancedFileSystem, str]:
    """Return the file system of a path or URL, and the path on it.

    A path without a scheme, or with `file://`, is local.
    """
    uri = os.fspath(uri)
    found = storage.SCHEME.match(uri)
    if found is None:
        return EnhancedFileSystem(), uri
    if found.group(1).lower() == "file":
        return EnhancedFileSystem(), storage.local_path(uri)
    authority, slash, path = uri[found.end():].partition("/")
    root = f"{found.group(1)}://{authority}" if authority else _web_hdfs.default_fs()
    return EnhancedFileSystem(root), slash + path
