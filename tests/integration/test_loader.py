"""gangrun-loader puts a program together in a container: from parts, as ConfigMaps bring them, in memory or in a folder.

What it carries here is the agent, and busybox, which is static and does what it is called.
"""

import errno
import fcntl
import gzip
import hashlib
import pathlib
import platform
import re
import resource
import shutil
import signal
import stat
import subprocess
import tempfile

import pytest

import old_kernel
from waiting import wait_until

LIMIT_S = 60
BUSYBOX = pathlib.Path("/bin/busybox")
OTHER_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
MOST_OF_A_MAP = 1 << 20
FAILED = 125
# Of x86-64.
OPENAT, MEMFD_CREATE, EXECVEAT = 257, 319, 322
MAY_BE_EXECUTED, WITHOUT_A_NAME = 0x10, 0o20000000
AARCH64 = 183
WRONG = "0" * 64


def digest(content):
    return hashlib.sha256(content).hexdigest()


class Pod:
    """A folder with the loader and the parts of a program, as a volume of ConfigMaps has them."""

    def __init__(self, loader, folder, content, packed=None, size=300_000):
        self.folder = folder / "agent"
        self.inside = self.folder / "..2026_11_30"
        self.inside.mkdir(parents=True)
        (self.folder / "..data").symlink_to(self.inside.name)
        shutil.copy(loader, self.inside / "loader")
        (self.inside / "loader").chmod(0o555)
        self.digest = digest(content)
        self.bytes = len(content)
        self.loader = self.folder / "loader"
        self.loader.symlink_to("..data/loader")
        self.parts = []
        packed = gzip.compress(content, 1) if packed is None else packed
        for number, at in enumerate(range(0, len(packed), size)):
            self.parts.append(self.inside / f"part-{number}")
            self.parts[-1].write_bytes(packed[at:at + size])
            (self.folder / f"part-{number}").symlink_to(f"..data/part-{number}")

    def run(self, where, *words, before=(), expected=None, **options):
        return subprocess.run([*before, self.loader, expected or self.digest, str(where), *map(str, words)], capture_output=True,
                              text=True, timeout=LIMIT_S, **options)


@pytest.fixture
def folder():
    """One that other users can enter."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="loader-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def make_pod(loader, folder):
    """make_pod(content): in a folder with a number where there are more."""
    made = []

    def make(content, packed=None, **options):
        made.append(folder / f"{len(made)}")
        return Pod(loader, made[-1], content, packed, **options)

    return make


@pytest.fixture
def pod(make_pod):
    return make_pod(BUSYBOX.read_bytes())


@pytest.fixture
def pod_of_agent(make_pod, packed_agent):
    return make_pod(gzip.decompress(packed_agent), packed_agent, size=MOST_OF_A_MAP)


@pytest.fixture
def room(folder):
    """A folder of the pod, which every user may write to."""
    made = folder / "room"
    made.mkdir()
    made.chmod(0o777)
    return made


def refused(done):
    """The one line that says why."""
    assert (done.returncode, done.stdout) == (FAILED, ""), done
    (line,) = done.stderr.splitlines()
    assert line.startswith("gangrun-loader: ") and done.stderr.endswith("\n")
    return line.removeprefix("gangrun-loader: ")


def test_the_build_names_what_it_packs(packed_agent):
    """SHA256-SIZE: clients take that for true."""
    program = gzip.decompress(packed_agent)
    name = packed_agent[10:packed_agent.index(0, 10)].decode()
    assert packed_agent[:4] == b"\x1f\x8b\x08\x08" and name == f"{digest(program)}-{len(program)}"


# --- the program runs


@pytest.fixture(params=["memory", "folder"])
def where(request, room):
    return "memory" if request.param == "memory" else room


def test_the_agent_runs_from_what_the_build_makes(pod_of_agent, where, pod_agent):
    pod = pod_of_agent
    assert len(pod.parts) > 2
    said = subprocess.run([pod_agent, "--version"], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
    for before in ([], OTHER_USER):
        done = pod.run(where, "gangrun-agent", "--version", before=before)
        assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_the_loader_fits_into_a_map_and_is_one_static_file(loader):
    assert loader.stat().st_size < 100_000
    headers = subprocess.run(["readelf", "-lW", str(loader)], capture_output=True, text=True, check=True).stdout
    assert "INTERP" not in headers and "DYNAMIC" not in headers and "RWE" not in headers


def test_the_agents_bytes_are_packed_the_same_each_time(packed_agent):
    # Its name is that of its content, and its time the least that gzip writes.
    assert packed_agent[:4] == b"\x1f\x8b\x08\x08" and packed_agent[4:8] == b"\x01\0\0\0"


def test_name_arguments_and_environment_are_passed_on(pod, where):
    script = 'echo "$0 $# $1|$2|$3"; env; exit 7'
    done = pod.run(where, "sh", "-c", script, "me", "a b", "", "c\n", env={"ONE": "1 2", "EMPTY": ""})
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.startswith("me 3 a b||c\n\n")
    assert {"ONE=1 2", "EMPTY="} <= set(done.stdout.splitlines())


@pytest.mark.parametrize("words", [["ls", "/proc/self/fd"], ["grep", "-E", "^(Sig[PBIC]|Shd|CapEff|Seccomp|NoNewPrivs)", "/proc/self/status"],
                                   ["id"], ["pwd"], ["sh", "-c", "ulimit -a; umask"]])
def test_what_the_program_has_from_its_parent_is_as_without_the_loader(pod, where, words):
    for restores in (True, False):  # with SIGPIPE as it is by default, and ignored
        options = {"capture_output": True, "text": True, "timeout": LIMIT_S, "restore_signals": restores}
        plain = subprocess.run(words, executable=BUSYBOX, **options)
        options.pop("capture_output"), options.pop("text"), options.pop("timeout")
        done = pod.run(where, *words, **options)
        assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)


def test_the_program_can_start_itself_anew(pod, where):
    done = pod.run(where, "sh", "-c", 'exec -a echo /proc/self/exe again 2>&1 || exit 3')
    assert done.stdout == "again\n", done


def test_it_needs_nothing_of_the_image(pod):
    """No /proc, no /dev, no other file: the parts are beside the loader as it was called."""
    done = subprocess.run(["chroot", pod.folder.parent, "/agent/loader", pod.digest, "memory", "echo", "here"], capture_output=True,
                          text=True, timeout=LIMIT_S)
    assert (done.returncode, done.stdout) == (0, "here\n"), done


def test_it_finds_the_parts_by_its_file_and_when_that_was_replaced_by_its_name(pod):
    anywhere = pod.folder.parent / "link"
    anywhere.symlink_to(pod.loader)
    done = subprocess.run([anywhere, pod.digest, "memory", "echo", "1"], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.stdout == "1\n", done
    # The kubelet has put another folder in its place.
    moved = pod.folder.parent / "moved"
    moved.mkdir()
    shutil.copy(pod.loader, moved / "loader")
    done = subprocess.run([pod.loader, pod.digest, "memory", "echo", "2"], executable=moved / "loader", capture_output=True, text=True,
                          timeout=LIMIT_S)
    assert done.stdout == "2\n", done


def test_more_than_ten_parts_are_joined_in_the_order_of_their_numbers(make_pod, where):
    content = BUSYBOX.read_bytes()
    pod = make_pod(content, size=len(gzip.compress(content, 1)) // 12)
    assert len(pod.parts) > 11
    assert pod.run(where, "echo", "whole").stdout == "whole\n"


def test_its_memory_does_not_grow_with_the_program(pod_of_agent):
    assert pod_of_agent.bytes > 5 << 20
    done = pod_of_agent.run("memory", "gangrun-agent", before=["prlimit", f"--as={1 << 20}"], expected=WRONG)
    assert "another one" in refused(done)


# --- the program is another one, or none


def swap(pod):
    one, other = pod.parts[0].read_bytes(), pod.parts[1].read_bytes()
    pod.parts[0].write_bytes(other)
    pod.parts[1].write_bytes(one)


def swap_later(pod):
    one, other = pod.parts[1].read_bytes(), pod.parts[2].read_bytes()
    pod.parts[1].write_bytes(other)
    pod.parts[2].write_bytes(one)


def flip(pod):
    content = bytearray(pod.parts[1].read_bytes())
    content[1000] ^= 1
    pod.parts[1].write_bytes(content)


def append(pod):
    pod.parts[-1].write_bytes(pod.parts[-1].read_bytes() + b"x")


def cut(pod):
    pod.parts[-1].write_bytes(pod.parts[-1].read_bytes()[:-1])


DAMAGES = [
    (lambda pod: pod.parts[0].unlink(), "part-0 is not beside it"),
    (lambda pod: pod.parts[1].unlink(), "part-1 is missing, or part-0 is cut"),
    (lambda pod: pod.parts[-1].unlink(), "is missing, or part-"),
    (swap, "part-0 is damaged or not in its place: incorrect header check"),
    (swap_later, "part-[123], or one before it, is damaged or not in its place: |another one"),
    (flip, "part-[123], or one before it, is damaged or not in its place: |another one"),
    (cut, "is missing, or part-"),
    (append, "has bytes behind the end of the program"),
    (lambda pod: (pod.inside / f"part-{len(pod.parts)}").write_bytes(b"more"), "has bytes behind the end of the program"),
    (lambda pod: pod.parts[0].write_bytes(b""), "part-1, or one before it, is damaged or not in its place: incorrect header check"),
    (lambda pod: pod.parts[0].write_bytes(b"no gzip at all"), "part-0 is damaged or not in its place: incorrect header check"),
]


@pytest.mark.parametrize("damage, why", DAMAGES, ids=range(len(DAMAGES)))
def test_damaged_parts_are_not_executed(pod, room, where, damage, why):
    damage(pod)
    assert re.search(why, refused(pod.run(where, "echo", "executed")))
    assert not list(room.iterdir())


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 70_000])
def test_another_digest_is_told_with_the_one_that_it_has(make_pod, where, room, size):
    content = bytes(number * 5 % 256 for number in range(size))
    line = refused(make_pod(content).run(where, "echo", "executed", expected=WRONG))
    assert line == f"the program of the parts is another one: its SHA-256 is {digest(content)} instead of {WRONG}"
    assert not list(room.iterdir())


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\necho executed\n", b"\x7fELF"])
def test_what_is_no_program_is_not_executed(make_pod, where, room, content):
    assert "not of the format ELF" in refused(make_pod(content).run(where, "echo"))
    assert not list(room.iterdir())


def test_a_program_for_another_processor_is_named(make_pod, where, room):
    content = bytearray(BUSYBOX.read_bytes())
    content[18:20] = AARCH64.to_bytes(2, "little")
    line = refused(make_pod(bytes(content)).run(where, "echo"))
    assert line == "the program is for aarch64, and this machine is x86-64"
    assert platform.machine() == "x86_64" and not list(room.iterdir())


@pytest.mark.parametrize("words, why", [
    ([], "usage: loader SHA256 memory|FOLDER NAME [ARGUMENT...]"),
    ([WRONG], "usage: "), ([WRONG, "memory"], "usage: "),
    (["abc", "memory", "x"], "no SHA-256, which has 64 digits of 0 to 9 and a to f: abc"),
    ([WRONG[1:] + "A", "memory", "x"], "no SHA-256"), ([WRONG + "0", "memory", "x"], "no SHA-256"), (["a\nb", "memory", "x"], "a?b"),
])
def test_wrong_words_are_refused(pod, words, why):
    assert why in refused(subprocess.run([pod.loader, *words], capture_output=True, text=True, timeout=LIMIT_S))


# --- the program in memory


def test_nobody_can_change_the_program_in_memory(pod):
    with subprocess.Popen([pod.loader, pod.digest, "memory", "sh", "-c", "echo up; read line; readlink /proc/$$/exe"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == "up\n"
        with open(f"/proc/{process.pid}/exe", "rb") as program_in_memory:
            seals = fcntl.fcntl(program_in_memory, fcntl.F_GET_SEALS)
            assert digest(program_in_memory.read()) == pod.digest
        assert seals & 0xf == fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
        assert process.communicate("go on\n", timeout=LIMIT_S)[0] == "/memfd:gangrun-agent (deleted)\n"


@pytest.mark.parametrize("refused_call", [(MEMFD_CREATE, errno.EINVAL, 1, MAY_BE_EXECUTED), (EXECVEAT, errno.ENOSYS)])
def test_older_kernels_run_it_too(pod, refused_call):
    done = pod.run("memory", "echo", "here", preexec_fn=lambda: old_kernel.refuse_call(*refused_call))
    assert done.stdout == "here\n", done


@pytest.mark.parametrize("error, why", [(errno.EACCES, "the node allows no program in memory"), (errno.EPERM, "vm.memfd_noexec"),
                                        (errno.ENOSYS, "no file in memory: the kernel has no such call"),
                                        (errno.ENFILE, "no file in memory: error 23")])
def test_where_no_program_may_be_in_memory_the_folder_is_named(pod, room, error, why):
    def refuse():
        old_kernel.refuse_call(MEMFD_CREATE, error)

    line = refused(pod.run("memory", "echo", preexec_fn=refuse))
    assert why in line and line.endswith("a folder, of an emptyDir, may be given instead of memory")
    assert pod.run(room, "echo", "here", preexec_fn=refuse).stdout == "here\n"


def test_a_kernel_of_red_hat_7_takes_the_folder(pod, room):
    assert pod.run(room, "echo", "here", preexec_fn=old_kernel.refuse_newer_calls).stdout == "here\n"


# --- the program in a folder


def test_a_container_that_starts_again_uses_the_program_that_is_there(pod, room):
    assert pod.run(room, "echo", "first").stdout == "first\n"
    (made,) = room.iterdir()
    before = made.stat()
    assert made.name == "gangrun-agent" and stat.S_IMODE(before.st_mode) == 0o555
    for part in pod.parts:
        part.unlink()
    for user in ([], OTHER_USER):
        assert pod.run(room, "echo", "again", before=user).stdout == "again\n"
    assert made.stat().st_ino == before.st_ino
    assert "part-0 is not beside it" in refused(pod.run(room, "echo", expected=WRONG))


@pytest.mark.parametrize("change", [
    lambda path: (path.chmod(0o755), path.write_bytes(b"#!/bin/sh\necho executed\n"), path.chmod(0o555)),
    lambda path: path.chmod(0o777),
    lambda path: path.chmod(0o444),
    lambda path: (path.rename(path.with_name("elsewhere")), path.symlink_to("elsewhere")),
    lambda path: (path.unlink(), path.symlink_to("/bin/false")),
], ids=range(5))
def test_what_else_is_there_is_replaced(pod, room, change):
    assert pod.run(room, "echo", "first").stdout == "first\n"
    path = room / "gangrun-agent"
    change(path)
    before = path.lstat().st_ino
    assert pod.run(room, "echo", "again").stdout == "again\n"
    assert path.lstat().st_ino != before and digest(path.read_bytes()) == pod.digest
    assert stat.S_IMODE(path.lstat().st_mode) == 0o555


def test_a_program_that_runs_is_not_changed(make_pod, pod, room):
    """The next one of another version comes beside it, and under its name."""
    first = subprocess.Popen([pod.loader, pod.digest, room, "sh", "-c", "read line; echo $line"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    wait_until((room / "gangrun-agent").exists, "the first program", LIMIT_S)
    other = make_pod(BUSYBOX.read_bytes() + b"another")
    assert other.run(room, "echo", "here").stdout == "here\n"
    assert first.communicate("well\n", timeout=LIMIT_S) == ("well\n", None)


def test_a_loader_that_is_killed_leaves_nothing(pod_of_agent, room):
    done = pod_of_agent.run(room, "gangrun-agent", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    assert done.returncode == -signal.SIGXFSZ and not list(room.iterdir())


def test_a_folder_that_cannot_be_used_is_named(pod, room):
    assert refused(pod.run(room / "missing", "x")) == f"the folder {room}/missing cannot be opened: No such file or directory"
    (room / "file").touch()
    assert refused(pod.run(room / "file", "x")) == f"the folder {room}/file cannot be opened: Not a directory"
    room.chmod(0o755)
    line = refused(pod.run(room, "x", before=OTHER_USER))
    assert line == f"the folder {room} takes no file: Permission denied"
    (room / "gangrun-agent").mkdir()
    assert refused(pod.run(room, "x")) == f"{room}/gangrun-agent cannot be made: Is a directory"
    assert sorted(path.name for path in room.iterdir()) == ["file", "gangrun-agent"]


def mounted(pod, room, options, *words, **more):
    """On a file system of its own, which nobody else sees. A program that does not run is followed by what is in the folder."""
    script = f'mount -t tmpfs -o {options} none "$1" && room=$1 && shift && "$@" || {{ status=$?; ls -A "$room"; exit $status; }}'
    return pod.run(room, *words, before=["unshare", "--mount", "sh", "-c", script, "sh", str(room)], **more)


@pytest.mark.parametrize("error", [errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT])
def test_a_file_system_that_names_each_file_at_once_takes_it_too(pod, room, error):
    more = {"preexec_fn": lambda: old_kernel.refuse_call(OPENAT, error, 2, WITHOUT_A_NAME)}
    assert "another one" in refused(pod.run(room, "echo", expected=WRONG, **more))
    assert "No space left on device" in refused(mounted(pod, room, "size=512k", "echo", **more))
    assert not list(room.iterdir())
    assert pod.run(room, "echo", "here", **more).stdout == "here\n"
    assert [path.name for path in room.iterdir()] == ["gangrun-agent"]


def test_a_file_system_that_cannot_take_it_is_told(pod, room):
    assert mounted(pod, room, "size=16m", "echo", "here").stdout == "here\n"
    line = refused(mounted(pod, room, "noexec", "echo"))
    assert line == f"the folder {room} is mounted noexec: no program in it can be executed"
    assert refused(mounted(pod, room, "ro", "echo")) == f"the folder {room} takes no file: Read-only file system"
    line = refused(mounted(pod, room, "size=512k", "echo"))
    assert line == f"{room} has no room for the program, which needs {pod.bytes} bytes: No space left on device"
    line = refused(mounted(pod, room, "nr_inodes=1", "echo"))
    assert line == f"the folder {room} takes no file: No space left on device"


def test_a_folder_that_is_read_only_later_is_enough(pod, room):
    assert pod.run(room, "echo", "first").stdout == "first\n"
    script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    done = pod.run(room, "echo", "again", before=["unshare", "--mount", "sh", "-c", script, "sh", str(room)])
    assert done.stdout == "again\n", done
