"""Makes new pages searchable while a crawl runs: parses sealed segments, updates the index, refreshes ranks.

The builder only looks at sealed segments, and each of its steps replaces files in one transaction or by one rename, so
it can be killed at any moment. It indexes segments only after it has parsed them: a page is written once.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from periplus.config import Settings
from periplus.errors import CollectionLocked, NoIndex, PeriplusError
from periplus.frontier.scope import ScopeRules, page_rules
from periplus.index.build import IndexSummary, build_index
from periplus.index.planning.lineage import Continuation
from periplus.index.vectors.word_vectors import FOLDER as VECTORS
from periplus.live.background_rank import BackgroundRank
from periplus.live.builder_report import BuilderReport, Step
from periplus.live.freshness import Freshness, FreshnessMeter
from periplus.live.rhythm import Situation
from periplus.reparse import reparse
from periplus.reparse.reader_pool import ReaderPool, local_reader
from periplus.retention import prune
from periplus.signals import Stopped
from periplus.store.catalog.open_catalog import block_list_of, open_catalog, require_sound
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection, open_collection
from periplus.store.generations import INDEX_KIND, Generations, number_of, read_meta
from periplus.store.manifest import place_of
from periplus.store.segments.compaction import compact

logger = logging.getLogger("periplus.live")

_LOOK_SECONDS = 1.0  # between two looks for new segments
_LOCKED_SECONDS = 5.0  # until the next try while another command writes the index
_LAST_SECONDS = 20.0  # that the last update before the end may take
_FEWEST_MERGED = 16  # segments
_PRUNE_SECONDS = 3_600.0
_PRUNED_SHARE = 0.25  # of an archive file, from which on it is written again
_PARSED_AT_ONCE = 2_000  # pages, before the builder looks whether the index must be updated
_UPDATE = Continuation(most_removed=0.5, most_new=1.0, all_languages=True, ranks_later=True, vectors_later=True)
_REFRESH = Continuation(most_removed=0.5, most_new=0.33, all_languages=True)


@dataclass(frozen=True, slots=True)
class BuilderOptions:
    """What the builder needs to know."""

    home: Path
    settings: Settings
    started: float  # when `periplus up` was started


def run_builder(options: BuilderOptions, stopped: Event) -> dict[str, Any]:
    """Run the builder until SIGTERM; then make the last pages searchable if that takes only seconds.

    *stopped* is set when the signal has come already. Returns the figures of the last row.
    """
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    collection = open_collection(options.home)
    require_sound(collection)
    processes = max((os.cpu_count() or 1) // 2, 1)
    with (
        BuilderReport(collection, options.started) as report,
        closing(ReaderPool(local_reader(options.home, options.settings), processes)) as pool,
    ):
        pool.start()
        builder = _Builder(options, collection, report, pool, stopped)
        signal.signal(signal.SIGTERM, builder.stop)
        while not stopped.is_set():
            builder.look()
            stopped.wait(_LOOK_SECONDS)
        report.drains()
        builder.finish()
        return report.figures()


class _Builder:
    def __init__(
        self,
        options: BuilderOptions,
        collection: Collection,
        report: BuilderReport,
        pool: ReaderPool,
        stopped: Event,
    ) -> None:
        self._options, self._collection, self._report, self._pool = options, collection, report, pool
        self._meter: FreshnessMeter = report.meter
        self._rhythm = report.rhythm
        self._rank = BackgroundRank(options.home, options.settings)
        self._documents = 0
        self._arrived = time.monotonic()  # when a new segment was last seen
        self._seen = 0  # pages
        self._busy = 0.0  # seconds of parsing since the last update
        self._kept: set[str] = set()  # segments that could not be parsed
        self._is_rebuilding, self._is_given_up, self._stopped = False, False, stopped
        self._next_prune = 0.0
        self._read_live_generation()

    def stop(self, number: int, frame: object) -> None:
        """Handle SIGTERM: end after the current step; a rebuild, which may take minutes, is given up."""
        del frame
        self._stopped.set()
        if self._is_rebuilding:
            self._is_rebuilding, self._is_given_up = False, True
            raise Stopped(number)

    def look(self) -> None:
        """Do what is due now."""
        try:
            self._do_what_is_due()
        except Stopped:
            logger.info("the rebuild was given up; the last index stays in use")
        except CollectionLocked as error:
            logger.info("%s; trying again", error.sentence)
            self._report.step(Step.IDLE)
            self._stopped.wait(_LOCKED_SECONDS)

    def finish(self) -> None:
        """Make the last pages searchable, unless that takes long."""
        found = self._meter.measure()
        if not found.sealed:
            return
        if self._rhythm.expected_seconds(found.sealed, self._documents) > _LAST_SECONDS:
            logger.info("%d pages are left to index; the next start does it", found.sealed)
            return
        try:
            while self._has_unparsed():
                self._reparse()
            self._update(_UPDATE)
        except CollectionLocked as error:
            logger.info("%s; the next start indexes the last pages", error.sentence)

    def _do_what_is_due(self) -> None:
        found = self._meter.measure()
        self._note_arrivals(found)
        if found.sealed and self._has_unparsed():
            self._reparse()
        situation = self._situation(found)
        if self._rhythm.is_update_due(situation):
            self._update(_UPDATE)
            self._compact()
        elif self._rhythm.is_rebuild_due(situation):
            self._rebuild()
        self._prune(situation)
        self._look_after_ranks(situation)
        self._report.step(Step.IDLE)

    def _note_arrivals(self, found: Freshness) -> None:
        pages = self._documents + found.waiting
        if pages != self._seen:
            self._seen, self._arrived = pages, time.monotonic()

    def _situation(self, found: Freshness) -> Situation:
        return Situation(time.monotonic(), found.sealed, found.oldest_age, self._arrived, self._documents)

    # -- the steps ----------------------------------------------------------------------------------------------------

    def _has_unparsed(self) -> bool:
        names = self._segments() - self._meter.searchable - self._kept
        return any(place_of(name).revision == 0 for name in names)

    def _segments(self) -> set[str]:
        with closing(open_catalog(self._collection, Queries, read_only=True)) as catalog:
            return {segment.name for segment in catalog.segments("pages")}

    def _reparse(self) -> None:
        began = time.monotonic()
        self._report.step(Step.REPARSE)
        settings = self._options.settings
        done = reparse(self._collection, settings, everything=False, pool=self._pool, most=_PARSED_AT_ONCE)
        # A segment that cannot be parsed is indexed as the crawl has written it.
        self._kept |= {entry.what for entry in done.reasons if entry.what.startswith("pages-")}
        self._busy += time.monotonic() - began
        if done.pages:
            logger.info("parsed %d pages of %d segments in %.1f s", done.pages, done.segments, done.seconds)

    def _update(self, limits: Continuation) -> IndexSummary | None:
        began = time.monotonic()
        self._report.step(Step.INDEX)
        names = self._parsed_segments()
        settings = self._options.settings
        try:
            summary = build_index(self._collection, settings.index, rules=self._page_rules(), limits=limits, only=names)
        except NoIndex:  # nothing is parsed yet
            return None
        pages = self._meter.indexed(names, summary.generation)
        self._documents = summary.documents
        self._report.live(summary.generation, summary.documents)
        end = time.monotonic()
        if summary.build == "full" and not limits.vectors_later:
            self._rhythm.note_rebuild(end, end - began, summary.documents)
        self._rhythm.note_update(end, pages, end - began, self._busy)
        self._busy = 0.0
        if summary.build != "none":
            _log_update(summary, pages)
        return summary

    def _page_rules(self) -> ScopeRules:
        return page_rules(self._options.settings.scope, block_list_of(self._collection))

    def _parsed_segments(self) -> frozenset[str]:
        names = self._segments()
        return frozenset(name for name in names if place_of(name).revision > 0 or name in self._kept)

    def _rebuild(self) -> None:
        self._is_rebuilding = True
        try:
            summary = self._update(_REFRESH)
        except Exception as error:
            if not self._is_given_up:
                raise
            raise Stopped(signal.SIGTERM) from error  # DuckDB raises an error of its own instead of the one of `stop`
        finally:
            self._is_rebuilding = False
        if summary is not None and summary.build != "full":
            self._rhythm.note_refresh(summary.documents)

    def _compact(self) -> None:
        if not self._rhythm.is_compaction_due(len(self._meter.searchable)):
            return
        self._report.step(Step.COMPACT)
        merged = compact(self._collection, fewest=_FEWEST_MERGED)
        self._meter.merged(self._parsed_segments())
        logger.info("merged %d segments in %.1f s", merged.merged, merged.seconds)

    def _prune(self, situation: Situation) -> None:
        """Remove old versions from the archive once an hour, if the settings limit them."""
        store = self._options.settings.store
        if not (store.keep_versions or store.keep_days) or situation.now < self._next_prune:
            return
        self._next_prune = situation.now + _PRUNE_SECONDS
        self._report.step(Step.PRUNE)
        pruned = prune(self._collection, store, least_share=_PRUNED_SHARE)
        if pruned.versions:
            logger.info("removed %d old versions from the archive in %.1f s", pruned.versions, pruned.seconds)

    def _look_after_ranks(self, situation: Situation) -> None:
        seconds = self._rank.finished()
        if seconds is not None:
            self._rhythm.note_rank(time.monotonic(), seconds, self._rank.pages)
            logger.info("ranked in %.1f s", seconds)
        if not self._rank.is_running and self._rhythm.is_rank_due(situation):
            self._rank.start(self._documents)

    def _read_live_generation(self) -> None:
        """Go on from the generation of an earlier run."""
        try:
            live = Generations(self._collection.index, INDEX_KIND).live()
            if live is None:
                return
            meta = read_meta(live, INDEX_KIND)
        except PeriplusError as error:
            logger.warning("%s", error)
            return
        self._documents = int(meta.get("documents", 0))
        if (live / VECTORS).is_dir() or not self._options.settings.index.vectors:
            self._rhythm.rebuilt_documents = int(meta.get("documents_in_full_build", 0))
        self._report.live(number_of(live), self._documents)


def _log_update(summary: IndexSummary, pages: int) -> None:
    message = "generation %d: %s, %d documents, %d new pages, %d written, %d removed, %.1f s%s"
    why = f" ({summary.why})" if summary.why else ""
    logger.info(
        message,
        summary.generation,
        summary.build,
        summary.documents,
        pages,
        summary.added,
        summary.removed,
        summary.seconds,
        why,
    )
