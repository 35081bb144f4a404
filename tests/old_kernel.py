"""Runs a command without the system calls that came after Linux 3.10, that of Red Hat 7: they say that they do not exist. Tests
refuse single calls with it, too.

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
LOAD, IF_EQUAL, IF_GREATER, IF_ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
CALL, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # where struct seccomp_data has them

START = [  # (what, then skip, else skip, value)
    (LOAD, 0, 0, ARCHITECTURE),
    (IF_EQUAL, 1, 0, X86_64),
    (RETURN, 0, 0, ALLOW),
    (LOAD, 0, 0, CALL),
]


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]


def refuse(condition, error):
    """The calls that the steps find, which then go on with the next step and else skip it; from now on, for this process and
    all that it starts."""
    steps = [*START, *condition, (RETURN, 0, 0, FAIL_WITH | error), (RETURN, 0, 0, ALLOW)]
    libc = ctypes.CDLL(None, use_errno=True)
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    described = Filter(len(steps), ctypes.addressof(program))
    for words in (NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SET_SECCOMP, FILTER, ctypes.byref(described), 0, 0):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def refuse_newer_calls():
    refuse([(IF_GREATER, 0, 1, NEWEST_CALL)], errno.ENOSYS)


def refuse_call(number, error, argument=None, bits=0):
    """One call; where an argument is named (0, 1, ...) only if that has one of these bits."""
    if argument is None:
        refuse([(IF_EQUAL, 0, 1, number)], error)
    else:
        refuse([(IF_EQUAL, 0, 3, number), (LOAD, 0, 0, ARGUMENTS + 8 * argument), (IF_ANY_BIT, 0, 1, bits)], error)


if __name__ == "__main__":
    refuse_newer_calls()
    os.execvp(sys.argv[1], sys.argv[1:])
