"""A running site switches to a new index without a failed search."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from threading import Event, Semaphore
from typing import Any

import pytest

from index.damage import flip
from index.live import live_index
from periplus.errors import NoIndex
from periplus.search import reload
from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.search.suggest.query_log import QueryLog
from periplus.store.collection import Collection, create_collection
from periplus.store.generations import INDEX_KIND, Generations
from search.library import Doc, index, settings, shelve, urls
from store.records import names_in

OLD, NEW = Doc("http://a.test/", "Old harbour", "harbour"), Doc("http://b.test/", "New harbour", "harbour")
NEVER = 3600.0  # seconds between two looks


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    found = shelve(tmp_path, [OLD])
    index(found)
    return found


@pytest.fixture
def engine(collection: Collection) -> Iterator[ReloadingEngine]:
    live = ReloadingEngine(collection, settings(), NEVER)
    yield live
    live.close()


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The generations that were let go of."""
    numbers: list[int] = []
    close = SearchEngine.close

    def noted(self: SearchEngine) -> None:
        numbers.append(self.generation)
        close(self)

    monkeypatch.setattr(SearchEngine, "close", noted)
    return numbers


def publish_another(collection: Collection) -> None:
    shelve(collection.home, [NEW])
    index(collection)


def test_a_new_generation_answers_after_a_reload(
    collection: Collection, engine: ReloadingEngine, closed: list[int]
) -> None:
    publish_another(collection)
    assert (engine.generation, engine.documents, urls(engine.search("harbour"))) == (1, 1, [OLD.url])
    engine.reload()
    assert (engine.generation, engine.documents) == (2, 2)
    assert sorted(urls(engine.search("harbour"))) == [OLD.url, NEW.url]
    assert engine.cached(NEW.url) is not None
    assert closed == [1]


def test_a_generation_is_removed_when_no_search_uses_it_any_more(
    collection: Collection, engine: ReloadingEngine
) -> None:
    old = engine._live.engine  # an object that is still referenced must not keep the folder either
    index(collection, full=True, generations=1)
    assert names_in(collection.index) == ["CURRENT", "build.lock", "gen-000001", "gen-000002"]
    engine.reload()
    index(collection, full=True, generations=1)
    assert names_in(collection.index) == ["CURRENT", "build.lock", "gen-000002", "gen-000003"]
    assert old.generation == 1


def test_a_running_site_follows_a_rollback_and_the_way_back(collection: Collection, engine: ReloadingEngine) -> None:
    publish_another(collection)
    engine.reload()
    generations = Generations(collection.index, INDEX_KIND)
    for number, documents in ((1, 1), (2, 2)):
        generations.roll_back(number)
        engine.reload()
        assert (engine.generation, engine.documents) == (number, documents)


def test_nothing_is_opened_while_the_same_generation_is_live(engine: ReloadingEngine, closed: list[int]) -> None:
    before = engine.search("harbour")
    engine.reload()
    assert urls(engine.search("harbour")) == urls(before)
    assert closed == []


def test_it_looks_by_itself(collection: Collection) -> None:
    live = ReloadingEngine(collection, settings(), check_seconds=0.01)
    try:
        publish_another(collection)
        deadline = time.monotonic() + 30
        while live.generation == 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert live.documents == 2
    finally:
        live.close()


def test_a_question_under_way_ends_where_it_began(
    collection: Collection, engine: ReloadingEngine, closed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = Semaphore(0), Event()
    search = SearchEngine.search

    def slowly(self: SearchEngine, query: str, **options: Any) -> Any:
        if self.generation == 1:
            asked.release()
            assert go_on.wait(60)
        return search(self, query, **options)

    monkeypatch.setattr(SearchEngine, "search", slowly)
    with ThreadPoolExecutor(2) as threads:
        slow = [threads.submit(engine.search, "harbour") for _ in range(2)]
        assert all(asked.acquire(timeout=60) for _ in slow)
        publish_another(collection)
        engine.reload()
        assert sorted(urls(engine.search("harbour"))) == [OLD.url, NEW.url]
        assert closed == []
        go_on.set()
        assert [urls(one.result()) for one in slow] == [[OLD.url]] * 2
    assert closed == [1]


def test_new_weights_in_the_settings_file_order_the_results_of_a_running_site(
    collection: Collection, engine: ReloadingEngine, caplog: pytest.LogCaptureFixture
) -> None:
    before = engine.fingerprint
    score = engine.search("harbour").hits[0].score
    file = collection.home / "periplus.toml"
    file.write_text("[ranking]\ntitle = 9.5\n")
    engine.check()
    assert engine.feature_table("harbour", 1).weights["title"] == 9.5
    assert engine.search("harbour").hits[0].score > score, "stored results of the old weights are not used"
    assert engine.fingerprint != before
    file.write_text("[ranking]\ntitle = many\n")
    with caplog.at_level(logging.WARNING):
        engine.check()
        engine.check()
    assert len(caplog.messages) == 1
    assert "periplus.toml" in caplog.messages[0]
    assert engine.feature_table("harbour", 1).weights["title"] == 9.5


def test_other_settings_in_the_file_open_nothing(
    collection: Collection, engine: ReloadingEngine, closed: list[int]
) -> None:
    (collection.home / "periplus.toml").write_text("[fetch]\ntimeout = 7\n")
    engine.check()
    assert closed == []


def test_a_generation_that_cannot_be_opened_changes_nothing(
    collection: Collection, engine: ReloadingEngine, caplog: pytest.LogCaptureFixture
) -> None:
    publish_another(collection)
    (live_index(collection) / "heads.dat").write_bytes(b"")
    with caplog.at_level(logging.WARNING, "periplus.search"):
        for _ in range(3):
            engine.reload()
    (complaint,) = (record.getMessage() for record in caplog.records)
    assert complaint.startswith("still serving generation 1: ")
    assert "heads.dat is damaged" in complaint
    assert urls(engine.search("harbour")) == [OLD.url]
    index(collection)
    engine.reload()
    assert (engine.generation, engine.documents) == (3, 2)


def test_there_must_be_an_index_to_begin_with(tmp_path: Path) -> None:
    with pytest.raises(NoIndex):
        ReloadingEngine(create_collection(tmp_path), settings())


def test_damage_of_a_large_file_is_logged_once_and_searches_go_on(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("periplus.store.generations._SMALL_FILE", 0)
    flip(live_index(collection) / "ranks.npy", 1.0)
    live = ReloadingEngine(collection, settings(), NEVER)
    try:
        assert live._live.engine.damage(wait_seconds=30)
        (collection.index / "CURRENT").unlink()  # a second problem, which is logged once too
        for _ in range(3):
            live.check()
        assert live.is_damaged
        assert live.search("harbour").total == 1
    finally:
        live.close()
    found = {record.levelno: record.getMessage() for record in caplog.records}
    assert len(caplog.records) == 2
    assert "still serving generation 1: " in found[logging.WARNING]
    assert "ranks.npy is damaged" in found[logging.ERROR]
    assert found[logging.ERROR].endswith("Run `periplus repair`.")


def test_the_typed_text_is_completed_from_the_live_generation(collection: Collection, engine: ReloadingEngine) -> None:
    shelve(collection.home, [NEW])
    index(collection, full=True)
    assert [one.text for one in engine.complete("harb")] == ["Old harbour", "harbour"]
    engine.reload()
    assert {one.text for one in engine.complete("harb", 9)} == {"Old harbour", "New harbour", "harbour"}
    assert engine.complete("harb\ud800") == engine.complete("harb?")


@pytest.mark.parametrize("opted_in", [True, False])
def test_frequent_queries_are_suggested_only_if_the_owner_wants_it(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, opted_in: bool
) -> None:
    days = count(20_000)
    monkeypatch.setattr(reload, "QueryLog", lambda path: QueryLog(path, lambda: 86_400.0 * next(days)))
    with closing(ReloadingEngine(collection, settings(serve__suggest_queries=opted_in), NEVER)) as engine:
        for _ in range(9):
            engine.search("harbour old")
            engine.search("no such page")
            engine.best_texts("harbour of a box", 5)  # no query of a reader
        found = [(one.text, one.source) for one in engine.complete("harb")]
    assert found == [("harbour old", "query")] * opted_in + [("Old harbour", "title"), ("harbour", "word")]
    assert collection.query_log.exists() is opted_in


def test_the_sites_that_a_reader_blocks_are_suggested_to_nobody(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = count(20_000)
    monkeypatch.setattr(reload, "QueryLog", lambda path: QueryLog(path, lambda: 86_400.0 * next(days)))
    with closing(ReloadingEngine(collection, settings(serve__suggest_queries=True), NEVER)) as engine:
        for _ in range(9):
            assert engine.search("-site:spam.test (harbour)").total
        assert [one for one in engine.complete("-site") if one.source == "query"] == []


def test_related_searches_come_from_the_pages_found(collection: Collection, engine: ReloadingEngine) -> None:
    assert engine.related("harbour", [OLD.url, "http://unknown.test/"]) == ["Old harbour"]
    assert engine.related("old harbour site:a.test", [OLD.url]) == []
    assert engine.related("site:a.test", [OLD.url]) == engine.related("-x", []) == []
