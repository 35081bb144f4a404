"""The storm on pods replays a run by its number, and knows which ends are right. It needs no cluster for that."""

import dataclasses

import pytest
from kubernetes.pod_faults import MEANWHILE, MOMENTS, OUTAGES, PodFaults
from kubernetes.pod_storm import Plan, right_states

PLAN = dataclasses.replace(Plan.of(1), restarts=1, early=False)


def test_a_number_decides_everything():
    plans = [Plan.of(number) for number in range(200)]
    assert plans == [Plan.of(number) for number in range(200)]
    assert {fault.name for plan in plans for fault in plan.faults} == {*MOMENTS, *OUTAGES}
    assert all(sum(fault.is_outage for fault in plan.faults) <= 1 for plan in plans)


def test_each_fault_has_a_function():
    names = {*MOMENTS, *OUTAGES, *MEANWHILE} - {"nothing"}
    assert not [name for name in names if not hasattr(PodFaults, name.replace(" ", "_"))]


@pytest.mark.parametrize("names, counted, changes, right", [
    (["delete pod", "evict", "kill relay"], 0, {"restarts": 0}, {"succeeded"}),
    (["kill agent"], 1, {}, {"succeeded"}),
    (["kill agent"], 1, {"restarts": 0}, {"failed"}),
    (["kill agent"], 1, {"restarts": 0, "early": True}, {"failed", "succeeded"}),
    (["kill command", "kill agent"], 2, {}, {"failed", "succeeded"}),
    (["kill command", "delete pod"], 1, {"restarts": 0}, {"failed", "succeeded"}),
    (["stop api server", "kill command"], 1, {}, {"succeeded"}),
    (["stop api server"], 0, {"early": True}, {None, "succeeded", "failed"}),
    (["kill client"], 0, {}, {"lost"}),
    (["kill command", "kill client"], 1, {"restarts": 0}, {"lost", "failed"}),
    (["kill client"], 0, {"early": True}, {None, "lost", "failed"}),
])
def test_the_right_ends(names, counted, changes, right):
    assert right_states(dataclasses.replace(PLAN, **changes), names, counted) == right
