"""What the executors need of gangrun: brought there by Spark as it brings a user's own files, once for each application."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import pathlib
import pkgutil
import shutil
import threading
import zipfile
from typing import Any, Optional

from gangrun import _program, _staging, compat
from gangrun.errors import NotInstalled

SHIPPED = "gangrun/spark/shipped.json"  # in the archive: how its companions are called
# In the archive, where the driver's program is one that says `import tensorflowonspark`: its functions may say so in Spark's tasks too.
ANSWER = """from gangrun import compat
compat.answer_imports()
import sys
import gangrun.tensorflowonspark
sys.modules["tensorflowonspark"] = gangrun.tensorflowonspark
"""
_lock = threading.Lock()
_done: dict[str, "Runtime"] = {}


@dataclasses.dataclass(frozen=True)
class Runtime:
    """The names of the files among those of Spark, or on an executor their paths. `core` is only there for rows."""

    package: str
    agent: str
    core: Optional[str]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _core_path() -> Optional[str]:
    from gangrun import _native

    try:
        return str(_native.path())
    except NotInstalled:
        return None


def ship(sc: Any) -> Runtime:
    """Hands the files to Spark. They lie in the folder of this application, which Spark removes with it."""
    with _lock:
        key = str(sc.applicationId)
        if key not in _done:
            _done[key] = _ship(sc)
        return _done[key]


def _ship(sc: Any) -> Runtime:
    folder = os.path.join(sc._temp_dir, "gangrun")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    agent = _copy(folder, _program.find("gangrun-agent"), "gangrun-agent", "")
    path = _core_path()
    core = _copy(folder, path, "gangrun-core", ".so") if path else None
    content = _archive({"agent": agent, "core": core})
    package = f"gangrun-python-{_digest(content)}.zip"
    pathlib.Path(folder, package).write_bytes(content)
    for name in filter(None, (agent, core)):
        sc.addFile(os.path.join(folder, name))
    sc.addPyFile(os.path.join(folder, package))
    return Runtime(package, agent, core)


def _copy(folder: str, path: str, stem: str, ending: str) -> str:
    """Under a name by its content: Spark takes no second file of a name."""
    content = pathlib.Path(path).read_bytes()
    name = f"{stem}-{_digest(content)}{ending}"
    beside = os.path.join(folder, name)
    if not os.path.exists(beside):
        shutil.copyfile(path, beside)
        os.chmod(beside, 0o700)
    return name


def _archive(shipped: dict[str, Optional[str]]) -> bytes:
    buffer = io.BytesIO(_staging.runtime_bytes())
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(SHIPPED, _staging.EPOCH), json.dumps(shipped))
        if compat.is_answering():
            archive.writestr(zipfile.ZipInfo("tensorflowonspark.py", _staging.EPOCH), ANSWER)
    return buffer.getvalue()


def on_executor() -> Runtime:
    """In a Python worker of Spark: the paths of what was shipped; from then on gangrun's own module is found there."""
    from pyspark import SparkFiles

    try:
        text = pkgutil.get_data("gangrun.spark", os.path.basename(SHIPPED))
    except OSError:
        text = None
    if text is None:
        raise NotInstalled(f"this Python worker has the package gangrun from {os.path.dirname(__file__)}, which is not the one that "
                           "the driver has sent; it was imported there before: set spark.python.worker.reuse=false")
    shipped = json.loads(text)
    root = os.path.abspath(SparkFiles.getRootDirectory())  # of an executor it is ".", and a node may go elsewhere
    paths = {name: os.path.join(root, file) for name, file in shipped.items() if file}
    for path in paths.values():
        if not os.path.exists(path):
            raise NotInstalled(f"{path} is not among the files that Spark has brought to this executor")
    if "core" in paths:
        from gangrun import _native

        _native.core(paths["core"])
    return Runtime(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), paths["agent"],
                   paths.get("core"))
