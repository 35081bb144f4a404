"""What all tests in Python share: their groups. pytest takes options from the conftest of the root only."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "tests"))

from groups import pytest_addoption, pytest_collection_finish, pytest_collection_modifyitems, pytest_configure  # noqa: F401, E402

# Who runs the tests may have it, and tasks would inherit it: how a task's Python writes is part of what is tested.
os.environ.pop("PYTHONUNBUFFERED", None)
# Files of defaults that this machine or its user has are not for tests.
os.environ["GANGRUN_NO_DEFAULTS"] = "1"
