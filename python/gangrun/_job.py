"""From the arguments of `run` to a job file: what docs/job.md describes."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from gangrun import _function, _job_keys, _places, _staging
from gangrun._task_spec import TaskSpec as TaskSpec
from gangrun.errors import InvalidJob

Main = Union[None, str, Sequence[str], Callable[..., Any]]
Files = Union[None, Mapping[str, Any], Sequence[Any]]

REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
UNPACKING_LIMIT = "10 min"
OWN_FOLDER = "gangrun.own_folder"  # of our own callers, among the keys of `job`: Request.own_folder
# Enters the folder of its own that a command has on this machine where files are given; $1 is the staging folder.
ENTER = ('d="$1/tasks/$GANGRUN_TASK_TYPE-$GANGRUN_TASK_INDEX"; mkdir -p "$d" && cd "$d" || exit 1; '
         'for f in "$1/files/"* "$1/files/".[!.]*; do n="${f##*/}"; '
         '{ [ -L "$f" ] && [ ! -e "$n" ]; } || continue; ln -s "$f" "$n" 2>/dev/null || [ -e "$n" ] || exit 1; done; '
         'shift; exec "$@"')
# On hosts that ssh reaches tasks begin in the caller's folder, which has the staging folder $1 and the files in it, or in a
# copied one, which has the files itself. A function ($2 is its file) stays there; a command enters a folder of its own.
FILES_THERE = 'b="$PWD"; s="$b/$1/"; if [ -d "${s}files" ]; then f="${s}files"; else s="$b/gangrun-"; f="$b"; fi; '
BEGIN_THERE = FILES_THERE + ('p="$2"; shift 2; export PYTHONPATH="$f/gangrun-runtime.zip:$f${PYTHONPATH:+:$PYTHONPATH}"; '
                             'exec "$@" "$f/$p" "$f"')
ENTER_THERE = FILES_THERE + (
    'shift; d="${s}tasks/$GANGRUN_TASK_TYPE-$GANGRUN_TASK_INDEX"; mkdir -p "$d" && cd "$d" || exit 1; '
    'for p in "$f/"* "$f/".[!.]*; do n="${p##*/}"; { [ -e "$p" ] && [ ! -e "$n" ] && [ "$n" != gangrun-tasks ]; } || continue; '
    'ln -s "$p" "$n" 2>/dev/null || [ -e "$n" ] || exit 1; done; exec "$@"')


# The folder for `cd` on hosts that have a copied one, for all that tasks write in folders of their own.
OWN_FOLDERS_THERE = "gangrun-tasks"
OWN_FOLDERS = ("tasks work in folders of their own, which have the files and are removed at the end; what they write there goes to "
               "the job's outputs")
OWN_FOLDERS_KEPT = ("tasks work in folders of their own, which have the files and stay until `gangrun rm`; what they write there goes "
                    "to the job's outputs")


@dataclasses.dataclass(frozen=True)
class Request:
    """The arguments of `run` that say what the job is."""

    tasks: Mapping[str, Union[TaskSpec, int]]
    main: Union[Main, Mapping[str, Main]]
    args: Sequence[Any] = ()
    kwargs: Optional[Mapping[str, Any]] = None
    on: str = "local"
    names_place: bool = True  # False: `on` is the place of jobs that name none, and the job file names none
    name: Optional[str] = None
    files: Files = None
    env: Optional[Mapping[str, str]] = None
    environment: Any = None
    keys: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # further keys of the job file
    # Whether functions, too, work in a folder of their own that has the files, as in a container of YARN.
    own_folder: bool = False


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A job that can be started: its file lies in the staging folder, which is to be removed after its end."""

    staging: _staging.Staging
    path: str
    is_function: bool
    # The place where its tasks work, if this package makes that folder for them; else empty.
    remark: str = ""

    def client_env(self, own: Optional[Mapping[str, str]]) -> dict[str, str]:
        return {**({"GANGRUN_REMARK": self.remark} if self.remark else {}), **(own or {})}


def specs_of(tasks: Mapping[str, Union[TaskSpec, int]]) -> dict[str, TaskSpec]:
    if not isinstance(tasks, Mapping) or not tasks:
        raise InvalidJob(f"tasks: {tasks!r} is not a mapping of task types to gangrun.TaskSpec; allowed: "
                         "{'worker': TaskSpec(instances=2)} or {'worker': 2}")
    specs = {}
    for name, given in tasks.items():
        if not isinstance(name, str) or not TYPE.fullmatch(name):
            raise InvalidJob(f"tasks: {name!r} is not a task type; allowed: a letter, then at most 39 letters, digits, "
                             "'_' or '-'")
        if isinstance(given, int) and not isinstance(given, bool):
            given = TaskSpec(instances=given)
        if not isinstance(given, TaskSpec):
            raise InvalidJob(f"tasks.{name}: {given!r} is a {type(given).__name__}; allowed: gangrun.TaskSpec, or a "
                             "number of tasks")
        specs[name] = given
    return specs


def mains_of(request: Request, specs: Mapping[str, TaskSpec]) -> dict[str, Main]:
    """Each type's own main; those that bring their command, or run TensorBoard, have none."""
    given = request.main
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - set(specs))
        if unknown:
            raise InvalidJob(f"main: there is no task type {unknown[0]!r}; there are: {', '.join(specs)}")
    mains: dict[str, Main] = {}
    for name, spec in specs.items():
        if spec.command is not None or spec.logdir is not None:
            mains[name] = None
            continue
        main = given.get(name) if isinstance(given, Mapping) else given
        if main is None:
            raise InvalidJob(f"main: the task type {name!r} has nothing to run")
        mains[name] = _checked_main(main, request)
    return mains


def _checked_main(main: Any, request: Request) -> Main:
    if callable(main):
        _check_call(main, request)
        return main  # type: ignore[no-any-return]
    if isinstance(main, str) and main.strip():
        return main
    if isinstance(main, (list, tuple)) and main and all(isinstance(word, (str, bytes, os.PathLike)) for word in main):
        return [os.fsdecode(word) for word in main]
    raise InvalidJob(f"main: {main!r} is a {type(main).__name__}; allowed: a function, 'package.module:function', a list "
                     "of words, or a line for the shell")


def _check_call(main: Callable[..., Any], request: Request) -> None:
    """What would fail in every task, or do nothing there."""
    import inspect

    name = getattr(main, "__qualname__", repr(main))
    if inspect.iscoroutinefunction(main) or inspect.isasyncgenfunction(main) or inspect.isgeneratorfunction(main):
        raise InvalidJob(f"main: {name} is a coroutine or generator function; allowed: a regular function")
    try:
        signature = inspect.signature(main)
    except (TypeError, ValueError):  # of a builtin; it tells in the task
        return
    try:
        signature.bind(*request.args, **(request.kwargs or {}))
    except TypeError as error:
        raise InvalidJob(f"args: {name}{signature} cannot be called with them: {error}") from None


def is_function(main: Main) -> bool:
    return callable(main) or (isinstance(main, str) and REFERENCE.fullmatch(main) is not None)


def name_for(mains: Mapping[str, Main]) -> str:
    """A job's name from what it runs first."""
    main = next((main for main in mains.values() if main is not None), "job")
    if isinstance(main, str):
        name = main.split(":")[-1] if is_function(main) else os.path.basename((main.split() or ["job"])[0])
    elif callable(main):
        name = getattr(main, "__name__", type(main).__name__)
    else:
        script = next((word for word in main if word.endswith(".py")), main[0])
        name = os.path.splitext(os.path.basename(script))[0]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:63]
    return name if NAME.fullmatch(name) and name != "last" else "job"  # which commands take for the newest job


def prepare(request: Request, progress: Callable[[str], None], check: Optional[Callable[[str], object]] = None) -> Prepared:
    """Checks everything that can be checked here, and writes the job file with what it needs beside.

    If an environment has to be packed, `check` gets the path of the job file without it first: packing may take minutes.
    """
    if problem := _places.problem_of(request.on):
        raise InvalidJob(f"on: {problem}")
    specs = specs_of(request.tasks)
    mains = mains_of(request, specs)
    files = _staging.files_of(request.files, request.on)
    functions = [main for main in mains.values() if is_function(main)]
    if functions and request.on == "kubernetes":
        _job_keys.check_agents(request.keys)
    if not functions and (request.args or request.kwargs):
        raise InvalidJob("args and kwargs are for functions; main is a command")
    payloads = _function.payloads(functions, request.args, request.kwargs or {}, files)
    below = os.getcwd() if request.on == "ssh" and (files or functions) else None
    staging = _staging.Staging(below)
    try:
        builder = _Builder(request, staging, files, progress, packs=check is None)
        staging.note_outputs(request.keys, {name: spec.outputs for name, spec in specs.items()})
        job = builder.job(specs, mains, payloads)
        if builder.has_to_pack:
            assert check is not None
            check(staging.write_json("trial.json", job))
            builder.packs = True
            job = builder.job(specs, mains, payloads)
        return Prepared(staging, staging.write_json("job.json", job), bool(functions), builder.remark())
    except BaseException:
        staging.remove()
        raise


class _Builder:
    def __init__(self, request: Request, staging: _staging.Staging, files: Mapping[str, str],
                 progress: Callable[[str], None], packs: bool) -> None:
        self.packs, self.has_to_pack = packs, False
        self.request, self.staging, self.progress = request, staging, progress
        self.local = request.on == "local"
        # Hosts that share the caller's folder get no files of the job: they find them there.
        self.on_ssh = request.on == "ssh"
        # There the command of a function finds gangrun and the files by itself.
        self.is_led_to_files = request.on in ("ssh", "kubernetes")
        self.files = dict(files)
        self.pythons: dict[Any, Any] = {}
        self.has_own_folders = False

    def remark(self) -> str:
        if not self.has_own_folders:
            return ""
        return OWN_FOLDERS_KEPT if self.request.keys.get("keep_folders") is True else OWN_FOLDERS

    def job(self, specs: Mapping[str, TaskSpec], mains: Mapping[str, Main],
            payloads: Mapping[Any, bytes]) -> dict[str, Any]:
        tasks = {}
        for name, spec in specs.items():
            tasks[name] = self.task_type(name, spec, mains, payloads)
        job: dict[str, Any] = {"name": self.request.name or name_for(mains), "tasks": tasks}
        if self.request.names_place:
            job["on"] = self.request.on
        if self.request.env:
            job["env"] = _checked_env(self.request.env, "env")
        shipped = self.staging.link_files(self.files, self.request.on)
        if shipped:
            job["files"] = shipped
        for key, value in self.request.keys.items():
            if key in ("tasks", "command", "files", "on", "env"):
                raise InvalidJob(f"job: the key '{key}' has an argument of its own")
            job[key] = value
        # Nodes that unpack a large environment for the first time may take longer than other tasks for their report.
        if any("archives" in one for one in (job, *tasks.values())) and isinstance(job.get("timeouts", {}), Mapping):
            job["timeouts"] = {"roll_call": UNPACKING_LIMIT, **job.get("timeouts", {})}
        return job

    def task_type(self, name: str, spec: TaskSpec, mains: Mapping[str, Main],
                  payloads: Mapping[Any, bytes]) -> dict[str, Any]:
        keys, main = spec.to_json(), mains[name]
        env = _checked_env(spec.env, f"tasks.{name}.env")
        chosen = _environment_of(name, spec, self.request.environment)
        command: Any = None if main is None else main
        shows = main is None and spec.command is None  # TensorBoard, of the Python that the functions run with
        if is_function(main) or chosen is not None or (shows and any(is_function(other) for other in mains.values())):
            python = self.python(chosen, {**(self.request.env or {}), **spec.env})
            self.files.update(python.files)
            if python.archives:
                keys["archives"] = dict(python.archives)
            env = {**python.env, **env}
            if is_function(main):
                command = [*python.command, "-m", "gangrun._task_main"]
                payload = self.put_payload(payloads[_function.key_of(main)])
                if self.on_ssh:
                    command = ["/bin/sh", "-c", BEGIN_THERE, "sh", self.staging.name, payload, *command]
                else:
                    command += [payload, self.staging.files] if self.local and not self.request.own_folder else [payload]
        if shows and self.local and spec.image is None and "image" not in self.request.keys and "PATH" not in env:
            inherited = (self.request.env or {}).get("PATH") or os.environ.get("PATH") or os.defpath
            env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), inherited])
        runtime = self.runtime() if is_function(main) else None
        has_own_folder = ((self.local or self.on_ssh) and bool(self.request.files)
                          and (self.request.own_folder or not is_function(main)))
        path = self.python_path(None if self.is_led_to_files else runtime, env, self.path_of_files(main, has_own_folder))
        if path:
            env["PYTHONPATH"] = path
        if env:
            keys["env"] = env
        if command is not None:
            keys["command"] = command
        if has_own_folder and "command" in keys:
            keys["command"] = self.in_own_folder(keys["command"])
            self.has_own_folders = True
            # Names are from there, which a host knows nothing of.
            if self.on_ssh and (spec.outputs if spec.outputs is not None else self.request.keys.get("outputs")):
                keys["outputs"] = [OWN_FOLDERS_THERE]
        return keys

    def python(self, chosen: Any, env: Mapping[str, str]) -> Any:
        from gangrun import environments

        key = chosen if chosen is None or isinstance(chosen, str) else id(chosen)
        if key not in self.pythons:
            found = None if self.packs else environments.without_packing(chosen, on=self.request.on)
            if found is None and not self.packs:
                self.has_to_pack = True
                return environments.TaskPython(("python3",))
            self.pythons[key] = found or environments.prepare(chosen, on=self.request.on, env=env, progress=self.progress)
        return self.pythons[key]

    def put_payload(self, payload: bytes) -> str:
        path = self.staging.write_once("function", payload)
        if self.local:
            return path
        self.files[os.path.basename(path)] = path
        return os.path.basename(path)

    def runtime(self) -> str:
        if self.local:
            return self.staging.runtime_folder()
        path = self.staging.runtime_archive()
        self.files[os.path.basename(path)] = path
        return os.path.basename(path)

    def path_of_files(self, main: Main, has_own_folder: bool) -> Optional[str]:
        """Where a task's Python finds the modules among the files."""
        if not self.request.files or (self.is_led_to_files and is_function(main)):
            return None
        return self.staging.files if self.local and not has_own_folder else "."

    def python_path(self, runtime: Optional[str], env: Mapping[str, str], files: Optional[str]) -> str:
        """Where the task's Python looks first: what gangrun itself needs, then the shipped files, then the user's own."""
        parts = [runtime] if runtime else []
        if files:
            parts.append(files)
        if not parts:
            return ""
        inherited = os.environ.get("PYTHONPATH", "") if self.request.on in _places.LED_FROM_HERE else ""
        own = env.get("PYTHONPATH") or (self.request.env or {}).get("PYTHONPATH") or inherited
        return os.pathsep.join([*parts, own] if own else parts)

    def in_own_folder(self, command: Any) -> Any:
        """A folder of each task, with links to the files; what it writes there is brought to the job's outputs."""
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        if self.on_ssh:
            return ["/bin/sh", "-c", ENTER_THERE, "sh", self.staging.name, *words]
        return ["/bin/sh", "-c", ENTER, "sh", self.staging.folder, *words]


def _environment_of(name: str, spec: TaskSpec, environment: Any) -> Any:
    if spec.environment is not None:
        return spec.environment
    if not isinstance(environment, Mapping):
        return environment
    for key in (name, spec.label, "*", ""):
        if key is not None and key in environment:
            return environment[key]
    return None


def _checked_env(env: Mapping[str, str], field: str) -> dict[str, str]:
    for name, value in env.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InvalidJob(f"{field}: {name!r} is {value!r}, a {type(value).__name__}; allowed: texts")
    return dict(env)
