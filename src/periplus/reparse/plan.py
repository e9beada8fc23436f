"""Which segments must be parsed again, and which are left after an interruption?

Parsing everything again may take hours, so the plan is written to `reparse.json` first. A replaced segment has a new
name: after a kill, the planned segments that are still live are the remaining work.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from periplus import __version__
from periplus.config import Settings
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk, write_file
from periplus.store.manifest import SealedSegment
from periplus.store.segments.schema import SCHEMA_VERSION, schema_version


class PlannedSegment(NamedTuple):
    """The two files of a segment that must be parsed again."""

    pages: SealedSegment
    links: SealedSegment


class Plan:
    """The segments that one run of `reparse` must parse."""

    def __init__(self, collection: Collection, catalog: Catalog, settings: Settings, *, everything: bool) -> None:
        self._path = collection.reparse_plan
        segments = catalog.segments("pages")
        wanted = {segment.name for segment in segments if _needs_reparse(collection.segments / segment.name)}
        if everything:
            wanted |= self._everything({segment.name for segment in segments}, _parser_version(settings))
        self._is_everything = everything
        links = {segment.name: segment for segment in catalog.segments("links")}
        self.segments = [
            PlannedSegment(segment, links[segment.name.replace("pages", "links", 1)])
            for segment in segments
            if segment.name in wanted
        ]

    def finished(self) -> None:
        """Remove the plan file after all segments are parsed."""
        if self._is_everything:
            self._path.unlink(missing_ok=True)

    def _everything(self, live: set[str], parser_version: str) -> set[str]:
        """All live segments; after an interruption of the same parser version, the remaining ones."""
        try:
            saved = json.loads(self._path.read_bytes())
            left = live.intersection(saved["segments"]) if saved["reader"] == parser_version else set()
        except (OSError, ValueError, KeyError, TypeError):
            left = set()
        if left:
            return left
        with reporting_full_disk(self._path.parent):
            write_file(self._path, json.dumps({"reader": parser_version, "segments": sorted(live)}).encode())
        return live


def rename_planned(collection: Collection, renamed: Mapping[str, str]) -> None:
    """Put the new names of segments into the plan of an interrupted `reparse --everything`."""
    try:
        saved = json.loads(collection.reparse_plan.read_bytes())
        saved["segments"] = [renamed.get(name, name) for name in saved["segments"]]
    except (OSError, ValueError, KeyError, TypeError):
        return  # there is no plan
    with reporting_full_disk(collection.home):
        write_file(collection.reparse_plan, json.dumps(saved).encode())


def _needs_reparse(path: Path) -> bool:
    """Whether a segment holds quickly parsed pages, or is unreadable, which the run then reports."""
    try:
        version = schema_version(path)
    except OSError:
        version = None
    return version is None or version[1] < SCHEMA_VERSION


def _parser_version(settings: Settings) -> str:
    """A hash of the release and of the settings that affect parsing."""
    inputs = f"{__version__} {settings.parse.model_dump_json()} {settings.scope.links_per_page}"
    return hashlib.sha256(inputs.encode()).hexdigest()
