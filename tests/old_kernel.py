"""Runs a command without the system calls that came after Linux 3.10, that of Red Hat 7: they say that they do not exist.

    python old_kernel.py COMMAND...
"""

import ctypes
import errno
import os
import struct
import sys

NEWEST_CALL = 313  # of x86-64 in 3.10: finit_module()
X86_64 = 0xC000003E
# linux/prctl.h, linux/seccomp.h and linux/bpf_common.h.
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000
LOAD, IF_EQUAL, IF_GREATER, RETURN = 0x20, 0x15, 0x25, 0x06
CALL, ARCHITECTURE = 0, 4  # where struct seccomp_data has them

PROGRAM = [  # (what, then skip, else skip, value)
    (LOAD, 0, 0, ARCHITECTURE),
    (IF_EQUAL, 1, 0, X86_64),
    (RETURN, 0, 0, ALLOW),
    (LOAD, 0, 0, CALL),
    (IF_GREATER, 0, 1, NEWEST_CALL),
    (RETURN, 0, 0, FAIL_WITH | errno.ENOSYS),
    (RETURN, 0, 0, ALLOW),
]


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]


def refuse_newer_calls():
    """From now on, for this process and all that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in PROGRAM))
    described = Filter(len(PROGRAM), ctypes.addressof(program))
    for words in (NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SET_SECCOMP, FILTER, ctypes.byref(described), 0, 0):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    refuse_newer_calls()
    os.execvp(sys.argv[1], sys.argv[1:])
