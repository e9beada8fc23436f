"""Standing queries survive a kill, and feeds are found by their exact id."""

from __future__ import annotations

from pathlib import Path

import pytest

import periplus.standing.registry as registry_module
from periplus.errors import DamagedFile, UsageError
from periplus.standing.registry import Item, NewQuery, PageVersion, Registry, one_at_a_time, page_key
from periplus.store.collection import Collection, create_collection

NEW = NewQuery("harbour", "", "g")


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    found = create_collection(tmp_path)
    with one_at_a_time(found):
        return found


def test_a_query_is_found_by_its_exact_id(collection: Collection) -> None:
    with Registry(collection) as registry:
        query = registry.add(NEW, 1.0, [])
        assert registry.find(query.id) == query
        for other in (query.id[:-1], query.id.upper() + "x", "", "%"):
            assert registry.find(other) is None
    assert len(query.id) == 16


def test_a_removed_query_leaves_nothing_behind(collection: Collection) -> None:
    with Registry(collection) as registry:
        query, kept = registry.add(NEW, 1.0, [PageVersion(1, 2.0, 3)]), registry.add(NEW, 1.0, [])
        registry.remove(query)
        assert registry.queries() == [kept]
        assert registry.known_version(query, [1]) is None


def test_a_forgotten_page_leaves_no_bytes_behind(collection: Collection) -> None:
    url, text = "http://a.test/secret", "a snippet that nobody may read"
    with Registry(collection) as registry:
        query = registry.add(NEW, 1.0, [PageVersion(page_key(url), 2.0, 3), PageVersion(7, 2.0, 4)])
        with registry.transaction():
            found = [Item(0, "new", address, "t", text, 1.0, 2.0) for address in (url, "http://a.test/other")]
            registry.record_check(query, [], [found[0], found[1]._replace(snippet="fine")], 9)
        assert registry.forget([url, "http://a.test/unknown"]) == 1
        assert [item.url for item in registry.newest_items(query)] == ["http://a.test/other"]
        assert registry.known_version(query, [page_key(url)]) is None
        assert registry.known_version(query, [7]) is not None
        for path in collection.standing_queries.parent.iterdir():
            assert text.encode() not in path.read_bytes(), path.name
            assert url.encode() not in path.read_bytes(), path.name


def test_an_unfinished_change_is_undone(collection: Collection) -> None:
    def broken() -> list[PageVersion]:
        raise KeyboardInterrupt

    with Registry(collection) as registry:
        with pytest.raises(KeyboardInterrupt):
            registry.add(NEW, 1.0, (version for _ in (1,) for version in broken()))
        assert registry.queries() == []


def test_the_newest_version_of_all_urls_of_a_page_counts(collection: Collection) -> None:
    versions = [PageVersion(1, 5.0, 10), PageVersion(2, 9.0, 20)]
    with Registry(collection) as registry:
        query = registry.add(NEW, 1.0, versions)
        assert registry.known_version(query, [1, 2, 3]) == versions[1]
        with registry.transaction():
            registry.record_check(query, [PageVersion(2, 8.0, 30)], [], 9)  # of an earlier index
        assert registry.known_version(query, [2]) == versions[1]


def test_the_number_of_queries_is_limited(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "_MOST_QUERIES", 2)
    with Registry(collection) as registry:
        registry.add(NEW, 1.0, [])
        registry.add(NEW, 1.0, [])
        with pytest.raises(UsageError, match="2 standing queries already"):
            registry.add(NEW, 1.0, [])


def test_a_damaged_file_is_named(collection: Collection) -> None:
    collection.standing_queries.write_bytes(b"not a database, but long enough to look like one" * 100)
    with pytest.raises(DamagedFile, match=r"queries[.]db is damaged"):
        Registry(collection)


def test_only_the_owner_of_the_files_reads_the_addresses_of_webhooks(collection: Collection) -> None:
    assert collection.standing_queries.parent.stat().st_mode & 0o777 == 0o700
