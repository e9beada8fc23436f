"""A generation of the index with all its files open: those of its documents, and those that all documents share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tantivy import Index, Occur, Order, Query, SearchResult

from periplus.errors import DamagedFile
from periplus.index.documents.facets import DATE, KIND
from periplus.index.documents.schema import HOSTS, NUMBER, PRIOR, QUALITIES, RANKS, URL_ID, schema
from periplus.index.documents.sites import Sites
from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.storage.arrays import load_array
from periplus.index.storage.pagestore import PageStore
from periplus.index.storage.shards import NUMBERS, shard_count, shard_folder
from periplus.index.suggest.phrases import Phrases
from periplus.index.suggest.vocabulary import Vocabulary
from periplus.index.vectors.document_vectors import open_document_vectors
from periplus.index.vectors.word_vectors import open_vectors
from periplus.search.background_check import BackgroundCheck
from periplus.search.best_hits import best_hits
from periplus.search.suggest.spelling import Speller
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
    scores: Numbers
    total: int  # 0: not counted


class CommonFiles:
    """The files of an open generation that all its documents share, and the facts of its `meta.json`.

    Safe to share between threads; never writes.
    """

    def __init__(self, generation: Generation) -> None:
        """Closes the generation when it is closed itself. Checks the files of the generation, the large ones later."""
        self._generation, self.folder, self.number = generation, generation.folder, generation.number
        large_files = generation.check_on_opening()
        meta = generation.meta
        self.documents, self.shards = int(meta["documents"]), shard_count(meta)
        self.numbers = int(meta.get("numbers", self.documents))  # of documents, with removed ones
        self.release = str(meta.get("release", ""))
        self.fields: dict[str, int] = meta["languages"]  # number of pages by language
        self.languages = {language: pages for language, pages in self.fields.items() if pages}
        self.hosts = int(meta.get("hosts", 0))  # number of hosts; 0 unless the generation has shards
        self.documents_of: list[int] = meta["shard_documents"] if self.shards else [self.documents]
        media = int(meta.get("media_documents", 0))
        self.media_of: list[int] = meta["shard_media"] if self.shards else [media]  # images and videos
        self.forward = ForwardIndex(self.folder, with_documents=not self.shards)
        self.vectors = open_vectors(self.folder, self.forward.lexicon)
        self.sites, self.phrases = Sites(self.folder), Phrases(self.folder)
        self.check = BackgroundCheck(large_files)

    def speller(self) -> Speller:
        """Corrects queries by the words of the index."""
        vocabulary = Vocabulary(self.folder, len(self.forward.lexicon))
        return Speller(self.forward, vocabulary, self.phrases, self.vectors)

    def damage_reported(self) -> AbstractContextManager[None]:
        """Turns exceptions of the libraries about a damaged file into `DamagedFile`."""
        return damage_reported(self.folder)

    def close(self) -> None:
        """Close the files."""
        self.check.stop()
        self.sites.close()
        self._generation.close()


class OpenIndex:
    """The documents of an open generation, or of one of its shards; safe to share between threads, never writes."""

    def __init__(self, common: CommonFiles, shard: int | None = None) -> None:
        """*shard*: None opens a generation without shards."""
        self.common, self.shard = common, shard
        self.folder = common.folder if shard is None else shard_folder(common.folder, shard)
        self.documents, self.languages = common.documents, common.languages  # of all shards
        self.field_languages = tuple(common.fields)
        self.media_documents = common.media_of[shard or 0]  # images and videos
        self.own_documents = common.documents_of[shard or 0]
        with self.damage_reported():
            self._index = Index.open(str(self.folder / "tantivy"))
            self._searcher = self._index.searcher()
            if self._index.schema != schema(common.fields) or self._searcher.num_docs != self.own_documents:
                raise ValueError("its fields or its number of documents are wrong")
        register(self._index)
        self.schema = self._index.schema
        self.forward = common.forward if shard is None else common.forward.of_shard(shard)
        self.vectors, self.sites, self.pages = common.vectors, common.sites, PageStore(self.folder)
        self.document_vectors = open_document_vectors(common.folder, shard)
        self.ranks: Numbers = load_array(self.folder / RANKS, np.float32).astype(np.float64)
        numbers = len(self.ranks)  # with those of removed documents
        self.qualities: Numbers = load_array(self.folder / QUALITIES, np.float32, numbers).astype(np.float64)
        self.hosts = load_array(self.folder / HOSTS, np.uint64, numbers)
        self.numbers = None if shard is None else load_array(self.folder / NUMBERS, np.uint32, numbers)

    def close(self) -> None:
        """Close the files of the documents."""
        self.pages.close()

    def matches(self, query: Query, limit: int, *, with_prior: bool = False) -> Matches:
        """The best matches by text score (`best_hits`); *with_prior*: times the PageRank prior, and counts all matches.

        Without a count tantivy skips pages that cannot be among the best.
        """
        prior = PRIOR if with_prior else None

        def search(most: int) -> SearchResult:
            return self._searcher.search(query, most, with_prior, weight_by_field=prior)

        with self.damage_reported():
            scores, addresses, (numbers,), total = best_hits(search, self._searcher, limit, [NUMBER])
            kinds, dates = (
                np.array(self._searcher.fast_field_values(name, addresses), np.int64) for name in (KIND, DATE)
            )
            if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self.ranks):
                raise ValueError("it refers to documents that do not exist")
        return Matches(numbers, kinds, dates, scores, total)

    def newest_first(self, query: Query, most: int) -> tuple[list[int], list[int], int]:
        """The numbers and dates of the newest matches, newest first; and how many match."""
        unscored = Query.const_score_query(query, 0.0)

        def search(limit: int) -> SearchResult:
            return self._searcher.search(unscored, limit, True, order_by_field=DATE, order=Order.Desc)

        with self.damage_reported():
            found = best_hits(search, self._searcher, most, [NUMBER])
        return found.numbers[0].tolist(), found.keys.astype(np.int64).tolist(), found.total

    def newest_date(self) -> int:
        """The date of the newest page, in seconds since the epoch; 0 without pages."""
        with self.damage_reported():
            hits = self._searcher.search(Query.all_query(), 1, False, order_by_field=DATE).hits
            return int(hits[0][0]) if hits else 0

    def count(self, query: Query) -> int:
        """The number of matches."""
        with self.damage_reported():
            unscored = Query.const_score_query(query, 0.0)  # in half the time
            return int(self._searcher.search(unscored, 1).count)  # type: ignore[attr-defined]  # missing in its stubs

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

    def frequency(self, name: str, term: str) -> int:
        """The number of documents with a term in a field."""
        with self.damage_reported():
            return int(self._searcher.doc_freq(name, term))

    def find(self, url: str) -> int | None:
        """The number of the document with this URL."""
        numbers = self.matches(Query.term_query(self.schema, URL_ID, url_id(url).hex()), 1).numbers
        return int(numbers[0]) if len(numbers) else None

    def damage_reported(self) -> AbstractContextManager[None]:
        """Turns exceptions of the libraries about a damaged file into `DamagedFile`."""
        return damage_reported(self.folder)


@contextmanager
def damage_reported(folder: Path) -> Iterator[None]:
    """Turns exceptions of the libraries about a damaged file of a folder into `DamagedFile`."""
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        raise _damaged(folder, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a panic in tantivy; its class cannot be imported
            raise
        raise _damaged(folder, error) from error


def _damaged(folder: Path, error: BaseException) -> DamagedFile:
    return DamagedFile(f"{folder} is damaged", str(error)[:200])
