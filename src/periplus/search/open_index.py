"""One generation of the index with all its files open: full-text index, forward index, page store and arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tantivy import Index, Occur, Order, Query

from periplus.errors import DamagedFile
from periplus.index.arrays import load_array
from periplus.index.document_vectors import open_document_vectors
from periplus.index.facets import DATE, KIND
from periplus.index.forward import ForwardIndex
from periplus.index.pagestore import PageStore
from periplus.index.phrases import Phrases
from periplus.index.schema import HOSTS, NUMBER, PRIOR, QUALITIES, RANKS, URL_ID, field, schema
from periplus.index.sites import Sites
from periplus.index.vectors import open_vectors
from periplus.index.vocabulary import Vocabulary
from periplus.search.background_check import BackgroundCheck
from periplus.search.suggest.spelling import Speller
from periplus.store.generations import Generation
from periplus.text.analyzer import is_stop_word, register, terms
from periplus.url import url_id

_CACHED = 4096  # words
_STOP_WORD = 0.5  # share of the pages of a language that are assumed to have its stop words
Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


class Matches(NamedTuple):
    """The best matches of a query, best first, and how many there are in all."""

    numbers: Integers  # of documents
    kinds: Integers
    dates: Integers  # seconds since the epoch
    total: int  # 0: not counted


class OpenIndex:
    """An open generation; safe to share between threads, never writes."""

    def __init__(self, generation: Generation) -> None:
        """The index closes the generation when it is closed itself."""
        self._generation, self.folder, self.number = generation, generation.folder, generation.number
        large_files = generation.check_on_opening()
        self.documents = int(generation.meta["documents"])
        self.release = str(generation.meta.get("release", ""))
        fields: dict[str, int] = generation.meta["languages"]  # number of pages by language
        self.field_languages = tuple(fields)
        self.media_documents = int(generation.meta.get("media_documents", 0))  # images and videos
        self.languages = {language: pages for language, pages in fields.items() if pages}
        with self.damage_reported():
            self._index = Index.open(str(self.folder / "tantivy"))
            self._searcher = self._index.searcher()
            if self._index.schema != schema(fields) or self._searcher.num_docs != self.documents:
                raise ValueError("its fields or its number of documents are wrong")
        register(self._index)
        self.schema = self._index.schema
        self.forward, self.pages, self.sites = ForwardIndex(self.folder), PageStore(self.folder), Sites(self.folder)
        self.vectors = open_vectors(self.folder, self.forward.lexicon)
        self.document_vectors = open_document_vectors(self.folder)
        self.ranks: Numbers = load_array(self.folder / RANKS, np.float32).astype(np.float64)
        numbers = len(self.ranks)  # with those of removed documents
        self.qualities: Numbers = load_array(self.folder / QUALITIES, np.float32, numbers).astype(np.float64)
        self.hosts = load_array(self.folder / HOSTS, np.uint64, numbers)
        self.pages_with = lru_cache(_CACHED)(self._pages_with)
        self.check = BackgroundCheck(large_files)

    def close(self) -> None:
        """Close the files."""
        self.check.stop()
        self.pages.close()
        self.sites.close()
        self._generation.close()

    def matches(self, query: Query, limit: int, *, with_prior: bool = False) -> Matches:
        """The best matches by text score; *with_prior*: times the PageRank prior, and counts all matches.

        Without a count tantivy skips pages that cannot be among the best.
        """
        with self.damage_reported():
            result = self._searcher.search(query, limit, with_prior, weight_by_field=PRIOR if with_prior else None)
            addresses = [address for _, address in result.hits]
            numbers, kinds, dates = (
                np.array(self._searcher.fast_field_values(name, addresses), np.int64) for name in (NUMBER, KIND, DATE)
            )
            if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self.ranks):
                raise ValueError("it refers to documents that do not exist")
        return Matches(numbers, kinds, dates, result.count or 0)  # type: ignore[attr-defined]  # missing in its stubs

    def newest(self, query: Query) -> int | None:
        """The matching document with the latest date."""
        with self.damage_reported():
            hits = self._searcher.search(query, 1, False, order_by_field=DATE, order=Order.Desc).hits
            numbers = np.array(self._searcher.fast_field_values(NUMBER, [address for _, address in hits]), np.int64)
        return int(numbers[0]) if len(numbers) else None

    def newest_first(self, query: Query, skip: int, most: int) -> tuple[list[int], int]:
        """The numbers of the matches in the order of their dates, without the first *skip*; and how many match."""
        with self.damage_reported():
            unscored = Query.const_score_query(query, 0.0)
            result = self._searcher.search(unscored, most, True, order_by_field=DATE, offset=skip, order=Order.Desc)
            numbers = self._searcher.fast_field_values(NUMBER, [address for _, address in result.hits])
        return np.array(numbers, np.int64).tolist(), int(result.count)  # type: ignore[attr-defined]  # missing in its stubs

    def newest_date(self) -> int:
        """The date of the newest page, in seconds since the epoch; 0 without pages."""
        with self.damage_reported():
            hits = self._searcher.search(Query.all_query(), 1, False, order_by_field=DATE).hits
            return int(hits[0][0]) if hits else 0

    def speller(self) -> Speller:
        """Corrects queries by the words of the index."""
        vocabulary = Vocabulary(self.folder, len(self.forward.lexicon))
        return Speller(self.forward, vocabulary, Phrases(self.folder), self.vectors)

    def count(self, query: Query) -> int:
        """The number of matches."""
        with self.damage_reported():
            unscored = Query.const_score_query(query, 0.0)  # in half the time
            return int(self._searcher.search(unscored, 1).count)  # type: ignore[attr-defined]  # missing in its stubs

    def count_with(self, query: Query, numbers: Sequence[int]) -> tuple[int, set[int]]:
        """The number of matches, and those of the documents with these numbers that match: both in one search."""
        if not numbers:
            return self.count(query), set()
        own = Query.const_score_query(self._any_number(numbers), 1.0)
        both = Query.boolean_query([(Occur.Must, Query.const_score_query(query, 0.0)), (Occur.Should, own)])
        with self.damage_reported():
            result = self._searcher.search(both, len(numbers))
            addresses = [address for score, address in result.hits if score > 0]
            matching = np.array(self._searcher.fast_field_values(NUMBER, addresses), np.int64)
        return int(result.count), set(matching.tolist())  # type: ignore[attr-defined]  # missing in its stubs

    def aggregate(self, query: Query, wanted: dict[str, Any]) -> dict[str, Any]:
        """Aggregations over all matches, in tantivy's form."""
        with self.damage_reported():
            return dict(self._searcher.aggregate(Query.const_score_query(query, 0.0), wanted))

    def matched(self, queries: Sequence[Query], numbers: Sequence[int]) -> dict[int, set[int]]:
        """By document: the places of the queries that it matches; all in one search, at most 20 queries.

        The score of a document is the sum of a power of two for each query, which a 32-bit float has exactly.
        """
        if not numbers:
            return {}
        own = Query.const_score_query(self._any_number(numbers), 1.0)
        powers = [Query.const_score_query(query, 2.0 ** (place + 1)) for place, query in enumerate(queries)]
        both = Query.boolean_query([(Occur.Must, own), *((Occur.Should, query) for query in powers)])
        with self.damage_reported():
            hits = self._searcher.search(both, len(numbers), False).hits
            found = self._searcher.fast_field_values(NUMBER, [address for _, address in hits])
        places = [{place for place in range(len(queries)) if int(score) >> (place + 1) & 1} for score, _ in hits]
        return dict(zip(np.array(found, np.int64).tolist(), places, strict=True))

    def among(self, query: Query, numbers: Sequence[int]) -> list[int]:
        """Those of the documents with these numbers that match."""
        if not numbers:
            return []
        both = [Query.const_score_query(part, 0.0) for part in (query, self._any_number(numbers))]
        found = self.matches(Query.boolean_query([(Occur.Must, part) for part in both]), len(numbers)).numbers.tolist()
        return list[int](found)

    def _any_number(self, numbers: Sequence[int]) -> Query:
        own = [Query.term_query(self.schema, NUMBER, number) for number in numbers]
        return Query.boolean_query([(Occur.Should, query) for query in own])

    def _pages_with(self, word: str) -> Numbers:
        """The number of pages with a word in their text, by language; half of them are assumed to have a stop word."""
        found = [
            _STOP_WORD * pages
            if is_stop_word(language, word)
            else min((self._frequency(language, term) for term in terms(language, word)), default=0)
            for language, pages in self.languages.items()
        ]
        return np.array(found, np.float64)

    def _frequency(self, language: str, term: str) -> int:
        with self.damage_reported():
            return int(self._searcher.doc_freq(field("body", language), term))

    def lower_ranks(self, number: int) -> float:
        """The share of the documents that have a lower rank than this one."""
        return float(np.count_nonzero(self.ranks < self.ranks[number]) / max(len(self.ranks), 1))

    def find(self, url: str) -> int | None:
        """The number of the document with this URL."""
        numbers = self.matches(Query.term_query(self.schema, URL_ID, url_id(url).hex()), 1).numbers
        return int(numbers[0]) if len(numbers) else None

    @contextmanager
    def damage_reported(self) -> Iterator[None]:
        """Turns exceptions of the libraries about a damaged file into `DamagedFile`."""
        try:
            yield
        except (ValueError, TypeError, OSError) as error:
            raise _damaged(self.folder, error) from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # a panic in tantivy; its class cannot be imported
                raise
            raise _damaged(self.folder, error) from error


def _damaged(folder: Path, error: BaseException) -> DamagedFile:
    return DamagedFile(f"{folder} is damaged", str(error)[:200])
