"""Kills work that publishes generations at chosen moments, and checks the result.

The work runs in forks of one process, so that a kill costs a fraction of a second. The moments are counted in calls of
functions, of Python and C alike: half of them are spread evenly over the work, half over its end, where the new
generation replaces the old one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any


@dataclass(frozen=True)
class Work:
    """The work to kill, and how to check its result."""

    do: Callable[[], object]
    publishing: CodeType  # of the function that starts when the new generation is complete
    generation: Callable[[], int]  # the number of the live generation
    content: Callable[[], Any]  # must be the same after every kill; JSON values
    folder: Path  # of the generations


class Countdown:
    """Counts calls, and kills the process at the last one."""

    def __init__(self, calls: int, publishing: CodeType) -> None:
        self._calls, self._left, self._publishing = calls, calls, publishing
        self.before_publishing = 0

    @property
    def made(self) -> int:
        """Number of calls so far."""
        return self._calls - self._left

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        del argument
        if event in {"call", "c_call"}:
            self._left -= 1
            if frame.f_code is self._publishing and not self.before_publishing:
                self.before_publishing = self.made
            if not self._left:
                os.kill(os.getpid(), signal.SIGKILL)


def in_a_fork(action: Callable[[], object]) -> tuple[int, Any]:
    """Run *action* in a forked process; returns the signal that ended it, or 0, and its result."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        os.write(writer, json.dumps(action()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the work itself failed"
    return (os.WTERMSIG(status), None) if os.WIFSIGNALED(status) else (0, json.loads(text))


def counted(work: Work, calls: int = 1 << 60) -> list[int]:
    """Do the work and kill the process after so many calls; else return the calls, all and before publishing."""
    countdown = Countdown(calls, work.publishing)
    sys.setprofile(countdown)
    work.do()
    sys.setprofile(None)
    return [countdown.made, countdown.before_publishing]


def moments(work: Work, kills: int) -> list[int]:
    """Return after how many calls to kill."""
    _, (calls, publishing) = in_a_fork(lambda: counted(work))
    half = kills // 2
    early = [1 + (calls - 1) * number // half for number in range(half)]
    late = kills - half - 1  # the last kill comes with the last call, when the new generation is live
    return early + [publishing + (calls - publishing) * number // late for number in range(late + 1)]


def sweep(work: Work, kills: int) -> dict[str, int]:
    """Kill, check, work again and check, *kills* times. A generation must exist already."""
    _, expected = in_a_fork(work.content)
    found = {"killed": 0, "switched": 0, "differing": 0, "leftovers": 0}
    for moment in moments(work, kills):
        before = work.generation()
        ended, _ = in_a_fork(lambda at=moment: counted(work, at))  # type: ignore[misc]
        found["killed"] += ended == signal.SIGKILL
        found["switched"] += work.generation() != before
        found["differing"] += in_a_fork(work.content)[1] != expected
        in_a_fork(lambda: bool(work.do()))
        found["differing"] += in_a_fork(work.content)[1] != expected
        found["leftovers"] += len(list(work.folder.glob("*.tmp")))
    return found


def swept(program: Path, home: Path, kills: int) -> dict[str, int]:
    """Run `python PROGRAM HOME KILLS`, which sweeps over its own work, and return the JSON that it prints."""
    command = [sys.executable, str(program), str(home), str(kills)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    assert result.returncode == 0, result.stderr
    found: dict[str, int] = json.loads(result.stdout)
    return found
