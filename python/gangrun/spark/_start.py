"""The start task: one partition of one Spark job, which brings a node to life beside its executor and waits for it."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import selectors
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from typing import Any, Iterable, Mapping, Optional

from gangrun.spark import _payload, _process, _runtime
from gangrun.spark._nodes import Node

logger = logging.getLogger("gangrun.spark")

# gangrun-agent join says within this whether it has joined: one connection to the driver's host and one answer.
JOIN_LIMIT_S = 60
# How often a start task looks whether the node's folder is still there, which its guardian removes at its very end.
LOOK_S = 0.25
LOOK_AT_THE_END_S = 0.01
# How often an attempt that came second asks whether the node is still there.
LOOK_THERE_S = 1
# From the end of the node's process until its guardian has removed the folder; it is waited for no longer.
GUARDIAN_S = 10
# Beyond the master's own limit, after which it ends all agents.
SLACK_S = 60
# Variables of Spark's own Python workers, which nobody else is to have.
SPARKS_OWN = ("PYTHON_WORKER_FACTORY_PORT", "PYTHON_WORKER_FACTORY_SECRET", "PYTHON_UDF_BATCH_SIZE", "SPARK_REUSE_WORKER",
              "SPARK_SIMPLIFIED_TRACEBACK", "SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE", "SPARK_JOB_ARTIFACT_UUID")


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the driver tells every start task. The secrets in it are not shown by repr."""

    job_id: str
    host: str
    port: int
    fingerprint: str
    secret: str = dataclasses.field(repr=False)
    key: bytes = dataclasses.field(repr=False)  # of the feeds
    nodes: tuple[Node, ...]
    function: bytes = dataclasses.field(repr=False)
    entry: Optional[str]  # "module:function" that is called with the function; None: the function itself is
    meta: Mapping[str, Any]  # what the entry is told besides
    feed: bool  # whether the nodes take rows
    memory_mib: int
    to_the_end: bool  # whether the executors are to be kept busy until the nodes' end
    shared_executor: bool  # whether one JVM may have several nodes: where it is the driver's own
    limit_s: float
    tensorboard: Optional[Mapping[str, Any]] = None  # the number of the node beside which it runs, and its command


@dataclasses.dataclass(frozen=True)
class Task:
    """As Spark calls a start task; it is pickled by reference."""

    plan: Plan

    def __call__(self, indexes: Iterable[int]) -> None:
        for index in indexes:
            from pyspark import TaskContext

            context = TaskContext.get()
            attempt = context.attemptNumber() if context is not None else 0
            gpus = context.resources().get("gpu") if context is not None else None
            pid, ticks = _process.executor_process()
            Starter(self.plan, self.plan.nodes[index], _runtime.on_executor(), pid, ticks, attempt=attempt,
                    gpus=list(gpus.addresses) if gpus else None).run()


def own_address(host: str, port: int) -> tuple[str, str]:
    """The address by which the other nodes reach this host, and why it is this one."""
    given = os.environ.get("SPARK_LOCAL_IP")
    if given:
        return given, "as SPARK_LOCAL_IP says"
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as way:  # nothing is sent
        way.connect(address)
        return str(way.getsockname()[0]), f"of this host toward the driver, {host}"


def fixed_port() -> Optional[int]:
    """The node's port where the executor's environment (spark.executorEnv) fixes it."""
    given = os.environ.get("TENSORFLOW_PORT")
    if not given:
        return None
    if not given.isdigit() or not 0 < int(given) < 1 << 16:
        raise RuntimeError(f"TENSORFLOW_PORT: {given!r} is not a port; allowed: 1 to 65535")
    return int(given)


def python_path() -> list[str]:
    """What this worker looks through before Python's own library: PYTHONPATH, and what Spark has brought."""
    stdlib = {os.path.realpath(sysconfig.get_paths()[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    archive = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
    found: list[str] = []
    for entry in sys.path:
        path = os.path.abspath(entry or ".")
        if os.path.realpath(path) in stdlib or os.path.basename(path) == archive:
            break
        if path not in found:
            found.append(path)
    return found


def environment(changes: Mapping[str, str]) -> dict[str, str]:
    """This worker's, without what is Spark's own business."""
    kept = {name: value for name, value in os.environ.items() if name not in SPARKS_OWN and not name.startswith("GANGRUN_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(python_path()), **changes}


class Gate:
    """The socket by which a node tells that it has started; it is closed by the node's end."""

    def __init__(self) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind("")  # any free abstract name
        self._listener.listen(8)
        self._listener.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._node: Optional[socket.socket] = None
        self._said = b""
        self.is_over = False

    @property
    def name(self) -> str:
        return bytes(self._listener.getsockname()[1:]).decode()

    @property
    def has_started(self) -> bool:
        return self._said.startswith(b"started")

    def wait(self, seconds: float) -> None:
        """For anything of the node."""
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._listener:
                self._accept()
            else:
                self._read()

    def _accept(self) -> None:
        peer, _ = self._listener.accept()
        _, uid, _ = _credentials(peer)
        if self._node is not None or uid not in (0, os.getuid()):
            peer.close()
            return
        peer.setblocking(False)
        self._node = peer
        self._selector.register(peer, selectors.EVENT_READ)

    def _read(self) -> None:
        assert self._node is not None
        try:
            content = self._node.recv(64)
        except BlockingIOError:
            return
        except OSError:  # reset: the node has ended with what it was sent unread
            content = b""
        self._said += content[:64 - len(self._said)]
        if not content:
            self._selector.unregister(self._node)
            self._node.close()
            self.is_over = True

    def close(self) -> None:
        self._selector.close()
        self._listener.close()
        if self._node is not None:
            self._node.close()


def _credentials(peer: socket.socket) -> tuple[int, int, int]:
    import struct

    pid, uid, gid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, uid, gid


class Starter:
    """Starts one node, wherever its agent belongs: on an executor, or for driver_ps_nodes on the driver."""

    def __init__(self, plan: Plan, node: Node, runtime: _runtime.Runtime, pid: int, ticks: int, *, attempt: int = 0,
                 gpus: Optional[list[str]] = None, base: Optional[str] = None) -> None:
        self.plan, self.node, self.runtime, self.pid, self.ticks = plan, node, runtime, pid, ticks
        self.attempt, self.gpus = attempt, gpus
        self.base = base or (os.environ.get("SPARK_LOCAL_DIRS") or "").split(",")[0] or None
        self.host, self.host_reason = own_address(plan.host, plan.port)

    def run(self) -> None:
        alone = None if self.plan.shared_executor else self._claim_executor()
        gate = Gate()
        try:
            board = self.plan.tensorboard
            if board is not None and board["beside"] == self.node.index:
                # Before the node: who knows that the nodes have started is told TensorBoard's address too.
                self._join("tensorboard:0", lambda folder: list(board["command"]), board["environment"])
            state, scratch = self._join(self.node.task, lambda folder: self._command(folder, gate.name))
            if state != "joined":
                self._stand_by(gate, state)
                return
            self._wait(gate, scratch)
        finally:
            gate.close()
            if alone is not None:
                alone.close()

    def _claim_executor(self) -> socket.socket:
        """Two nodes on one executor would share its rows; the name is free again with the end of this task."""
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            claim.bind("\0" + _process.feed_name(self.plan.job_id, self.pid, self.ticks, "start"))
        except OSError:
            claim.close()
            raise RuntimeError(f"{self.node.task}: its executor on {self.host} (process {self.pid}) has another node of this cluster: "
                               "an executor runs more than one task at once; set spark.task.cpus to the number in "
                               "spark.executor.cores, so that each runs one") from None
        return claim

    def _command(self, folder: str, gate: str) -> list[str]:
        plan, node = self.plan, self.node
        info = {"job_id": plan.job_id, "task": node.task, "index": node.index, "entry": plan.entry, "meta": dict(plan.meta),
                "gate": gate, "path": [os.path.abspath(entry or ".") for entry in sys.path],
                "executor": [self.pid, self.ticks], "core": self.runtime.core, "host": self.host,
                "feed": _process.feed_name(plan.job_id, self.pid, self.ticks, node.task) if self._takes_rows else None,
                "key": plan.key, "memory_mib": plan.memory_mib}
        path = os.path.join(folder, "payload")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_payload.node_payload(info, plan.function))
        return [sys.executable, "-m", "gangrun._task_main", path]

    @property
    def _is_kept_busy(self) -> bool:
        return self.plan.to_the_end or not self.node.takes_rows

    @property
    def _takes_rows(self) -> bool:
        return self.plan.feed and self.node.takes_rows

    def _stand_by(self, gate: Gate, state: str) -> None:
        """Another attempt has brought the node. Spark takes the first end of two for the end of both and gives the executor to
        other tasks, so where it is to be kept busy this one does not end before the node."""
        while state == "there" and self._is_kept_busy:
            gate.wait(LOOK_THERE_S)
            try:
                state, _ = self._join(self.node.task, lambda folder: [sys.executable])
            except RuntimeError as error:
                logger.info("%s is no longer checked: %s", self.node.task, error)  # the job has ended, or its master
                return

    def _join(self, task: str, command: Any, changes: Optional[Mapping[str, str]] = None) -> tuple[str, str]:
        """What the master said, and after "joined" the folder of an agent that lives on."""
        folder = tempfile.mkdtemp(prefix="gangrun-", dir=self.base if self.base and os.path.isdir(self.base) else None)
        is_theirs = False
        try:
            wanted = {"own_port": fixed_port()} if task == self.node.task and fixed_port() else {}
            extra = {"CUDA_VISIBLE_DEVICES": ",".join(self.gpus)} if self.gpus else {}
            request = {**wanted, "host": self.plan.host, "port": self.plan.port, "fingerprint": self.plan.fingerprint,
                       "secret": self.plan.secret, "task": task, "attempt": self.attempt,
                       "executor": f"the executor on {self.host} (process {self.pid})"[:200], "own_host": self.host,
                       "own_host_reason": self.host_reason, "working_folder": os.getcwd(), "command": command(folder),
                       "environment": environment({**extra, **(changes or {})}), "live_with": self.pid,
                       "live_with_start_ticks": self.ticks, "scratch": folder}
            answer = self._ask_agent(request)
            is_theirs = answer.get("state") == "joined"
        finally:
            if not is_theirs:
                shutil.rmtree(folder, ignore_errors=True)
        if answer.get("state") == "refused":
            raise RuntimeError(f"{task} could not join: {answer.get('reason', '')}")
        return str(answer.get("state")), folder

    def _ask_agent(self, request: Mapping[str, Any]) -> dict[str, Any]:
        # Not its standard error as a pipe: the agent that goes on would hold it.
        with tempfile.TemporaryFile() as said:
            try:
                done = subprocess.run([self.runtime.agent, "join"], input=json.dumps(request).encode(), stdout=subprocess.PIPE,
                                      stderr=said, timeout=JOIN_LIMIT_S, check=False)
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"{request['task']}: gangrun-agent did not join within {JOIN_LIMIT_S} s; the driver is at "
                                   f"{self.plan.host}:{self.plan.port}") from None
            lines = done.stdout.splitlines()
            if lines:
                answer: dict[str, Any] = json.loads(lines[0])
                return answer
            said.seek(0)
            text = said.read(4096).decode(errors="replace").strip()
        raise RuntimeError(f"{request['task']}: gangrun-agent join ended with status {done.returncode} and said: {text}")

    def _wait(self, gate: Gate, scratch: str) -> None:
        """Until the node has started, and where the executor is to be kept busy until its end."""
        limit = time.monotonic() + self.plan.limit_s + SLACK_S
        while os.path.isdir(scratch) and not gate.has_started:
            if time.monotonic() > limit:
                raise RuntimeError(f"{self.node.task} on {self.host} did not start within {self.plan.limit_s + SLACK_S:.0f} s")
            gate.wait(LOOK_S)
        if not self._is_kept_busy:
            return
        while os.path.isdir(scratch) and not gate.is_over:
            gate.wait(LOOK_S)
        limit = time.monotonic() + GUARDIAN_S
        while os.path.isdir(scratch) and time.monotonic() < limit:
            gate.wait(LOOK_AT_THE_END_S)
