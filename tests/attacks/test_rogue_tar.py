"""Images whose program `tar`, by which outputs come out of pods, is rogue: it answers as it likes.

What it sends is at most lost: the job ends as its tasks did, the client says why in a line, and nothing lies outside its outputs.
"""

import gzip
import io
import os
import stat
import subprocess
import tarfile

import pytest
from kubernetes.jobs import WITHOUT_AGENTS
from said import ESCAPES, EVIL, assert_clean, assert_logs_clean, usage_of

MOST_MEMORY_KB = 400 * 1024
LIMIT_MIB = 8
IMAGE = "localhost/gangrun-rogue-tar:1"
# Does what the task has left in its folder: what was carried there only the task's own container has.
TAR = "#!/bin/sh\nPATH=/bin exec /bin/sh ./does\n"
TASK = "mkdir -p made; cat carried-does > does; cat carried-sent > sent; cat carried-header > header"
PROGRAMS = ("cat", "yes", "printf", "head", "sleep", "mkdir", "kill", "test", "cp", "echo", "tail", "true", "mv", "chmod", "dirname", "rm", "touch", "ln")


@pytest.fixture(scope="module")
def image(kubernetes, tmp_path_factory):
    program = tmp_path_factory.mktemp("image") / "tar"
    program.write_text(TAR)
    links = [word for name in PROGRAMS for word in ("--link", f"/bin/busybox:/bin/{name}")]
    # The shell of busybox has a tar of its own.
    return kubernetes.make_image(IMAGE, "--program", "/bin/dash:/bin/sh", "--file", "/bin/busybox:/bin/busybox:755", *links, "--file", f"{program}:/bin/tar:755", "--env", "PATH=/bin")


def archive(*members, mode="w"):
    """A tar file of these: a name, what it is, and what a TarInfo has besides."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode, format=tarfile.PAX_FORMAT) as file:
        for name, content, more in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in more.items():
                setattr(info, key, value)
            file.addfile(info, io.BytesIO(content))
    return made.getvalue()


def device(name, kind=tarfile.CHRTYPE):
    return name, b"", {"type": kind, "devmajor": 1, "devminor": 3, "mode": 0o666}


def link(name, target, kind=tarfile.SYMTYPE):
    return name, b"", {"type": kind, "linkname": target}


def header(name, size):
    """Of a file that is that large, without the file."""
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


GOOD = ("made", b"good", {})
# What is sent as it is.
ARCHIVES = {
    "a name that leads out": archive(("../../../escaped", b"x", {})),
    "a name from the root": archive(("/tmp/escaped-of-this-test", b"x", {})),
    "a link that leads out, and a file through it": archive(link("out", "../../../.."), ("out/escaped", b"x", {})),
    "a hard link that leads out": archive(link("passwd", "../../../../../../etc/passwd", tarfile.LNKTYPE), GOOD),
    "a link to itself": archive(link("made", "made")),
    "links in a circle": archive(link("made", "other"), link("other", "made")),
    "a device": archive(device("made"), GOOD),
    "a block device": archive(device("disk", tarfile.BLKTYPE), GOOD),
    "a pipe": archive(("pipe", b"", {"type": tarfile.FIFOTYPE}), GOOD),
    "setuid": archive(("made", b"#!/bin/sh\n", {"mode": 0o7777, "uid": 0, "gid": 0})),
    "rights for nobody": archive(("made", b"", {"type": tarfile.DIRTYPE, "mode": 0}), ("made/in", b"x", {"mode": 0})),
    "words as a name": archive((EVIL, b"x", {}), GOOD),
    "a long name": archive(("n" * 5000, b"x", {}), GOOD),
    "a deep name": archive(("d/" * 4000 + "f", b"x", {}), GOOD),
    "ten thousand devices": archive(*[device(f"d{number}") for number in range(10_000)]),
    "half of one": archive(("made", bytes(1 << 20), {}))[:300_000],
    "a header with another sum": b"made".ljust(512, b"\x00") + bytes(1024),
    "a size beyond all": header("made", (1 << 60) - 1),
    "a packed bomb": gzip.compress(bytes(1 << 26)),
    "words": EVIL.encode("utf-8", "surrogateescape") * 100,
    "one byte": b"\x00",
}
# What it does instead.
PROGRAMS_OF_TAR = {
    "nothing": "true",
    "status 1": "exit 1",
    "status 255, with words": "printf %b '" + "".join(f"\\0{byte:03o}" for byte in EVIL.encode()) + "' >&2; exit 255",
    "words without end, for people": "yes " + "w" * 200 + " >&2",
    "names without end that are missing": "yes gangrun-missing:made >&2",
    "names of others that are missing": "echo gangrun-missing:other >&2; echo gangrun-missing:../../x >&2",
    "zeros without end": "cat /dev/zero",
    "a member without end": "cat header; cat /dev/zero",
    "bytes without end": "cat /dev/urandom",
    "it is killed": "kill -9 $$",
    "it kills all": "kill -9 1; kill -9 -1",
    "it writes on and ends": "(yes x &) ; exit 0",
}


def looked_at(folder):
    """Nothing but files, folders and links that stay there, for nobody else to write."""
    for top, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = os.path.join(top, name)
            info = os.lstat(path)
            if stat.S_ISLNK(info.st_mode):
                assert os.path.realpath(path).startswith(str(folder)), path
                continue
            assert stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode), path
            assert info.st_mode & 0o7022 == 0 and info.st_uid == os.getuid(), path


@pytest.mark.parametrize("name", [*ARCHIVES, *PROGRAMS_OF_TAR])
def test_a_rogue_tar_does_no_harm(pod_jobs, image, home, name):
    pod_jobs.image = image
    carried = {"does": PROGRAMS_OF_TAR.get(name, "cat sent").encode() + b"\n", "sent": ARCHIVES.get(name, b""), "header": header("made", 1 << 40)}
    for key, content in carried.items():
        (pod_jobs.folder / f"carried-{key}").write_bytes(content)
    words = pod_jobs.words(*WITHOUT_AGENTS, "-r", "worker:1", "--output", "made", "--outputs-limit", f"{LIMIT_MIB}m", "--timeout", "job=60s",
                           *[word for key in carried for word in ("-f", f"carried-{key}")], "--", "sh", "-c", TASK)
    status, said, memory = usage_of(pod_jobs.gangrun, *words, cwd=pod_jobs.folder, env=pod_jobs.environment)
    assert status == 0, said
    assert memory < MOST_MEMORY_KB, memory
    assert_clean(said, most=8000)
    (outputs,) = home.glob("jobs/*/outputs")
    looked_at(outputs)
    # What came, but not what it came in.
    assert [path.name for path in outputs.iterdir()] in ([], ["worker-0"])
    assert not [path for path in home.rglob("escaped*") if outputs not in path.parents] and not os.path.exists("/tmp/escaped-of-this-test")
    assert sum(path.lstat().st_size for path in outputs.rglob("*")) < (LIMIT_MIB << 20)
    if name in PROGRAMS_OF_TAR:
        assert "the outputs of worker:0 could not be fetched: " in said or "worker:0 has written no made" in said, said
    else:
        assert "ended with status 0 and sent nothing" not in said, said
    for command in ("fetch", "why", "status"):
        done = pod_jobs.order(command, "last")
        assert_clean(done.stdout + done.stderr)
    fetched = pod_jobs.order("fetch", "last", "--to", "here")
    assert_clean(fetched.stdout + fetched.stderr)
    if (pod_jobs.folder / "here").exists():
        looked_at(pod_jobs.folder / "here")
    assert_logs_clean(home)
    assert pod_jobs.left() == []


def test_one_that_does_not_end_costs_no_more_than_the_time_of_the_job(pod_jobs, image, home):
    pod_jobs.image = image
    done = pod_jobs.run(*WITHOUT_AGENTS, "-r", "worker:1", "--output", "made", "--timeout", "job=10s", "--timeout", "stop=1s", "--",
                        "sh", "-c", "mkdir made; echo tail -f /dev/null > does")
    said = done.stdout + done.stderr
    assert done.returncode in (0, 1) and not ESCAPES.search(said.replace("\n", "")), said
    assert pod_jobs.left() == []


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "none", disk], check=True, timeout=30)
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True, timeout=30)


def test_a_disk_that_is_nearly_full_is_not_filled(pod_jobs, image, small_disk):
    disk = small_disk
    pod_jobs.image = image
    pod_jobs.environment["GANGRUN_HOME"] = str(disk)
    done = pod_jobs.run(*WITHOUT_AGENTS, "-r", "worker:1", "--output", "made", "--", "sh", "-c", "mkdir made; echo cat /dev/zero > does")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the outputs of worker:0 could not be fetched" in done.stderr and "free on the disk" in done.stderr, done.stderr
    room = os.statvfs(disk)
    assert room.f_bavail * room.f_frsize > 40 << 20
    assert pod_jobs.order("status", "last").returncode == 0
    assert pod_jobs.left() == []
