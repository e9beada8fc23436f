"""A shard that gives no answer leaves its results out, and the results say so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from periplus.errors import NoIndex, ShardsUnavailable, UsageError
from periplus.index.shards import shard_of
from periplus.search.engine import SearchEngine
from periplus.search.result_cache import CacheScope, ResultCache, SearchRequest
from periplus.search.shards.opening import open_local
from periplus.search.shards.port import Answer, Shard, ShardGroup
from periplus.store.generations import INDEX_KIND, Generations
from periplus.url import url_id
from search.library import settings, urls
from search.shards.generated import SHARDS, Both, Libraries, queries

pytestmark = pytest.mark.slow


class Unreliable:
    """Some shards of a group give no answer."""

    def __init__(self, group: ShardGroup) -> None:
        self._group, self.shards, self.close = group, group.shards, group.close
        self.silent: set[int] = set()

    def ask(self, call: Callable[[Shard], Answer], chosen: Collection[int] | None = None) -> dict[int, Answer]:
        return self._group.ask(call, set(range(self.shards) if chosen is None else chosen) - self.silent)


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


def test_nothing_that_was_counted_without_a_shard_is_kept(both: Both, broken: Broken) -> None:
    query, engine = a_query(both), broken.engine
    broken.group.silent = {1, 3}
    partial = (engine.search(query).total, engine.facets(query), engine.count_media(query, "image"))
    broken.group.silent = set()
    results = engine.search(query)
    assert results.missing_shards == ()
    expected = both.shards.search(query)
    assert (results.total, results.hits) == (expected.total, expected.hits)
    assert engine.facets(query) == both.shards.facets(query) != partial[1]
    assert engine.count_media(query, "image") == both.shards.count_media(query, "image")
    assert engine.facts().documents == both.shards.facts().documents


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


def test_reference_formulas_need_one_index(both: Both) -> None:
    with pytest.raises(UsageError, match="without shards"):
        both.shards.candidates("kalo")
    assert both.one.index.documents == both.shards.documents
