"""Keeps the settings of the crawl the same on all nodes of a fleet: the head publishes them, the others copy them.

Published are the tables that describe the crawl. All others belong to each node: the database of the fleet with its
password, the tokens of the site, who may use the console. So neither the database nor a dump of it has a secret.
"""

from __future__ import annotations

import logging
import time
import tomllib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from periplus.config import FILE_NAME, read_tables, secret_keys, shared_places
from periplus.config.toml_writer import written_tables
from periplus.errors import DatabaseUnavailable, NoCollection
from periplus.store.catalog.open_catalog import open_database
from periplus.store.collection import Collection
from periplus.store.settings_file import replace_settings

logger = logging.getLogger("periplus.crawl")

PUBLISHED = ("identity", "scope", "frontier", "addresses", "politeness", "fetch", "recrawl", "parse", "store")
_COPY = (
    "# A copy of the fleet's settings: the next start overwrites changes of them. Without this line, `up` publishes it."
)
_BEFORE = ".before"  # what the file of a node had before its first copy
_POLL_SECONDS = 2.0

Tables = Mapping[str, Mapping[str, Any]]


def sync_settings(home: Path) -> None:
    """Publish the settings of a head (`up`, `crawl`); a head without a file of its own copies the published ones."""
    if not (database := shared_places(home).database):
        return
    collection, own = Collection(home, database), home / FILE_NAME
    if (own.exists() and not _is_copy(own)) or not copy_settings(collection):
        publish_settings(collection, own)


def publish_settings(collection: Collection, path: Path) -> None:
    """Publish the settings of the crawl in a file, which may be missing, for all nodes that start later."""
    text = written_tables(_of_crawl(read_tables(path)))
    with closing(open_database(collection, create=True)) as database, database.transaction():
        database.run("publish_settings", text)


def copy_settings(collection: Collection) -> bool:
    """Write the published settings into the file of this node, whose other tables stay; False: there are none."""
    if (text := _published(collection)) is None:
        return False
    own, published = collection.home / FILE_NAME, tomllib.loads(text)
    present = read_tables(own)
    if _of_crawl(present) == published:
        return True
    if own.exists() and not _is_copy(own):
        kept = own.with_name(own.name + _BEFORE)
        kept.write_bytes(own.read_bytes())
        kept.chmod(own.stat().st_mode & 0o777)
        logger.warning("this node crawls with the settings of the fleet; %s has its own ones", kept)
    local = {name: content for name, content in present.items() if name not in PUBLISHED}
    replace_settings(collection.home, f"{_COPY}\n\n{written_tables(published | local)}")
    return True


def wait_for_settings(collection: Collection) -> None:
    """Copy the published settings; waits until a head has published them."""
    is_reported = False
    while not _copied(collection, is_patient=is_reported):
        if not is_reported:
            logger.warning(
                "waiting for the settings of the fleet: `periplus up` on the head publishes them, or `periplus worker "
                "--config FILE`"
            )
            is_reported = True
        time.sleep(_POLL_SECONDS)


def _copied(collection: Collection, *, is_patient: bool) -> bool:
    """Whether the settings were copied; *is_patient*: a database that has answered before may be away for a while."""
    try:
        return copy_settings(collection)
    except DatabaseUnavailable as error:
        if not is_patient:
            raise
        logger.info("%s; trying again", error.sentence)
        return False


def _published(collection: Collection) -> str | None:
    try:
        with closing(open_database(collection, read_only=True)) as database:
            row = database.row("fleet_settings")
    except NoCollection:  # before the first start of a head
        return None
    return None if row is None else str(row[0])


def _of_crawl(tables: Tables) -> dict[str, dict[str, Any]]:
    secret = secret_keys()
    found = {
        name: {key: value for key, value in tables[name].items() if f"{name}.{key}" not in secret}
        for name in PUBLISHED
        if name in tables
    }
    return {name: content for name, content in found.items() if content}


def _is_copy(path: Path) -> bool:
    return path.read_text(encoding="utf-8-sig").startswith(_COPY)
