"""Opens the catalog for a repair, and replaces a lost or damaged one by a new one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from periplus.config import Settings
from periplus.errors import CollectionError, NewerFormat
from periplus.repair.archives import unused
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.repair_catalog import RepairCatalog
from periplus.store.catalog.salvage import Salvage
from periplus.store.cleanup import KEPT
from periplus.store.collection import Collection
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.store.durable import move_into_place, reporting_full_disk
from periplus.url import Canonicalizer

KEPT_CATALOG = "crawl-damaged.db"
_REBUILDING = ".rebuilding"


def sound_catalog(collection: Collection) -> RepairCatalog | None:
    """Open the catalog; None if it is missing or damaged."""
    try:
        catalog = open_catalog(collection, RepairCatalog)
    except NewerFormat:
        raise
    except CollectionError:
        return None
    if catalog.check():
        catalog.close()
        return None
    return catalog


@contextmanager
def new_catalog(collection: Collection, settings: Settings) -> Iterator[RepairCatalog]:
    """A new catalog with the seeds and URLs of the damaged one, for the caller to add the archive.

    It replaces the damaged one at the end of the block; until then a kill changes nothing.
    """
    path = collection.home / f"{collection.catalog.name}{_REBUILDING}"
    for part in _files(path):
        part.unlink()
    kept = _kept_copy(collection)
    with closing(RepairCatalog(SqliteDatabase(path, create=True))) as catalog:
        if kept is not None:
            salvage = Salvage(kept, Canonicalizer.of(settings.addresses))
            blocked = catalog.block_list()
            seeds = (url for url in salvage.seeds() if not blocked.blocks(url))
            catalog.add_salvaged(seeds, (item for item in salvage.urls() if not blocked.blocks(item.url)))
            catalog.add_blocked(host for host in salvage.blocked_hosts() if not blocked.blocks_host(host))
        yield catalog
    for part in _files(collection.catalog)[1:]:  # the new catalog must not get the log of the old one
        part.unlink()
    move_into_place(path, collection.catalog)


def _kept_copy(collection: Collection) -> Path | None:
    """Copy the files of the damaged catalog to `kept/`; returns the copy of the database, if there is one."""
    if not collection.catalog.exists():
        return None
    with reporting_full_disk(collection.home):
        (collection.home / KEPT).mkdir(exist_ok=True)
        copy = unused(collection.home / KEPT / KEPT_CATALOG)
        for part in _files(collection.catalog):
            suffix = part.name.removeprefix(collection.catalog.name)
            shutil.copyfile(part, copy.with_name(f"{copy.name}{suffix}"))
    return copy


def _files(database: Path) -> list[Path]:
    """The files of a database: the database itself, its log, and the index of the log."""
    parts = [database.with_name(f"{database.name}{suffix}") for suffix in ("", "-wal", "-shm")]
    return [part for part in parts if part.exists()]
