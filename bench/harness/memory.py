"""How much memory does a process tree hold right now?"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def tree_pss(root: int) -> int:
    """Bytes of proportional set size of the process and all its descendants."""
    return sum(_pss(pid) for pid in _descendants(root))


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            parent, session = _family(folder)
            # A child whose parent has ended moves away from the tree, but stays in the session.
            children[root if session == root else parent].append(int(folder.name))
    found, waiting = {root}, [root]
    while waiting:
        fresh = [pid for pid in children[waiting.pop()] if pid not in found]
        found.update(fresh)
        waiting.extend(fresh)
    return list(found)


def _family(folder: Path) -> tuple[int, int]:
    """Parent and session of a process; (0, 0) when it has just ended."""
    try:
        # The command name may hold spaces and parentheses; the fields after its last one may not.
        fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0, 0
    return int(fields[1]), int(fields[3])


def _pss(pid: int) -> int:
    with suppress(OSError), (PROC / str(pid) / "smaps_rollup").open("rb") as rollup:
        for line in rollup:
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return 0
