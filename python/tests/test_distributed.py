"""Functions that do all by themselves, as jobs of this machine: who is told what, and what becomes of a rank that dies."""

import os
import re
import signal

import pytest

from gangrun.tf_yarn import RunFailed, TaskSpec, _task_commons
from gangrun.tf_yarn.distributed import client, run_on_yarn
from gangrun.tf_yarn.distributed.task import get_task


def tell_place(folder):
    def function(local_rank):
        found = get_task(local_rank)
        with open(f"{folder}/{found.task_id}", "w") as file:
            file.write(f"{found.task_type} {local_rank} of {found.n_workers_per_executor}, {found.world_size} in all\n")
            file.write(f"{found.master_address}:{found.master_port}")
    return function


def die_second(local_rank):
    if local_rank == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    signal.pause()


def fail_second(local_rank):
    if local_rank == 1:
        raise ArithmeticError("a rank of its own mind")
    signal.pause()


def test_tasks_of_different_sizes_have_ranks_without_gaps(tmp_path):
    run_on_yarn(tell_place(tmp_path), {"worker": TaskSpec(memory=64, vcores=1, instances=2, nb_proc_per_worker=2),
                                       "chief": TaskSpec(memory=64, vcores=1)}, on="local")
    told = {name: (tmp_path / name).read_text().splitlines() for name in sorted(os.listdir(tmp_path))}
    assert {rank: place for rank, (place, _) in told.items()} == {
        "0": "chief 0 of 1, 5 in all", "1": "worker 0 of 2, 5 in all", "2": "worker 1 of 2, 5 in all",
        "3": "worker 0 of 2, 5 in all", "4": "worker 1 of 2, 5 in all"}
    assert len({address for _, address in told.values()}) == 1


def test_a_rank_that_crashes_fails_the_job():
    """And not only when it is the first of its task; the others would wait for it forever."""
    with pytest.raises(RunFailed, match="worker:0 .* killed by signal 11"):
        client.run_on_yarn(die_second, {"worker": TaskSpec(memory=64, vcores=1, nb_proc_per_worker=2)}, on="local")


def test_what_a_rank_raises_is_told_with_its_traceback():
    with pytest.raises(RunFailed) as caught:
        run_on_yarn(fail_second, {"worker": TaskSpec(memory=64, vcores=1, nb_proc_per_worker=2)}, on="local")
    assert 'raise ArithmeticError("a rank of its own mind")' in str(caught.value)
    assert caught.value.cause["task"] == "worker:0"


def test_the_tasks_have_to_be_said():
    with pytest.raises(TypeError, match="task_specs is missing"):
        run_on_yarn(fail_second, on="local")


def test_what_a_client_does_is_timed(caplog):
    with caplog.at_level("INFO"), _task_commons.catchtime("packing"):
        pass
    assert re.fullmatch(r"packing took [\d.]+ s", caplog.messages[-1])
