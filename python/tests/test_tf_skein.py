"""tf-skein's call, on this machine where a job is needed."""

import logging

import pytest

from gangrun import tf_skein
from gangrun.tf_skein import TaskFlavor, TaskSpec, YARNCluster
from gangrun.tf_yarn import topologies

CHIEF = TaskSpec(memory=64, vcores=1)
TASK = """
import os, select, library.inner, beside
from gangrun.tf_yarn.tasks import order
print("found", os.environ["GANGRUN_TASK_TYPE"], library.inner.NAME, beside.NAME, os.environ["A"], os.environ["B"])
told = order.current().experiment_fn()
with open(told, "a") as file:
    file.write(os.environ["GANGRUN_TASK_TYPE"] + " ")
# The end of the chief is the end of the ps.
while "ps" not in open(told).read():
    select.select([], [], [], 0.02)
"""


@pytest.mark.parametrize("task_specs, said", [
    ({}, r"0 tasks of the type chief; exactly one is needed, it leads the training"),
    ({"evaluator": CHIEF}, "0 tasks of the type chief"),
    ({"chief": TaskSpec(64, 1, instances=2)}, "2 tasks of the type chief"),
    ({"chief": CHIEF, "worker": CHIEF}, "a worker needs at least one ps"),
    ({"chief": CHIEF, "evaluator": TaskSpec(64, 1, 2)}, "2 tasks of the type evaluator; at most one"),
    ({"chief": CHIEF, "boss": CHIEF}, "'boss' is not a task type; allowed: chief, worker, ps, evaluator, tensorboard"),
    ({"chief": 3}, "chief is a int, a tf_skein.TaskSpec is needed"),
])
def test_what_no_estimator_could_be_trained_with_is_refused(task_specs, said):
    with pytest.raises(ValueError, match=f"task_specs: .*{said}"):
        YARNCluster(task_specs)
    with pytest.raises(ValueError, match=f"task_specs: .*{said}"):
        YARNCluster().run(str, task_specs=task_specs)


def test_tasks_have_to_be_said_somewhere():
    with pytest.raises(ValueError, match="task_specs: not given, neither to YARNCluster nor to run"):
        YARNCluster().run(str)


def test_specs_are_those_of_tf_yarn():
    made = tf_skein.of_tf_yarn({"chief": TaskSpec(2 * 2**10, 4, flavor=TaskFlavor.GPU), "ps": TaskSpec(1, 1, instances=0)})
    assert made == {"chief": topologies.TaskSpec(memory="2 GiB", vcores=4, label=topologies.NodeLabel.GPU)}


def test_modules_and_packages_among_the_files_are_imported(tmp_path, caplog):
    """Those of the cluster, and those of the run; the function is called in every task."""
    (tmp_path / "library").mkdir()
    (tmp_path / "library/__init__.py").touch()
    for name, text in {"library/inner.py": "NAME = 'inner'", "beside.py": "NAME = 'beside'", "own_task.py": TASK}.items():
        (tmp_path / name).write_text(text)
    told = str(tmp_path / "told")
    cluster = YARNCluster({"chief": CHIEF, "ps": CHIEF}, files={"library": str(tmp_path / "library")}, env_vars={"A": "1", "B": "1"})
    with caplog.at_level(logging.WARNING, "gangrun.tf_skein"):
        cluster.run(lambda: told, files={name: str(tmp_path / name) for name in ("beside.py", "own_task.py")}, env={"B": "2"},
                    custom_task_module="own_task", on="local")
    assert sorted(open(told).read().split()) == ["chief", "ps"]
    assert caplog.messages == ["there is no evaluator among task_specs: the model is not evaluated during training"]


def test_a_failed_run_is_raised(tmp_path):
    """The peer only logged it."""
    (tmp_path / "own_task.py").write_text("raise LookupError('no wine')")
    with pytest.raises(tf_skein.RunFailed, match="no wine"):
        tf_skein.run_on_yarn(str, {"chief": CHIEF, "evaluator": CHIEF}, files={"own_task.py": str(tmp_path / "own_task.py")},
                             custom_task_module="own_task", on="local")
