"""`run_on_yarn`: run an experiment_fn as a job and wait for its end."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import time
from typing import Any, Callable, Mapping, Optional, Sequence, Union, overload

import gangrun
from gangrun import _function, _job, _places, compat, errors
from gangrun.tf_yarn import environment, mlflow, report, task_modules, topologies
from gangrun.tf_yarn.experiment import ExperimentFn, SafeFunction
from gangrun.tf_yarn.metrics import Metrics, Thresholds, metrics_of
from gangrun.tf_yarn.tasks.order import Order
from gangrun.tf_yarn.topologies import NodeLabel, TaskSpecs

Thresholds_ = Mapping[str, "tuple[Optional[float], Optional[float]]"]
PyenvPath = Union[str, "os.PathLike[str]", Mapping[NodeLabel, Any], Any]
# The folder in a task where the archive of cuda_runtime_hdfs_path is unpacked.
CUDA_FOLDER = "cuda_runtime"


class RunFailed(Exception):
    """The job of run_on_yarn failed. The message is the first failure, with the task's traceback.

    `cause` is a dict with `task`, `host`, `sentence`, `last_lines` and `traceback`; empty if no failure is known.
    `job_id` is the id for `gangrun logs` and `gangrun why`. The exception that the task raised is the `__cause__`.
    """

    def __init__(self, message: str = "", cause: Optional[Mapping[str, Any]] = None, job_id: str = "") -> None:
        super().__init__(message)
        self.cause, self.job_id = dict(cause or {}), job_id


@dataclasses.dataclass
class Arguments:
    """The arguments of run_on_yarn by name."""

    experiment_fn: ExperimentFn
    task_specs: TaskSpecs
    pyenv_zip_path: PyenvPath = None
    skein_client: Any = None
    files: Optional[Mapping[str, str]] = None
    env: Optional[Mapping[str, str]] = None
    queue: str = "default"
    acls: Any = None
    file_systems: Optional[Sequence[str]] = None
    eval_monitor_log_thresholds: Optional[Thresholds_] = None
    nb_retries: int = 0
    custom_task_module: Optional[str] = None
    name: str = "RunOnYarn"
    pre_script_hook: Optional[str] = None
    cuda_runtime_hdfs_path: Optional[str] = None
    on: str = ""

    @classmethod
    def of(cls, args: Sequence[Any], kwargs: Mapping[str, Any], default_specs: Callable[[], TaskSpecs],
           experiment_name: str = "experiment_fn") -> Arguments:
        """Parse the arguments of a call. Positional arguments begin with pyenv_zip_path or with experiment_fn.

        Raises TypeError for unknown, missing or repeated arguments.
        """
        names = [experiment_name, "task_specs"]
        if args and not callable(args[0]):
            names.insert(0, "pyenv_zip_path")
        if len(args) > len(names):
            raise TypeError(f"run_on_yarn takes {', '.join(names)} by place, the rest by name; {len(args)} were given")
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name in given:
                raise TypeError(f"run_on_yarn: {name} was given twice")
            given[name] = value
        known = {field.name for field in dataclasses.fields(cls)} - {"experiment_fn"} | {experiment_name}
        for name in given:
            if name not in known:
                raise TypeError(f"run_on_yarn has no argument {name!r}; there are: {', '.join(sorted(known))}")
        if experiment_name not in given:
            raise TypeError(f"run_on_yarn: {experiment_name} is missing")
        given["experiment_fn"] = given.pop(experiment_name)
        given.setdefault("task_specs", None)
        if given["task_specs"] is None:
            given["task_specs"] = default_specs()
        return cls(**given)

    def check(self) -> None:
        """Validate the arguments without any network access. Raises ValueError or TypeError."""
        self.on = self.on or compat.default_place()
        if problem := _places.problem_of(self.on, _places.OTHER_TOOLS):
            raise ValueError(f"on: {problem}")
        if not callable(self.experiment_fn):
            raise TypeError(f"experiment_fn: {self.experiment_fn!r} is not a function")
        if not isinstance(self.nb_retries, int) or isinstance(self.nb_retries, bool) or self.nb_retries < 0:
            raise ValueError(f"nb_retries: {self.nb_retries!r} is not allowed; allowed: 0 and more")
        self.task_specs = topologies.present(self.task_specs)
        environment.check_file_systems(self.file_systems)
        environment.yarn_acls(self.acls)
        Thresholds(self.eval_monitor_log_thresholds)
        if isinstance(self.pyenv_zip_path, tuple) and len(self.pyenv_zip_path) == 2:
            self.pyenv_zip_path = self.pyenv_zip_path[0]  # as cluster_pack.upload_env returns it
        if self.cuda_runtime_hdfs_path and self.on == "local":
            report.tell("cuda_runtime_hdfs_path is not used on this machine, which has its own")
        if self.skein_client is not None:
            report.tell("skein_client is not used: gangrun speaks to YARN itself")

    def environments(self) -> Any:
        """Return the Python environment of the tasks, or a dict of task type → environment.

        With `on="local"` it is None: the tasks run with the caller's Python.
        """
        if self.on == "local":
            if self.pyenv_zip_path is not None:
                report.tell("pyenv_zip_path is not used on this machine: the tasks run with this Python")
            return None
        if not isinstance(self.pyenv_zip_path, Mapping):
            return self.pyenv_zip_path
        by_label = {label.value if isinstance(label, NodeLabel) else label: path
                    for label, path in self.pyenv_zip_path.items()}
        chosen = {}
        for task, spec in self.task_specs.items():
            if spec.label.value not in by_label:
                raise ValueError(f"pyenv_zip_path: there is no environment for {spec.label}, which {task} has")
            chosen[task] = by_label[spec.label.value]
        return chosen


def job_name(name: str) -> str:
    """Return a valid job name made from any text."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", str(name)).lstrip("._-")[:63]
    return "RunOnYarn" if plain in ("", "last") else plain  # commands take "last" for the newest job


class _Tries:
    """One run_on_yarn: the same job, until it succeeds or no try is left."""

    def __init__(self, arguments: Arguments, module: task_modules.TaskModule) -> None:
        self.arguments, self.module = arguments, module
        self.recorder = mlflow.Recorder(mlflow.find())

    def run(self) -> Metrics:
        try:
            for n_try in range(self.arguments.nb_retries):
                try:
                    return self.once(n_try)
                except RunFailed as failure:
                    if isinstance(failure.__cause__, errors.JobKilled):
                        raise
                    report.tell(f"trying again; tries left: {self.arguments.nb_retries - n_try}")
            return self.once(self.arguments.nb_retries)
        finally:
            self.recorder.close()

    def once(self, n_try: int) -> Metrics:
        tries = self.arguments.nb_retries + 1
        events = report.Events(Thresholds(self.arguments.eval_monitor_log_thresholds),
                               f", try {n_try + 1} of {tries}" if tries > 1 else "")

        def on_status(status: Mapping[str, Any]) -> None:
            events.on_status(status)
            self.recorder.on_figures(events.figures, n_try)

        failure: Optional[Exception] = None
        try:
            gangrun.run(on_status=on_status, on_line=self.recorder.on_line if self.recorder.run_id else None, display=False,
                        **self.job(n_try))
        except Exception as error:  # what the task raised, or what became of the job
            if not events.status:
                raise  # there was no job
            failure = error
        return self.end(events, failure, n_try)

    def end(self, events: report.Events, failure: Optional[BaseException], n_try: int) -> Metrics:
        status, succeeded = events.status, failure is None
        metrics = metrics_of(report.ended(events.figures, status, time.time()))
        text = describe(status, failure) if failure is not None else None
        # The exception tells it of the last try.
        report.tell(report.final(status, metrics, text if n_try < self.arguments.nb_retries else None))
        self.recorder.on_end({str(task["task"]): report.status_of(task, succeeded) for task in status.get("tasks", ())},
                             metrics, n_try)
        if failure is not None:
            raise RunFailed(text or "", status.get("cause"), str(status.get("id", ""))) from failure
        return metrics

    def job(self, n_try: int) -> dict[str, Any]:
        """The arguments of gangrun.run."""
        given = self.arguments
        yarn = given.on == "yarn"
        order = Order(given.experiment_fn, self.module.name, self.module.ours, given.pre_script_hook,
                      cuda_folder=CUDA_FOLDER if given.cuda_runtime_hdfs_path and yarn else None)
        # tf-yarn's users find their files where their functions work.
        keys: dict[str, Any] = {} if yarn or not given.files else {_job.OWN_FOLDER: True}
        if given.cuda_runtime_hdfs_path and yarn:
            keys["archives"] = {CUDA_FOLDER: given.cuda_runtime_hdfs_path}
        return {
            "tasks": {task: task_of(task, spec, yarn) for task, spec in given.task_specs.items()},
            "main": run_task, "args": (order,), "on": given.on, "name": job_name(given.name), "files": given.files,
            "env": environment.job_variables(given.env, n_try, self.recorder.variables()),
            "environment": given.environments(), "queue": given.queue if yarn else None,
            "framework": list(self.module.frameworks) if self.module.frameworks else None,
            "yarn": environment.yarn_keys(given.acls, given.file_systems) if yarn else None, "job": keys}


def task_of(task: str, spec: topologies.TaskSpec, yarn: bool) -> gangrun.TaskSpec:
    """Return the gangrun.TaskSpec of a task type. Resources and labels are requested on YARN only."""
    return gangrun.TaskSpec(
        instances=spec.instances, processes=spec.nb_proc_per_worker, env=environment.task_variables(spec),
        memory=f"{spec.memory} MiB" if yarn else None, vcores=spec.vcores if yarn else None,
        label=spec.label.value if yarn else None,
        grace=spec.termination_timeout_seconds if task == "tensorboard" else None)


def describe(status: Mapping[str, Any], failure: BaseException) -> str:
    """Return the first failure as text: one sentence, then the task's traceback or its last lines."""
    cause = status.get("cause") or {}
    lines = [str(cause.get("sentence") or failure)]
    remote = failure.__cause__
    if isinstance(remote, errors.RemoteTraceback):
        lines += [f"Exception in task {remote.task or cause.get('task')}:", remote.text.rstrip()]
    elif cause.get("traceback"):
        lines += [f"Exception in task {cause.get('task')}:", str(cause["traceback"]).rstrip()]
    else:
        lines += [f"  {line}" for line in cause.get("last_lines", ())]
    return "\n".join(lines)


def check_function(experiment_fn: Any, files: Mapping[str, str]) -> None:
    """Check that experiment_fn and its imports can be shipped to the tasks; raise InvalidJob if not."""
    function = experiment_fn
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, SafeFunction):
        return  # its module may be there only
    try:
        _function.payloads([experiment_fn], (), {}, files)
        if function is not experiment_fn:
            _function.payloads([function], (), {}, files)
    except errors.InvalidJob as error:
        raise errors.InvalidJob(re.sub("^main: ", "experiment_fn: ", str(error))) from error.__cause__


def run_task(order: Order) -> None:
    """Run the order of the client in a task; the entry point of every task."""
    from gangrun.tf_yarn.tasks import entry

    entry.run(order)


def run_with(arguments: Arguments, default_module: str = task_modules.INDEPENDENT_WORKERS) -> Metrics:
    """Check the arguments, submit the job, follow it, and retry it if requested. All variants of run_on_yarn call this."""
    arguments.check()
    module = task_modules.resolve(arguments.custom_task_module, default_module)
    if module.needs_chief:
        topologies.check_training(arguments.task_specs)
    check_function(arguments.experiment_fn, arguments.files or {})
    return _Tries(arguments, module).run()


@overload
def run_on_yarn(experiment_fn: ExperimentFn, task_specs: Optional[TaskSpecs] = None, *, pyenv_zip_path: PyenvPath = None,
                skein_client: Any = None, files: Optional[Mapping[str, str]] = None,
                env: Optional[Mapping[str, str]] = None, queue: str = "default", acls: Any = None,
                file_systems: Optional[Sequence[str]] = None,
                eval_monitor_log_thresholds: Optional[Thresholds_] = None, nb_retries: int = 0,
                custom_task_module: Optional[str] = None, name: str = "RunOnYarn",
                pre_script_hook: Optional[str] = None, cuda_runtime_hdfs_path: Optional[str] = None,
                on: str = "") -> Metrics: ...


@overload
def run_on_yarn(pyenv_zip_path: PyenvPath, experiment_fn: ExperimentFn, task_specs: Optional[TaskSpecs] = None, *,
                skein_client: Any = None, files: Optional[Mapping[str, str]] = None,
                env: Optional[Mapping[str, str]] = None, queue: str = "default", acls: Any = None,
                file_systems: Optional[Sequence[str]] = None,
                eval_monitor_log_thresholds: Optional[Thresholds_] = None, nb_retries: int = 0,
                custom_task_module: Optional[str] = None, name: str = "RunOnYarn",
                pre_script_hook: Optional[str] = None, cuda_runtime_hdfs_path: Optional[str] = None,
                on: str = "") -> Metrics: ...


def run_on_yarn(*args: Any, **kwargs: Any) -> Metrics:
    """Run an experiment on YARN, or with on="local" on this machine, and wait until it ends. Returns Metrics.

    experiment_fn is called in every task and returns an Experiment or a KerasExperiment. task_specs maps task types to
    TaskSpec; the default is single_server_topology(). docs/from-tf-yarn.md describes all arguments.

    Raises RunFailed if the job fails, and ValueError or TypeError for wrong arguments before anything is submitted.
    """
    return run_with(Arguments.of(args, kwargs, topologies.single_server_topology))
