"""Were these bytes of the archive acknowledged by a catalog that is newer than ours?

Somebody may have restored an older copy of `crawl.db`. What the archive holds beyond it looks like what a kill leaves,
but for one thing: a kill leaves at most one batch of a commit, and a batch is gathered within seconds.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path

from periplus.errors import DamagedFile
from periplus.store.archive import IMPORTS, SUFFIX, numbered, responses
from periplus.store.durable import move_into_place, reporting_full_disk, sync_directory

KEPT = "kept"  # the folder
_LONGEST_BATCH = 60.0  # seconds between the first and the last page of one


def is_of_newer_catalog(path: Path, start: int, *, alone: bool = False) -> bool:
    """Whether a file holds, from *start* on, what more than one commit must have written.

    *alone*: the file itself is one that no kill leaves, so a single page is proof.
    """
    if numbered(path.name)[0] == IMPORTS:
        return False  # those pages are as old as they are, and can be imported again
    first = None
    with suppress(DamagedFile, OSError, ValueError):  # the last record may be incomplete
        for record in responses(path.parent, path.name, start, path.stat().st_size):
            first = record.response.fetched_at if first is None else first
            if alone or abs(record.response.fetched_at - first) > _LONGEST_BATCH:
                return True
    return False


def set_aside(path: Path, start: int, folder: Path) -> Path:
    """Copy what lies from *start* on to a file of its own, which `periplus import` can read; returns its name."""
    with reporting_full_disk(folder.parent):
        folder.mkdir(exist_ok=True)
        sync_directory(folder.parent)
        stem = f"{path.name.removesuffix(SUFFIX)}-from-{start}"
        names = (folder / f"{stem}{f'-{number}' if number else ''}{SUFFIX}" for number in count())
        kept = next(name for name in names if not name.exists())
        temporary = kept.with_name(kept.name + ".tmp")
        with path.open("rb") as source, temporary.open("wb") as target:
            source.seek(start)
            shutil.copyfileobj(source, target, 1 << 20)
        move_into_place(temporary, kept)
    return kept
