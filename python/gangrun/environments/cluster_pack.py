"""What programs import as `cluster_pack` where that is not installed: an environment is packed when the job starts."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, Mapping, Optional

from gangrun.environments import ACTIVE
from gangrun.errors import InvalidJob


def upload_env(package_path: Optional[str] = None, packer: Any = None, additional_packages: Optional[Mapping[str, str]] = None,
               ignored_packages: Any = None, force_upload: bool = False, include_editable: bool = True,
               **_other: Any) -> tuple[str, str]:
    """Stands for the environment that runs this; whatever takes it packs and uploads it, once for each state of it."""
    if additional_packages or ignored_packages:
        raise InvalidJob("cluster_pack.upload_env: additional_packages and ignored_packages change what is installed, which gangrun "
                         "ships as it is; allowed: an environment that has what is needed, or the real cluster_pack")
    if package_path is not None:
        warnings.warn(f"cluster_pack.upload_env: nothing is put at {package_path}; gangrun keeps environments by their content",
                      stacklevel=2)
    return ACTIVE, os.path.basename(sys.prefix) or "python"


def upload_zip(zip_file: str, package_path: Optional[str] = None, **_other: Any) -> str:
    """The archive itself, which is uploaded by the job that uses it."""
    return zip_file


def get_editable_requirements(*_arguments: Any, **_options: Any) -> dict[str, str]:
    """Name → folder of the packages that are shipped as they are; they are also without being asked for."""
    from gangrun.environments import _active

    return {name: str(path) for name, path in _active.editable_packages().items()}
