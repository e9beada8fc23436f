"""Opens a collection for a command that reads ranks or index: on a fleet, the published ones."""

from __future__ import annotations

from pathlib import Path

import typer

from periplus.store.collection import Collection, open_collection
from periplus.store.fleet_files.shared_generations import bring_to_read


def collection_with(home: Path, *names: str) -> Collection:
    """The collection; on a fleet its folder has the published generation of each name, `ranks` or `index`."""
    collection = open_collection(home)
    for name in names:
        bring_to_read(collection, name, lambda line: typer.echo(line, err=True))
    return collection
