"""Prints, as one line of JSON, what a program sees of itself, of its machine and of its sibling.

    python3 seen.py RANK FOLDER    two of these, of ranks 0 and 1, find each other by FIFOs in FOLDER
"""

import ctypes
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
PR_GET_PDEATHSIG, PR_GET_NO_NEW_PRIVS = 2, 39
PIDFD_OPEN, PIDFD_GETFD = 434, 438
SECRET = b"what only the other rank has"


class IoVec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def outcome(attempt):
    try:
        return attempt()
    except OSError as error:
        return f"{type(error).__name__}: {error.strerror}"


def read_memory(pid, address):
    buffer = ctypes.create_string_buffer(len(SECRET))
    here, there = IoVec(ctypes.addressof(buffer), len(SECRET)), IoVec(address, len(SECRET))
    got = LIBC.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return buffer.raw.decode()


def take_descriptor(pid, number):
    pidfd = LIBC.syscall(PIDFD_OPEN, pid, 0)
    taken = LIBC.syscall(PIDFD_GETFD, pidfd, number, 0) if pidfd >= 0 else -1
    if taken < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return socket.socket(fileno=taken).recv(100).decode()


def of_sibling(number, address, descriptor):
    return {
        "number of the sibling is another": number != os.getpid(),
        "signal to the sibling": outcome(lambda: os.kill(number, 0)),
        "memory of the sibling": outcome(lambda: read_memory(number, address)),
        "descriptor of the sibling": outcome(lambda: take_descriptor(number, descriptor)),
        "files of the sibling in /proc": outcome(lambda: len(os.listdir(f"/proc/{number}/fd")) > 0),
    }


def death_signal():
    signal = ctypes.c_int()
    LIBC.prctl(PR_GET_PDEATHSIG, ctypes.byref(signal), 0, 0, 0)
    return signal.value


def parent_of_an_orphan():
    """And that somebody reaps it: else this waits for ever."""
    told, tells = os.pipe()
    if os.fork() == 0:
        parent = os.getpid()
        if os.fork() == 0:
            while os.getppid() == parent:
                pass
            os.write(tells, f"{os.getpid()} {pathlib.Path(f'/proc/{os.getppid()}/comm').read_text()}".encode())
        os._exit(0)
    os.wait()
    number, parent = os.read(told, 100).decode().split(maxsplit=1)
    while os.path.exists(f"/proc/{number}"):
        pass
    return parent


def of_itself(folder):
    status = dict(line.split(":\t", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    limits = {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")}
    umask = os.umask(0)
    os.umask(umask)
    return {
        "user and groups": [*os.getresuid(), *os.getresgid(), *os.getgroups()],
        "owner of root's files": os.stat("/etc/passwd").st_uid,
        "user of a setuid program": subprocess.run([folder / "setuid-id", "-u"], stdout=subprocess.PIPE, text=True).stdout,
        "capabilities": [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
        "no_new_privs": LIBC.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
        "seccomp": status["Seccomp"],
        "user namespace": os.readlink("/proc/self/ns/user"),
        "process 1": pathlib.Path("/proc/1/comm").read_text(),
        "limits": limits,
        "umask": umask,
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "processors": sorted(os.sched_getaffinity(0)),
        "scheduler": os.sched_getscheduler(0),
        "oom_score_adj": pathlib.Path("/proc/self/oom_score_adj").read_text(),
        "cgroup": pathlib.Path("/proc/self/cgroup").read_text(),
        "/dev/shm": [os.stat("/dev/shm").st_dev, os.access("/dev/shm", os.W_OK)],
        "mounts but /proc": sorted(line.split()[1] for line in open("/proc/self/mounts") if line.split()[1] != "/proc"),
        "network": os.readlink("/proc/self/ns/net"),
        "ipc": os.readlink("/proc/self/ns/ipc"),
        "host name": os.uname().nodename,
        "variables of a login": {name: value for name, value in os.environ.items() if name.startswith("SSH_")},
        "terminal": outcome(lambda: os.close(os.open("/dev/tty", os.O_RDWR))),
        "signals ignored": status["SigIgn"],
        "signals blocked": status["SigBlk"],
        "descriptors": sorted(os.listdir("/proc/self/fd"), key=int),
        "signal at the parent's death": death_signal(),
        "parent of an orphan": parent_of_an_orphan(),
    }


def main():
    rank, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    if rank == 1:
        LIBC.prctl(0x59616D61, -1, 0, 0, 0)  # PR_SET_PTRACER: any, where Yama asks for it
        memory = ctypes.create_string_buffer(SECRET)
        ours, theirs = socket.socketpair()
        theirs.send(b"by its descriptor")
        (folder / "sibling").write_text(json.dumps([os.getpid(), ctypes.addressof(memory), ours.fileno()]))
        (folder / "over").read_text()
        return
    sibling = of_sibling(*json.loads((folder / "sibling").read_text()))
    (folder / "seen.json").write_text(json.dumps(sibling | of_itself(folder)))
    (folder / "over").write_text("")


main()
