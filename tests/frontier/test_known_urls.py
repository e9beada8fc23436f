"""A worker knows every URL of its own shares, and holds no others in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from periplus.frontier.known_urls import OwnedUrls
from periplus.store.catalog.catalog import Catalog, packed_rows, seen_chunk
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.store.shares import share_of
from periplus.url import host_of, url_key
from store.records import WRITTEN, batch_of, queued

MINE, OTHER, LATER = "https://example.org/1", "https://example.com/1", "https://example.net/1"
SHARE, OTHER_SHARE, LATER_SHARE = (share_of(host_of(url)) for url in (MINE, OTHER, LATER))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(tmp_path / "crawl.db", create=True)) as database:
        Catalog(database).commit(batch_of(queued(MINE), queued(OTHER), queued(LATER)), WRITTEN, 1, {})
        yield database


@pytest.fixture
def catalog(database: SqliteDatabase) -> Catalog:
    return Catalog(database)


@pytest.fixture
def packs_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.store.catalog.catalog._SEEN_CHUNKS", 0)


def loaded(catalog: Catalog, *shares: int) -> OwnedUrls:
    owned = OwnedUrls()
    owned.load(catalog, shares)
    return owned


def knows(owned: OwnedUrls, url: str) -> bool:
    return url_key(url) in owned.of(host_of(url)).keys


def test_only_the_urls_of_owned_shares_are_loaded(catalog: Catalog) -> None:
    owned = loaded(catalog, SHARE, LATER_SHARE)
    assert [knows(owned, url) for url in (MINE, OTHER, LATER)] == [True, False, True]
    assert owned.of("example.org").urls_of("example.org") == 1
    assert owned.of("example.com").urls_of("example.com") == 0


def test_a_sole_worker_knows_all(catalog: Catalog) -> None:
    owned = OwnedUrls()
    owned.load(catalog, None)
    assert all(knows(owned, url) for url in (MINE, OTHER, LATER))
    assert owned.of("example.com").other_hosts_of("example.com", "www.example.com") == 1
    assert owned.of("example.com").other_hosts_of("example.com", "example.com") == 0


def test_a_share_that_is_given_away_leaves_nothing_behind(catalog: Catalog) -> None:
    owned = loaded(catalog, SHARE, OTHER_SHARE)
    owned.drop({OTHER_SHARE})
    assert [knows(owned, MINE), knows(owned, OTHER)] == [True, False]
    assert owned.of("example.com").urls_of("example.com") == 0


def test_a_share_that_comes_back_has_what_others_added_meanwhile(catalog: Catalog) -> None:
    owned = loaded(catalog, SHARE, OTHER_SHARE)
    owned.drop({OTHER_SHARE})
    catalog.commit(batch_of(queued("https://example.com/2"), queued("https://www.example.com/")), WRITTEN, 1, {})
    owned.load(catalog, {OTHER_SHARE})
    assert all(knows(owned, url) for url in (MINE, OTHER, "https://example.com/2"))
    assert owned.of("example.com").urls_of("example.com") == 3
    assert owned.of("example.com").other_hosts_of("example.com", "new.example.com") == 2


@pytest.mark.usefixtures("packs_everything")
def test_packed_keys_are_stored_by_share(catalog: Catalog, database: SqliteDatabase) -> None:
    catalog.pack_seen()
    assert list(database.rows("seen")) == []
    assert [keys.tolist() for keys, _ in catalog.seen_keys([OTHER_SHARE])] == [[url_key(OTHER)]]
    owned = loaded(catalog, SHARE)
    assert [knows(owned, url) for url in (MINE, OTHER, LATER)] == [True, False, False]
    everything = OwnedUrls()
    everything.load(catalog, None)
    assert all(knows(everything, url) for url in (MINE, OTHER, LATER))


@pytest.mark.usefixtures("packs_everything")
def test_nothing_is_lost_when_keys_are_packed_while_they_are_read(catalog: Catalog, database: SqliteDatabase) -> None:
    catalog.pack_seen()
    new = [queued(f"https://example.org/{number}") for number in range(2, 5)]
    catalog.commit(batch_of(*new), WRITTEN, 1, {})
    chunks = catalog.seen_keys([SHARE])
    first = next(chunks)
    with closing(SqliteDatabase(Path(database.place))) as another:
        Catalog(another).pack_seen()
    read = {key for keys, _ in [first, *chunks] for key in keys.tolist()}
    assert {url_key(item.url) for item in new} < read


def test_many_chunks_are_packed_in_parts(
    catalog: Catalog, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [f"https://site{number}.example/" for number in range(40)]
    for url in urls:
        catalog.commit(batch_of(queued(url)), WRITTEN, 1, {})
    packed: list[int] = []

    def recording(chunks: list[tuple[bytes, bytes]]) -> Iterator[tuple[int, bytes]]:
        packed.append(sum(len(keys) for keys, _ in chunks) // 8)
        return packed_rows(chunks)

    monkeypatch.setattr("periplus.store.catalog.catalog.packed_rows", recording)
    monkeypatch.setattr("periplus.store.catalog.catalog._PACKED_AT_ONCE", 5 * 8)
    monkeypatch.setattr("periplus.store.catalog.catalog._SEEN_CHUNKS", 10)
    catalog.pack_seen()
    assert len(list(database.rows("seen"))) <= 10
    assert max(packed) <= 5
    assert sum(packed) >= 30
    everything = OwnedUrls()
    everything.load(catalog, None)
    assert all(knows(everything, url) for url in urls)


def test_keys_of_an_earlier_release_count_for_every_share(catalog: Catalog, database: SqliteDatabase) -> None:
    old = "https://old.example/"
    with database.transaction():
        database.run("add_seen", seen_chunk([(old, "old.example")])[0], None)
    with sqlite3.connect(database.place) as connection:
        connection.execute("UPDATE hosts SET share = NULL")
    owned = loaded(catalog, SHARE)
    assert url_key(old) in owned.everywhere
    assert knows(owned, MINE)
    assert owned.of("example.org").urls_of("example.org") == 1, "a host without a share"
    assert owned.of("example.com").urls_of("example.com") == 0
