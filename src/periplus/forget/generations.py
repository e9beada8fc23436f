"""Replaces all generations of ranks and index by new ones, which are built without what was forgotten.

Files of generations are never edited: an update may share them between generations. So everything is built anew, and
the old generations are removed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from periplus.config import Settings
from periplus.errors import CollectionLocked
from periplus.forget.objects import has_published, remove_older_published
from periplus.frontier.scope import page_rules
from periplus.graph.run import rank
from periplus.index.build import build_index
from periplus.index.planning.lineage import Continuation
from periplus.reparse import reparse
from periplus.store.catalog.open_catalog import block_list_of, open_catalog
from periplus.store.collection import Collection
from periplus.store.durable import sync_directory
from periplus.store.generations import CURRENT, INDEX_KIND, RANK_KIND, Generations, Kind, number_of, remove_generation

_PATIENCE = 60.0  # seconds until readers have left old generations; a site takes two
_PAUSE = 0.1  # seconds between two attempts

OnStep = Callable[[str], None]  # called with a sentence about the next step


def rebuild(collection: Collection, settings: Settings, on_step: OnStep) -> dict[str, int]:
    """Build ranks and index anew, if there are any; returns the new numbers, none when there is no page left."""
    ranks, index = Generations(collection.ranks, RANK_KIND), Generations(collection.index, INDEX_KIND)
    new: dict[str, int] = {}
    if _has_pages(collection):
        if ranks.complete() or has_published(collection, "ranks"):
            on_step("computing ranks")
            new["ranks"] = rank(collection, settings.graph).generation
        if index.complete() or has_published(collection, "index"):
            new["index"] = _index(collection, settings, on_step)
    return new


def remove_older(collection: Collection, new: dict[str, int]) -> None:
    """Remove all generations before the new ones, or all; waits until no process of this node reads them."""
    _remove_older(collection.ranks, RANK_KIND, new.get("ranks"))
    _remove_older(collection.index, INDEX_KIND, new.get("index"))
    remove_older_published(collection, new)


def _has_pages(collection: Collection) -> bool:
    with closing(open_catalog(collection)) as catalog:
        return any(segment.rows for segment in catalog.segments("pages"))


def _index(collection: Collection, settings: Settings, on_step: OnStep) -> int:
    on_step("parsing pages for the index")
    reparse(collection, settings, everything=False)
    on_step("building the index")
    rules = page_rules(settings.scope, block_list_of(collection))
    return build_index(collection, settings.index, rules=rules, limits=Continuation(full=True)).generation


def _remove_older(folder: Path, kind: Kind, newest: int | None) -> None:
    generations, deadline = Generations(folder, kind), time.monotonic() + _PATIENCE
    if not folder.is_dir():
        return
    if newest is None:
        (folder / CURRENT).unlink(missing_ok=True)
        sync_directory(folder)
    with generations.held():  # nobody links files of an old generation meanwhile
        while old := [path for path in generations.complete() if newest is None or number_of(path) < newest]:
            for generation in old:
                remove_generation(generation)
            if time.monotonic() > deadline:
                why = f"a process is still reading {old[0].name}, which has what is to be forgotten"
                raise CollectionLocked(f"{folder} is in use", why, "Stop it, and run the same command again.")
            time.sleep(_PAUSE if old[0].exists() else 0)
    sync_directory(folder)
