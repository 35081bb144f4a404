"""NodeManagers in one process that speak YARN's protocols and start no tasks.

They register with a real ResourceManager, tell it every second what they run, and take containers from whoever has a
token for them. A container of an ApplicationMaster is really started, so that a real master asks for the others; of
those it is only said that they run, until somebody stops them. Configuration and clock are the ResourceManager's.

A node can be told to be silent: it goes on reporting to the ResourceManager, and answers nobody who calls it.
"""

import asyncio
import dataclasses
import getpass
import os
import pathlib
import subprocess
import threading
import time
from collections.abc import Callable

import hadoop_rpc
from hadoop_rpc import fields, message, path

TRACKER = "org.apache.hadoop.yarn.server.api.ResourceTrackerPB"
RUNNING, COMPLETE = 2, 3
APPLICATION_MASTER = 1
STILL_RUNS, KILLED = -1000, -105
HEARTBEAT_S = 1
LIMIT_S = 60


@dataclasses.dataclass
class Container:
    identifier: bytes  # ContainerIdProto
    state: int = RUNNING
    exit_status: int = STILL_RUNS
    process: subprocess.Popen | None = None

    def status(self) -> bytes:
        return message((1, self.identifier), (2, self.state), (4, self.exit_status))


def name_of(identifier: bytes) -> str:
    attempt = path(identifier, 2)
    number, epoch = path(identifier, 3) & ((1 << 40) - 1), path(identifier, 3) >> 40
    stamp, application = path(attempt, 1, 2), path(attempt, 1, 1)
    return f"container_{f'e{epoch:02}_' if epoch else ''}{stamp}_{application:04}_{path(attempt, 2):02}_{number:06}"


class Node:
    """One NodeManager; all that it does happens on the loop of its nodes."""

    def __init__(self, nodes: "Nodes", host: str) -> None:
        self.nodes, self.host = nodes, host
        self.containers: dict[bytes, Container] = {}
        self.server: asyncio.Server | None = None
        self.key = b""
        self.is_silent = False
        self.unanswered = 0  # connections

    async def run(self) -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self.is_silent:
                self.unanswered += 1
                await self.nodes.ended.wait()
            await hadoop_rpc.serve(reader, writer, lambda: self.key, self.handle)

        self.server = await asyncio.start_server(accept, self.host, 0)
        self.identifier = message((1, self.host), (2, self.server.sockets[0].getsockname()[1]))
        tracker = hadoop_rpc.Client(*self.nodes.tracker, TRACKER, getpass.getuser())
        await tracker.open()
        resource = message((1, self.nodes.memory_mb), (2, self.nodes.vcores))
        answer = await tracker.call("registerNodeManager", message(
            (1, self.identifier), (3, 1), (4, resource), (5, self.nodes.version), (12, self.status(0))))
        self.key = path(answer, 2, 2)
        self.nodes.registered += 1
        response_id = 0
        while True:
            answer = await tracker.call("nodeHeartbeat", message((1, self.status(response_id))))
            told = fields(answer)
            response_id = told.get(1, [response_id])[0]
            self.key = path(answer, 3, 2) or self.key
            for identifier in told.get(5, []):
                self.stop(identifier)
            self.forget(told.get(9, []))
            await asyncio.sleep(HEARTBEAT_S)

    def status(self, response_id: int) -> bytes:
        for container in self.containers.values():
            if container.process and container.state == RUNNING and container.process.poll() is not None:
                container.state, container.exit_status = COMPLETE, container.process.returncode
        health = message((1, 1), (2, ""), (3, int(time.time() * 1000)))
        return message((1, self.identifier), (2, response_id),
                       *((3, container.status()) for container in self.containers.values()), (4, health))

    def forget(self, identifiers: list[bytes]) -> None:
        for identifier in identifiers:
            self.containers.pop(identifier, None)

    def stop(self, identifier: bytes) -> None:
        container = self.containers.get(identifier)
        if container is None or container.state == COMPLETE:
            return
        if container.process:
            container.process.kill()
        else:
            container.state, container.exit_status = COMPLETE, KILLED

    def handle(self, method: str, request: bytes) -> bytes:
        if method == "startContainers":
            started = [self.start(one) for one in fields(request).get(1, [])]
            return message(*((2, identifier) for identifier in started))
        identifiers = fields(request).get(1, [])
        if method == "stopContainers":
            for identifier in identifiers:
                self.stop(identifier)
            return message(*((1, identifier) for identifier in identifiers))
        return message(*((1, self.containers[identifier].status()) for identifier in identifiers
                         if identifier in self.containers))

    def start(self, request: bytes) -> bytes:
        token = path(request, 2, 1)
        identifier = path(token, 1)
        container = self.containers[identifier] = Container(identifier)
        if path(token, 12) == APPLICATION_MASTER:
            container.process = self.nodes.start_master(self, identifier, path(request, 1))
        else:
            self.nodes.tasks.append(time.monotonic())
            self.nodes.on_task(len(self.nodes.tasks))
        return identifier


class Nodes:
    """All of them, on a thread of their own while this is entered.

    `on_task` is called with how many tasks were started by now, on that thread, before the answer is sent.
    """

    def __init__(self, tracker: str, agent: pathlib.Path, folder: pathlib.Path, *, count: int, memory_mb: int, vcores: int,
                 version: str, on_task: Callable[[int], None]) -> None:
        host, port = tracker.rsplit(":", 1)
        self.tracker, self.agent, self.folder = (host, int(port)), agent, folder
        self.memory_mb, self.vcores, self.version = memory_mb, vcores, version
        self.on_task = on_task
        self.nodes = [Node(self, f"127.0.1.{number}") for number in range(1, count + 1)]
        self.registered = 0
        self.tasks: list[float] = []
        self.master: subprocess.Popen | None = None
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()))

    async def serve(self) -> None:
        self.loop, self.ended = asyncio.get_running_loop(), asyncio.Event()
        runs = [asyncio.create_task(node.run()) for node in self.nodes]
        ended = asyncio.create_task(self.ended.wait())
        done, _ = await asyncio.wait([*runs, ended], return_when=asyncio.FIRST_COMPLETED)
        self.failure = None if ended in done else next(iter(done)).exception()
        await self.end_all()

    async def end_all(self) -> None:
        """Nobody may come any more, so that what is there now is all: a connection that outlives its loop cannot be closed."""
        for node in self.nodes:
            if node.server:
                node.server.close()
        while left := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    def __enter__(self) -> "Nodes":
        self.thread.start()
        self.wait_until(lambda: self.registered == len(self.nodes), "all nodes are registered")
        return self

    def __exit__(self, *_: object) -> None:
        if self.thread.is_alive():
            self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join()
        if self.master and self.master.poll() is None:
            self.master.kill()
            self.master.wait()

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + LIMIT_S
        event = threading.Event()
        while not holds():
            if self.failure or time.monotonic() > deadline:
                raise SystemExit(f"it does not come to pass that {what}: {self.failure}")
            event.wait(0.002)

    def start_master(self, node: Node, identifier: bytes, context: bytes) -> subprocess.Popen:
        """As a NodeManager would, but for what it fetches: the agent lies here."""
        name = name_of(identifier)
        folder = self.folder / name
        folder.mkdir()
        (folder / "gangrun-agent").symlink_to(self.agent)
        (folder / "tokens").write_bytes(path(context, 2))
        words = " ".join(word.decode() for word in fields(context)[5]).replace("<LOG_DIR>", str(folder))
        own = {"CONTAINER_ID": name, "NM_HOST": node.host, "LOG_DIRS": str(folder),
               "HADOOP_TOKEN_FILE_LOCATION": str(folder / "tokens")}
        self.master = subprocess.Popen(["bash", "-c", words], cwd=folder, env=os.environ | own)
        return self.master
