"""Assigns cores to the server and the crawler."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cores:
    """The cores of the web server and of the crawler; separate by default, so they do not slow each other down."""

    server: int
    crawler: tuple[int, ...]

    def first(self, count: int) -> tuple[int, ...]:
        """Enough cores for `count` workers, as far as the machine has them."""
        return self.crawler[: max(1, count)]


def split_cores(*, shared: bool = False) -> Cores:
    """Gives the second allowed core to the server and the sampling, and all others to the crawler.

    With *shared*, the crawler also gets the server's core, as its last one.
    """
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) == 1:
        return Cores(allowed[0], (allowed[0],))
    others = (allowed[0], *allowed[2:])
    return Cores(allowed[1], (*others, allowed[1]) if shared else others)


def pin_self(core: int) -> None:
    """Keeps the bench's own sampling off the cores it measures."""
    os.sched_setaffinity(0, {core})


def pinned(command: Sequence[str], cores: Sequence[int]) -> list[str]:
    """The same command, pinned to these cores and terminated when the bench dies."""
    return ["setpriv", "--pdeathsig", "TERM", "taskset", "-c", ",".join(map(str, cores)), *command]


def busy_seconds(cores: Sequence[int]) -> float:
    """CPU seconds that all programs used on these cores since the machine started."""
    ticks = 0
    with Path("/proc/stat").open() as stat:
        for line in stat:
            label, *fields = line.split()
            if label.startswith("cpu") and label[3:].isdigit() and int(label[3:]) in cores:
                user, nice, system, _idle, _iowait, _irq, _softirq, steal = map(int, fields[:8])
                ticks += user + nice + system + steal
    return ticks / os.sysconf("SC_CLK_TCK")
