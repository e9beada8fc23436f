"""A standing query reports new and changed pages that match it, each version once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import periplus.standing.check as checks
from periplus.errors import UsageError
from periplus.search.engine import SearchEngine
from periplus.standing.check import Checked, add_standing_query, check_standing_queries
from periplus.standing.registry import Item, Registry, StandingQuery
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations
from search.library import Doc, give_ranks, index, opened, settings, shelve

NOW = 1_800_000_000.0
OSTIA = Doc("http://a.test/ostia", "Ostia", "the harbour of Rome", at=NOW - 9_000)
PIRAEUS = Doc("http://a.test/piraeus", "Piraeus", "the harbour of Athens", at=NOW + 10)
ROAD = Doc("http://a.test/road", "Via Appia", "a road to Brindisi", at=NOW - 9_000)


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    found = shelve(tmp_path, [OSTIA, ROAD])
    index(found)
    return found


def save(collection: Collection, query: str, now: float = NOW) -> StandingQuery:
    with opened(collection) as engine:
        return add_standing_query(collection, engine, query, now=now)


def check(collection: Collection, *pages: Doc, full: bool = False, now: float = NOW + 60, **flags: int) -> Checked:
    """Adds pages, builds an index and checks."""
    if pages:
        shelve(collection.home, pages)
    index(collection, full=full)
    with opened(collection) as engine:
        return check_standing_queries(collection, settings(**flags), engine, now)


def items(collection: Collection, query: StandingQuery) -> list[Item]:
    """Newest first."""
    with Registry(collection) as registry:
        return registry.newest_items(query)


def reported(collection: Collection, query: StandingQuery) -> list[tuple[str, str]]:
    return [(item.change, item.url) for item in items(collection, query)]


def test_pages_that_are_there_already_are_not_reported(collection: Collection) -> None:
    query = save(collection, "harbour")
    assert check(collection, full=True).found == {}
    assert items(collection, query) == []


def test_a_new_page_is_reported_with_title_snippet_and_times(collection: Collection) -> None:
    query = save(collection, "harbour")
    assert check(collection, PIRAEUS).found == {query.id: 1}
    (item,) = items(collection, query)
    assert item[1:] == ("new", PIRAEUS.url, "Piraeus", "the harbour of Athens", PIRAEUS.at, NOW + 60)


def test_a_page_is_reported_when_its_text_changes(collection: Collection) -> None:
    query = save(collection, "harbour")
    check(collection, replace(OSTIA, text="the silted harbour of Rome", at=NOW + 20))
    assert reported(collection, query) == [("changed", OSTIA.url)]


def test_a_page_that_is_fetched_again_with_the_same_text_is_not_reported(collection: Collection) -> None:
    query = save(collection, "harbour")
    check(collection, replace(OSTIA, at=NOW + 20, body=b"other bytes"))
    assert reported(collection, query) == []


def test_a_page_that_begins_to_match_is_reported_as_changed(collection: Collection) -> None:
    query = save(collection, "harbour")
    check(collection, replace(ROAD, text="a road to the harbour", at=NOW + 20))
    assert reported(collection, query) == [("changed", ROAD.url)]


def test_a_page_that_matches_by_a_new_link_is_not_reported(collection: Collection) -> None:
    query = save(collection, "harbour")
    give_ranks(collection, {ROAD.url: 2.0}, {ROAD.url: ["harbour"]})
    assert check(collection, PIRAEUS).found == {query.id: 1}
    with opened(collection) as engine:
        assert engine.count("harbour") == 3
    assert reported(collection, query) == [("new", PIRAEUS.url)]


def test_a_page_must_have_all_words(collection: Collection) -> None:
    query = save(collection, "harbour athens")
    corinth = Doc("http://a.test/corinth", "Corinth", "another harbour", at=NOW + 10)
    check(collection, PIRAEUS, corinth)
    assert reported(collection, query) == [("new", PIRAEUS.url)]


def test_operators_work_as_in_a_search(collection: Collection) -> None:
    hafen = Doc("http://b.test/hafen", "Der Hafen", "Schiffe in Hamburg und am Meer", language="de", at=NOW + 20)
    expected = {
        "site:b.test": {hafen.url},
        "lang:de": {hafen.url},
        '"harbour of Athens"': {PIRAEUS.url},
        "harbour -athens": set(),
        "intitle:piraeus": {PIRAEUS.url},
        "athens OR hamburg": {PIRAEUS.url, hafen.url},
        "harbor": set(),  # no spelling correction
    }
    saved = {query: save(collection, query) for query in expected}
    check(collection, PIRAEUS, hafen)
    assert {query: {url for _, url in reported(collection, one)} for query, one in saved.items()} == expected


def test_every_version_is_reported_once_also_after_a_rollback(collection: Collection) -> None:
    query = save(collection, "harbour")
    check(collection, PIRAEUS)
    generations = Generations(collection.index, INDEX_KIND)
    for number in (1, 2, 1):
        generations.roll_back(number)
        with opened(collection) as engine:
            assert check_standing_queries(collection, settings(), engine).found == {}
    assert check(collection, full=True).found == {}
    assert reported(collection, query) == [("new", PIRAEUS.url)]


def test_a_page_that_changes_and_changes_back_is_reported_twice(collection: Collection) -> None:
    query = save(collection, "harbour")
    check(collection, replace(OSTIA, text="no harbour today", at=NOW + 20))
    check(collection, replace(OSTIA, at=NOW + 40))
    assert reported(collection, query) == [("changed", OSTIA.url)] * 2


def test_nothing_is_reported_twice_when_the_list_of_documents_is_lost(collection: Collection) -> None:
    query = save(collection, "harbour")
    check(collection, PIRAEUS)
    (file,) = (collection.home / "standing").glob("documents-*.npy")
    for damage in (b"", b"garbage", None):
        file.write_bytes(damage) if damage is not None else file.unlink()
        assert check(collection, full=True).found == {}
        (file,) = (collection.home / "standing").glob("documents-*.npy")
    assert len(items(collection, query)) == 1


def test_a_copy_that_represents_a_page_from_now_on_is_not_reported(collection: Collection) -> None:
    query = save(collection, "harbour")
    body = b"the same bytes"
    check(collection, replace(OSTIA, at=NOW + 5, body=body))
    give_ranks(collection, {"http://b.test/ostia": 99.0})
    check(collection, replace(OSTIA, url="http://b.test/ostia", at=NOW + 20, body=body))
    with opened(collection) as engine:
        assert engine.search("harbour").hits[0].url == "http://b.test/ostia"
    assert reported(collection, query) == []


def test_a_query_saved_between_two_checks_misses_nothing(collection: Collection) -> None:
    first = save(collection, "harbour")
    shelve(collection.home, [PIRAEUS])
    with opened(collection) as old:  # a site that has not switched to the new index yet
        index(collection)
        with opened(collection) as engine:
            check_standing_queries(collection, settings(), engine)
        second = add_standing_query(collection, old, "athens", now=NOW)
    assert check(collection, full=True).found == {second.id: 1}
    assert reported(collection, second) == reported(collection, first) == [("new", PIRAEUS.url)]


def test_a_check_that_is_killed_is_repeated_whole(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    query = save(collection, "harbour")
    with monkeypatch.context() as broken:
        broken.setattr(SearchEngine, "snippet", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            check(collection, PIRAEUS)
    assert items(collection, query) == []
    assert check(collection).found == {query.id: 1}
    assert check(collection).found == {}


def test_the_newest_items_are_kept(collection: Collection) -> None:
    query = save(collection, "harbour")
    first = [
        Doc(f"http://c.test/{number}", f"Harbour {number}", f"harbour {number}", at=NOW + number) for number in range(5)
    ]
    assert check(collection, *first, watch__kept_items=3).found == {query.id: 5}
    assert [item.title for item in items(collection, query)] == ["Harbour 4", "Harbour 3", "Harbour 2"]
    check(collection, PIRAEUS, watch__kept_items=3)
    assert [item.title for item in items(collection, query)] == ["Piraeus", "Harbour 4", "Harbour 3"]


def test_the_same_query_is_saved_once(collection: Collection) -> None:
    assert save(collection, "harbour  of rome") == save(collection, " harbour of\nrome")
    assert save(collection, "rome").id != save(collection, "harbour").id


def test_a_query_without_words_or_too_long_is_refused(collection: Collection) -> None:
    for query in ("", "  ", "...", "x" * 1_001):
        with pytest.raises(UsageError):
            save(collection, query)


def test_a_query_that_matches_too_many_pages_is_refused(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_MOST_MATCHES", 1)
    with pytest.raises(UsageError, match="2 pages match this query"):
        save(collection, "site:a.test")


def test_a_collection_without_standing_queries_gets_no_file(collection: Collection) -> None:
    assert check(collection) == Checked(1, 0, {}, {})
    assert not (collection.home / "standing").exists()
