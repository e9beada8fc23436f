"""A repeated search is answered from the result cache, and never with results of another index."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from index.live import live_index
from periplus.model import Results
from periplus.search.cache import result_cache
from periplus.search.cache.result_cache import CacheScope, ResultCache, SearchRequest
from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations
from search.library import Doc, index, settings, shelve, urls

NEVER = 3600.0  # seconds between two checks for a new generation
PAGES = [
    Doc(f"http://h{number}.test/", f"Harbour {number}", f"A harbour of deep water, number {number}. " * 20)
    for number in range(20)
]
NEW = Doc("http://new.test/", "New harbour", "A new harbour.")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    found = shelve(tmp_path_factory.mktemp("indexed"), PAGES)
    index(found)
    return found


@pytest.fixture
def collection(indexed: Collection, tmp_path: Path) -> Collection:
    return Collection(shutil.copytree(indexed.home, tmp_path / "copy"))


@contextmanager
def serving(collection: Collection, **flags: Any) -> Iterator[ReloadingEngine]:
    engine = ReloadingEngine(collection, settings(**flags), NEVER)
    try:
        yield engine
    finally:
        engine.close()


def publish_another(collection: Collection) -> None:
    shelve(collection.home, [NEW])
    index(collection)


def is_cached(results: Results) -> bool:
    return list(results.steps) == ["cache"]


def without_times(results: Results) -> Results:
    return replace(results, seconds=0.0, steps={})


def entries_in(collection: Collection) -> int:
    with closing(sqlite3.connect(collection.result_cache)) as database:
        return int(database.execute("SELECT count(*) FROM results").fetchone()[0])


# -- the same answer ------------------------------------------------------------------------------------------------


def test_a_repeated_search_is_not_computed_again(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(collection) as engine:
        first = engine.search("deep harbuor -car", explain=True)
        assert first.corrected
        assert next(iter(first.steps)) == "cache"
        assert "candidates" in first.steps
        monkeypatch.setattr(SearchEngine, "search", lambda *_, **__: pytest.fail("computed again"))
        again = engine.search("deep harbuor -car", explain=True)
    assert is_cached(again)
    assert again.seconds == again.steps["cache"]
    assert without_times(again) == without_times(first)


def test_all_processes_share_the_results_and_a_restart_keeps_them(collection: Collection) -> None:
    with serving(collection) as engine, serving(collection) as other:
        first = engine.search("harbour")
        assert is_cached(other.search("harbour"))
    with serving(collection) as restarted:
        again = restarted.search("harbour")
    assert is_cached(again)
    assert without_times(again) == without_times(first)


@pytest.mark.parametrize(
    "change",
    [
        {"query": "Harbour"},
        {"query": "harbour "},
        {"page": 2},
        {"size": 5},
        {"explain": True},
        {"mode": "and"},
        {"verbatim": True},
    ],
)
def test_another_search_has_its_own_results(collection: Collection, change: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"query": "harbour"}
    with serving(collection) as engine, serving(collection, serve__cache_mb=0) as plain:
        engine.search(**asked)
        found = engine.search(**asked | change)
        assert not is_cached(found)
        assert without_times(found) == without_times(plain.search(**asked | change))
        assert is_cached(engine.search(**asked))


def test_any_text_is_a_query(collection: Collection) -> None:
    with serving(collection) as engine:
        for query in ("harbour \udcff", "\0", "", "港 ⛵"):
            first = engine.search(query)
            assert without_times(engine.search(query)) == without_times(first)


# -- never of another index -----------------------------------------------------------------------------------------


def test_a_new_index_never_gets_earlier_results_and_a_rollback_gets_its_own(collection: Collection) -> None:
    with serving(collection) as engine:
        assert NEW.url not in urls(engine.search("new harbour"))
        publish_another(collection)
        engine.reload()
        found = engine.search("new harbour")
        assert (is_cached(found), urls(found)[0]) == (False, NEW.url)
        Generations(collection.index, INDEX_KIND).roll_back(1)
        engine.reload()
        back = engine.search("new harbour")
    assert is_cached(back)
    assert NEW.url not in urls(back)


def test_an_index_built_anew_under_the_same_number_is_another_one(collection: Collection) -> None:
    with serving(collection) as engine:
        engine.search("new harbour")
    shutil.rmtree(collection.index)
    publish_another(collection)
    with serving(collection) as engine:
        assert engine.generation == 1
        assert urls(engine.search("new harbour"))[0] == NEW.url


def test_other_weights_have_their_own_results(collection: Collection) -> None:
    with serving(collection) as engine:
        engine.search("harbour")
    with serving(collection, ranking__title=0.5) as engine:
        assert not is_cached(engine.search("harbour"))


def test_another_release_computes_its_own_results(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(collection) as engine:
        engine.search("harbour")
    monkeypatch.setattr(result_cache, "__version__", "999.0")
    with serving(collection) as engine:
        assert not is_cached(engine.search("harbour"))


def test_results_of_removed_generations_are_removed(collection: Collection) -> None:
    with serving(collection) as engine:
        for query in ("harbour", "water"):
            engine.search(query)
        publish_another(collection)
        engine.reload()
        engine.search("harbour")
        assert entries_in(collection) == 3
        index(collection, full=True, generations=1)
        engine.reload()
        assert entries_in(collection) == 1  # generation 2 was open while the third was built
        index(collection, full=True, generations=1)
        engine.reload()
    assert entries_in(collection) == 0


def test_results_of_a_damaged_index_are_not_kept(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchEngine, "is_damaged", True)
    with serving(collection) as engine:
        engine.search("harbour")
        assert not is_cached(engine.search("harbour"))


# -- bounded --------------------------------------------------------------------------------------------------------


def test_the_file_stays_below_its_limit_and_the_oldest_results_go_first(collection: Collection) -> None:
    limit = 1 << 20
    with serving(collection, serve__cache_mb=1) as engine:
        computed = engine.search("harbour", explain=True)
    path = collection.home / "small.db"
    cache, scope = ResultCache(path, limit), CacheScope(live_index(collection), settings().ranking)
    requests = [SearchRequest(f"query {number}", 1, 15, True, "auto", False) for number in range(200)]
    for request in requests:
        cache.answer(scope, request, lambda: computed)
    kept = [cache.read(scope.key(request)) is not None for request in requests]
    cache.close()
    assert path.stat().st_size <= limit
    assert kept == sorted(kept)
    assert 20 < sum(kept) < 200
    assert kept[-1]


def test_a_file_larger_than_a_lowered_limit_is_emptied(collection: Collection) -> None:
    kept_file(collection)
    with closing(sqlite3.connect(collection.result_cache)) as database, database:
        database.execute(
            "INSERT INTO results SELECT 99, x'00', generation, x'00', zeroblob(2000000) FROM results LIMIT 1"
        )
    assert collection.result_cache.stat().st_size > 1 << 20
    with serving(collection, serve__cache_mb=1) as engine:
        engine.search("harbour")
        assert is_cached(engine.search("harbour"))
    assert collection.result_cache.stat().st_size < 1 << 20


def test_results_that_do_not_fit_are_not_kept(collection: Collection) -> None:
    with closing(ResultCache(collection.home / "tiny.db", 50_000)) as cache, serving(collection) as engine:
        scope, request = CacheScope(live_index(collection), settings().ranking), SearchRequest("harbour")
        found = cache.answer(scope, request, lambda: engine.search("harbour", explain=True))
        assert found.total == 20
        assert cache.read(scope.key(request)) is None


def test_the_cache_can_be_switched_off(collection: Collection) -> None:
    with serving(collection, serve__cache_mb=0) as engine:
        engine.search("harbour")
        assert "cache" not in engine.search("harbour").steps
    assert not collection.result_cache.exists()


def test_only_the_owner_can_read_the_searches_of_others(collection: Collection) -> None:
    with serving(collection) as engine:
        engine.search("harbour")
        files = list(collection.result_cache.parent.iterdir())
        assert len(files) == 3
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


# -- never an error -------------------------------------------------------------------------------------------------


def kept_file(collection: Collection) -> bytes:
    """The bytes of a cache with some results."""
    with serving(collection) as engine:
        for query in ("harbour", "water", "deep"):
            engine.search(query)
    return collection.result_cache.read_bytes()


@pytest.mark.slow
def test_damage_anywhere_in_the_file_changes_no_result(collection: Collection) -> None:
    content, chance = bytearray(kept_file(collection)), random.Random(17)
    with serving(collection, serve__cache_mb=0) as plain:
        right = {query: without_times(plain.search(query)) for query in ("harbour", "water", "deep")}
    places = [*range(0, 100, 7), *(chance.randrange(len(content)) for _ in range(60))]
    with serving(collection) as engine:
        for place in places:
            assert engine._cache is not None
            engine._cache.close()
            damaged = content.copy()
            damaged[place] ^= 1 << chance.randrange(8)
            collection.result_cache.write_bytes(damaged)
            for query, expected in right.items():
                assert without_times(engine.search(query)) == expected, place


@pytest.mark.parametrize(
    "content", [b"no database, but long enough for a header" * 9, b"SQLite format 3\0" + b"x" * 99]
)
def test_a_file_that_is_no_database_is_made_anew(collection: Collection, content: bytes) -> None:
    collection.result_cache.parent.mkdir()
    collection.result_cache.write_bytes(content)
    with serving(collection) as engine:
        engine.search("harbour")
        engine.search("harbour")
        assert is_cached(engine.search("harbour"))


def test_half_a_file_is_made_anew(collection: Collection) -> None:
    content = kept_file(collection)
    collection.result_cache.write_bytes(content[: len(content) // 2])
    with serving(collection) as engine:
        for _ in range(3):
            assert engine.search("harbour").total == 20
        assert is_cached(engine.search("harbour"))


def test_a_cache_that_cannot_be_written_is_no_error(collection: Collection, caplog: pytest.LogCaptureFixture) -> None:
    collection.result_cache.parent.write_text("a file where the folder should be")
    with serving(collection) as engine:
        for _ in range(3):
            assert engine.search("harbour").total == 20
    (complaint,) = (record.getMessage() for record in caplog.records)
    assert "the result cache cannot be used: " in complaint


def test_a_search_does_not_wait_for_another_writer(collection: Collection) -> None:
    kept_file(collection)
    with serving(collection) as engine, closing(sqlite3.connect(collection.result_cache)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert engine.search("number").total == 20
        assert not is_cached(engine.search("number"))
        assert is_cached(engine.search("harbour"))
        other.rollback()
        engine.search("number")
        assert is_cached(engine.search("number"))


def test_stored_results_keep_missing_words_and_words_left_out(indexed: Collection, tmp_path: Path) -> None:
    engine = SearchEngine.open(indexed, settings())
    with closing(engine), closing(ResultCache(tmp_path / "cache.db", 1 << 20)) as cache:
        request, scope = SearchRequest("the harbour of zeppelin 7"), CacheScope(engine.index.folder, settings().ranking)
        first, second = (cache.answer(scope, request, lambda: engine.search(request.query)) for _ in range(2))
    assert first.left_out
    assert any(hit.missing for hit in first.hits)
    assert second == replace(first, seconds=second.seconds, steps=second.steps)
