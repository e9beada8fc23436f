"""The settings of a fleet: the first node publishes its file in the database, the others write it to their folders."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from periplus.config.layers import FILE_NAME
from periplus.errors import UsageError
from periplus.store.collection import Collection
from periplus.store.durable import write_file
from periplus.store.open_catalog import open_database

_OWN = re.compile(r"(?ms)^\[fleet\]\s*?$.*?(?=^\[|\Z)")  # the section that belongs to one node


def share_settings(collection: Collection, config: Path | None) -> None:
    """Publish the settings in *config*, or bring those that are published into the folder.

    A node whose fleet has no settings yet publishes its own file. The section `fleet` belongs to each node.
    """
    own = collection.home / FILE_NAME
    text = _read(config or own)
    if config is not None and text is None:
        raise UsageError(f"{config} cannot be read", "there is no such file")
    with closing(open_database(collection, create=True)) as database:
        row = database.row("fleet_settings")
        if config is not None or (row is None and text is not None):
            assert text is not None
            with database.transaction():
                database.run("publish_settings", _OWN.sub("", text))
            row = database.row("fleet_settings")
    if row is not None:
        section = _OWN.search(_read(own) or "")
        write_file(own, (row[0] + ("\n" + section[0] if section else "")).encode())


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
