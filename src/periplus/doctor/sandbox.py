"""How well could the kernel fence in a parser that a hostile page has taken over?

Each feature is tried, not read off a version: containers and distributions switch them off. Nothing here changes this
process.
"""

from __future__ import annotations

import ctypes
import errno
import subprocess
import sys

from periplus.doctor.check import Check, Grade

_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture
_LANDLOCK_VERSION = 1
_PR_SET_SECCOMP = 22
_SECCOMP_FILTER = 2
_CLONE_NEWUSER_AND_NEWNET = 0x5000_0000
_UNSHARE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(int(sys.argv[1])) != 0)"
_SECONDS = 10


def sandbox() -> Check:
    """The level that this kernel offers; said as it is, because this release does not use it yet."""
    if not sys.platform.startswith("linux"):
        return Check("sandbox", Grade.WARN, "none known on this system", _ADVICE)
    abi = landlock_version()
    features = {
        f"Landlock (version {abi})": abi > 0,
        "seccomp filters": has_seccomp(),
        "user and network namespaces": can_unshare(),
    }
    there = [name for name, works in features.items() if works]
    level = "full" if len(there) == len(features) else "partial" if there else "none"
    found = f"{level}: {', '.join(there) or 'no feature of the kernel can be used'}"
    if not there:
        return Check("sandbox", Grade.WARN, found, _ADVICE)
    return Check("sandbox", Grade.OK, f"{found}; offered by the kernel, parsers of this release run without")


_ADVICE = "Crawl sites that you do not trust inside a virtual machine."


def landlock_version() -> int:
    """The version of Landlock, which limits files and ports; 0 when there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(int(libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)), 0)


def has_seccomp() -> bool:
    """Whether system calls can be filtered: a filter at no address is refused as such only where filters are known."""
    libc = ctypes.CDLL(None, use_errno=True)
    refused = libc.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, None, 0, 0) != 0
    return refused and ctypes.get_errno() in (errno.EFAULT, errno.EACCES)


def can_unshare() -> bool:
    """Whether a process may give up the network without being root; tried in a child."""
    arguments = [sys.executable, "-I", "-c", _UNSHARE, str(_CLONE_NEWUSER_AND_NEWNET)]
    try:
        return subprocess.run(arguments, capture_output=True, timeout=_SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
