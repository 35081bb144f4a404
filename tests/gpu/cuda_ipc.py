"""Two tasks of one job exchange a buffer on an NVIDIA GPU by CUDA's IPC, at each level of containment that a job can have here.

    cuda_ipc.py            as `make acceptance ONLY=gpu` runs it; needs an NVIDIA GPU and its driver, and no package of Python
    cuda_ipc.py task       one task of that job

CUDA hands a buffer on by a name that holds the process number of its owner, and UCX does so only within one PID namespace.
GANGRUN_BIN is the folder of the programs.
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("GANGRUN_BIN", ROOT / "build/release/src"))
LEVELS = ("pid_namespace", "cgroup", "subreaper")
BYTES = 1 << 20
LIMIT_S = 120


class Handle(ctypes.Structure):
    """CUipcMemHandle of cuda.h; its type is by value in the call that opens it."""

    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


class Cuda:
    """The driver's library, with a context on the first GPU."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: CUDA error {status}")


def pattern(seed):
    return bytes((seed + i * 7) % 256 for i in range(256)) * (BYTES // 256)


def give(cuda):
    """Lends a buffer, and looks whether the other task has written to it."""
    buffer, handle = ctypes.c_uint64(), Handle()
    cuda.call("cuMemAlloc_v2", ctypes.byref(buffer), ctypes.c_size_t(BYTES))
    cuda.call("cuMemcpyHtoD_v2", buffer, pattern(1), ctypes.c_size_t(BYTES))
    cuda.call("cuIpcGetMemHandle", ctypes.byref(handle), buffer)
    pathlib.Path("handle").write_bytes(bytes(handle))
    pathlib.Path("answer").read_bytes()
    back = ctypes.create_string_buffer(BYTES)
    cuda.call("cuMemcpyDtoH_v2", back, buffer, ctypes.c_size_t(BYTES))
    if back.raw != pattern(2):
        raise RuntimeError("what the other task wrote is not in the buffer")


def take(cuda):
    """Reads the buffer of the other task, and writes to it."""
    handle, buffer = Handle.from_buffer_copy(pathlib.Path("handle").read_bytes()), ctypes.c_uint64()
    try:
        cuda.call("cuIpcOpenMemHandle_v2", ctypes.byref(buffer), handle, ctypes.c_uint(1))
        seen = ctypes.create_string_buffer(BYTES)
        cuda.call("cuMemcpyDtoH_v2", seen, buffer, ctypes.c_size_t(BYTES))
        if seen.raw != pattern(1):
            raise RuntimeError("the buffer of the other task has something else in it")
        cuda.call("cuMemcpyHtoD_v2", buffer, pattern(2), ctypes.c_size_t(BYTES))
        cuda.call("cuCtxSynchronize")
        cuda.call("cuIpcCloseMemHandle", buffer)
    finally:
        pathlib.Path("answer").write_bytes(b"done")


def task():
    (give if os.environ["GANGRUN_TASK_INDEX"] == "0" else take)(Cuda())


def exchange(level, folder):
    """The error of a job at that level; empty: both tasks found what the other one had written."""
    for name in ("handle", "answer"):
        os.mkfifo(folder / name)
    done = subprocess.run([BIN / "gangrun", "run", "--containment", level, "-r", "worker:2", "--", sys.executable, str(pathlib.Path(__file__).resolve()), "task"],
                          cwd=folder, env=os.environ | {"GANGRUN_HOME": str(folder / "home")}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT_S)
    return "" if done.returncode == 0 else done.stderr.strip() or f"status {done.returncode}"


def possible(level):
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run([BIN / "gangrun", "run", "--containment", level, "-r", "worker:1", "--", "true"], cwd=home,
                              env=os.environ | {"GANGRUN_HOME": home}, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S).returncode == 0


def main():
    Cuda()  # without a GPU this says what is missing
    failed, levels = 0, [level for level in LEVELS if possible(level)]
    for level in levels:
        with tempfile.TemporaryDirectory() as folder:
            error = exchange(level, pathlib.Path(folder))
        print(f"{level}: {error or 'a buffer went there and back'}")
        failed += bool(error)
    print(f"{len(levels) - failed} passed, {failed} failed")
    return 1 if failed or not levels else 0


if __name__ == "__main__":
    sys.exit(task() if sys.argv[1:] == ["task"] else main())
