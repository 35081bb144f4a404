"""gangrun._core: rows from one process into another by shared memory."""

import gc
import os
import pathlib
import platform
import secrets
import signal
import subprocess
import sys
import threading
import time

import pytest

from conftest import ROOT
from gangrun import _native, errors
from waiting import wait_until

core = None  # the module
ELSEWHERE = os.environ | {"PYTHONPATH": str(ROOT / "python")}
KEY = secrets.token_bytes(32)
LONG = 30.0


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """The module is there when the tests run; it may not be compiled yet when they are only counted."""
    global core
    core = _native.core()


@pytest.fixture
def name():
    return "gangrun-test-" + secrets.token_hex(8)


@pytest.fixture
def node(name):
    listener = core.Listener(name, KEY, 4)
    yield listener
    listener.close()


def connect(name, no_progress=LONG):
    return core.Feeder.connect(name, KEY, LONG, no_progress)


def bytes_of(frame):
    return bytes(memoryview(frame))


def run(function):
    """In a thread; the returned function waits for what it returns, or raises what it has raised."""
    outcome = []

    def call():
        try:
            outcome.append((function(), None))
        except Exception as error:  # it is raised where it is waited for
            outcome.append((None, error))

    thread = threading.Thread(target=call)
    thread.start()

    def wait():
        thread.join(LONG)
        assert outcome, "it has not ended"
        result, error = outcome[0]
        if error is not None:
            raise error
        return result

    return wait


def test_frames_arrive_in_their_order_with_kind_and_turn(name, node):
    feeder = connect(name)
    feeder.write(1, b"one")
    feeder.write(7, memoryview(b"seven"))
    feeder.write(9, b"")
    feeder.end()
    frames = [node.read(LONG) for _ in range(3)]
    assert [(frame.kind, frame.feeder, frame.nbytes, bytes_of(frame)) for frame in frames] == [
        (1, 1, 3, b"one"), (7, 1, 5, b"seven"), (9, 1, 0, b"")]
    assert node.read(0) is None


def test_a_frame_is_a_read_only_view_that_outlives_all_else(name):
    listener = core.Listener(name, KEY, 4)
    feeder = connect(name)
    feeder.write(1, b"abc" * 1000)
    view = memoryview(listener.read(LONG))
    feeder.end()
    listener.close()
    del listener, feeder
    assert view.readonly and bytes(view) == b"abc" * 1000


def test_a_frame_of_many_times_the_ring_arrives_as_one(name, node):
    big = os.urandom(20 << 20)
    feeder = connect(name)
    wait = run(lambda: (feeder.write(3, big), feeder.write(4, b"after"), feeder.end()))
    assert bytes_of(node.read(LONG)) == big
    assert bytes_of(node.read(LONG)) == b"after"
    wait()


def test_frames_that_are_kept_do_not_hold_up_the_ring(name, node):
    """One, or each tenth, or all: what a user does with batches is the user's."""
    feeder = connect(name)
    count, size = 400, 100_000
    wait = run(lambda: ([feeder.write(1, bytes([index % 251]) * size) for index in range(count)], feeder.end()))
    kept = [memoryview(node.read(LONG))]
    for index in range(1, count):
        frame = node.read(LONG)
        assert memoryview(frame)[size - 1] == index % 251
        if index % 10 == 0 or 100 < index < 200:
            kept.append(memoryview(frame))
    wait()
    assert len(kept) > 100 and all(len(set(view[::997])) == 1 for view in kept)
    assert kept[0][0] == 0 and kept[1][0] == 10 and kept[-1][0] == 390 % 251


def test_what_is_put_together_in_the_ring_arrives(name, node):
    feeder = connect(name)
    for size, sent in ((1000, 1000), (500_000, 10), (2 << 20, 2 << 20), (2 << 20, 3), (0, 0)):
        room = feeder.reserve(size)
        assert len(room) == size and not room.readonly
        room[:sent] = b"x" * sent
        feeder.commit(2, sent)
        assert bytes_of(node.read(LONG)) == b"x" * sent
    with pytest.raises(ValueError, match="0 are reserved"):
        feeder.commit(2)


def test_the_next_feeder_goes_on_behind_what_is_still_unread(name, node):
    first = connect(name)
    second = run(lambda: connect(name))
    first.write(1, b"first")
    first.end()
    feeder = second()
    feeder.write(1, b"second")
    feeder.end()
    frames = [node.read(LONG) for _ in range(2)]
    assert [(bytes_of(frame), frame.feeder) for frame in frames] == [(b"first", 1), (b"second", 2)]


def test_results_go_to_the_feeder_of_the_rows(name, node):
    feeder = connect(name)
    feeder.write(1, b"row")
    assert feeder.read(0) is None
    node.read(LONG)
    node.write(6, b"result", LONG)
    result = feeder.read(LONG)
    assert (result.kind, bytes_of(result)) == (6, b"result")
    big = os.urandom(6 << 20)
    wait = run(lambda: node.write(6, big, LONG))
    assert bytes_of(feeder.read(LONG)) == big
    wait()
    feeder.end()
    again = connect(name)
    with pytest.raises(core.PeerGone, match="turn 1"):
        node.write(6, b"late", LONG, 1)
    again.write(1, b"row")
    node.read(LONG)
    node.write(6, b"of the second", LONG)
    assert bytes_of(again.read(LONG)) == b"of the second"
    again.end()


def test_a_feeder_that_waits_for_room_is_told_of_results(name, node):
    feeder = connect(name)
    feeder.write(1, b"row")
    node.read(LONG)
    while feeder.try_write(1, b"x" * 500_000, 0):
        pass
    wait = run(lambda: feeder.try_write(1, b"x" * 500_000, LONG))
    node.write(6, b"result", LONG)
    assert wait() is False and bytes_of(feeder.read(LONG)) == b"result"


def test_a_feeder_that_goes_without_its_end_leaves_what_it_has_written_and_a_mark(name, node):
    feeder = connect(name)
    feeder.write(1, b"whole")
    del feeder
    assert bytes_of(node.read(LONG)) == b"whole"
    broken = node.read(LONG)
    assert broken.kind == core.BROKEN == 0 and b"ended before" in bytes_of(broken)
    assert node.read(0) is None


def test_refused_feeders_know_why(name, node):
    present, waiting = connect(name), run(lambda: connect(name))
    node.refuse("enough rows")
    with pytest.raises(core.Refused, match="^enough rows$"):
        while True:
            present.write(1, b"x" * 1000)
    with pytest.raises(core.Refused, match="enough rows"):
        waiting()
    with pytest.raises(core.Refused, match="enough rows"):
        connect(name)


def test_nobody_there_is_known_at_once(name):
    with pytest.raises(core.NotThere, match=name) as caught:
        connect(name)
    assert isinstance(caught.value, ConnectionError)


def test_a_node_that_closes_is_noticed_by_who_waits(name, node):
    feeder = connect(name)
    wait = run(lambda: [feeder.write(1, b"x" * 100_000) for _ in range(1000)])
    node.read(LONG)
    node.close()
    with pytest.raises(core.PeerGone):
        wait()
    with pytest.raises(core.Refused, match="closed"):
        node.read(0)


def test_the_wrong_key_is_refused(name, node):
    with pytest.raises(core.Refused, match="key"):
        core.Feeder.connect(name, bytes(32), LONG, LONG)
    half = KEY[:16] + bytes(16)
    with pytest.raises(PermissionError, match="has not the key"):
        core.Feeder.connect(name, half, LONG, LONG)


def test_no_progress_of_the_node_is_a_limit_and_touch_is_progress(name, node):
    feeder = connect(name, no_progress=0.6)
    stop = threading.Event()

    def touch():
        while not stop.wait(0.05):
            node.touch()

    wait = run(touch)
    assert feeder.read(1.5) is None  # longer than the limit: the node was touched
    stop.set()
    wait()
    with pytest.raises(TimeoutError, match="no progress"):
        while True:
            feeder.write(1, b"x" * 100_000)


def test_figures(name, node):
    feeder = connect(name)
    feeder.write(1, b"x" * 1000)
    assert node.stats["queued_bytes"] >= 1000
    node.read(LONG)
    assert node.read(0.05) is None
    stats = node.stats
    assert (stats["frames"], stats["bytes"], stats["queued_bytes"], stats["feeders_waiting"]) == (1, 1000, 0, 0)
    assert stats["node_waits_s"] > 0
    waiting = run(lambda: connect(name).end())
    while node.stats["feeders_waiting"] == 0:
        node.read(0.01)
    feeder.end()
    waiting()


@pytest.mark.parametrize("call, error, words", [
    (lambda name: core.Listener("", KEY), ValueError, "name ''"),
    (lambda name: core.Listener("x" * 108, KEY), ValueError, "allowed are 1 to 107 bytes"),
    (lambda name: core.Listener(name, b"short"), ValueError, "key: has 5 bytes"),
    (lambda name: core.Listener(name, KEY, 0), ValueError, "memory_mib"),
    (lambda name: core.Listener(name, KEY, 4).read(-1), ValueError, "time limit"),
    (lambda name: (core.Listener(name, KEY, 4), core.Listener(name, KEY, 4)), OSError, "already"),
])
def test_wrong_input(name, call, error, words):
    with pytest.raises(error, match=words):
        call(name)


def test_kinds_and_what_has_no_bytes(name, node):
    feeder = connect(name)
    for kind in (0, 65536, -1):
        with pytest.raises((ValueError, TypeError)):
            feeder.write(kind, b"x")
    with pytest.raises(TypeError):
        feeder.write(1, "text")
    feeder.end()
    with pytest.raises(ValueError, match="ended"):
        feeder.write(1, b"x")


WAITS = """
import secrets, sys
from gangrun import _native
core = _native.core()
key = bytes(32)
node = core.Listener(sys.argv[1], key, 4)
feeder = core.Feeder.connect(sys.argv[1], key, 60, 60)
print("there", flush=True)
node.read(60) if sys.argv[2] == "node" else feeder.read(60)
"""


@pytest.mark.parametrize("who", ["node", "feeder"])
def test_a_signal_ends_a_wait(name, who):
    process = subprocess.Popen([sys.executable, "-c", WAITS, name, who], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=ELSEWHERE)
    assert process.stdout.readline() == b"there\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said


def test_a_child_of_the_node_disturbs_nothing(name, node):
    """As the worker processes of a data loader: they have the node's frames, descriptors and objects, and go."""
    feeder = connect(name)
    feeder.write(1, b"first" * 1000)
    frame = node.read(LONG)
    child = os.fork()
    if child == 0:
        good = bytes_of(frame) == b"first" * 1000
        del frame
        try:
            node.read(0)
            good = False
        except core.Refused:
            pass
        node.close()
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    feeder.write(1, b"second")
    feeder.end()
    assert bytes_of(frame) == b"first" * 1000 and bytes_of(node.read(LONG)) == b"second"


def test_no_memory_for_the_ring_is_an_error_with_a_sentence(name):
    code = ("import resource, sys; from gangrun import _native; core = _native.core(); "
            "resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)); core.Listener(sys.argv[1], bytes(32), 512)")
    found = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True, timeout=60, env=ELSEWHERE)
    assert "MemoryError: no memory for a ring of 384 MiB" in found.stderr


def test_the_module_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("GANGRUN_BIN", str(tmp_path / "src"))
    monkeypatch.setattr(_native, "__file__", str(tmp_path / "package/_native.py"))
    with pytest.raises(errors.NotInstalled, match=r"compiled module for Python 3\.\d+ is not in .*package; the wheel"):
        _native.path()


def test_nothing_is_left_of_a_feed(name):
    def mapped():
        gc.collect()  # what earlier tests have left in the frames of their exceptions
        with open("/proc/self/maps") as maps:
            return {line for line in maps if "gangrun-feed" in line}

    mapped_before, before = mapped(), set(os.listdir("/proc/self/fd"))
    listener = core.Listener(name, KEY, 4)
    feeder = connect(name)
    feeder.write(1, b"x")
    listener.read(LONG)
    listener.write(1, b"y", LONG)
    feeder.read(LONG)
    feeder.end()
    listener.close()
    del listener, feeder
    deadline = time.monotonic() + LONG
    while set(os.listdir("/proc/self/fd")) != before and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    assert set(os.listdir("/proc/self/fd")) == before
    assert mapped() <= mapped_before


# The last that the interpreter does at its end is to wait for standard input.
ENDS_WHILE_READING = """
import ctypes, sys, threading
from gangrun import _native

node, begun = _native.core().Listener(sys.argv[1], bytes(32), 1), threading.Event()

def read(seconds):
    while True:
        node.read(seconds)
        begun.set()

# Most of the time without the interpreter, which it takes again at any point of the program's end; and the last one, long after it.
for seconds in [0.0001] * 4 + [3600]:
    threading.Thread(target=read, args=(seconds,), daemon=True).start()
assert begun.wait(30)
ctypes.pythonapi.Py_AtExit(ctypes.CDLL(None).getchar)
"""
# pause(2), or what the C library makes of it.
PAUSE = {"x86_64": "34", "aarch64": "73"}[platform.machine()]


def test_a_program_may_end_while_a_thread_of_it_waits(name):
    program = subprocess.Popen([sys.executable, "-c", ENDS_WHILE_READING, name], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=ELSEWHERE)

    def all_rest():
        calls = [(each / "syscall").read_text().split()[0] for each in pathlib.Path(f"/proc/{program.pid}/task").iterdir()]
        return program.poll() is not None or calls.count(PAUSE) == 5

    wait_until(all_rest, "the threads to find the interpreter gone")
    _, said = program.communicate(timeout=60)
    assert program.returncode == 0 and not said, (program.returncode, said)


def test_fifty_kills_at_random_points_lose_and_damage_nothing():
    """`make acceptance ONLY=soak` does a thousand."""
    found = subprocess.run([sys.executable, str(ROOT / "tests/soak/feed.py"), "--rounds", "50"], capture_output=True,
                           text=True, timeout=200)
    assert found.returncode == 0 and "50 kills" in found.stdout, found.stdout + found.stderr
