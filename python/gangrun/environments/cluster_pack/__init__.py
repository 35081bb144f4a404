"""Replacement of `cluster_pack`, used if it is not installed. An environment is packed when the job starts."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import Any, Mapping, Optional

from gangrun import _refused
from gangrun.environments import ACTIVE
from gangrun.errors import InvalidJob


def upload_env(package_path: Optional[str] = None, packer: Any = None, additional_packages: Optional[Mapping[str, str]] = None,
               ignored_packages: Any = None, force_upload: bool = False, include_editable: bool = True,
               **_other: Any) -> tuple[str, str]:
    """Return a pair (placeholder for this process's environment, its name). Nothing is uploaded yet.

    A job that gets the placeholder packs and uploads the environment, once for each state of it. Raises InvalidJob for
    additional_packages and ignored_packages; other arguments are ignored.
    """
    if additional_packages or ignored_packages:
        raise InvalidJob("cluster_pack.upload_env: additional_packages and ignored_packages change what is installed, which gangrun "
                         "ships as it is; allowed: an environment that has what is needed, or the real cluster_pack")
    if package_path is not None:
        warnings.warn(f"cluster_pack.upload_env: nothing is put at {package_path}; gangrun keeps environments by their content",
                      stacklevel=2)
    return ACTIVE, os.path.basename(sys.prefix) or "python"


def upload_zip(zip_file: str, package_path: Optional[str] = None, **_other: Any) -> str:
    """Return `zip_file` itself; the job that uses it uploads it."""
    return zip_file


def get_default_fs() -> str:
    """Return `fs.defaultFS` of the Hadoop configuration in HADOOP_CONF_DIR, without a trailing slash."""
    from gangrun import _web_hdfs

    return _web_hdfs.default_fs()


def get_editable_requirements(*_arguments: Any, **_options: Any) -> dict[str, str]:
    """Return name → folder of the editable packages. They are always shipped, even without this call."""
    from gangrun.environments import _active

    return {name: str(path) for name, path in _active.editable_packages().items()}


_INSTEAD = "an environment is packed as it is when the job starts; archives of other packers are given by path or URL (docs/environments.md)"
_refused_names = _refused.names("cluster_pack", dict.fromkeys(
    ("upload_spec", "zip_path", "get_non_editable_requirements", "detect_packer_from_file", "Packer", "CONDA_PACKER", "PEX_PACKER",
     "VENV_PACKER", "VENV_OPTIMIZED_PACKER", "UNPACKED_ENV_NAME", "packaging", "uploader", "skein", "spark", "yarn_launcher"), _INSTEAD))


def __getattr__(name: str) -> Any:
    if name == "filesystem":  # of programs that only say `import cluster_pack`
        return importlib.import_module("gangrun.environments.cluster_pack.filesystem")
    return _refused_names(name)
