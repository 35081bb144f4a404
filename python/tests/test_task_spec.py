"""From a TaskSpec to the keys of a job file."""

import pytest

import gangrun
from gangrun import _job
from gangrun.errors import InvalidJob


def test_only_what_is_said_is_in_the_job_file():
    assert gangrun.TaskSpec().to_json() == {"instances": 1}
    spec = gangrun.TaskSpec(instances=2, memory="2 GiB", vcores=2, env={"A": "b"}, command=("python", "x.py"),
                            one_per_node=True, environment="env.pex", resources={"yarn.io/fpga": 1})
    assert spec.to_json() == {"instances": 2, "memory": "2 GiB", "vcores": 2, "env": {"A": "b"},
                              "command": ["python", "x.py"], "one_per_node": True, "resources": {"yarn.io/fpga": 1}}


@pytest.mark.parametrize("tasks, said", [
    ({}, "not a mapping of task types"),
    (["worker"], "not a mapping of task types"),
    ({"a b": 1}, "'a b' is not a task type"),
    ({"worker": "2"}, "tasks.worker: '2' is a str"),
])
def test_wrong_tasks_are_named(tasks, said):
    with pytest.raises(InvalidJob, match=said):
        _job.specs_of(tasks)


@pytest.mark.parametrize("main, name", [
    ("pkg.mod:train", "train"), (["python", "src/train.py", "--x"], "train"), (["sleep", "1"], "sleep"), ("last.py", "last.py"), ("./last", "job"),
    ("./run.sh --fast", "run.sh"), (test_only_what_is_said_is_in_the_job_file, "test_only_what_is_said_is_in_the_job_file"),
    (lambda: None, "lambda"),
])
def test_a_job_has_its_name_from_what_it_runs(main, name):
    assert _job.name_for({"worker": main}) == name


def test_each_type_may_have_its_own_main():
    request = _job.Request(tasks={}, main={"worker": ["a"], "ps": "b c"})
    specs = {"worker": gangrun.TaskSpec(), "ps": gangrun.TaskSpec(), "tensorboard": gangrun.TaskSpec(logdir="out")}
    assert _job.mains_of(request, specs) == {"worker": ["a"], "ps": "b c", "tensorboard": None}
    with pytest.raises(InvalidJob, match="there is no task type 'chief'; there are: worker"):
        _job.mains_of(_job.Request(tasks={}, main={"chief": ["a"]}), {"worker": gangrun.TaskSpec()})
    with pytest.raises(InvalidJob, match="the task type 'worker' has nothing to run"):
        _job.mains_of(_job.Request(tasks={}, main=None), {"worker": gangrun.TaskSpec()})


def test_what_kubernetes_is_told_is_in_the_job_file(monkeypatch):
    spec = gangrun.TaskSpec(image="a", pod={"spec": {"hostNetwork": True}}, outputs=("model/",))
    assert spec.to_json() == {"instances": 1, "image": "a", "pod": {"spec": {"hostNetwork": True}}, "outputs": ["model/"]}
    requests = []

    def taken(request, progress, check):
        requests.append(request)
        raise InvalidJob("enough")

    monkeypatch.setattr(_job, "prepare", taken)
    with pytest.raises(InvalidJob, match="enough"):
        gangrun.run({"worker": spec}, ["true"], on="k8s", image="b", kubernetes={"namespace": "ml"}, queue="team", outputs=["log.txt"])
    assert requests[0].on == "kubernetes"
    assert requests[0].keys == {"image": "b", "outputs": ["log.txt"], "kubernetes": {"namespace": "ml", "queue": "team"}}
