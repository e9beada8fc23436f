"""Adds up what the interpretation of a query needs to know about the pages of all shards.

Document frequencies never change in a generation, so their sums are cached. A sum is cached only if every shard
answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from periplus.index.documents.schema import FULL_BARREL, SHORT_BARREL, URL_WORDS, field
from periplus.search.interpret import Mode, Search
from periplus.search.missing_shards import tracking_missing
from periplus.search.open_index import CommonFiles, Numbers
from periplus.search.query.tree import Node, wanted_words
from periplus.search.query_language import QueryLanguage
from periplus.search.shards.group import TrackedShards
from periplus.search.shards.port import Frequency, MatchSet, Shard, ShardSearch, Term
from periplus.text.analyzer import OTHER, is_stop_word, terms
from periplus.text.words import split

_CACHED = 8_192  # words, and terms of each of them
_STOP_WORD = 0.5  # share of the pages of a language that are assumed to have its stop words
_AskShard = Callable[[Shard, Sequence[Term]], list[int]]


class _TermSums:
    """The number of documents of all shards with each term of a word; safe to share between threads."""

    def __init__(self, group: TrackedShards, languages: Iterable[str], fields: Sequence[str], ask: _AskShard) -> None:
        """*ask*: for the numbers of one shard. *fields*: without their language."""
        self._group, self._languages, self._fields, self._ask = group, list(languages), fields, ask
        self._terms: dict[str, list[Term]] = {}  # of a word in all fields and languages
        self._sums: dict[Term, int] = {}

    def of(self, words: Iterable[str]) -> dict[Term, int]:
        """The sums of all terms of the words."""
        wanted = list(dict.fromkeys(term for word in words for term in self._terms_of(word)))
        known = self._sums
        new = [term for term in wanted if term not in known]
        if new:
            answers = self._group.ask(lambda shard: self._ask(shard, new))
            known = known | dict(zip(new, map(sum, zip(*answers.values(), strict=True)), strict=True))
            if len(answers) == self._group.shards:
                self._sums = known if len(known) < _CACHED * len(FULL_BARREL) else {}
        return {term: known[term] for term in wanted}

    def _terms_of(self, word: str) -> list[Term]:
        if (found := self._terms.get(word)) is None:
            found = [
                Term(field(name, language), term)
                for language in self._languages
                for name in self._fields
                for term in terms(OTHER if name == URL_WORDS else language, word)
            ]
            self._terms = (self._terms if len(self._terms) < _CACHED else {}) | {word: found}
        return found


class ShardCounts:
    """Counts over all shards; safe to share between threads."""

    def __init__(self, common: CommonFiles, group: TrackedShards) -> None:
        self._group, self.languages = group, common.languages
        # One shard is not told any frequencies; the language of a query needs those of the text only.
        fields = (*FULL_BARREL, URL_WORDS) if group.shards > 1 else ("body",)
        self._in_pages = _TermSums(group, self.languages, fields, lambda shard, found: shard.frequencies(found))
        self._in_media = _TermSums(
            group, self.languages, (*SHORT_BARREL, URL_WORDS), lambda shard, found: shard.media_frequencies(found)
        )
        self._pages: dict[str, Numbers] = {}

    def pages_with(self, words: Sequence[str]) -> list[Numbers]:
        """By language; half of the pages of a language are assumed to have its stop words."""
        if not all(word in self._pages for word in words):
            with tracking_missing() as missing:
                sums = self._in_pages.of(words)
            found = {word: self._pages.get(word, self._by_language(word, sums)) for word in words}
            if not missing:
                self._pages = (self._pages if len(self._pages) < _CACHED else {}) | found
            return [found[word] for word in words]
        pages = self._pages
        return [pages[word] for word in words]

    def _by_language(self, word: str, sums: dict[Term, int]) -> Numbers:
        found = [
            _STOP_WORD * pages
            if is_stop_word(language, word)
            else min((sums[Term(field("body", language), term)] for term in terms(language, word)), default=0)
            for language, pages in self.languages.items()
        ]
        return np.array(found, np.float64)

    def count(self, root: Node, language: QueryLanguage) -> int:
        """The number of pages that match a query as a whole."""
        search = Search(root, Mode.AND, wanted_words(root), {}, language, {})
        request = self.request(search)
        return sum(self._group.ask(lambda shard: shard.count(request, MatchSet.WHOLE)).values())

    def request(self, search: Search) -> ShardSearch:
        """A search for pages as it is sent to the shards, for everything that needs no scores."""
        return self._request(search)

    def scored_request(self, search: Search) -> ShardSearch:
        """A search for the best pages as it is sent to the shards."""
        return self._request(search, self._in_pages)

    def media_request(self, search: Search) -> ShardSearch:
        """A search for images or videos as it is sent to the shards."""
        return self._request(search, self._in_media)

    def _request(self, search: Search, sums: _TermSums | None = None) -> ShardSearch:
        return ShardSearch(
            query=str(search.root),
            mode=search.mode,
            words=tuple(search.words),
            variants=tuple((word, tuple(forms)) for word, forms in search.variants.items() if forms),
            likely=tuple(search.language.likely.items()),
            ignored=search.language.ignored,
            frequencies=_frequencies(search, sums) if sums is not None and self._group.shards > 1 else (),
        )


def _frequencies(search: Search, sums: _TermSums) -> tuple[Frequency, ...]:
    """The frequencies of all terms of a search that some document has."""
    forms = (form for found in search.variants.values() for form in found)
    words = dict.fromkeys(word for text in (*wanted_words(search.root), *forms) for word in split(text))
    return tuple(Frequency(term, count) for term, count in sums.of(words).items() if count)
