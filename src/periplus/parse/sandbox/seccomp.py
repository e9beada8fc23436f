"""Restricts the current process with seccomp and resource limits.

The process may compute and use the pipes it already has. Its memory is limited. The kernel allows only the system
calls listed here, so opening a file, a connection or a process fails. A process cannot remove the restrictions.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import resource
import struct
import sys

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_FILTER = 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # the three instructions of a filter that are needed
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # byte offsets in `struct seccomp_data`
_ALLOW, _REFUSE = 0x7FFF_0000, 0x0005_0000 | errno.EPERM

# fmt: off
_CALLS = {  # by machine: the audit architecture, and the numbers of the allowed system calls
    "x86_64": (0xC000_003E, {
        "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11,
        "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25,
        "madvise": 28, "getpid": 39, "exit": 60, "gettimeofday": 96, "getrusage": 98, "sigaltstack": 131,
        "gettid": 186, "futex": 202, "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229,
        "clock_nanosleep": 230, "exit_group": 231, "getrandom": 318, "rseq": 334,
    }),
    "aarch64": (0xC000_00B7, {
        "read": 63, "write": 64, "close": 57, "fstat": 80, "ppoll": 73, "lseek": 62, "mmap": 222, "mprotect": 226,
        "munmap": 215, "brk": 214, "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "sched_yield": 124,
        "mremap": 216, "madvise": 233, "getpid": 172, "exit": 93, "gettimeofday": 169, "getrusage": 165,
        "sigaltstack": 132, "gettid": 178, "futex": 98, "restart_syscall": 128, "clock_gettime": 113,
        "clock_getres": 114, "clock_nanosleep": 115, "exit_group": 94, "getrandom": 278, "rseq": 293,
    }),
}
# fmt: on


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def restrict_process(memory: int) -> bool:
    """Restrict this process permanently to *memory* bytes and safe system calls; False when seccomp is unavailable."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    return sys.platform == "linux" and platform.machine() in _CALLS and _filter_calls(*_CALLS[platform.machine()])


def _filter_calls(architecture: int, calls: dict[str, int]) -> bool:
    instructions = [
        _instruction(_LOAD, _ARCHITECTURE_AT),
        _instruction(_EQUAL, architecture, 1, 0),
        _instruction(_RETURN, _REFUSE),
        _instruction(_LOAD, _NUMBER_AT),
    ]
    for number in calls.values():
        instructions += [_instruction(_EQUAL, number, 0, 1), _instruction(_RETURN, _ALLOW)]
    instructions.append(_instruction(_RETURN, _REFUSE))
    program = _Program(len(instructions), b"".join(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(program), 0, 0) == 0)


def _instruction(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)
