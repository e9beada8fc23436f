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
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Work:
    """The work to kill, and how to check its result."""

    do: Callable[[], object]
    publishing: CodeType  # of the function that starts when the new generation is complete
    generation: Callable[[], int]  # the number of the live generation
    content: Callable[[], Any]  # must be the same after every kill; JSON values
    folder: Path  # of the generations


class Moment(NamedTuple):
    """When to kill: after a number of calls, of all or of those since publishing began.

    The calls before publishing vary by some: on a busy machine libraries wait more often.
    """

    calls: int
    is_late: bool = False  # counted since publishing began


NEVER = Moment(1 << 60)


class Countdown:
    """Counts calls, and kills the process at the last one; *is_late*: counted since publishing began."""

    def __init__(self, calls: int, publishing: CodeType, *, is_late: bool = False) -> None:
        self._last, self._is_late, self._publishing = calls, is_late, publishing
        self.made, self.before_publishing = 0, 0  # calls

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        del argument
        if event in {"call", "c_call"}:
            self.made += 1
            if frame.f_code is self._publishing and not self.before_publishing:
                self.before_publishing = self.made
            if self._is_due():
                os.kill(os.getpid(), signal.SIGKILL)

    def _is_due(self) -> bool:
        if not self._is_late:
            return self.made >= self._last
        return bool(self.before_publishing) and self.made - self.before_publishing >= self._last


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


def counted(work: Work, moment: Moment = NEVER) -> list[int]:
    """Do the work and kill the process at a moment; else return the calls, all and before publishing."""
    countdown = Countdown(moment.calls, work.publishing, is_late=moment.is_late)
    sys.setprofile(countdown)
    work.do()
    sys.setprofile(None)
    return [countdown.made, countdown.before_publishing]


def moments(work: Work, kills: int) -> list[Moment]:
    """Return when to kill."""
    _, (calls, publishing) = in_a_fork(lambda: counted(work))
    half = kills // 2
    early = [Moment(1 + (calls - 1) * number // half) for number in range(half)]
    late = kills - half - 1  # the last kill comes with the last call, when the new generation is live
    return early + [Moment((calls - publishing) * number // late, is_late=True) for number in range(late + 1)]


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
