"""Runs all steps in order, from seeds to a search engine.

    seeds -> crawl -> archive and segments -> rank -> reparse -> compact -> index -> engine

Each step reads the files that the step before has written, so any step can be run again by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from periplus.crawl.assignment import Ending
from periplus.crawl.run import Progress, Request, Result, crawl
from periplus.errors import Interrupted
from periplus.frontier.scope import page_rules
from periplus.graph.run import RankSummary, rank
from periplus.index.build import IndexSummary, build_index
from periplus.reparse import reparse
from periplus.search.engine import SearchEngine
from periplus.store.catalog.open_catalog import block_list_of
from periplus.store.collection import open_collection
from periplus.store.segments.compaction import compact


@dataclass(frozen=True, slots=True)
class ProgressCallbacks:
    """One callback per step; each is called with the progress of its step."""

    crawl: Callable[[Progress], None] = lambda _: None
    rank: Callable[[str], None] = lambda _: None
    index: Callable[[int, int], None] = lambda _done, _total: None


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The summaries of all steps."""

    crawl: Result
    rank: RankSummary
    index: IndexSummary


def build(request: Request, progress: ProgressCallbacks = ProgressCallbacks()) -> BuildResult:  # noqa: B008  # it is frozen
    """Crawls, ranks, reparses, merges small segments and indexes; ends with a published index."""
    crawled = crawl(request, progress.crawl)
    if crawled.failure is not None:
        raise crawled.failure
    if crawled.ending is Ending.INTERRUPTED:
        raise Interrupted("stopped by the user", hint="Everything fetched is kept; the same command continues.")
    collection = open_collection(request.home)
    ranked = rank(collection, request.settings.graph, progress=progress.rank)
    reparse(collection, request.settings, everything=False)
    compact(collection)
    rules = page_rules(request.settings.scope, block_list_of(collection))
    indexed = build_index(collection, request.settings.index, progress.index, rules)
    return BuildResult(crawled, ranked, indexed)


def open_engine(request: Request) -> SearchEngine:
    """Opens the search engine on the latest published index."""
    return SearchEngine.open(open_collection(request.home), request.settings)
