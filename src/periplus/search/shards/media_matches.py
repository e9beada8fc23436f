"""Finds the images and videos of the pages of a shard: their own words first, then caption, file name, page title."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from tantivy import Index, Occur, Query, SearchResult

from periplus.config import Ranking
from periplus.index.documents.facets import KIND, number_of_name
from periplus.index.documents.media import COLUMNS, FOLDER, KEY, PLACE, media_schema
from periplus.index.documents.schema import NUMBER, PRIOR
from periplus.model import Image, MediaHit, Video
from periplus.search.best_hits import best_hits
from periplus.search.hits import stated_date
from periplus.search.interpret import Mode, Search
from periplus.search.open_index import OpenIndex
from periplus.search.query.compile import Compiler, Idf
from periplus.search.query.tree import Node
from periplus.search.shards.global_idf import GlobalIdf, TermCounts
from periplus.search.shards.port import Frequency, MediaMatch, MediaMatches, Term
from periplus.text.analyzer import register

MOST_MEDIA = 2_000  # best matches that are read: images after them are neither found nor counted
ENOUGH = 30  # images with all words; with fewer, images with some of the words follow
_UNLIKELY = 0.3  # factor of scores in a language that the query is not in
# The weights of alternative text, caption, title of the page and file name, as `index/documents/media.py` stores them.
_WEIGHTS = {"field_head": 3.0, "field_anchors": 1.5, "field_title": 0.3, "field_url": 1.2, "field_body": 0.0}
_REMEMBERED = 256  # frequencies of requests
_Best = tuple[list[MediaMatch], bool]  # with whether these are all


class MediaFinder:
    """Searches the images and videos of one shard; a generation of an earlier release has none.

    The numbers of pages are those of the shard.
    """

    def __init__(self, index: OpenIndex, weights: Ranking) -> None:
        self._index = index
        self._media = self._opened() if (index.folder / FOLDER).is_dir() else None
        self._kinds: frozenset[str] = frozenset()  # that some page has
        self._idf = lru_cache(_REMEMBERED)(self._global_idf)
        if self._media is not None:
            self._searcher, self._schema = self._media.searcher(), self._media.schema
            shares = {language: pages / max(index.documents, 1) for language, pages in index.languages.items()}
            own = weights.model_copy(update=_WEIGHTS)
            self._compilers = {name: Compiler(self._schema, own, name, share) for name, share in shares.items()}
            self._kinds = frozenset(kind for kind in COLUMNS if self._searcher.search(self._of_kind(kind), 1).hits)

    def _opened(self) -> Index:
        with self._index.damage_reported():
            media = Index.open(str(self._index.folder / FOLDER))
            if media.schema != media_schema(self._index.field_languages):
                raise ValueError("the fields of its images and videos are wrong")
            if media.searcher().num_docs != self._index.media_documents:
                raise ValueError("its number of images and videos is wrong")
        register(media)
        return media

    def frequencies(self, terms: Sequence[Term]) -> list[int]:
        """The number of images and videos with each term."""
        return [self._frequency(*term) for term in terms]

    def _frequency(self, field: str, term: str) -> int:
        if self._media is None:
            return 0
        with self._index.damage_reported():
            return int(self._searcher.doc_freq(field, term))

    def _global_idf(self, frequencies: tuple[Frequency, ...]) -> GlobalIdf | None:
        """None when there is one shard: then the request has no frequencies."""
        own = TermCounts(self._frequency, self._index.media_documents, sum(self._index.common.media_of))
        return GlobalIdf(own, frequencies) if frequencies else None

    def matches(self, search: Search, kind: str, frequencies: tuple[Frequency, ...] = ()) -> MediaMatches:
        """The best matches. A shard of several never has enough of them to leave out those with some words.

        *frequencies*: of terms among the images and videos of all shards.
        """
        if kind not in self._kinds:
            return MediaMatches([], [], whole_is_complete=True, partial_is_complete=True)
        idf = self._idf(frequencies)
        whole, all_whole = self._best(self._compiled(search.root, search, kind, idf))
        is_enough = self._index.shard is None and len(whole) >= ENOUGH and search.mode is not Mode.OR
        if search.needs_all_words or is_enough:
            return MediaMatches(whole, [], all_whole, partial_is_complete=True)
        partial, all_partial = self._best(self._compiled(search.node, search, kind, idf))
        return MediaMatches(whole, partial, all_whole, all_partial)

    def _compiled(self, node: Node, search: Search, kind: str, idf: Idf | None) -> Query:
        """Matches images or videos in all languages."""
        queries = []
        for name, compiler in self._compilers.items():
            if (query := compiler.compile(node, search.language.ignored, idf)) is not None:
                factor = _UNLIKELY + (1 - _UNLIKELY) * search.language.likely.get(name, 0.0)
                queries.append((Occur.Should, Query.boost_query(query, factor)))
        return Query.boolean_query([(Occur.Must, Query.boolean_query(queries)), (Occur.Must, self._of_kind(kind))])

    def _of_kind(self, kind: str) -> Query:
        return Query.const_score_query(Query.term_query(self._schema, KIND, number_of_name(kind)), 0.0)

    def _best(self, query: Query) -> _Best:
        def search(most: int) -> SearchResult:
            return self._searcher.search(query, most, weight_by_field=PRIOR)

        with self._index.damage_reported():
            hits = best_hits(search, self._searcher, MOST_MEDIA, [NUMBER, PLACE])
            keys = np.array(self._searcher.fast_field_values(KEY, hits.addresses), np.int64)
        numbers, places = hits.numbers
        _, first = np.unique(keys, return_index=True)
        found = [
            MediaMatch(int(keys[at]), int(numbers[at]), int(places[at]), float(hits.keys[at]))
            for at in np.sort(first).tolist()
        ]
        return found, len(keys) == hits.total

    def hit(self, one: MediaMatch, kind: str) -> MediaHit:
        """An image or video as a result."""
        with self._index.damage_reported():
            if not 0 <= one.number < len(self._index.pages):
                raise ValueError("an image or video refers to a page that does not exist")
            head, details = self._index.pages.head(one.number), self._index.pages.details(one.number)
            stored: tuple[Image | Video, ...] = details.images if kind == "image" else details.videos
            if one.place >= len(stored):
                raise ValueError("a page lacks one of its images or videos")
        media = stored[one.place]
        return MediaHit(
            url=media.url,
            words=media.words,
            context=media.context,
            page_url=head.url,
            page_title=head.title or head.url,
            host=head.host,
            score=one.score,
            date=stated_date(head),
        )
