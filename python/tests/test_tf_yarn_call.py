"""run_on_yarn before anything is submitted: both forms of the call, what is wrong with one, and the job that it makes."""

import threading
import types

import pytest

import gangrun
from gangrun import errors
from gangrun.tf_yarn import (NodeLabel, RunFailed, TaskSpec, client, get_safe_experiment_fn, ps_strategy_topology,
                             run_on_yarn, single_server_topology)

CHIEF = {"chief": TaskSpec(memory="1 GiB", vcores=1)}


def experiment_fn():
    raise AssertionError("the client never calls it")


class Job:
    """In the place of gangrun.run: keeps its arguments, and ends as it is told."""

    def __init__(self, outcomes):
        self.outcomes, self.given = list(outcomes), []

    def __call__(self, on_status, **given):
        self.given.append(given)
        outcome = self.outcomes.pop(0)
        state = "succeeded" if outcome is None else "killed" if isinstance(outcome, errors.JobKilled) else "failed"
        if not isinstance(outcome, (errors.InvalidJob, KeyboardInterrupt)):
            cause = {"task": "chief:0", "host": "n1", "sentence": "chief:0 on n1 exited with status 1", "traceback": ""}
            on_status({"id": f"job-{len(self.given)}", "state": state, "elapsed_ms": 1500, "tasks": [],
                       "cause": cause if outcome is not None else None})
        if outcome is not None:
            raise outcome


@pytest.fixture
def job(monkeypatch):
    def ends(*outcomes):
        made = Job(outcomes or [None])
        monkeypatch.setattr(client.gangrun, "run", made)
        return made

    return ends


@pytest.mark.parametrize("call, environment", [
    (lambda: run_on_yarn("env.pex", experiment_fn, CHIEF), "env.pex"),
    (lambda: run_on_yarn("env.pex", experiment_fn, task_specs=CHIEF), "env.pex"),
    (lambda: run_on_yarn(pyenv_zip_path="env.pex", experiment_fn=experiment_fn, task_specs=CHIEF), "env.pex"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, pyenv_zip_path="env.pex"), "env.pex"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, pyenv_zip_path=("env.pex", "env")), "env.pex"),
    (lambda: run_on_yarn(experiment_fn, CHIEF), None),
    (lambda: run_on_yarn(None, experiment_fn, CHIEF), None),
    (lambda: run_on_yarn({NodeLabel.CPU: "c.pex", NodeLabel.GPU: "g.pex"}, experiment_fn, CHIEF), {"chief": "c.pex"}),
])
def test_both_forms_of_the_call(job, call, environment):
    ran = job()
    call()
    (given,) = ran.given
    assert given["environment"] == environment
    assert (given["on"], given["queue"], given["name"]) == ("yarn", "default", "RunOnYarn")
    assert given["args"][0].experiment_fn is experiment_fn


@pytest.mark.parametrize("call, error, words", [
    (lambda: run_on_yarn("env.pex", task_specs=CHIEF), TypeError, "experiment_fn is missing"),
    (lambda: run_on_yarn("env.pex", "env2.pex", CHIEF), TypeError, "experiment_fn: 'env2.pex' is not a function"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, "x"), TypeError, "takes experiment_fn, task_specs by place"),
    (lambda: run_on_yarn("e", experiment_fn, CHIEF, pyenv_zip_path="e"), TypeError, "pyenv_zip_path was given twice"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, file={}), TypeError, "no argument 'file'"),
    (lambda: run_on_yarn(experiment_fn, {"wroker": CHIEF["chief"]}), ValueError, "'wroker' is not a task type; allowed: chief"),
    (lambda: run_on_yarn(experiment_fn, {"chief": {"memory": 1}}), ValueError, r"task_specs\['chief'\]: .* is not a TaskSpec"),
    (lambda: run_on_yarn(experiment_fn, {}), ValueError, "names no tasks"),
    (lambda: run_on_yarn(experiment_fn, {"worker": CHIEF["chief"]}), ValueError, "there is no chief"),
    (lambda: run_on_yarn(experiment_fn, {"evaluator": CHIEF["chief"]}), ValueError, "custom_task_module="),
    (lambda: run_on_yarn(experiment_fn, {"tensorboard": CHIEF["chief"]}), ValueError, "no task to run"),
    (lambda: run_on_yarn(experiment_fn, {"chief": TaskSpec(1, 1, instances=2)}), ValueError, "instances: 2 is not allowed"),
    (lambda: run_on_yarn(experiment_fn, {**CHIEF, "worker": TaskSpec(1, 1, nb_proc_per_worker=2)}), ValueError,
     r"task_specs\['worker'\]: nb_proc_per_worker: 2 is not allowed"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, nb_retries=-1), ValueError, "nb_retries: -1 is not allowed"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, on="mars"), ValueError, "on: 'mars' is not a known place; allowed: local, yarn"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, file_systems=["preprod"]), ValueError, "'preprod' is not an address"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, file_systems="hdfs://a"), ValueError, "allowed: a list"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, acls={"viewers": ["a"]}), ValueError, "'viewers' is not a field"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, acls={"view_users": "ann"}), ValueError, "view_users: 'ann' is not a list"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, eval_monitor_log_thresholds={"awake": (0, 1)}), ValueError,
     "'awake' is not a figure of an evaluator; allowed: awake_time_ratio"),
    (lambda: run_on_yarn(experiment_fn, CHIEF, pyenv_zip_path={NodeLabel.GPU: "g.pex"}), ValueError, "no environment for"),
    (lambda: TaskSpec(memory="2 GBB", vcores=1), ValueError, "TaskSpec: memory: '2 GBB' is not an amount"),
    (lambda: TaskSpec(memory=0, vcores=1), ValueError, "is nothing"),
    (lambda: TaskSpec(memory=1, vcores=0), ValueError, "vcores: 0 is not allowed; allowed: 1 and more"),
    (lambda: TaskSpec(memory=1, vcores=1, label="gpu"), ValueError, "allowed: NodeLabel.CPU, NodeLabel.GPU"),
    (lambda: get_safe_experiment_fn("experiment_fn"), ValueError, "allowed: package.module.function"),
    (lambda: ps_strategy_topology(nb_ps=0), ValueError, "nb_ps: 0 is not allowed"),
])
def test_what_is_wrong_is_told_before_anything_is_submitted(job, call, error, words):
    ran = job()
    with pytest.raises(error, match=words):
        call()
    assert ran.given == []


def test_what_cannot_be_pickled_is_named(job):
    ran, lock = job(), threading.Lock()
    with pytest.raises(errors.InvalidJob, match="experiment_fn: .*'lock'"):
        run_on_yarn(lambda: lock, CHIEF)
    assert ran.given == []


def test_a_module_that_is_not_shipped_is_named(job, folder, monkeypatch):
    (folder / "beside_the_script.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(folder))
    ran = job()

    def uses_it():
        import beside_the_script
        return beside_the_script

    with pytest.raises(errors.InvalidJob, match="experiment_fn: .*beside_the_script.*files"):
        run_on_yarn(uses_it, CHIEF)
    assert ran.given == []
    run_on_yarn(uses_it, CHIEF, files={"beside_the_script.py": str(folder / "beside_the_script.py")})


def test_task_specs_become_tasks(job):
    ran = job()
    run_on_yarn(experiment_fn, {
        "chief": TaskSpec("2 GiB", 4, label=NodeLabel.GPU),
        "worker": TaskSpec(memory=512, vcores=1, instances=2),
        "ps": TaskSpec(memory=512, vcores=1, instances=0),
        "tensorboard": TaskSpec(512, 1, tb_model_dir="/m", tb_extra_args="--bind_all"),
    }, queue="ml-gpu", acls={"view_users": ["ann", "bob"], "view_groups": ["ml"], "modify_users": ["*"]},
        cuda_runtime_hdfs_path="hdfs:///cuda.tar.gz", name="my wine (red)", file_systems=["hdfs://other"])
    (given,) = ran.given
    assert given["tasks"] == {
        "chief": gangrun.TaskSpec(memory="2048 MiB", vcores=4, label="gpu"),
        "worker": gangrun.TaskSpec(instances=2, memory="512 MiB", vcores=1, label=""),
        "tensorboard": gangrun.TaskSpec(memory="512 MiB", vcores=1, label="", grace=30,
                                        env={"TB_MODEL_DIR": "/m", "TB_EXTRA_ARGS": "--bind_all"}),
    }
    assert (given["queue"], given["name"], given["framework"]) == ("ml-gpu", "my-wine-red-", ["tensorflow"])
    assert given["yarn"] == {"view_acl": "ann,bob ml", "modify_acl": "*", "file_systems": ["hdfs://other"]}
    assert given["job"] == {"archives": {"cuda_runtime": "hdfs:///cuda.tar.gz"}}


def test_this_machine_is_asked_for_nothing(job, capsys):
    ran = job()
    run_on_yarn("env.pex", experiment_fn, {"chief": TaskSpec("48 GiB", 48, label=NodeLabel.GPU)}, on="local", skein_client=1,
                cuda_runtime_hdfs_path="hdfs:///cuda.tar.gz")
    (given,) = ran.given
    assert given["job"] == {} and given["args"][0].cuda_folder is None
    assert given["tasks"] == {"chief": gangrun.TaskSpec()}
    assert (given["environment"], given["queue"], given["yarn"]) == (None, None, None)
    told = capsys.readouterr().err
    assert "pyenv_zip_path is not used on this machine" in told and "skein_client is not used" in told


def test_default_topologies(job):
    ran = job()
    run_on_yarn(experiment_fn)
    assert list(ran.given[0]["tasks"]) == ["chief", "evaluator", "tensorboard"]
    assert single_server_topology(memory=10, vcores=2)["chief"] == TaskSpec(10, 2)
    assert {name: spec.instances for name, spec in ps_strategy_topology(3, 2, "1 GiB", 1).items()} == {
        "chief": 1, "evaluator": 1, "worker": 3, "ps": 2, "tensorboard": 1}


@pytest.mark.parametrize("name", ["tf_yarn.tasks.evaluator_task", "tf_yarn.tensorflow.tasks.evaluator_task",
                                  "gangrun.tf_yarn.tasks.evaluator_task"])
def test_the_evaluation_alone_by_all_its_names(job, name):
    ran = job()
    run_on_yarn(experiment_fn, {"evaluator": TaskSpec(1, 1)}, custom_task_module=name)
    order = ran.given[0]["args"][0]
    assert (order.module, order.ours) == ("gangrun.tf_yarn.tensorflow.tasks.evaluator_task", True)


def test_a_module_of_the_users_own(job):
    ran = job()
    run_on_yarn(experiment_fn, {"worker": TaskSpec(1, 1, nb_proc_per_worker=3)}, custom_task_module="my.task")
    assert ran.given[0]["tasks"]["worker"].processes == 3
    assert (ran.given[0]["args"][0].module, ran.given[0]["args"][0].ours) == ("my.task", False)


def test_variables_of_the_tasks_are_made_anew_for_each_try(job):
    ran = job(errors.JobFailed("no"), RuntimeError("no"), None)
    mine = {"LIBHDFS_OPTS": "-Xmx1g", "HADOOP_CONF_DIR": "/etc/hadoop/conf.all"}
    run_on_yarn(experiment_fn, CHIEF, env=mine, nb_retries=3)
    assert [given["env"]["TF_YARN_N_TRY"] for given in ran.given] == ["0", "1", "2"]
    assert {given["env"]["LIBHDFS_OPTS"] for given in ran.given} == {"-Xms64m -Xmx512m -Xmx1g"}
    assert {given["env"]["HADOOP_CONF_DIR"] for given in ran.given} == {"/etc/hadoop/conf.all"}
    assert mine == {"LIBHDFS_OPTS": "-Xmx1g", "HADOOP_CONF_DIR": "/etc/hadoop/conf.all"}
    job()
    run_on_yarn(experiment_fn, CHIEF)
    assert "TF_YARN_N_TRY" not in mine


def test_a_run_that_failed_tells_the_first_cause_and_the_traceback_of_the_task(job, capsys):
    raised = ValueError("no wine")
    raised.__cause__ = errors.RemoteTraceback("Traceback (most recent call last):\nValueError: no wine\n", "chief:0", "n1")
    ran = job(raised, raised)
    with pytest.raises(RunFailed) as caught:
        run_on_yarn(experiment_fn, CHIEF, nb_retries=1)
    assert len(ran.given) == 2
    assert str(caught.value).splitlines() == ["chief:0 on n1 exited with status 1", "Exception in task chief:0:",
                                              "Traceback (most recent call last):", "ValueError: no wine"]
    assert caught.value.__cause__ is raised and caught.value.cause["host"] == "n1" and caught.value.job_id == "job-2"
    assert "job-1 is submitted, try 1 of 2" in capsys.readouterr().err


def test_what_somebody_has_ended_is_not_tried_again(job):
    ran = job(errors.JobKilled("stopped", {}), None)
    with pytest.raises(RunFailed):
        run_on_yarn(experiment_fn, CHIEF, nb_retries=1)
    assert len(ran.given) == 1


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), errors.InvalidJob("queue: there is no queue 'x'")])
def test_ctrl_c_and_what_was_never_submitted_are_raised_as_they_are(job, raised):
    ran = job(raised, None)
    with pytest.raises(type(raised)):
        run_on_yarn(experiment_fn, CHIEF, nb_retries=5)
    assert len(ran.given) == 1


def test_a_function_by_its_name_is_found_where_it_is_called(monkeypatch):
    function = get_safe_experiment_fn("not_here.deep.make", 1, "two")
    client.check_function(function, {})
    module = types.ModuleType("not_here.deep")
    module.make = lambda *args: args
    monkeypatch.setitem(__import__("sys").modules, "not_here.deep", module)
    monkeypatch.setitem(__import__("sys").modules, "not_here", types.ModuleType("not_here"))
    assert function() == (1, "two")


def test_names_are_made_fit():
    assert [client.job_name(name) for name in ("RunOnYarn", "-x y", "", "é", "last")] == [
        "RunOnYarn", "x-y", "RunOnYarn", "RunOnYarn", "RunOnYarn"]


def test_acls_of_skein():
    acls = types.SimpleNamespace(enable=True, view_users=["*"], view_groups=[], modify_users=[], modify_groups=["ops"],
                                 ui_users=["*"])
    assert client.environment.yarn_acls(acls) == {"view_acl": "*", "modify_acl": " ops"}
    acls.enable = False
    assert client.environment.yarn_acls(acls) == {}
