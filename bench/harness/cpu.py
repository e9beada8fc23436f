"""Measures the CPU time of a process and of everything that it has started."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _FIRST, _LAST = (
    1,
    11,
    15,
)  # fields of /proc/N/stat after the name: parent, CPU times


def tree_cpu(root: int) -> float:
    """CPU seconds of the process tree, children that have ended included."""
    children: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(int(fields[_PARENT]), []).append(int(entry.name))
        seconds[int(entry.name)] = sum(map(int, fields[_FIRST:_LAST])) / _TICKS
    waiting, total = [root], 0.0
    while waiting:
        process = waiting.pop()
        total += seconds.get(process, 0.0)
        waiting.extend(children.get(process, []))
    return total
