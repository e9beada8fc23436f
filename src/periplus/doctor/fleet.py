"""Checks the database and the object store of a fleet, if the settings name them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing, suppress

from periplus.config import Fleet
from periplus.doctor.check import Check, Grade
from periplus.errors import ObjectMissing, PeriplusError
from periplus.store.collection import require_driver
from periplus.store.generations import CURRENT
from periplus.store.objects.object_store import ObjectStore
from periplus.store.objects.open_store import open_store

_PATIENCE = 5.0  # seconds
_KEYS = "Check the bucket, AWS_ENDPOINT_URL, AWS_REGION and the keys."


def checks(settings: Fleet) -> Iterator[Check]:
    """One check for each of the two that is set."""
    url, storage = settings.database.get_secret_value(), settings.storage
    if url:
        yield database(url)
    if storage:
        yield object_store(storage, is_search_node=not url)


def database(url: str) -> Check:
    """Whether the database answers, has tables that this release knows, and can be written."""
    try:
        require_driver()
        from periplus.store.database.postgres.connection import (  # noqa: PLC0415  # an extra
            clock_difference,
            connect,
            place_of,
        )
        from periplus.store.database.postgres.migrate import tables_state  # noqa: PLC0415

        with closing(connect(url, read_only=True)) as connection:
            found = f"{place_of(url)}: {tables_state(connection, place_of(url))}"
            if wrong := clock_difference(connection):
                return Check(
                    "database", Grade.WARN, f"{found}; {wrong}", "Synchronize the clocks of all nodes with NTP."
                )
            return Check("database", Grade.OK, found)
    except PeriplusError as error:
        return Check("database", Grade.BAD, error.sentence, error.hint)


def object_store(url: str, *, is_search_node: bool) -> Check:
    """Whether the object store answers and can be written; a search node only reads."""
    try:
        store = open_store(url, patience=_PATIENCE)
        if is_search_node:
            with suppress(ObjectMissing):  # there is no index yet
                store.get(f"index/{CURRENT}")
        else:
            _write(store)
    except PeriplusError as error:
        return Check("object store", Grade.BAD, error.sentence, error.hint or _KEYS)
    return Check("object store", Grade.OK, f"{url}: {'can be read' if is_search_node else 'can be written'}")


def _write(store: ObjectStore) -> None:
    name = f"doctor/{secrets.token_hex(8)}"
    store.put(name, b"")
    store.get(name)
    store.delete([name])
