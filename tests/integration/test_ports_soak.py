"""A twentieth of what `make acceptance ONLY=soak` does: published ports beside a process that takes every port it can get (tests/soak/ports.py)."""

import importlib.util
import pathlib

import pytest

pytestmark = pytest.mark.soak

PORTS = pathlib.Path(__file__).resolve().parents[1] / "soak/ports.py"
GANGS = 10


@pytest.fixture
def ports(gangrun):
    spec = importlib.util.spec_from_file_location("soak_ports", PORTS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.BIN = gangrun.parent
    return module


def test_no_published_port_is_lost(ports):
    failures, taken = ports.soak(GANGS)
    assert failures == []
    assert taken >= 1_000


def test_a_task_that_is_not_at_its_port_is_noticed(ports, home):
    told = ports.gang(home, STRAY="3", PATIENCE="2")
    assert "exit status 1" in told and "did not reach" in told
