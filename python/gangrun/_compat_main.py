"""`python -m gangrun.compat`, for who starts a file and no module: spark-submit $(python -m gangrun.compat --path) SCRIPT ARGUMENT...

The Python of spark-submit need not have gangrun installed: this file knows the package beside it.
"""

from __future__ import annotations

import os
import sys


def _find_package() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]  # the package's own folder, in which no program's imports begin
    try:
        import gangrun  # noqa: F401
    except ImportError:
        sys.path.append(os.path.dirname(here))


if __name__ == "__main__":
    _find_package()
    from gangrun.compat import main

    main()
