"""What happens, in order?

    seeds -> crawl -> archive and segments -> rank -> close reading -> index -> engine

Each step reads what the one before has made durable, so any of them can be run again by itself.
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
from periplus.store.collection import open_collection


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told how far each step is."""

    crawl: Callable[[Progress], None] = lambda _: None
    rank: Callable[[str], None] = lambda _: None
    index: Callable[[int, int], None] = lambda _done, _total: None


@dataclass(frozen=True, slots=True)
class Built:
    """What each step did."""

    crawl: Result
    rank: RankSummary
    index: IndexSummary


def build(request: Request, watch: Watch = Watch()) -> Built:  # noqa: B008  # it is frozen
    """From seeds to a published index."""
    crawled = crawl(request, watch.crawl)
    if crawled.failure is not None:
        raise crawled.failure
    if crawled.ending is Ending.INTERRUPTED:
        raise Interrupted("stopped as asked", hint="Everything fetched is kept; the same command continues.")
    collection = open_collection(request.home)
    ranked = rank(collection, request.settings.graph, progress=watch.rank)
    reparse(collection, request.settings, everything=False)
    indexed = build_index(collection, request.settings.index, watch.index, page_rules(request.settings.scope))
    return Built(crawled, ranked, indexed)


def open_engine(request: Request) -> SearchEngine:
    """The engine over what was built last."""
    return SearchEngine.open(open_collection(request.home), request.settings)
