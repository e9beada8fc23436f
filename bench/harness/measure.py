"""Measures one run of a program: wall time, CPU time of all its processes, peak memory."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage

from harness import memory
from harness.machine import busy_seconds, pinned

SAMPLE_SECONDS = 0.2  # five samples per second find a lasting peak and hardly slow the program
GRACE_SECONDS = 5.0  # between SIGTERM and SIGKILL
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Usage:
    """The resources of the process tree from start to end, start-up and shutdown included."""

    exit_code: int
    seconds: float
    cpu_seconds: float  # user + system, of the process and every descendant
    rss_mb: float  # peak of the summed PSS: pages shared by workers are counted once
    others: float  # share of the cores' time that other programs used: near 0 in a valid run
    timed_out: bool


def run(command: Sequence[str], cores: Sequence[int], folder: Path, timeout: float) -> Usage:
    """Runs the command in `folder`, its output in stdout.txt and stderr.txt there, and measures it."""
    _adopt_orphans()
    with (folder / "stdout.txt").open("wb") as out, (folder / "stderr.txt").open("wb") as err:
        started, busy = time.monotonic(), busy_seconds(cores)
        process = subprocess.Popen(
            pinned(command, cores),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            peak, timed_out = _watch(process.pid, started + timeout)
        except BaseException:
            _kill(process.pid)
            process.wait()
            raise
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    cpu = _cpu(used) + _reap_leftovers(process.pid)
    others = max(0.0, busy_seconds(cores) - busy - cpu) / (seconds * len(cores))
    return Usage(process.returncode, seconds, cpu, peak / 1e6, others, timed_out)


def _watch(pid: int, deadline: float) -> tuple[int, bool]:
    """Samples memory until the process has ended (without reaping it); stops it after the deadline."""
    peak, timed_out = 0, False
    handle = os.pidfd_open(pid)
    try:
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        while not poller.poll(SAMPLE_SECONDS * 1000):
            peak = max(peak, memory.tree_pss(pid))
            now = time.monotonic()
            if now > deadline + GRACE_SECONDS:
                _kill(pid)
            elif now > deadline and not timed_out:
                timed_out = True
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGTERM)
    finally:
        os.close(handle)
    return peak, timed_out


def _adopt_orphans() -> None:
    """Makes this process the parent of orphaned descendants, so that their CPU time is counted."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap_leftovers(group: int) -> float:
    """Kills processes that the program left running, and returns their CPU seconds."""
    _kill(group)
    cpu = 0.0
    with suppress(ChildProcessError):
        while True:
            cpu += _cpu(os.wait4(-group, 0)[2])
    return cpu


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _cpu(used: struct_rusage) -> float:
    return used.ru_utime + used.ru_stime
