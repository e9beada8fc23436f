"""Runs `periplus repair`: verifies a collection, rebuilds what is damaged, and verifies again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from periplus.config import Settings
from periplus.errors import DamagedFile, UsageError
from periplus.frontier.scope import page_rules
from periplus.graph.run import rank
from periplus.index.build import build_index
from periplus.index.planning.lineage import Continuation
from periplus.inspector.verify import Problem, verify
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.repair.archives import ArchiveRepairer
from periplus.repair.catalog import new_catalog, sound_catalog
from periplus.repair.replay import Replay
from periplus.repair.segments import SegmentRepairer
from periplus.reparse import reparse
from periplus.store.catalog.open_catalog import block_list_of, open_catalog
from periplus.store.catalog.repair_catalog import RepairCatalog
from periplus.store.cleanup import KEPT
from periplus.store.collection import Collection, open_collection, write_marker
from periplus.store.generations import remove_generation
from periplus.url import Canonicalizer

OnStep = Callable[[str], None]  # called with a sentence about the next step
_MARKER, _CATALOG, _ARCHIVE, _SEGMENTS, _RANKS, _INDEX = (
    "collection.json",
    "crawl.db",
    "archive",
    "segments",
    "ranks",
    "index",
)
_MAX_LISTED = 100  # lost pages listed in the report; more are only counted


@dataclass(slots=True)
class Repaired:
    """What `repair --json` prints."""

    dry_run: bool
    problems: list[Problem] = field(default_factory=list)  # before the repair
    actions: list[str] = field(default_factory=list)
    left: list[Problem] = field(default_factory=list)  # after it
    lost: int = 0  # archive records that were damaged or missing; the next crawl fetches their URLs again
    lost_urls: list[str] = field(default_factory=list)  # the first 100
    kept: list[str] = field(default_factory=list)  # copies of damaged bytes, in `kept/`
    seconds: float = 0.0

    def report(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "ok": not (self.problems if self.dry_run else self.left),
            "dry_run": self.dry_run,
            "problems": [problem._asdict() for problem in self.problems],
            "actions": self.actions,
            "left": [problem._asdict() for problem in self.left],
            "lost": self.lost,
            "lost_urls": self.lost_urls,
            "kept": self.kept,
            "seconds": self.seconds,
        }


def repair(home: Path, settings: Settings, *, dry_run: bool = False, on_step: OnStep = lambda _: None) -> Repaired:
    """Repair the collection in *home*, or only say what is damaged and what would be done.

    No other process may write the collection.
    """
    started = time.monotonic()
    result = Repaired(dry_run)
    collection, marker = _open(home)
    _require_one_machine(collection)
    kept_before = set((home / KEPT).glob("*"))
    with collection.locked(alone=True):
        on_step("verifying all files")
        result.problems = [*marker, *verify(collection).problems]
        if dry_run:
            result.actions = _planned(collection, result.problems)
        elif result.problems:
            _Repair(collection, settings, result, on_step).run()
            result.kept = sorted(f"{KEPT}/{path.name}" for path in (home / KEPT).glob("*") if path not in kept_before)
            on_step("verifying again")
            result.left = verify(collection).problems
    result.seconds = round(time.monotonic() - started, 3)
    return result


def _require_one_machine(collection: Collection) -> None:
    """Refuse a fleet: a file that is not here may be on another node, and must not be replaced."""
    if collection.database:
        raise UsageError(
            "a fleet cannot be repaired from one node",
            "its files are on several nodes and in the object store",
            "`periplus verify` names what is damaged; restore the backup of the database and the bucket.",
        )


def _open(home: Path) -> tuple[Collection, list[Problem]]:
    """The collection, and what is wrong with its marker."""
    try:
        return open_collection(home), []
    except DamagedFile as error:
        return Collection(home), [Problem(_MARKER, error.why)]


def _damaged_parts(problems: list[Problem]) -> set[str]:
    return {problem.where.partition("/")[0] for problem in problems}


def _planned(collection: Collection, problems: list[Problem]) -> list[str]:
    """What a repair would do about the problems."""
    parts = _damaged_parts(problems)
    plans = {
        _MARKER: "write collection.json again",
        _CATALOG: "rebuild crawl.db from the archive, or correct its counters",
        _ARCHIVE: "replace damaged archive records by fillers; the next crawl fetches their pages again",
        _SEGMENTS: "parse the pages of damaged segments from the archive again",
        _RANKS: "compute new ranks",
        _INDEX: "build a new index",
    }
    if parts & {_CATALOG, _ARCHIVE, _SEGMENTS}:
        parts |= {name for name in (_RANKS, _INDEX) if _exists(collection, name)}
    return [plan for part, plan in plans.items() if part in parts]


def _exists(collection: Collection, name: str) -> bool:
    """Whether ranks or an index were ever published."""
    return any(path.name == "CURRENT" or path.name.startswith("gen-") for path in (collection.home / name).glob("*"))


class _Repair:
    """One repair, step by step; each step relies on the ones before."""

    def __init__(self, collection: Collection, settings: Settings, result: Repaired, on_step: OnStep) -> None:
        self._collection, self._settings, self._result, self._on_step = collection, settings, result, on_step
        self._parts = _damaged_parts(result.problems)

    def run(self) -> None:
        if _MARKER in self._parts:
            write_marker(self._collection.home)
            self._did("wrote collection.json again")
        changed = self._repair_crawled() if self._parts & {_CATALOG, _ARCHIVE, _SEGMENTS} else False
        if _exists(self._collection, _RANKS) and (changed or _RANKS in self._parts):
            self._rank()
        if _exists(self._collection, _INDEX) and (changed or _INDEX in self._parts):
            self._index()

    def _did(self, action: str) -> None:
        self._result.actions.append(action)

    def _did_number(self, action: str, number: int) -> None:
        if number:
            self._did(f"{action}: {number:,}")

    # -- catalog, archive and segments --------------------------------------------------------------------------

    def _repair_crawled(self) -> bool:
        """Repair what a crawl writes; returns whether pages changed."""
        with self._collection.locked("reparse"), closing(self._reader()) as reader:
            catalog, changed = sound_catalog(self._collection), False
            if catalog is None:
                catalog, changed = self._rebuild_catalog(reader), True
            with closing(catalog):
                if not changed and _ARCHIVE in self._parts:
                    changed = self._repair_archives(catalog, reader, self._damaged_archives())
                if not changed and _CATALOG in self._parts:
                    self._did("corrected the counters of crawl.db")
                catalog.count_again()
                return self._repair_segments(catalog, reader) or changed

    def _rebuild_catalog(self, reader: PageReader) -> RepairCatalog:
        self._on_step("reading what is left of crawl.db")
        with new_catalog(self._collection, self._settings) as catalog:
            self._repair_archives(catalog, reader, None)
            catalog.count_again()
            catalog.claim_segments()  # a repair that is killed before they are written must be continued
        self._did("created a new crawl.db")
        return open_catalog(self._collection, RepairCatalog)

    def _damaged_archives(self) -> set[str]:
        parts = (problem.where.partition("/") for problem in self._result.problems)
        return {name for folder, _, name in parts if folder == _ARCHIVE}

    def _repair_segments(self, catalog: RepairCatalog, reader: PageReader) -> bool:
        self._on_step("checking segments")
        repairer = SegmentRepairer(self._collection, catalog, self._settings.store, reader, self._show_pages)
        dropped, pages = repairer.run()
        self._did_number("pages parsed into new segments", pages)
        self._did_number("damaged segment files removed", len(dropped))
        return bool(dropped or pages)

    def _reader(self) -> PageReader:
        settings = self._settings
        canonicalizer = Canonicalizer.of(settings.addresses)
        return PageReader(
            PageParser(canonicalizer, links_per_page=settings.scope.links_per_page, settings=settings.parse)
        )

    def _repair_archives(self, catalog: RepairCatalog, reader: PageReader, names: set[str] | None) -> bool:
        """Repair archive files, all of them if *names* is None; returns whether pages changed."""
        self._on_step("checking every record of the archive")
        found = ArchiveRepairer(self._collection, catalog).run(names)
        if found.unlisted:
            self._on_step("adding archived responses to crawl.db")
            Replay(self._collection.archive, catalog, self._settings, reader).add(found.unlisted)
        self._did_number("archived responses added to crawl.db", len(found.unlisted))
        self._did_number("damaged parts of the archive replaced by fillers", found.filled)
        self._did_number("damaged ends of archive files cut off", found.cut)
        self._did_number("missing archive files created", found.created)
        self._result.lost = len(found.lost)
        self._result.lost_urls = [fetch.url for fetch in found.lost[:_MAX_LISTED]]
        return bool(found.lost or found.unlisted)

    def _show_pages(self, done: int, total: int) -> None:
        self._on_step(f"parsing {done:,} of {total:,} pages")

    # -- ranks and index ----------------------------------------------------------------------------------------

    def _rank(self) -> None:
        self._on_step("computing ranks")
        summary = rank(self._collection, self._settings.graph)
        self._remove_damaged(_RANKS)
        self._did(f"computed ranks, generation {summary.generation}")

    def _index(self) -> None:
        self._on_step("parsing pages for the index")
        reparse(self._collection, self._settings, everything=False)
        self._on_step("building the index")
        rules = page_rules(self._settings.scope, block_list_of(self._collection))
        summary = build_index(self._collection, self._settings.index, rules=rules, limits=Continuation(full=True))
        self._remove_damaged(_INDEX)
        self._did(f"built the index, generation {summary.generation}")

    def _remove_damaged(self, part: str) -> None:
        """Remove the damaged generation; a new one has replaced it."""
        names = {
            problem.where.split("/")[1] for problem in self._result.problems if problem.where.startswith(f"{part}/gen-")
        }
        for name in names:
            if (generation := self._collection.home / part / name).is_dir():
                remove_generation(generation)
