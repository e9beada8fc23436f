"""The first search after a start or a new index finds everything loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.errors import DamagedFile
from periplus.model import Results
from periplus.search.engine import SearchEngine
from periplus.search.reload import ReloadingEngine
from periplus.store.collection import Collection
from search.library import Doc, index, settings, shelve

NEVER = 3600.0  # seconds between two looks
HARBOURS = [Doc(f"http://a.test/{name}", f"{name} harbour", "A harbour.") for name in ("Ostia", "Portus", "Puteoli")]


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    found = shelve(tmp_path, HARBOURS)
    index(found)
    return found


def test_titles_of_the_index_are_searched_before_the_first_user(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[tuple[int, str]] = []
    search = SearchEngine.search

    def noting(self: SearchEngine, query: str, *, size: int = 15) -> Results:
        noted.append((self.generation, query))
        return search(self, query, size=size)

    monkeypatch.setattr(SearchEngine, "search", noting)
    engine = ReloadingEngine(collection, settings(), NEVER)
    try:
        assert {query for _, query in noted} > {"Ostia harbour", "Puteoli harbour"}
        noted.clear()
        shelve(collection.home, [Doc("http://b.test/", "Caesarea", "A new harbour.")])
        index(collection)
        engine.reload()
        assert {number for number, _ in noted} == {2}
        assert "Caesarea" in {query for _, query in noted}
    finally:
        engine.close()


def test_a_new_index_serves_nobody_before_it_is_warm(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ReloadingEngine(collection, settings(), NEVER)
    live: list[int] = []
    try:
        monkeypatch.setattr("periplus.search.reload.warm_up", lambda _: live.append(engine.generation))
        shelve(collection.home, [Doc("http://b.test/", "Caesarea", "A new harbour.")])
        index(collection)
        engine.reload()
        assert (live, engine.generation) == ([1], 2)
    finally:
        engine.close()


def test_damage_does_not_stop_the_site(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> Results:
        raise DamagedFile("a file is damaged")

    monkeypatch.setattr(SearchEngine, "search", fail)
    ReloadingEngine(collection, settings(), NEVER).close()
