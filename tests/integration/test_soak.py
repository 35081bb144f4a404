"""A twentieth of what `make acceptance ONLY=soak` does: what is left after SIGKILL at random (tests/soak/soak.py says what each round does)."""

import importlib.util
import os
import pathlib

import pytest

pytestmark = pytest.mark.soak

SOAK = pathlib.Path(__file__).resolve().parents[1] / "soak/soak.py"
ROUNDS = 25


def test_nothing_is_left_after_random_kills(gangrun):
    os.environ["GANGRUN_BIN"] = str(gangrun.parent)
    spec = importlib.util.spec_from_file_location("soak", SOAK)
    soak = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(soak)
    assert soak.soak(ROUNDS, seed=1) == []
