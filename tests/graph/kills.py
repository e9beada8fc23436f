"""A program that is killed at chosen moments of a ranking: `python kills.py HOME NUMBER` prints what it found as JSON.

Every ranking runs in a fork of a process that has compiled the kernels, so that a kill costs a fraction of a second.
The moments are counted in calls of functions, Python's and C's alike, spread evenly from the first to the last.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from periplus.config import LinkAnalysis
from periplus.graph.run import rank
from periplus.store.collection import Collection, open_collection
from periplus.store.generations import damage
from periplus.store.ranks import open_ranks

SETTINGS = LinkAnalysis(memory_mb=256, threads=1)


class Countdown:
    """Counts calls, and ends the process without a word at the last one."""

    def __init__(self, calls: int) -> None:
        self.calls, self.left = calls, calls

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        del frame, argument
        if event in {"call", "c_call"}:
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


def in_a_fork(action: Callable[[], object]) -> int:
    """Run *action* in a process of its own; returns the signal that ended it, or 0."""
    pid = os.fork()
    if not pid:
        action()
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the ranking itself failed"
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def rank_until(collection: Collection, calls: int) -> None:
    """Rank, and die after so many calls."""
    sys.setprofile(Countdown(calls))
    rank(collection, SETTINGS)
    sys.setprofile(None)


def calls_of(collection: Collection) -> int:
    """How many calls a ranking makes."""
    countdown = Countdown(1 << 60)
    sys.setprofile(countdown)
    rank(collection, SETTINGS)
    sys.setprofile(None)
    return countdown.calls - countdown.left


def content(collection: Collection) -> dict[str, str]:
    """The digest of every file of the live generation."""
    table = open_ranks(collection.ranks)
    assert table is not None
    assert list(damage(collection.ranks)) == []
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(table.folder.iterdir())}


def main() -> None:
    """Kill, look, rank again, look; as often as asked."""
    collection, kills = open_collection(Path(sys.argv[1])), int(sys.argv[2])
    rank(collection, SETTINGS)
    expected, calls = content(collection), calls_of(collection)
    killed = differing = leftovers = 0
    for number in range(kills):
        moment = 1 + (calls - 1) * number // max(kills - 1, 1)
        killed += in_a_fork(lambda at=moment: rank_until(collection, at)) == signal.SIGKILL  # type: ignore[misc]
        differing += content(collection) != expected
        in_a_fork(lambda: rank(collection, SETTINGS))
        differing += content(collection) != expected
        leftovers += len(list(collection.ranks.glob("*.tmp")))
    sys.stdout.write(json.dumps({"calls": calls, "killed": killed, "differing": differing, "leftovers": leftovers}))


if __name__ == "__main__":
    main()
