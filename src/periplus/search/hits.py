"""Makes results from pages: snippets, dates, and the words that a page lacks."""

from __future__ import annotations

from collections.abc import Sequence

from periplus.index.storage.pagestore import Head
from periplus.model import Hit
from periplus.search.interpret import Search
from periplus.search.open_index import OpenIndex
from periplus.search.query.tree import Word, widened
from periplus.search.scoring.candidates import CandidateFinder
from periplus.search.snippets.snippet import Shown, Snippet, make_snippets

_DAY = 86_400.0  # seconds
_MISSING_WORDS = 8  # words of a query that are looked up on partial matches


class HitMaker:
    """Makes results from pages of one open index."""

    def __init__(self, index: OpenIndex, finder: CandidateFinder) -> None:
        self._index, self._finder = index, finder

    def hits(self, numbers: Sequence[int], search: Search, *, are_whole: bool) -> list[Hit]:
        """The results, without scores; *are_whole*: all of them are known to match the query as a whole."""
        pages = [Shown(number, self._index.pages.head(number), self._index.pages.text(number)) for number in numbers]
        snippets = make_snippets(pages, search.words, self._index.forward)
        missing = {} if are_whole else self._missing_words(search, numbers)
        return [
            _hit(page.head, snippet, missing.get(page.number)) for page, snippet in zip(pages, snippets, strict=True)
        ]

    def _missing_words(self, search: Search, numbers: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """By page that does not match the query as a whole: the words that it lacks, in all their right spellings."""
        words = list(dict.fromkeys(search.words))[:_MISSING_WORDS]
        nodes = [search.root, *(widened(Word(word), search.variants) for word in words)]
        queries = [self._finder.matching(node, search.language) for node in nodes]
        return {
            number: tuple(word for place, word in enumerate(words, 1) if place not in found)
            for number, found in self._index.matched(queries, numbers).items()
            if 0 not in found
        }


def _hit(head: Head, snippet: Snippet, missing: tuple[str, ...] | None) -> Hit:
    return Hit(
        url=head.url,
        title=head.title or head.url,
        snippet=snippet.text,
        highlights=snippet.highlights,
        score=0.0,
        host=head.host,
        fetched_at=head.fetched_at,
        mime=head.mime,
        language=head.language,
        same_content=head.same_content,
        all_words=missing is None,
        missing=missing or (),
        date=stated_date(head),
    )


def stated_date(head: Head) -> float | None:
    """The date that a page states. A date more than a day after the fetch is wrong; an earlier one has no time zone.

    A page that was modified within a day before the fetch was probably generated for it.
    """
    published, modified = head.published, head.modified
    if published is not None:
        return min(published, head.fetched_at) if published <= head.fetched_at + _DAY else None
    return modified if modified is not None and modified <= head.fetched_at - _DAY else None
