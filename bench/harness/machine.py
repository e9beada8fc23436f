"""On which cores does what run?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cores:
    """The web server shares no core with the crawler unless asked to, or each would slow the other down."""

    server: int
    crawler: tuple[int, ...]

    def first(self, count: int) -> tuple[int, ...]:
        """Enough cores for `count` workers, as far as the machine has them."""
        return self.crawler[: max(1, count)]


def split_cores(*, shared: bool = False) -> Cores:
    """Core 1 (the second one allowed) serves and samples; all others may crawl, the first one first.

    Where the cores are *shared*, the server's may crawl too, after all others.
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
    """The same command, bound to these cores from its first instruction on, and ended if the bench dies."""
    return ["setpriv", "--pdeathsig", "TERM", "taskset", "-c", ",".join(map(str, cores)), *command]


def busy_seconds(cores: Sequence[int]) -> float:
    """CPU seconds these cores have spent on programs of anybody since the machine started."""
    ticks = 0
    with Path("/proc/stat").open() as stat:
        for line in stat:
            label, *fields = line.split()
            if label.startswith("cpu") and label[3:].isdigit() and int(label[3:]) in cores:
                user, nice, system, _idle, _iowait, _irq, _softirq, steal = map(int, fields[:8])
                ticks += user + nice + system + steal
    return ticks / os.sysconf("SC_CLK_TCK")
