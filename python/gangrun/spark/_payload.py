"""A function as the bytes that every node gets, and the file that a node's process begins with."""

from __future__ import annotations

import os
import pickle
import zipfile
from typing import Any, Mapping, Sequence

from gangrun import _function, _script, _shipping, _texts
from gangrun.errors import InvalidJob

TARGET = "gangrun.spark._node:main"
# Packages that every executor has of its own Spark, wherever a driver has it from: on YARN from an archive in its container.
OF_SPARK = {"pyspark": "Spark", "py4j": "Spark"}


def function_of(sc: Any, function: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] = {}) -> bytes:
    """The bytes for the executors of that application."""
    return function_bytes(function, args, kwargs, modules_of(_included(sc)))


def _included(sc: Any) -> list[str]:
    """The Python files that Spark brings to its workers."""
    from pyspark import SparkFiles

    root = SparkFiles.getRootDirectory()
    submitted = sc.getConf().get("spark.submit.pyFiles", "").split(",")
    names = [*sc._python_includes, *(os.path.basename(path) for path in submitted if path)]
    return [os.path.join(root, name) for name in names if not name.startswith("gangrun-python-")]


def function_bytes(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], shipped: Mapping[str, str]) -> bytes:
    """What modules define that no executor has is pickled by value; where that does not go, as Spark itself would."""
    if not callable(function):
        raise InvalidJob(f"map_fun: {function!r} is a {type(function).__name__}; allowed: a function")
    what = f"the function {getattr(function, '__qualname__', repr(function))}"
    value = (function, tuple(args), dict(kwargs))
    try:
        body = _shipping.dumps(value, what, {**shipped, **OF_SPARK})
    except InvalidJob:
        import cloudpickle

        try:
            body = bytes(cloudpickle.dumps(value))
        except Exception:  # the first error names what cannot be pickled
            body = b""
        if not body:
            raise
    if len(body) > _function.MAX_PICKLED_BYTES:
        raise InvalidJob(f"map_fun: {what} with its arguments and what it refers to is {_texts.size(len(body))} when pickled; "
                         f"allowed: {_texts.size(_function.MAX_PICKLED_BYTES)}{_shipping.largest(function, value[1], value[2])}")
    return _function.with_header(body, None, _script.described(bool(shipped)), _shipping.names_of_script({**shipped, **OF_SPARK}))


def node_payload(info: Mapping[str, Any], function: bytes) -> bytes:
    """What `python -m gangrun._task_main` reads in a node."""
    return _function.with_header(pickle.dumps((None, (dict(info), function), {}), protocol=4), TARGET, None)


def modules_of(paths: Sequence[str]) -> dict[str, str]:
    """The top-level modules in files that Spark brings to its Python workers: .py, and archives of modules."""
    found: dict[str, str] = {}
    for path in paths:
        name = os.path.basename(path)
        if name.endswith((".zip", ".egg", ".whl", ".jar")):
            try:
                with zipfile.ZipFile(path) as archive:
                    found.update((entry.partition("/")[0], path) for entry in archive.namelist())
            except (OSError, zipfile.BadZipFile):  # Spark tells of it where it opens it
                continue
        else:
            found[name] = path
    return found
