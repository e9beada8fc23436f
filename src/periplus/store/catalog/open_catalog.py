"""Opens the catalog of a collection, in one of its roles: the crawl's, a reader's, the console's lists and others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TypeVar, overload

from periplus.errors import NoCollection
from periplus.store.block_list import NOTHING_BLOCKED, BlockList, read_block_list, write_block_list
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection, require_driver, require_not_of_fleet
from periplus.store.database.database import Database
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.store.database.sqlite_database import require_sound as require_sound_file

Role = TypeVar("Role")


@overload
def open_catalog(collection: Collection, *, create: bool = False, read_only: bool = False) -> Catalog: ...


@overload
def open_catalog(
    collection: Collection, role: Callable[[Database], Role], *, create: bool = False, read_only: bool = False
) -> Role: ...


def open_catalog(
    collection: Collection,
    role: Callable[[Database], object] = Catalog,
    *,
    create: bool = False,
    read_only: bool = False,
) -> object:
    """Open the catalog as *role*: `Catalog`, `Queries`, `LiveState`, `Listings`, `UserChanges` and others.

    *create* allows a missing catalog. *read_only*: never writes, and refuses a catalog of an older release.
    """
    return role(open_database(collection, create=create, read_only=read_only))


def open_database(collection: Collection, *, create: bool = False, read_only: bool = False) -> Database:
    """Open the database of the catalog: that of the fleet, or the file `crawl.db`."""
    if not collection.database:
        require_not_of_fleet(collection)
        return SqliteDatabase(collection.catalog, create=create, read_only=read_only)
    require_driver()
    from periplus.store.database.postgres.database import PostgresDatabase  # noqa: PLC0415  # an extra

    return PostgresDatabase(collection.database, create=create, read_only=read_only)


def block_list_of(collection: Collection) -> BlockList:
    """The URLs and hosts of a collection that must not come back; a fleet has one list for all its nodes."""
    if not collection.database:
        return read_block_list(collection.home)
    try:
        with closing(open_database(collection, read_only=True)) as database:
            return database.block_list()
    except NoCollection:  # before the first crawl
        return NOTHING_BLOCKED


def set_block_list(collection: Collection, blocked: BlockList) -> None:
    """Replace the block list of a collection, durably."""
    if not collection.database:
        write_block_list(collection.home, blocked)
        return
    with closing(open_database(collection)) as database:
        database.set_block_list(blocked)


def require_sound(collection: Collection) -> None:
    """Raise `DamagedFile` when a quick check of the catalog finds damage; a server checks its own files."""
    if not collection.database:
        require_sound_file(collection.catalog)
