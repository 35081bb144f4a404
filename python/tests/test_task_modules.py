"""The names that custom_task_module may say."""

import pytest

from gangrun.tf_yarn import task_modules


@pytest.mark.parametrize("name, module", [
    (None, task_modules.INDEPENDENT_WORKERS),
    ("tf_yarn.tasks.evaluator_task", task_modules.EVALUATOR),
    ("tf_yarn.tensorflow.tasks.evaluator_task", task_modules.EVALUATOR),
    ("gangrun.tf_yarn.tensorflow.tasks.evaluator_task", task_modules.EVALUATOR),
    ("tf_yarn.tasks.gloo_allred_task", task_modules.HOROVOD_GLOO),
    ("tf_yarn.tasks._gloo_allred_task", task_modules.HOROVOD_GLOO),
    ("tf_yarn.tensorflow.tasks.gloo_allred_task", task_modules.HOROVOD_GLOO),
    ("tf_yarn.pytorch.tasks.worker", task_modules.PYTORCH),
    ("tf_yarn.distributed.task", task_modules.DISTRIBUTED),
])
def test_the_names_of_all_releases_are_known(name, module):
    found = task_modules.resolve(name)
    assert found.ours and found.name == module
    assert found.needs_chief == (module == task_modules.INDEPENDENT_WORKERS)


def test_a_module_of_the_users_own_is_a_program():
    assert task_modules.resolve("my_tasks.special") == task_modules.TaskModule("my_tasks.special", ours=False)


def test_horovod_alone_gets_its_variables():
    assert task_modules.resolve("tf_yarn.tasks.gloo_allred_task").frameworks == ("horovod",)


@pytest.mark.parametrize("name", ["tf_collective_all_reduce.python.tf_yarn._rabit_allred_task",
                                  "tf_yarn.tasks.tf_collective_all_reduce", "tf_yarn.tasks._rabit_allred_task"])
def test_the_reduction_that_nobody_can_install_names_the_other_one(name):
    with pytest.raises(ValueError, match=r"cannot be installed .* Horovod with gloo .*gloo_allred_task"):
        task_modules.resolve(name)


def test_a_module_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(ValueError, match="'tf_yarn.tasks.event' is not a task module here; .* pytorch.tasks.worker"):
        task_modules.resolve("tf_yarn.tasks.event")
