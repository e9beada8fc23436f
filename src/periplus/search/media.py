"""Searches the images and videos of pages: their own words first, then caption, file name and title of the page.

Words and operators of the query apply to the image: `site:`, `lang:`, `filetype:` and dates to its page, phrases and
excluded words to its texts. Images with all words come first. An image that several pages show is found once, on the
page where it scores best.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from tantivy import Index, Occur, Query

from periplus.config import Ranking
from periplus.errors import UsageError
from periplus.index.facets import KIND, number_of_name
from periplus.index.media import COLUMNS, FOLDER, KEY, PLACE, media_schema
from periplus.index.schema import NUMBER, PRIOR
from periplus.model import Image, MediaHit, MediaResults, Video
from periplus.search.hits import stated_date
from periplus.search.interpret import Interpreter, Mode, Search, checked_page
from periplus.search.open_index import OpenIndex
from periplus.search.query.compile import Compiler
from periplus.search.query.tree import Node
from periplus.text.analyzer import register

_CACHED_COUNTS = 1_000  # queries
_MOST = 2_000  # best matches that are read: images after them are neither found nor counted
_ENOUGH = 30  # images with all words; with fewer, images with some of the words follow
_UNLIKELY = 0.3  # factor of scores in a language that the query is not in
# The weights of alternative text, caption, title of the page and file name; see `index/media.py` for the fields.
_WEIGHTS = {"field_head": 3.0, "field_anchors": 1.5, "field_title": 0.3, "field_url": 1.2, "field_body": 0.0}


class _Found(NamedTuple):
    """An image or video of a page."""

    key: int  # the hash of its URL
    number: int  # of the page
    place: int
    score: float


class _Matches(NamedTuple):
    """The best images or videos of a query, each once, best first."""

    found: list[_Found]
    is_complete: bool  # False: there are more matches than were read


class MediaSearch:
    """Searches the images and videos of one open generation; a generation of an earlier release has none."""

    def __init__(self, index: OpenIndex, interpreter: Interpreter, weights: Ranking) -> None:
        self._index, self._interpreter = index, interpreter
        self._media = self._opened() if (index.folder / FOLDER).is_dir() else None
        self._kinds: frozenset[str] = frozenset()  # that some page has
        self._cached_count = lru_cache(_CACHED_COUNTS)(self._count)
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

    def search(self, query: str, kind: str, *, page: int, size: int, mode: str) -> MediaResults:
        """One page of images or videos."""
        checked_page(page, size)
        started = time.perf_counter()
        matches = self._matches(query, kind, mode)
        shown = matches.found[(page - 1) * size : page * size]
        hits = tuple(self._hit(one, kind) for one in shown)
        return MediaResults(len(matches.found), matches.is_complete, time.perf_counter() - started, hits)

    def count(self, query: str, kind: str, *, mode: str) -> int:
        """The number of images or videos that match, as far as they are counted."""
        return self._cached_count(query, kind, mode)

    def _count(self, query: str, kind: str, mode: str) -> int:
        return len(self._matches(query, kind, mode).found)

    def _matches(self, query: str, kind: str, mode: str) -> _Matches:
        if kind not in COLUMNS:
            raise UsageError(f"unknown kind: {kind}", f"it must be one of {', '.join(COLUMNS)}")
        search = self._interpreter.begun(query, mode, verbatim=True) if kind in self._kinds else None
        if search is None:
            return _Matches([], is_complete=True)
        complete = self._best(self._compiled(search.root, search, kind))
        is_enough = len(complete.found) >= _ENOUGH and mode != Mode.OR
        if search.node == search.root or is_enough:
            return complete
        partial = self._best(self._compiled(search.node, search, kind))
        found = {one.key: one for one in (*complete.found, *partial.found)}
        return _Matches(list(found.values()), partial.is_complete)

    def _compiled(self, node: Node, search: Search, kind: str) -> Query:
        """Matches images or videos in all languages."""
        queries = []
        for name, compiler in self._compilers.items():
            if (query := compiler.compile(node, search.language.ignored)) is not None:
                factor = _UNLIKELY + (1 - _UNLIKELY) * search.language.likely.get(name, 0.0)
                queries.append((Occur.Should, Query.boost_query(query, factor)))
        return Query.boolean_query([(Occur.Must, Query.boolean_query(queries)), (Occur.Must, self._of_kind(kind))])

    def _of_kind(self, kind: str) -> Query:
        return Query.const_score_query(Query.term_query(self._schema, KIND, number_of_name(kind)), 0.0)

    def _best(self, query: Query) -> _Matches:
        with self._index.damage_reported():
            result = self._searcher.search(query, _MOST, weight_by_field=PRIOR)
            hits = result.hits  # tantivy makes the list anew each time
            addresses = [address for _, address in hits]
            numbers, places, keys = (
                np.array(self._searcher.fast_field_values(name, addresses), np.int64) for name in (NUMBER, PLACE, KEY)
            )
        _, first = np.unique(keys, return_index=True)
        found = [
            _Found(int(keys[at]), int(numbers[at]), int(places[at]), hits[at][0]) for at in np.sort(first).tolist()
        ]
        return _Matches(found, len(addresses) == result.count)  # type: ignore[attr-defined]  # missing in its stubs

    def _hit(self, one: _Found, kind: str) -> MediaHit:
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
