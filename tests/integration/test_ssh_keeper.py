"""`gangrun-agent host` on two pipes, as sshd runs it: what becomes of a host's agents when a client, a link or another
keeper comes or goes. tests/ssh has whole jobs through real sshds."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

import pytest

from keeping import HOST, JOB, OLD, Keeper, frame
from waiting import LIMIT_S, wait_until


@pytest.fixture(scope="module")
def spec(gangrun):
    """A job of three workers, whose agents wait for an hour where their master is lost."""
    shown = subprocess.run([gangrun, "run", "--dry-run", "--json", "-r", "worker:3", "--timeout", "master_lost=1h", "--", "true"],
                           check=True, capture_output=True, text=True, timeout=LIMIT_S)
    return json.loads(shown.stdout)["job"]


@pytest.fixture
def base(tmp_path):
    folder = tmp_path / "b"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def keep(agent, base, home):
    """keep() starts a keeper; `home` ends what a test that failed leaves."""
    keepers = []

    def start():
        keepers.append(Keeper(agent, base, home))
        return keepers[-1]

    yield start
    for keeper in keepers:
        for pipe in (keeper.process.stdin, keeper.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
        keeper.process.kill()
        keeper.wait()


@pytest.fixture
def agents(survivors, home):
    """agents(number): the living processes of the agent, or of all."""

    def look(number=""):
        name = f"--name {JOB}@{HOST}@.worker.{number}"
        return [pid for pid, line in survivors(f"GANGRUN_HOME={home}") if name in line]

    return look


@pytest.fixture
def start_agent(spec, agents):
    """start_agent(keeper, number) returns the handle of an agent that lives."""

    def start(keeper, number):
        keeper.start(number, spec)
        allocated = keeper.told("allocated")
        assert allocated["agent"] == number
        # What has just been executed has no environment yet.
        wait_until(lambda: agents(number), f"agent {number}")
        return allocated["handle"]

    return start


def end_of(agents, number):
    wait_until(lambda: not agents(number), lambda: f"the end of agents {agents(number)}")


def kill(agents, number):
    """All processes of the agent, of which one may be starting another."""
    def look():
        pids = agents(number)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not pids

    wait_until(look, f"the end of agent {number}")


def run_folders(base):
    return sorted(path.name for path in (base / "jobs").iterdir())


def test_a_job_from_its_begin_to_its_end(keep, start_agent, agents, base):
    keeper = keep()
    assert keeper.hello["address"] == "10.0.0.2" and not keeper.hello["shares_folder"]
    start_agent(keeper.begin(), 1)
    environment = pathlib.Path(f"/proc/{agents(1)[0]}/environ").read_bytes().split(b"\0")
    assert b"OF_CLIENT=yes" in environment and not any(each.startswith(b"SSH_") for each in environment)
    text = b"a line\n" * 100_000
    (keeper.folder / "logs/worker-1.1.out").write_bytes(text)
    keeper.send("stop", agent=1, grace_ms=0)
    ended = keeper.told("ended")
    # Its lines come as the client takes them, and nothing waits behind them.
    assert (ended["out_size"], ended["error_size"]) == (len(text), 0)
    taken = 0
    while (come := sum(len(each) for _, each in keeper.logs.get((1, False), []))) < len(text):
        if come > taken:
            keeper.send("logs_taken", bytes=come - taken)
            taken = come
        keeper.keep(*keeper.next())
    told = keeper.logs[1, False]
    assert b"".join(each for _, each in told) == text
    assert [offset for offset, _ in told] == [sum(len(each) for _, each in told[:i]) for i in range(len(told))]
    assert (ended["agent"], ended["why"]["reason"]) == (1, "agent_ended")
    keeper.send("end", kept="nothing")
    assert keeper.wait() == 0
    assert run_folders(base) == [] and not agents()


def test_a_folder_that_is_removed_while_the_job_runs_is_told(keep, start_agent, tmp_path):
    """Lines were missing, with status 0 and without a word."""
    keeper = keep()
    start_agent(keeper.begin(), 1)
    start_agent(keeper, 2)
    (keeper.folder / "logs/worker-1.1.out").write_bytes(b"a line\n")
    while not keeper.logs.get((1, False)):
        keeper.keep(*keeper.next())
    (keeper.folder / "logs/worker-1.1.out").unlink()
    gone = keeper.told("logs_gone")
    assert (gone["agents"], gone["is_folder_gone"]) == ([1], False)
    # At once.
    keeper.folder.rename(tmp_path / "gone")
    gone = keeper.told("logs_gone")
    assert (gone["agents"], gone["is_folder_gone"]) == ([2], True)
    # It is not told that nothing was written.
    found, last = brought(keeper)
    assert found == {} and last["is_gone"] and "No such file" in last["failure"]


def test_files_come_with_their_folders_and_can_be_executed_at_once(keep):
    keeper = keep().begin()
    script = b"#!/bin/sh\necho I run\n" + b"#" * 200_000
    for name, content, is_executable in ("conf/deep/run.sh", script, True), ("empty", b"", False):
        keeper.send("file", name=name, size=len(content), is_executable=is_executable, is_folder=False)
        for at in range(0, len(content), 1 << 16):
            keeper.process.stdin.write(frame("F", content[at:at + (1 << 16)]))
    work = keeper.folder / "work"
    wait_until((work / "empty").exists, "the last file")
    assert (work / "empty").stat().st_mode & 0o777 == 0o600
    done = subprocess.run([work / "conf/deep/run.sh"], check=True, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.stdout == "I run\n"


def put_file(keeper, name, content):
    keeper.send("file", name=name, size=len(content), is_executable=False, is_folder=False)
    if content:
        keeper.process.stdin.write(frame("F", content))
    wait_until(lambda: (keeper.folder / "brought").exists() and name in (keeper.folder / "brought").read_text(), name)


def brought(keeper, **members):
    """What the keeper brings, {name: bytes or target}, and its last word."""
    keeper.send("bring", **{"names": [], "new_too": True, "limit": 1 << 20, "run_folder": "", "only_rest": False} | members)
    found, name, left = {}, None, 0
    while True:
        kind, content = keeper.next()
        if kind == "F":
            found[name] += content
            left -= len(content)
            continue
        assert kind == "M" and left == 0, (kind, left)
        message = json.loads(content)
        if message["op"] == "brought":
            return found, message
        assert message["op"] == "output", message
        name, left = message["name"], message["size"]
        found[name] = message["target"] or b""


def test_what_tasks_have_written_is_brought(keep, base):
    keeper = keep().begin()
    put_file(keeper, "train.py", b"print()")
    put_file(keeper, "same", b"")
    work = keeper.folder / "work"
    (work / "train.py").write_text("print(1)")
    (work / "model").mkdir()
    (work / "model/weights").write_bytes(b"w" * 300_000)
    (work / "model/best").symlink_to("weights")
    found, last = brought(keeper)
    assert found == {"train.py": b"print(1)", "model/weights": b"w" * 300_000, "model/best": "weights"}
    assert last == {"op": "brought", "left": [], "left_files": 0, "left_bytes": 0, "odd": [], "odd_files": 0, "missing": [], "failure": "", "is_gone": False}
    found, last = brought(keeper, limit=100)
    assert sorted(found) == ["model/best", "train.py"] and last["left"] == ["model/weights"] and last["left_bytes"] == 300_000
    found, last = brought(keeper, names=["same", "nothing"], new_too=False)
    assert found == {"same": b""} and last["missing"] == ["nothing"]
    keeper.send("end", kept="nothing")
    assert keeper.wait() == 0
    assert run_folders(base) == []


@pytest.mark.parametrize("kept, writes, stays", [
    ("written", True, True), ("written", False, False), ("folder", False, True), ("nothing", True, False)])
def test_a_folder_is_kept_as_the_client_says(keep, base, kept, writes, stays):
    keeper = keep().begin()
    put_file(keeper, "same", b"1")
    if writes:
        (keeper.folder / "work/model").write_text("weights")
    keeper.send("end", kept=kept)
    assert keeper.wait() == 0
    assert run_folders(base) == ([keeper.run_folder] if stays else [])
    remover = keep()
    remover.send("remove", job=JOB)
    assert remover.told("removed") == {"op": "removed", "folders": int(stays), "left": ""}
    assert run_folders(base) == []


def test_what_tasks_have_written_waits_for_a_client_that_comes_again(keep, base):
    """It was removed with the folder of a client that had died."""
    older = keep().begin()
    (older.folder / "work/model").write_text("weights")
    older.process.stdin.close()
    assert older.wait() == 0
    newer = keep().begin(older.run_folder)
    assert newer.run_folder == older.run_folder
    assert brought(newer)[0] == {"model": b"weights"}


@pytest.mark.parametrize("ends", ["nothing", "folder", "written", None])
def test_what_was_kept_of_a_job_is_brought_to_who_knows_its_folder(keep, base, ends):
    older = keep().begin()
    (older.folder / "work/small").write_text("1")
    (older.folder / "work/large").write_text("123456")
    older.send("end", kept="written")
    assert older.wait() == 0
    newer = keep()
    found, last = brought(newer, run_folder=older.run_folder, limit=5, only_rest=True)
    assert found == {"large": b"123456"} and not last["is_gone"] and last["left_files"] == 0
    # Who goes without a word, or says so, leaves it as it was.
    if ends:
        newer.send("end", kept=ends)
    else:
        newer.process.stdin.close()
    assert newer.wait() == 0
    assert run_folders(base) == ([] if ends == "nothing" else [older.run_folder])
    another = keep()
    found, last = brought(another, run_folder=older.run_folder)
    assert last["is_gone"] == (ends == "nothing") and bool(found) != last["is_gone"]


@pytest.mark.parametrize("name, why", [("../jobs", "is no folder of a job"), ("living", "the job has not ended there")])
def test_a_folder_of_a_job_that_has_not_ended_is_not_given(keep, base, name, why):
    living = keep().begin()
    asking = keep()
    asking.send("bring", names=[], new_too=True, limit=1, run_folder=living.run_folder if name == "living" else name, only_rest=False)
    assert why in asking.told("refused")["detail"]
    assert asking.wait() == 1
    assert run_folders(base) == [living.run_folder]


@pytest.mark.parametrize("sent, why", [
    (frame("M", b'{"op":"dance"}'), 'unknown message "dance"'),
    (frame("M", b'{"op":"file","name":"../x","size":1,"is_executable":false,"is_folder":false}'), "'../x' is no file of a working folder"),
    (frame("F", b"x"), "bytes of a file came that nobody announced"),
    (frame("?", b""), "no frame has the kind 63"),
], ids=["message", "file", "bytes", "frame"])
def test_what_is_not_understood_is_refused_and_leaves_nothing(keep, start_agent, agents, base, sent, why):
    keeper = keep().begin()
    start_agent(keeper, 1)
    keeper.process.stdin.write(sent)
    assert why in keeper.told("refused")["detail"]
    assert keeper.wait() == 1
    assert run_folders(base) == [] and not agents()


def test_a_client_that_dies_ends_its_agents_at_once(keep, start_agent, agents, base):
    keeper = keep().begin()
    for number in (1, 2):
        start_agent(keeper, number)
    # ssh lives on: the other pipe is whole.
    keeper.process.stdin.close()
    assert keeper.wait() == 0
    assert run_folders(base) == [] and not agents()


def test_agents_of_a_detached_job_outlive_its_client(keep, start_agent, agents, base):
    keeper = keep().begin(outlives_us=True)
    start_agent(keeper, 1)
    keeper.process.stdin.close()
    # It has let go of the client and of the job.
    while keeper.next():
        pass
    assert agents(1) and run_folders(base) == [keeper.run_folder]
    kill(agents, 1)
    assert keeper.wait() == 0
    assert run_folders(base) == []


def test_agents_go_on_while_a_link_is_cut(keep, start_agent, agents, base):
    keeper = keep().begin()
    start_agent(keeper, 1)
    keeper.cut()
    wait_until(lambda: not holds_lock(keeper.folder), "the lock that the keeper gives up")
    assert agents(1) and run_folders(base) == [keeper.run_folder]
    kill(agents, 1)
    assert keeper.wait() == 0
    assert run_folders(base) == []


def holds_lock(folder):
    return subprocess.run(["flock", "--nonblock", folder / "lock", "true"], timeout=LIMIT_S, check=False).returncode != 0


def test_another_keeper_takes_over_from_one_that_does_not_know_yet(keep, start_agent, agents, base):
    older = keep().begin()
    handle = start_agent(older, 1)
    (older.folder / "logs/worker-1.1.out").write_bytes(b"told before, told now\n")
    newer = keep().begin(older.run_folder)
    assert newer.run_folder == older.run_folder
    # To its client it is over, though its agent lives.
    while older.next():
        pass
    newer.adopt(1, handle, len(b"told before, "))
    # The agent finds its way to the client again.
    newer.wait_for_stream()
    pids = agents(1)
    newer.send("release_others")
    newer.send("stop", agent=1, grace_ms=0)
    newer.told("ended")
    assert b"".join(each for _, each in newer.logs[1, False]) == b"told now\n"
    assert pids and not agents(1)
    # It leaves all to the newer one.
    assert older.wait() == 0
    assert run_folders(base) == [newer.run_folder]
    newer.send("end", kept="nothing")
    assert newer.wait() == 0
    assert run_folders(base) == []


def test_agents_that_a_new_client_does_not_know_are_ended(keep, start_agent, agents):
    older = keep().begin()
    for number in (1, 2):
        handle = start_agent(older, number)
    os.kill(older.process.pid, signal.SIGKILL)
    newer = keep().begin(older.run_folder)
    newer.adopt(2, handle)
    newer.send("release_others")
    end_of(agents, 1)
    assert agents(2)


def test_an_adopted_agent_that_has_ended_is_told(keep, start_agent, agents):
    older = keep().begin()
    handle = start_agent(older, 1)
    os.kill(older.process.pid, signal.SIGKILL)
    kill(agents, 1)
    newer = keep().begin(older.run_folder)
    newer.adopt(1, handle)
    assert newer.told("ended")["why"]["detail"] == "it ended before a new master came"


def test_the_folder_stays_for_the_agents_of_the_newer_keeper(keep, start_agent, agents, base):
    older = keep().begin()
    handle = start_agent(older, 1)
    newer = keep().begin(older.run_folder)
    newer.adopt(1, handle)
    start_agent(newer, 2)
    newer.cut()
    kill(agents, 1)
    assert older.wait() == 0
    assert agents(2) and run_folders(base) == [newer.run_folder]
    kill(agents, 2)
    assert newer.wait() == 0
    assert run_folders(base) == []


def test_lines_that_were_not_told_wait_for_a_client_that_comes_again(keep, start_agent, agents):
    """The link is cut while they come: the agent has ended, and its folder stays for a while."""
    older = keep().begin()
    handle = start_agent(older, 1)
    text = b"a line\n" * 1_000_000
    (older.folder / "logs/worker-1.1.out").write_bytes(text)
    older.send("stop", agent=1, grace_ms=0)
    assert older.told("ended")["out_size"] == len(text)
    older.cut()
    wait_until(lambda: not holds_lock(older.folder), "the lock that the keeper gives up")
    newer = keep().begin(older.run_folder)
    assert newer.run_folder == older.run_folder
    newer.adopt(1, handle, 7)
    newer.told("ended")
    assert newer.logs[1, False][0][0] == 7
    newer.send("end", kept="nothing")
    assert newer.wait() == 0


def test_a_keeper_that_is_told_to_end_tells_its_client(keep, start_agent, agents):
    """Or else the link would stay whole as long as its agents live, and nothing would come by it."""
    older = keep().begin()
    handle = start_agent(older, 1)
    older.process.terminate()
    older.told("leaving")
    newer = keep().begin(older.run_folder)
    newer.adopt(1, handle)
    newer.wait_for_stream()
    assert agents(1)


def test_an_agent_that_waits_for_gpus_is_not_started_without_its_client(keep, spec, base):
    keeper = keep().begin()
    keeper.start(1, spec, gpus=1000)
    assert "other jobs hold GPUs of this machine" in keeper.told("waiting")["reason"]
    keeper.cut()
    assert keeper.wait() == 0
    assert run_folders(base) == []


def test_a_folder_that_was_removed_has_another_name_the_next_time(keep, base):
    older = keep().begin()
    older.cut()
    assert older.wait() == 0
    newer = keep().begin(older.run_folder)
    assert run_folders(base) == [newer.run_folder] != [older.run_folder]


@pytest.mark.parametrize("fault", ["cut", "terminated"])
def test_a_keeper_without_a_job_leaves(keep, fault):
    keeper = keep()
    if fault == "cut":
        keeper.cut()
    else:
        keeper.process.terminate()
    assert keeper.wait() == 0


def test_a_keeper_does_not_mind_the_end_of_a_terminal(keep):
    keeper = keep()
    keeper.process.send_signal(signal.SIGHUP)
    assert keeper.begin().run_folder.startswith(JOB)


def test_folders_that_nobody_has_are_swept_by_the_next_keeper(keep, base):
    keeper = keep().begin()
    os.kill(keeper.process.pid, signal.SIGKILL)
    keeper.wait()
    keep().begin()
    # Something was written there a moment ago.
    assert keeper.folder.exists()
    for path in [*keeper.folder.rglob("*"), keeper.folder]:
        os.utime(path, OLD, follow_symlinks=False)
    keep().begin()
    assert not keeper.folder.exists()
