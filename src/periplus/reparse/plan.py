"""Which segments are to be read again, and how far did the last attempt come?

Reading everything again may take hours. What is to be read is written down first; a segment that has been replaced has
another name, so after a kill those of the list that are still live are what is left.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from periplus import __version__
from periplus.config import Settings
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk, write_file
from periplus.store.manifest import SealedSegment
from periplus.store.schema import SCHEMA_VERSION, schema_version

_FILE = "reparse.json"


class Plan:
    """The segments that one run of `reparse` has before it."""

    def __init__(self, collection: Collection, catalog: Catalog, settings: Settings, *, everything: bool) -> None:
        self._path = collection.home / _FILE
        segments = catalog.segments("pages")
        wanted = {segment.name for segment in segments if _needs_reading(collection.segments / segment.name)}
        if everything:
            wanted |= self._everything({segment.name for segment in segments}, _reader(settings))
        self._is_everything = everything
        self.segments: list[SealedSegment] = [segment for segment in segments if segment.name in wanted]

    def finished(self) -> None:
        """All of it has been read."""
        if self._is_everything:
            self._path.unlink(missing_ok=True)

    def _everything(self, live: set[str], reader: str) -> set[str]:
        """All live segments; or, if the same reader was interrupted at that, those it had not come to."""
        try:
            noted = json.loads(self._path.read_bytes())
            left = live.intersection(noted["segments"]) if noted["reader"] == reader else set()
        except (OSError, ValueError, KeyError, TypeError):
            left = set()
        if left:
            return left
        with reporting_full_disk(self._path.parent):
            write_file(self._path, json.dumps({"reader": reader, "segments": sorted(live)}).encode())
        return live


def _needs_reading(path: Path) -> bool:
    """Whether its pages were only skimmed; or it makes no sense, which is told when it is tried."""
    try:
        stated = schema_version(path)
    except OSError:
        stated = None
    return stated is None or stated[1] < SCHEMA_VERSION


def _reader(settings: Settings) -> str:
    """What makes two readings differ: this release, and how it is told to read."""
    told = f"{__version__} {settings.parse.model_dump_json()} {settings.scope.links_per_page}"
    return hashlib.sha256(told.encode()).hexdigest()
