"""Makes a periplus command fail at a chosen system call.

A first run under strace lists the calls that touch a folder, in order. Each of them can then be chosen in a run of its
own: strace kills the command at the call, or the call fails with an error. strace counts the calls of a name per
thread: the n-th call is that of the thread that reaches its n-th call first.

The command runs in a fork of a process that has loaded all modules, so that only its own work is traced.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import NamedTuple

import pytest

from crawl.crawling import Outcome

# System calls that change files: content, length, names and durability.
CHANGING = ("write", "pwrite64", "fsync", "fdatasync", "ftruncate", "truncate", "rename", "unlink", "mkdir")
_LINE = re.compile(r"(\d+)\s+(\w+)\((.*)")
_LOADED = ["periplus.cli.main", "periplus.cli.commands.crawl", "periplus.crawl.run"]
_PR_SET_PTRACER, _PR_SET_PTRACER_ANY = 0x59616D61, -1
_TIMEOUT = 60.0  # seconds for a command, and for strace to attach


class Call(NamedTuple):
    """The n-th call of a name."""

    name: str
    nth: int


class Event(NamedTuple):
    """A call of a thread, and the files of the folder that it names."""

    call: Call
    files: list[str]


class Command(NamedTuple):
    """The arguments after `periplus`, and the environment."""

    arguments: Sequence[str]
    env: Mapping[str, str]


def require() -> None:
    """Skip the test where strace is missing or cannot trace."""
    if problem := _problem():
        pytest.skip(problem)


@cache
def _problem() -> str:
    if shutil.which("strace") is None:
        return "strace is not installed (on Debian: apt-get install strace)"
    probe = ["strace", "-f", "-o", os.devnull, "-e", "inject=fsync:error=EIO:when=1+", "true"]
    result = subprocess.run(probe, capture_output=True, text=True, check=False)
    return f"strace may not trace here: {result.stderr.strip()[-200:]}" if result.returncode else ""


def trace(command: Command, folder: Path, paths: Sequence[Path] = ()) -> list[Event]:
    """Return the calls of a command on the files of a folder, in order; *paths* are as for `refuse`."""
    log = folder.with_name("strace.log")
    outcome = _run(command, ["-y", "-s", "0", "-o", str(log), *_only(paths), "-e", f"trace={','.join(CHANGING)}"])
    assert outcome.code == 0, outcome
    inside = re.compile(rf'{re.escape(str(folder))}/?([^">]*)')
    counts = Counter[tuple[str, str]]()
    events = []
    for match in filter(None, map(_LINE.match, log.read_text().splitlines())):
        thread, name, rest = match.groups()
        counts[thread, name] += 1
        if files := inside.findall(rest):
            events.append(Event(Call(name, counts[thread, name]), files))
    return events


def calls(events: Sequence[Event]) -> list[Call]:
    """Return the distinct calls of events, in order of first occurrence."""
    return list(dict.fromkeys(event.call for event in events))


def kill(command: Command, call: Call) -> Outcome:
    """Run a command and kill it at the start of a call."""
    injection = f"inject={call.name}:signal=KILL:when={call.nth}"
    return _run(command, ["-o", os.devnull, "-e", f"trace={call.name}", "-e", injection])


def refuse(command: Command, call: Call, error: str, paths: Sequence[Path]) -> Outcome:
    """Run a command; this call and all later ones of its name fail with *error*. Only calls on *paths* count."""
    injection = f"inject={call.name}:error={error}:when={call.nth}+"
    return _run(command, ["-o", os.devnull, *_only(paths), "-e", f"trace={call.name}", "-e", injection])


def chosen(calls: Sequence[Call], number: int) -> list[Call]:
    """Choose *number* calls: one of each name, the others spread at random over equal parts of the run."""
    seed = int(os.environ.get("TEST_SEED", time.time_ns() % 10**9))
    print(f"TEST_SEED={seed}")  # noqa: T201
    if number >= len(calls):
        return list(calls)
    dice = random.Random(seed)
    names = dict.fromkeys(call.name for call in calls)
    one_per_name = [dice.choice([call for call in calls if call.name == name]) for name in names][:number]
    parts = number - len(one_per_name)
    bounds = [len(calls) * part // max(parts, 1) for part in range(parts + 1)]
    return one_per_name + [calls[dice.randrange(begin, end)] for begin, end in pairwise(bounds)]


def _only(paths: Sequence[Path]) -> list[str]:
    return [word for path in paths for word in ("-P", str(path))]


@cache
def _fork_context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_LOADED)
    return context


def _run(command: Command, options: Sequence[str]) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        out, err = Path(name, "out"), Path(name, "err")
        child = _fork_context().Process(target=_perform, args=(list(command.arguments), dict(command.env), out, err))
        child.start()
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-p", str(child.pid), *options],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        child.join(_TIMEOUT)
        assert child.pid is not None
        with suppress(ProcessLookupError):  # ends a command that hangs, and children of a killed one
            os.killpg(child.pid, signal.SIGKILL)
        child.join()
        _, strace_errors = tracer.communicate(timeout=_TIMEOUT)
        assert child.exitcode is not None
        return Outcome(child.exitcode, out.read_text(), err.read_text() + strace_errors)


def _perform(arguments: list[str], env: dict[str, str], out: Path, err: Path) -> None:
    """Wait for strace, then run the command; runs in the fork."""
    os.setsid()
    for path, descriptor in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    os.environ.clear()
    os.environ.update(env)
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _PR_SET_PTRACER_ANY, 0, 0, 0)
    deadline = time.monotonic() + _TIMEOUT
    while "\nTracerPid:\t0\n" in Path("/proc/self/status").read_text():
        if time.monotonic() > deadline:
            sys.exit("strace does not trace")
        time.sleep(0.002)
    time.sleep(0.01)  # strace traces from its first interruption on
    from periplus.cli.main import run

    sys.argv = ["periplus", *arguments]
    run()
