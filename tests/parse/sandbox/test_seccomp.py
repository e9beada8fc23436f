from __future__ import annotations

import subprocess
import sys

import pytest

_PROBE = """
import ctypes, os, resource, socket, sys
from periplus.parse.sandbox.seccomp import restrict_process
filtered = restrict_process(512 << 20)
try:
    {attempt}
except (OSError, MemoryError) as error:
    os.write(1, b"refused")
else:
    os.write(1, b"allowed")
os.write(1, b" filtered" if filtered else b" limited")
"""


def _outcome(attempt: str) -> str:
    code = _PROBE.format(attempt=attempt)
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    return found.stdout


def _needs_filter(outcome: str) -> None:
    if outcome.endswith("limited"):
        pytest.skip("this kernel or architecture does not filter system calls")


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/hostname')",
        "os.listdir('/')",
        "open('/tmp/left-behind', 'w')",
        "os.unlink('/tmp/something')",
        "socket.socket()",
        "socket.socketpair()",
        "os.fork()",
        "os.execv('/bin/true', ['true'])",
        "os.kill(os.getppid(), 0)",
        "os.stat('/etc/passwd')",
        "resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
    ],
)
def test_a_restricted_process_can_open_nothing(attempt: str) -> None:
    outcome = _outcome(attempt)
    _needs_filter(outcome)
    assert outcome == "refused filtered"


def test_a_restricted_process_cannot_take_900_megabytes() -> None:
    assert _outcome("bytearray(900 << 20)").startswith("refused")


def test_a_restricted_process_can_compute() -> None:
    assert _outcome("sorted(range(1_000_000)); bytearray(50 << 20)").startswith("allowed")
