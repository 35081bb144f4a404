"""Run a job and follow it from Python: `run`, `attach`, `Run` and `Task`."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import sys
import threading
import time
import weakref
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

from gangrun import _arguments, _display, _exec, _job, _job_keys, _places, _program, _progress, _result, _staging, _texts, errors
from gangrun._stream import Event, Stream
from gangrun._task import Task

Status = dict[str, Any]
FINAL = ("succeeded", "failed", "killed", "lost")
# Seconds until the job must have an id. On a cluster, uploads come first.
SUBMIT_LIMIT_S = 3600
# Seconds that jobs of this process get to stop when the interpreter exits; their tasks get timeouts.stop.
EXIT_LIMIT_S = 60
LOGS_LIMIT_S, LOGS_PAUSE_S = 60, 0.5
# The most that a look at stacks may take.
MAX_LOOK_S = 60

_running: weakref.WeakSet[Run] = weakref.WeakSet()


@atexit.register
def _end_with_the_interpreter() -> None:
    left = [run for run in list(_running) if run._owned and run._stream is not None and run._stream.running]
    for run in left:
        run._interrupt(signal.SIGTERM)
    limit = time.monotonic() + EXIT_LIMIT_S
    for run in left:
        run._stream_ended(max(0.0, limit - time.monotonic()))
    for run in list(_running):
        run._clean()


def _processes(look: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = look.get("processes", [{"trouble": look.get("trouble", "")}])
    more = look.get("not_shown", 0)
    return [*found, {"trouble": f"{more} more processes are not shown"}] if more else found


class Run:
    """A handle on a job, returned by `run` and `attach`. A notebook shows it as a table of the tasks."""

    def __init__(self, *, on: str, env: Mapping[str, str], prepared: Optional[_job.Prepared] = None, owned: bool = True,
                 on_status: Optional[Callable[[Status], None]] = None,
                 on_line: Optional[Callable[[str, str, str], None]] = None, with_lines: bool = False,
                 display: Optional[_display.Display] = None, told: Optional[_progress.Progress] = None) -> None:
        self._on, self._env, self._prepared, self._owned = on, dict(env), prepared, owned
        self._with_lines, self._display = with_lines or on_line is not None, display
        self._told = told or _progress.Progress(None, False)
        self._on_status, self._on_line = on_status, on_line
        self._status: Status = {}
        self._ended = False
        self._is_clean = False
        self._stream: Optional[Stream] = None
        self._id = ""
        self._returned: dict[str, Any] = {}
        _running.add(self)

    # Its start.

    def _start(self, words: Sequence[str]) -> None:
        lines = "--logs" if self._with_lines else "--no-logs"
        self._stream = Stream([*words[:1], "--json", lines, *words[1:]], self._env, self._take)

    def _take(self, event: Event) -> None:
        kind = event.get("event")
        self._show(event)
        if kind in ("status", "end"):
            self._status = event["status"]
            self._id = self._status["id"] or self._id
            self._ended = kind == "end" or self._ended
            if self._on_status is not None:
                self._on_status(self._status)
        elif kind == "line" and self._on_line is not None:
            self._on_line(event["task"], event["stream"], event["line"])

    def _show(self, event: Event) -> None:
        if event.get("event") == "upload" or (self._display is None and event.get("event") == "notice"):
            self._told.event(event)
        elif self._display is not None:
            try:
                self._display.event(event)
            except OSError:  # whoever looked is gone, which is no reason to end a job
                self._display = None

    def _wait_for_id(self) -> None:
        """Until the job has an id; raises what kept it from getting one."""
        assert self._stream is not None
        limit = time.monotonic() + SUBMIT_LIMIT_S
        while not self._id and not self._stream.ended.wait(0.01):
            if time.monotonic() > limit:
                self._interrupt()
                raise errors.JobTimeout(f"the job was not submitted within {SUBMIT_LIMIT_S} s")
        if not self._id:
            self._finish()

    def _submit(self, words: Sequence[str], block: bool, detach: bool) -> Run:
        """The end of `run` and `rerun`: the job begins, and where that is wanted, it is waited for."""
        staging = self._prepared.staging if self._prepared is not None else None
        try:
            if detach:
                done = _program.call([words[0], "--detach", "--json", *words[1:]], env=self._env, timeout=SUBMIT_LIMIT_S)
                self._id = json.loads(done.stdout)["job"]
                if staging is not None:
                    self._leave_staging()
                return self
            self._start(words)
            self._wait_for_id()
            if staging is not None:
                staging.note_job(self._id)
        except BaseException:
            self._end_interrupted()
            raise
        if block:
            self._wait_blocking()
        return self

    # Its name and place.

    @property
    def id(self) -> str:
        """The job's id, as the command line tools and `attach` take it."""
        return self._id

    @property
    def running(self) -> bool:
        """Whether the job has not ended yet."""
        if self._stream is not None and self._stream.running:
            return True
        return not self._is_final(self.status())

    def _is_final(self, status: Mapping[str, Any]) -> bool:
        return self._ended or status.get("state") in FINAL

    def status(self) -> Status:
        """Return the job's current status: the dict that `gangrun status --json` prints."""
        if not self._is_final(self._status) and not (self._stream and self._stream.running and self._status):
            self._status = self._ask(["status", self._id])
        return self._status

    @property
    def tasks(self) -> list[Task]:
        """The tasks of the job with their current state."""
        return [Task.of(shown) for shown in self.status().get("tasks", [])]

    @property
    def url(self) -> str:
        """The address of the job's page on YARN; empty elsewhere."""
        return str(self.status().get("url", ""))

    def _ask(self, words: Sequence[str]) -> Any:
        return _program.ask(words, env=self._env)

    def logs(self, task: Optional[str] = None, follow: bool = False) -> Union[str, Iterator[str]]:
        """Return the output of one task, or of all tasks with the task's name before each line.

        With `follow`, return an iterator over the lines as they arrive; it stops when the job ends. On a cluster, logs may arrive
        some seconds after the job's end; the call waits up to 60 seconds for them.
        """
        words = ["logs", self._id, *([task] if task else [])]
        if follow:
            return self._follow(["logs", "-f", *words[1:]], with_name=task is None)
        limit = time.monotonic() + LOGS_LIMIT_S
        while True:
            try:
                done = _program.call(words, env=self._env, timeout=_program.TRANSFER_TIMEOUT_S)
                return done.stdout.decode(errors="replace")
            except errors.NoSuchJob:
                # The nodes of a cluster hand in the logs of a job some seconds after its end.
                if self._on in _places.LED_FROM_HERE or time.monotonic() > limit or not self._is_final(self._status):
                    raise
            threading.Event().wait(LOGS_PAUSE_S)

    def _follow(self, words: Sequence[str], with_name: bool) -> Iterator[str]:
        import queue

        lines: queue.Queue[Event] = queue.Queue(maxsize=10000)
        stream = Stream([*words, "--json"], self._env, lines.put)
        try:
            while stream.running or not lines.empty():
                with contextlib.suppress(queue.Empty):
                    event = lines.get(timeout=0.1)
                    if event.get("event") == "line":
                        yield f"{event['task']} | {event['line']}" if with_name else event["line"]
        finally:
            stream.interrupt(signal.SIGKILL)

    # Its end.

    def kill(self, now: bool = False) -> None:
        """Stop the job and return without waiting for its end.

        The tasks get `timeouts.stop` to finish; with `now=True` they are killed at once. Does nothing if the job has ended.
        """
        if not self._is_final(self._status):
            _program.call(["kill", *(["--now"] if now else []), self._id], env=self._env)

    def _interrupt(self, number: int = signal.SIGINT) -> None:
        if self._stream is not None:
            self._stream.interrupt(number)

    def _stream_ended(self, seconds: Optional[float]) -> bool:
        return self._stream is None or self._stream.ended.wait(seconds)

    def wait(self, timeout: Optional[float] = None) -> Run:
        """Wait for the job to end and return this run if it succeeded.

        If the job failed, raise the same exceptions as a blocking `gangrun.run`. If it has not ended after `timeout` seconds,
        raise TimeoutError; the job keeps running. Ctrl-C does not stop the job either.
        """
        limit = _arguments.time_limit("timeout", timeout)
        if self._stream is None and not self._is_final(self.status()):
            self._start(["attach", self._id])
        if not self._stream_ended(limit):
            raise TimeoutError(f"{self._id} did not end within {timeout} s; it keeps running")
        self._finish()
        return self

    def _wait_blocking(self) -> None:
        """As `wait`, but Ctrl-C is the job's end, and a second one its end at once."""
        try:
            self._stream_ended(None)
        except KeyboardInterrupt:
            self._end_interrupted()
            raise
        self._finish()

    def _end_interrupted(self) -> None:
        self._interrupt()
        while not self._stream_ended(0):
            try:
                self._stream_ended(None)
            except KeyboardInterrupt:
                self._interrupt()
        self._clean()

    def _clean(self) -> None:
        _display.close(self._display)
        self._display = None
        if self._prepared is None or not self._owned or self._is_clean:
            return
        self._is_clean = True
        brought = self._prepared.staging.end(self._id)
        outputs = os.path.join(self._status.get("folder") or self._id, "outputs")
        for sentence in brought.sentences(outputs, self._prepared.staging.path("tasks")):
            print(f"gangrun: {sentence}", file=sys.stderr)

    def _leave_staging(self) -> None:
        """A detached job that is led from here reads it until its end; a cluster has its own copies."""
        assert self._prepared is not None
        if self._on in _places.LED_FROM_HERE:
            self._prepared.staging.leave_to(self._id)
        else:
            self._prepared.staging.remove()

    def _finish(self) -> None:
        """After the end: raises what the job ended with."""
        self._clean()
        if not self._owned and self._on in _places.LED_FROM_HERE:
            _staging.sweep(ended=self._id)
        if self._stream is not None and self._stream.failure is not None:
            raise self._stream.failure
        found = self.exception
        if found is not None:
            raise found

    @property
    def exception(self) -> Optional[BaseException]:
        """The exception that `wait` raises, or None if the job succeeded or is still running."""
        status = self._status
        if not self._is_final(status):
            if self._stream is None or self._stream.running:
                return None
            return self._broken(self._stream)
        if status.get("state") == "succeeded":
            return None
        if "exception" not in self._returned:
            self._returned["exception"] = self._exception_of(status)
        found: Optional[BaseException] = self._returned["exception"]
        return found

    def _broken(self, stream: Stream) -> BaseException:
        """The command ended without the job's: what it said, by its exit status."""
        status = stream.exit_status or _program.FAILED
        if status < 0 and self._id:
            said = f"the program gangrun, which watched {self._id}, was killed by {signal.Signals(-status).name}"
            if self._owned and self._on in _places.LED_FROM_HERE:
                return errors.JobLost(f"{said}, and the job with it", self._status)
            return errors.CommandFailed(f"{said}; whether the job goes on, gangrun.attach('{self._id}') tells")
        try:
            _program.fail(status, stream.said())
        except (errors.GangrunError, KeyboardInterrupt) as error:
            return error

    def _exception_of(self, status: Status) -> BaseException:
        cause = status.get("cause") or {}
        sentence = _texts.sentence(cause.get("sentence") or f"the job {status.get('state')}")
        if status["state"] == "killed":
            return errors.JobKilled(_texts.stopped(status["id"], sentence), status)
        if status["state"] == "lost":
            return errors.JobLost(f"{status['id']} was lost: {sentence}", status)
        if cause.get("reason") in errors.TIME_LIMITS:
            return errors.JobTimeout(f"{status['id']}: {sentence}", status)
        return self._failure(status, cause, sentence)

    def _failure(self, status: Status, cause: Mapping[str, Any], sentence: str) -> BaseException:
        """The task's own exception where it came back; its traceback as the `__cause__` in any case where there is one."""
        outcome: Mapping[str, Any] = {}
        with contextlib.suppress(errors.GangrunError):  # the cause is told without it
            outcome = self._outcome(cause["task"]) if cause.get("task") else {}
        text = outcome.get("traceback") or cause.get("traceback") or ""
        task, host = cause.get("task") or "", cause.get("host") or ""
        lines = [line for line in cause.get("last_lines") or [] if line.strip()] if cause.get("reason") == "exit_status" and not text else []
        said = f" (it said {_texts.theirs(lines[-1])})" if lines else ""
        error: BaseException = errors.JobFailed(f"{status['id']}: {sentence}{said}", status)
        if outcome.get("kind") == "exception":
            error = _result.own_exception(outcome, error)
        if text:
            error.__cause__ = errors.RemoteTraceback(text, task, host, str(status["id"]))
        return error

    # Its results.

    def _outcome(self, task: str) -> Mapping[str, Any]:
        try:
            content = _program.call(["result", self._id, task], env=self._env, timeout=_program.TRANSFER_TIMEOUT_S).stdout
        except errors.NoSuchJob as error:
            raise errors.NoResult(f"{self._id}: {error}") from None
        return _result.decode(content)

    def _value(self, task: str) -> Any:
        outcome = self._outcome(task)
        if outcome["kind"] == "exception":
            raise errors.NoResult(f"{task} of {self._id} raised {_texts.theirs(outcome['type'] + ': ' + outcome['message'])}")
        if outcome["kind"] == "unsendable":
            raise errors.NoResult(f"what {task} of {self._id} returned, a {_texts.harmless(outcome['type'])}, {_texts.sentence(outcome['reason'])}")
        import pickle

        return pickle.loads(outcome["body"])

    @property
    def result(self) -> Any:
        """The return value of the function in worker:0, or in the first tracked task if there is no worker:0.

        Raises NoResult if that task has no result, raised an exception, or returned a value that cannot be sent back.
        """
        names = [shown["task"] for shown in self.status()["tasks"] if shown.get("policy") == "tracked"]
        names = names or [shown["task"] for shown in self.status()["tasks"]]
        task = "worker:0" if "worker:0" in names else names[0]
        return self._remembered(task)

    @property
    def results(self) -> dict[str, Any]:
        """The return values by task name, for all tasks that have a result.

        Raises NoResult if one of them raised an exception, or returned a value that cannot be sent back.
        """
        listed = [entry["task"] for entry in self._ask(["result", self._id])["results"]]
        return {task: self._remembered(task) for task in listed}

    def stacks(self, *tasks: str, timeout: Optional[float] = None) -> dict[str, list[dict[str, Any]]]:
        """What the processes of running tasks do now, by task name; of all tasks unless some are named.

        Each process has "pid", "name", "state", "cpu_seconds", and "python" ("python_by" says by what), "native" or "kernel", as far
        as it can be seen; "trouble" says why not. A task that cannot be looked at has one entry with "trouble" only, and so has one
        with more than 64 processes for those beyond these. A look takes at most `timeout` seconds (5, at most 60); what is not done
        then has "trouble", and all else is there.
        """
        limit: list[str] = []
        if timeout is not None:
            look = _arguments.seconds("timeout", timeout, 0, MAX_LOOK_S)
            limit = ["--timeout", f"{max(1, round(look * 1000))}ms"]
        looks = _program.ask(["stacks", self._id, *tasks, *limit], env=self._env, answers_with=_program.JOB_FAILED)["tasks"]
        return {look["task"]: _processes(look) for look in looks}

    def exec(self, task: str, command: Union[str, Sequence[str]], *, input: Union[None, str, bytes] = None,
             timeout: Optional[float] = None) -> _exec.Done:
        """Run a command (words, or a shell line) beside a running task: its `returncode`, and as bytes `stdout` and `stderr`."""
        return _exec.run(self._id, task, command, input, timeout, self._env)

    def _remembered(self, task: str) -> Any:
        if task not in self._returned:
            self._returned[task] = self._value(task)
        return self._returned[task]

    def _repr_html_(self) -> str:
        return _display.to_html(self.status())

    def __repr__(self) -> str:
        return f"<gangrun.Run {self._id} {self._status.get('state', '')}>"


def run(tasks: Mapping[str, Union[_job.TaskSpec, int]], main: Union[_job.Main, Mapping[str, _job.Main]], *,
        args: Sequence[Any] = (), kwargs: Optional[Mapping[str, Any]] = None, on: Optional[str] = None,
        name: Optional[str] = None, files: _job.Files = None, env: Optional[Mapping[str, str]] = None,
        environment: Any = None, image: Optional[str] = None, queue: Optional[str] = None,
        framework: Union[None, str, Sequence[str]] = None,
        restarts: Union[None, int, Mapping[str, Any]] = None, timeouts: Optional[Mapping[str, Any]] = None,
        success: Optional[str] = None, yarn: Optional[Mapping[str, Any]] = None,
        kubernetes: Optional[Mapping[str, Any]] = None, outputs: Optional[Sequence[str]] = None,
        outputs_limit: Union[None, int, str] = None, keep_folders: Optional[bool] = None, log_limit: Union[None, int, str] = None,
        principal: Optional[str] = None, keytab: Optional[str] = None, run_as: Optional[str] = None,
        hosts: Optional[Sequence[str]] = None, hostfile: Union[None, str, os.PathLike[str]] = None,
        ssh_config: Union[None, str, os.PathLike[str]] = None, job: Optional[Mapping[str, Any]] = None,
        block: bool = True, detach: bool = False, display: Union[None, bool, str] = None,
        on_status: Optional[Callable[[Status], None]] = None, on_line: Optional[Callable[[str, str, str], None]] = None,
        client_env: Optional[Mapping[str, str]] = None, defaults: bool = True) -> Run:
    """Start all tasks of a job together, run `main` in each, and wait for the job to end.

    tasks        task type → TaskSpec, or the number of tasks of that type
    main         a function, called with `args` and `kwargs`; "package.module:function"; a command as a list of words; a shell
                 line; or a mapping of task types to any of these
    on           "local", "yarn", "kubernetes" or "ssh"; None: the place of the files of defaults, else "local"
    files        paths to ship to the tasks, as a list or as name in the task → path; tasks can import modules among them
    env          environment variables of the tasks
    environment  the Python environment of the tasks (gangrun.environments), for all tasks or by task type or label
    image        the container image of the tasks; in pods a function runs by its python3 (docs/kubernetes.md)
    queue, framework, restarts, timeouts, success, yarn, kubernetes, outputs, outputs_limit, keep_folders, log_limit, job   (docs/job.md)
    hosts, hostfile, ssh_config   with on="ssh": ["gpu1:8", "gpu2:8"], or a file with the hosts; ssh's configuration (docs/ssh.md)
    principal, keytab, run_as   Kerberos principal, its keytab, and the user to act for (docs/secure-clusters.md)
    block        False: return once the job is submitted; the job stops when this process exits
    detach       True: only submit; the job keeps running without this process
    display      True, False, "live", "notebook" or "lines"; None: a table if there is a terminal or a notebook
    on_status, on_line   callbacks for each status, and for (task, stream, line); an exception in one ends the job
    client_env   environment variables for gangrun's own program, such as another cluster's HADOOP_CONF_DIR
    defaults     False: leave out the files of defaults (docs/defaults.md)

    Raises errors.InvalidJob before anything starts; the exception that a task raised, with errors.RemoteTraceback as its
    `__cause__`; otherwise errors.JobFailed or another JobError. Ctrl-C stops the job and raises KeyboardInterrupt.
    """
    client_env = _program.with_defaults(client_env, defaults)
    names_place = on is not None
    on = _places.of_defaults(client_env) if on is None else "kubernetes" if on == "k8s" else on
    own = {"image": image, "framework": framework, "restarts": restarts, "timeouts": timeouts, "success": success, "outputs": outputs,
           "outputs_limit": outputs_limit, "keep_folders": keep_folders, "log_limit": log_limit}
    keys = _job_keys.keys_of(on, job, own, queue=queue, kubernetes=kubernetes, yarn=yarn, principal=principal, keytab=keytab,
                             run_as=run_as, hosts=hosts, hostfile=hostfile, ssh_config=ssh_config)
    request = _job.Request(tasks=tasks, main=main, args=args, kwargs=kwargs, on=on, names_place=names_place, name=name,
                           files=files, env=env, environment=environment, keys=keys, own_folder=bool(keys.pop(_job.OWN_FOLDER, False)))
    kind = "none" if detach else _display.kind_of(display, block)
    shown = _display.make(kind)
    told = _progress.Progress(_display.progress(shown) if shown is not None else None, display is None)
    try:
        prepared = _job.prepare(request, told.say, lambda path: _program.call(["run", "--dry-run", path], env=client_env))
    except BaseException:
        _display.close(shown)
        raise
    finally:
        told.end()
    started = Run(on=on, env=prepared.client_env(client_env), prepared=prepared, owned=not detach, on_status=on_status, on_line=on_line,
                  with_lines=kind == "lines", display=shown, told=told)
    return started._submit(["run", prepared.path], block, detach)


def attach(job_id: str, on: Optional[str] = None, *, on_status: Optional[Callable[[Status], None]] = None,
           on_line: Optional[Callable[[str, str, str], None]] = None,
           client_env: Optional[Mapping[str, str]] = None) -> Run:
    """Return a Run for an existing job, whoever started it. The job keeps running when this process exits.

    `on` is "local", "yarn" or "kubernetes"; by default the form of the id decides, of which "NAMESPACE/ID" is for a job in a
    cluster. The callbacks are called during `wait`. Raises NoSuchJob if there is no such job.
    """
    place = on or ("yarn" if job_id.startswith("application_") else "kubernetes" if "/" in job_id else "local")
    found = Run(on=place, env=client_env or {}, owned=False, on_status=on_status, on_line=on_line)
    found._id = job_id
    found._id = found.status()["id"]
    return found
