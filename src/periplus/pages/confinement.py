"""What a process that reads hostile pages can no longer do: reach the network, run programs, look into others.

A seccomp filter (Linux, x86-64 and ARM64): calls that would lead out are answered with "permission denied". It needs no
privileges, cannot be undone, and costs nothing measurable. Elsewhere the limits on time and memory guard alone.
"""

import ctypes
import platform
import resource
import struct
import sys

__all__ = ["confine"]

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 13  # EACCES
CALL_NUMBER, ARCHITECTURE = 0, 4  # offsets in the kernel's struct seccomp_data
OTHER_TABLE = 0x40000000
"""Numbers from here on are x86-64's second table of calls (x32), which nobody here uses."""

# socket, connect, bind, listen, sendto, sendmsg; execve, execveat; ptrace, process_vm_readv; io_uring_setup
REFUSED = {
    "x86_64": (0xC000003E, (41, 42, 49, 50, 44, 46, 59, 322, 101, 310, 425)),
    "aarch64": (0xC00000B7, (198, 203, 200, 201, 206, 211, 221, 281, 117, 270, 425)),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def confine() -> bool:
    """Give up what reading a page does not need, for the rest of the process's life; whether the kernel could."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no copy of the crawl's memory behind
    known = REFUSED.get(platform.machine())
    if not sys.platform.startswith("linux") or known is None:
        return False
    program = _filter(*known)
    buffer = ctypes.create_string_buffer(program, len(program))
    described = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    return bool(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0) == 0)


def _filter(architecture: int, calls: tuple[int, ...]) -> bytes:
    """A program for the kernel: instructions of code, jump if true, jump if false, value."""
    steps = [(LOAD, 0, 0, ARCHITECTURE), (JUMP_IF_EQUAL, 0, len(calls) + 3, architecture), (LOAD, 0, 0, CALL_NUMBER)]
    steps.append((JUMP_IF_AT_LEAST, len(calls) + 1, 0, OTHER_TABLE))
    for left, call in zip(range(len(calls), 0, -1), calls, strict=True):
        steps.append((JUMP_IF_EQUAL, left, 0, call))
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
