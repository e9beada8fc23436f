"""Finds the pages that match a standing query, and decides which of them are reported.

A page matches when it has all words of the query and meets its operators: a page with some of the words, which a search
lists below, is no match. The spelling of the query is not corrected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import xxhash

from periplus.search.engine import SearchEngine
from periplus.standing.registry import PageVersion, page_key, signed

NEW, CHANGED = "new", "changed"
_AT_ONCE = 4_096  # documents in one search


class Match(NamedTuple):
    """A page that matches a standing query."""

    number: int  # of the document
    version: PageVersion
    pages: tuple[int, ...]  # hashes of all URLs of the page


class Context(NamedTuple):
    """What is known about a page when a query finds it."""

    known: PageVersion | None  # that the query has matched before
    knows_text: bool  # a page with this text has matched the query before
    was_indexed: bool  # at the last check
    since: float  # versions fetched later are new to the query


def matching(engine: SearchEngine, query: str, numbers: Sequence[int]) -> Iterator[Match]:
    """Those of the documents that match."""
    for start in range(0, len(numbers), _AT_ONCE):
        for number in engine.with_all_words(query, numbers[start : start + _AT_ONCE]):
            yield _match(engine, number)


def change_of(version: PageVersion, context: Context) -> str:
    """Whether a matching page is reported as new or as changed; empty: not at all.

    Only a later fetch can change a page, so a page that is parsed anew, or an index that is rolled back, reports
    nothing. A page that matches for the first time, although it was indexed before, counts as changed when it was
    fetched since the query was saved. Otherwise others have linked to it with new words.
    """
    if context.known is not None:
        is_changed = version.fetched_at > context.known.fetched_at and version.text != context.known.text
        return CHANGED if is_changed else ""
    if context.knows_text:  # the page has moved, or another copy of it represents it
        return ""
    if not context.was_indexed:
        return NEW
    return CHANGED if version.fetched_at > context.since else ""


def _match(engine: SearchEngine, number: int) -> Match:
    page = engine.pages.page(number)
    head, text = page.head, page.text
    digest = xxhash.xxh3_64_intdigest(f"{head.full_title}\0{text}".encode("utf-8", "replace"))
    pages = tuple(page_key(url) for url in (head.url, *head.same_content))
    return Match(number, PageVersion(pages[0], head.fetched_at, signed(digest)), pages)
