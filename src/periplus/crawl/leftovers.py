"""What did a run that was killed leave behind, beside what it acknowledged?

Archive bytes that were never acknowledged are cut off, temporary segment files removed. More archive bytes than a kill
can leave mean that the catalog is an older copy: they are kept aside.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from periplus.crawl.newer import KEPT, is_of_newer_catalog, set_aside
from periplus.store.archive import SUFFIX, numbered
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.manifest import UNFINISHED, place_of

_BEGUN_AT_ONCE = 2  # files past the last acknowledged one: one that is full but not committed, and its successor


def clear_leftovers(collection: Collection, catalog: Catalog, dead: int | None = None) -> list[Path]:
    """Remove what a killed run was writing, whichever of its workers, or only what one *dead* worker was writing.

    Nobody else writes there now. Returns the files in which pages were kept that a newer catalog may know.
    """
    for leftover in collection.segments.glob(f"*{UNFINISHED}"):
        if dead is None or place_of(leftover.name.removesuffix(UNFINISHED))[0] == dead:
            leftover.unlink()
    acknowledged = {file.name: file.committed for file in catalog.archives(dead)}
    last = Counter(worker for worker, _ in map(numbered, acknowledged))
    kept = []
    for path in sorted(collection.archive.glob(f"*{SUFFIX}")):
        worker, number = numbered(path.name)
        is_begun = last[worker] < number <= last[worker] + _BEGUN_AT_ONCE
        start = acknowledged.get(path.name, 0)
        if dead not in (None, worker) or (path.name not in acknowledged and number <= last[worker]):
            continue
        if path.stat().st_size > start and is_of_newer_catalog(path, start, alone=not start and not is_begun):
            kept.append(set_aside(path, start, collection.home / KEPT))
            is_begun = is_begun or not start
        if path.name in acknowledged:
            os.truncate(path, min(start, path.stat().st_size))
        elif is_begun:
            path.unlink()
    return kept
