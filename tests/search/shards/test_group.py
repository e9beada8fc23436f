"""A shard that gives no answer leaves its results out, and the results say so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from periplus.errors import NoIndex, ShardsUnavailable, UsageError
from periplus.index.storage.shards import shard_of
from periplus.search.cache.result_cache import CacheScope, ResultCache, SearchRequest
from periplus.search.engine import SearchEngine
from periplus.search.missing_shards import tracking_missing
from periplus.search.shards.open_shards import open_local
from periplus.search.shards.port import Answer, Shard, ShardCandidates, ShardGroup
from periplus.store.generations import INDEX_KIND, Generations
from periplus.url import url_id
from search.library import settings, urls
from search.shards.generated import SHARDS, Both, Libraries, queries

pytestmark = pytest.mark.slow
WITHOUT_TIMES: dict[str, Any] = {"seconds": 0.0, "steps": {}}


class Unreliable:
    """Some shards of a group give no answer, from some question on."""

    def __init__(self, group: ShardGroup) -> None:
        self._group, self.shards, self.close = group, group.shards, group.close
        self.silent: set[int] = set()
        self.answered = 0  # questions that all shards still answer
        self.others_fail_after: int | None = None  # questions
        self.missed: set[int] = set()
        self.heard: list[object] = []  # all answers

    def silence(self, shards: set[int], after: int = 0) -> None:
        self.silent, self.answered, self.missed, self.others_fail_after = shards, after, set(), None

    def ask(self, call: Callable[[Shard], Answer], chosen: Collection[int] | None = None) -> dict[int, Answer]:
        wanted = set(range(self.shards) if chosen is None else chosen)
        silent = self.silent if self.answered <= 0 else set()
        self.answered -= 1
        if self.others_fail_after is not None and self.answered < -self.others_fail_after:
            silent = wanted
        self.missed |= wanted & silent
        answers = self._group.ask(call, wanted - silent)
        self.heard += answers.values()
        return answers


class Broken:
    """An engine over an unreliable group."""

    def __init__(self, collections: Libraries) -> None:
        generation = Generations(collections.shards.index, INDEX_KIND).open_live()
        if generation is None:
            raise NoIndex("no index")
        common, group, _ = open_local(generation, settings().ranking)
        self.group = Unreliable(group)
        self.engine = SearchEngine(collections.shards, common, self.group, settings())


@pytest.fixture
def broken(collections: Libraries) -> Iterator[Broken]:
    found = Broken(collections)
    yield found
    found.engine.close()


fresh = broken  # another one, which was never without a shard


def list_scores(found: Broken, query: str = "") -> list[list[float]]:
    """The text scores of all candidates that the shards have sent, after a search for *query*."""
    if query:
        found.engine.search(query)
    candidates = [one for one in found.group.heard if isinstance(one, ShardCandidates)]
    return [part.scores.tolist() for one in candidates for part in one.lists]


def own(url: str) -> int:
    return shard_of(url_id(url), SHARDS)


def a_query(both: Both) -> str:
    return next(query for query in queries(50) if {own(url) for url in urls(both.one.search(query))} == {0, 1, 2, 3})


def test_results_without_a_shard_are_marked_and_have_all_the_others(both: Both, broken: Broken) -> None:
    query = a_query(both)
    broken.group.silent = {2}
    partial, whole = broken.engine.search(query, verbatim=True), both.shards.search(query, verbatim=True, size=100)
    assert partial.missing_shards == (2,)
    assert urls(partial) == [url for url in urls(whole) if own(url) != 2][: len(partial.hits)]
    assert 0 < partial.total < whole.total
    assert broken.engine.news(query).missing_shards == (2,)
    assert sum(count for _, count in broken.engine.facets(query).languages) < whole.total


def test_nothing_that_was_counted_without_a_shard_is_kept(both: Both, broken: Broken, fresh: Broken) -> None:
    query, engine = a_query(both), broken.engine
    broken.group.silent = {1, 3}
    partial = (engine.search(query).total, engine.facets(query), engine.count_media(query, "image"))
    broken.group.silent = set()
    broken.group.heard.clear()
    results = engine.search(query)
    assert results.missing_shards == ()
    expected = both.shards.search(query)
    assert (results.total, results.hits) == (expected.total, expected.hits)
    assert engine.facets(query) == both.shards.facets(query) != partial[1]
    assert engine.count_media(query, "image") == both.shards.count_media(query, "image")
    assert engine.media(query, "image").hits == both.shards.media(query, "image").hits
    assert engine.facts() == both.shards.facts()
    assert list_scores(broken) == list_scores(fresh, query)


def test_incomplete_results_are_not_stored(both: Both, broken: Broken, tmp_path: Path) -> None:
    cache, scope = ResultCache(tmp_path / "results.sqlite", 1 << 20), CacheScope(both.shards.folder, settings().ranking)
    request = SearchRequest(a_query(both))
    broken.group.silent = {0}
    assert cache.answer(scope, request, lambda: broken.engine.search(request.query)).missing_shards == (0,)
    assert cache.read(scope.key(request)) is None
    broken.group.silent = set()
    found = cache.answer(scope, request, lambda: broken.engine.search(request.query))
    stored = cache.read(scope.key(request))
    assert stored is not None
    assert (stored.hits, stored.missing_shards) == (found.hits, ())
    cache.close()


def test_without_any_shard_there_is_an_error_and_the_next_search_works_again(both: Both, broken: Broken) -> None:
    query = a_query(both)
    broken.group.silent = set(range(SHARDS))
    with pytest.raises(ShardsUnavailable):
        broken.engine.search(query)
    with pytest.raises(ShardsUnavailable):
        broken.engine.cached("http://host1.test/1")
    broken.group.silent = set()
    assert broken.engine.search(query).missing_shards == ()


CALLS: dict[str, Callable[[SearchEngine, str, str], object]] = {  # engine, query, URL
    "search": lambda engine, query, _: replace(engine.search(query, size=3), **WITHOUT_TIMES),
    "news": lambda engine, query, _: replace(engine.news(query, size=3), **WITHOUT_TIMES),
    "media": lambda engine, query, _: replace(engine.media(query, "image", size=3), seconds=0.0),
    "facets": lambda engine, query, _: engine.facets(query, dates=["2020-11-01"], hosts=["host3.test"]),
    "count": lambda engine, query, _: engine.count(query),
    "count_news": lambda engine, query, _: engine.count_news(query),
    "count_media": lambda engine, query, _: engine.count_media(query, "image"),
    "related": lambda engine, query, url: engine.related(query, [url]),
    "feature_table": lambda engine, query, _: engine.feature_table(query, 5),
    "best_texts": lambda engine, query, _: engine.best_texts(query, 5),
    "facts": lambda engine, query, _: engine.facts(),
    "explanation": lambda engine, query, url: engine.explanation(query, url),
    "page_words": lambda engine, _, url: engine.page_words(url),
    "cached": lambda engine, _, url: engine.cached(url),
}
ABOUT_ONE_PAGE = {"explanation", "page_words", "cached"}


@pytest.mark.parametrize("name", CALLS)
def test_a_shard_may_die_at_any_moment_of_a_request(both: Both, collections: Libraries, name: str) -> None:
    query = a_query(both)
    url = urls(both.shards.search(query, verbatim=True))[0]
    expected = CALLS[name](both.shards, query, url)
    for after in range(30):
        broken = Broken(collections)
        with closing(broken.engine):
            broken.group.silence({own(url)}, after)
            with tracking_missing() as missing:
                try:
                    found = CALLS[name](broken.engine, query, url)
                    assert broken.group.missed or found == expected
                    assert broken.group.missed == set(getattr(found, "missing_shards", broken.group.missed))
                except ShardsUnavailable:
                    assert name in ABOUT_ONE_PAGE
            assert missing == broken.group.missed
            broken.group.silence(set())
            assert CALLS[name](broken.engine, query, url) == expected, "the shard is back"
        if not missing:
            return
    raise AssertionError("too many rounds")


@pytest.mark.parametrize("name", ["search", "media", "facets"])
def test_what_a_failed_request_has_counted_is_not_kept(both: Both, collections: Libraries, name: str) -> None:
    query = a_query(both)
    expected = CALLS[name](both.shards, query, "")
    for after in (1, 2):
        broken = Broken(collections)
        with closing(broken.engine):
            broken.group.silence({2})
            broken.group.others_fail_after = after
            with pytest.raises(ShardsUnavailable):
                CALLS[name](broken.engine, query, "")
            broken.group.silence(set())
            assert CALLS[name](broken.engine, query, "") == expected


def test_a_page_whose_shard_is_silent_is_an_error_that_says_so(both: Both, broken: Broken) -> None:
    url = urls(both.shards.search(a_query(both)))[0]
    number = both.shards.pages.find(url)
    assert number is not None
    broken.group.silent = {own(url)}
    for read in (broken.engine.pages.page, broken.engine.pages.head):
        with pytest.raises(ShardsUnavailable, match="the part of the index with this page"):
            read(number)


def test_reference_formulas_need_one_index(both: Both) -> None:
    with pytest.raises(UsageError, match="without shards"):
        both.shards.candidates("kalo")
    assert both.one.index.documents == both.shards.documents
