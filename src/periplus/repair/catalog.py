"""Opens the catalog for a repair, and replaces a lost or damaged one by a new one."""

from __future__ import annotations

import shutil
from pathlib import Path

from periplus.config import Settings
from periplus.errors import CollectionError, NewerFormat
from periplus.repair.archives import unused
from periplus.store.cleanup import KEPT
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk, sync_directory
from periplus.store.repair_catalog import RepairCatalog
from periplus.store.salvage import Salvage
from periplus.url import Canonicalizer

_PARTS = ("", "-wal", "-shm")  # suffixes of the files of a database


def open_catalog(collection: Collection) -> RepairCatalog | None:
    """Open the catalog; None if it is missing or damaged."""
    try:
        catalog = RepairCatalog(collection.catalog)
    except NewerFormat:
        raise
    except CollectionError:
        return None
    if catalog.check():
        catalog.close()
        return None
    return catalog


def rebuild_catalog(collection: Collection, settings: Settings) -> tuple[RepairCatalog, list[Path]]:
    """Create a new catalog with the seeds and URLs of the damaged one, which is moved to `kept/`.

    The archive must be added next.
    """
    kept = _keep(collection)
    catalog = RepairCatalog(collection.catalog, create=True)
    if kept:
        salvage = Salvage(kept[0], Canonicalizer.of(settings.addresses))
        catalog.add_salvaged(salvage.seeds(), salvage.urls())
    return catalog, kept


def _keep(collection: Collection) -> list[Path]:
    """Move the files of the catalog to `kept/`."""
    if not collection.catalog.exists():
        return []
    with reporting_full_disk(collection.home):
        (collection.home / KEPT).mkdir(exist_ok=True)
        name = unused(collection.home / KEPT / "crawl-damaged.db").name
        moved = []
        for suffix in _PARTS:
            part = collection.home / f"{collection.catalog.name}{suffix}"
            if part.exists():
                moved.append(Path(shutil.move(part, collection.home / KEPT / f"{name}{suffix}")))
        sync_directory(collection.home)
    return moved
