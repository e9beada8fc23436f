"""One generation of the index with all its files open: full-text index, forward index, page store and arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tantivy import Index, Occur, Query

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
from periplus.search.spelling import Speller
from periplus.store.generations import Generation
from periplus.text.analyzer import register
from periplus.url import url_id

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
        fields: dict[str, int] = generation.meta["languages"]  # number of pages by language
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

    def speller(self) -> Speller:
        """Corrects queries by the words of the index."""
        vocabulary = Vocabulary(self.folder, len(self.forward.lexicon))
        return Speller(self.forward, vocabulary, Phrases(self.folder), self.vectors)

    def count(self, query: Query) -> int:
        """The number of matches."""
        with self.damage_reported():
            unscored = Query.const_score_query(query, 0.0)  # in half the time
            return int(self._searcher.search(unscored, 1).count)  # type: ignore[attr-defined]  # missing in its stubs

    def aggregate(self, query: Query, wanted: dict[str, Any]) -> dict[str, Any]:
        """Aggregations over all matches, in tantivy's form."""
        with self.damage_reported():
            return dict(self._searcher.aggregate(Query.const_score_query(query, 0.0), wanted))

    def among(self, query: Query, numbers: Sequence[int]) -> list[int]:
        """Those of the documents with these numbers that match."""
        if not numbers:
            return []
        own = [(Occur.Should, Query.term_query(self.schema, NUMBER, number)) for number in numbers]
        both = [Query.const_score_query(part, 0.0) for part in (query, Query.boolean_query(own))]
        found = self.matches(Query.boolean_query([(Occur.Must, part) for part in both]), len(numbers)).numbers.tolist()
        return list[int](found)

    def frequency(self, language: str, term: str) -> int:
        """The number of pages of a language that have a term in their text."""
        with self.damage_reported():
            return int(self._searcher.doc_freq(field("body", language), term))

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
