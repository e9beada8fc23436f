"""Makes results from ranked pages: snippets, dates, and the words that a page lacks."""

from __future__ import annotations

from periplus.index.pagestore import Head
from periplus.model import Hit
from periplus.search.candidates import CandidateFinder
from periplus.search.interpret import Search
from periplus.search.open_index import OpenIndex
from periplus.search.query.tree import Word, widened
from periplus.search.ranking import Ranker, Scored
from periplus.search.snippet import Shown, Snippet, make_snippets

_DAY = 86_400.0  # seconds
_MISSING_WORDS = 8  # words of a query that are looked up on partial matches


class HitMaker:
    """Makes results from pages of one open index."""

    def __init__(self, index: OpenIndex, finder: CandidateFinder, ranker: Ranker) -> None:
        self._index, self._finder, self._ranker = index, finder, ranker

    def with_all_words(self, search: Search, found: list[Scored], total: int) -> tuple[int, set[int]]:
        """The number of pages that match the query as a whole, and the numbers of those in *found*."""
        numbers = [one.number for one in found]
        if search.node == search.root:
            return total, set(numbers)
        return self._index.count_with(search.all_words, numbers)

    def hits(self, found: list[Scored], whole: set[int], search: Search, *, explain: bool) -> tuple[Hit, ...]:
        """The results; *whole*: numbers of the pages that match the query as a whole."""
        numbers = [one.number for one in found]
        pages = [Shown(number, self._index.pages.head(number), self._index.pages.text(number)) for number in numbers]
        snippets = make_snippets(pages, search.words, self._index.forward)
        missing = self._missing_words(search, [number for number in numbers if number not in whole])
        return tuple(
            self._hit(one, page.head, snippet, missing=missing.get(one.number), explain=explain)
            for one, page, snippet in zip(found, pages, snippets, strict=True)
        )

    def _missing_words(self, search: Search, numbers: list[int]) -> dict[int, tuple[str, ...]]:
        """By page: the words that it lacks, in all their right spellings."""
        words = list(dict.fromkeys(search.words))[:_MISSING_WORDS]
        queries = [self._finder.matching(widened(Word(word), search.variants), search.language) for word in words]
        return {
            number: tuple(word for place, word in enumerate(words) if place not in found)
            for number, found in self._index.matched(queries, numbers).items()
        }

    def _hit(self, one: Scored, head: Head, snippet: Snippet, *, missing: tuple[str, ...] | None, explain: bool) -> Hit:
        parts = self._ranker.parts(one)
        return Hit(
            url=head.url,
            title=head.title or head.url,
            snippet=snippet.text,
            highlights=snippet.highlights,
            score=sum(parts.values()),
            host=head.host,
            fetched_at=head.fetched_at,
            mime=head.mime,
            language=head.language,
            same_content=head.same_content,
            all_words=missing is None,
            missing=missing or (),
            date=stated_date(head),
            explain=parts if explain else {},
        )


def stated_date(head: Head) -> float | None:
    """The date that a page states. A date more than a day after the fetch is wrong; an earlier one has no time zone.

    A page that was modified within a day before the fetch was probably generated for it.
    """
    published, modified = head.published, head.modified
    if published is not None:
        return min(published, head.fetched_at) if published <= head.fetched_at + _DAY else None
    return modified if modified is not None and modified <= head.fetched_at - _DAY else None
