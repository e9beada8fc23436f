"""Lists continue after a key, and their counters are those of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from periplus.model import Decision, Pattern, QueuedUrl, Reason, UrlState, Verdict
from periplus.store.catalog.batch import Batch, Refusal, Settled
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.listings import FIRST, HostQuery, Listings
from periplus.store.catalog.live_state import LiveState
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.url import host_of
from store.records import WRITTEN, done, failed, queued, refused

SCOPE = Decision(Verdict.REFUSED, Reason.SCOPE_HOST, "no match")
NOW = 1_000.0


@pytest.fixture
def catalog(any_collection: Collection) -> Iterator[Catalog]:
    with closing(open_catalog(any_collection, create=True)) as catalog:
        yield catalog


def write(catalog: Catalog, batch: Batch) -> None:
    catalog.commit(batch, WRITTEN, catalog.begin_run({}), {})


def hosts_of(any_collection: Collection, query: HostQuery, size: int) -> list[str]:
    """All hosts of a list, read page by page."""
    found: list[str] = []
    with closing(open_catalog(any_collection, Listings, read_only=True)) as listings:
        while page := listings.hosts(query, NOW, size):
            found += [row.host for row, _ in page]
            query = HostQuery(query.order, query.only, query.contains, (page[-1][1], page[-1][0].host))
    return found


def fill_hosts(catalog: Catalog) -> None:
    items = [queued(f"https://h{host}.example/{page}") for host in range(7) for page in range(1 + host % 3)]
    write(catalog, Batch(admitted=items, settled=[failed(items[0]), refused(items[1]), done(items[2])]))


@pytest.mark.parametrize("order", ["name", "queued", "errors", "urls", "next"])
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_pages_of_hosts_have_every_host_once(
    catalog: Catalog, any_collection: Collection, order: str, size: int
) -> None:
    fill_hosts(catalog)
    found = hosts_of(any_collection, HostQuery(order), size)
    assert sorted(found) == [f"h{host}.example" for host in range(7)]


def test_the_longest_queue_comes_first_and_hosts_of_equal_length_by_name(
    catalog: Catalog, any_collection: Collection
) -> None:
    fill_hosts(catalog)
    assert hosts_of(any_collection, HostQuery("queued"), 2)[:3] == ["h2.example", "h5.example", "h4.example"]


def test_hosts_are_filtered_by_name_errors_queue_and_block(catalog: Catalog, any_collection: Collection) -> None:
    fill_hosts(catalog)
    with closing(open_catalog(any_collection, LiveState)) as live, live._database.transaction():
        live._database.run("block_host", "h3.example", 5.0)
    assert hosts_of(any_collection, HostQuery(contains="h1.ex"), 5) == ["h1.example"]
    assert hosts_of(any_collection, HostQuery(only="errors"), 5) == ["h0.example"]
    assert "h0.example" not in hosts_of(any_collection, HostQuery(only="queued"), 5)
    assert hosts_of(any_collection, HostQuery("queued", only="blocked"), 5) == ["h3.example"]
    with closing(open_catalog(any_collection, Listings, read_only=True)) as listings:
        assert listings.blocked_since("h3.example") == 5.0
        assert listings.blocked_since("h4.example") is None
        assert listings.host("h3.example") is not None
        assert listings.host("h9.example") is None


def test_the_counters_of_a_host_follow_its_urls(catalog: Catalog, any_collection: Collection) -> None:
    items = [queued(f"https://a.example/{page}") for page in range(6)]
    write(catalog, Batch(admitted=items))
    write(catalog, Batch(settled=[failed(items[0]), failed(items[1]), refused(items[2]), done(items[3])]))
    catalog.requeue([items[0].url, items[2].url])
    with closing(open_catalog(any_collection, Listings, read_only=True)) as listings:
        row = listings.host("a.example")
        assert row is not None
        assert (row.urls, row.queued, row.refused, row.failed) == (6, 4, 0, 1)
        assert [(one.reason, one.status, one.count) for one in listings.outcomes(UrlState.FAILED)] == [
            ("http_error", "404", 1)
        ]
        assert listings.outcomes(UrlState.REFUSED) == []
    assert catalog.miscounted_hosts() == []
    assert catalog.miscounted_outcomes() == []


def test_a_wrong_counter_is_found(catalog: Catalog) -> None:
    fill_hosts(catalog)
    database: Any = catalog._database
    outcomes = "outcomes" if isinstance(database, SqliteDatabase) else "outcome_parts"
    database._connection.execute("UPDATE hosts SET queued = queued + 2 WHERE host = 'h5.example'")
    database._connection.execute(f"UPDATE {outcomes} SET count = 9 WHERE reason = 'robots'")
    assert catalog.miscounted_hosts() == [("h5.example", "queued", 5, 3)]
    assert catalog.miscounted_outcomes() == [("robots", "", 9, 1)]


def test_errors_of_one_kind_come_newest_first_and_page_by_page(catalog: Catalog, any_collection: Collection) -> None:
    timeout = Decision(Verdict.DROPPED, Reason.TIMEOUT, "30 s")
    items = [queued(f"https://a.example/{page}") for page in range(5)]
    write(catalog, Batch(admitted=items, settled=[Settled(item, UrlState.FAILED, timeout) for item in items]))
    found: list[str] = []
    with closing(open_catalog(any_collection, Listings, read_only=True)) as listings:
        before = FIRST
        while page := listings.urls_with(UrlState.FAILED, ("timeout", ""), 2, before):
            found += [row["url"] for row in page]
            before = (page[-1]["changed"], page[-1]["url"])
    assert sorted(found) == sorted(item.url for item in items)


def test_refused_links_are_summed_over_their_hosts(catalog: Catalog, any_collection: Collection) -> None:
    batch = Batch(samples=[Refusal("b.example", "https://b.example/", SCOPE, "https://a.example/")])
    batch.refused.update(
        {("b.example", Reason.SCOPE_HOST): 3, ("c.example", Reason.SCOPE_HOST): 4, ("c.example", Reason.EXTENSION): 1}
    )
    write(catalog, batch)
    write(catalog, batch)
    with closing(open_catalog(any_collection, Listings, read_only=True)) as listings:
        assert [(one.reason, one.count) for one in listings.refused_links()] == [("scope_host", 14), ("extension", 2)]
        assert [row["url"] for row in listings.refusal_samples("scope_host", 5)] == ["https://b.example/"]
        assert listings.refusal_samples("scope_host", 5, ("b.example", "https://b.example/")) == []
    assert catalog.refusals() == {"scope_host": 14, "extension": 2}


def test_seeds_and_sitemaps_have_their_states(catalog: Catalog, any_collection: Collection) -> None:
    url = "https://a.example/sitemap.xml"
    sitemap = QueuedUrl(url, host_of(url), 0, 0.0, Reason.SITEMAP, "")
    seed = queued("https://a.example/")
    write(catalog, Batch(admitted=[sitemap, seed], seeds=[seed.url, "https://b.example/"], settled=[done(seed)]))
    with closing(open_catalog(any_collection, Listings, read_only=True)) as listings:
        assert {row["url"]: row["state"] for row in listings.seeds(9)} == {
            seed.url: UrlState.DONE,
            "https://b.example/": None,
        }
        assert [row["url"] for row in listings.sitemaps(9)] == [url]


def test_patterns_with_the_most_refusals_come_first(catalog: Catalog, any_collection: Collection) -> None:
    rows = [Pattern(f"h{number}.example", "/x*", 20.0 + number, 9, 9, number // 2, 0, 0, 0) for number in range(5)]
    write(catalog, Batch(patterns=rows))
    with closing(open_catalog(any_collection, Listings, read_only=True)) as listings:
        first = listings.patterns(21.0, 2)
        assert [one.host for one in first] == ["h4.example", "h2.example"]
        last = first[-1]
        assert [one.host for one in listings.patterns(21.0, 9, (last.saved, last.host, last.pattern))] == [
            "h3.example",
            "h1.example",
        ]


def test_samples_of_a_long_time_are_thinned(any_collection: Collection, catalog: Catalog) -> None:
    with closing(open_catalog(any_collection, LiveState)) as live:
        for at in range(100):
            live.add_sample(1_000.0 + at, {"pages": at})
    with closing(open_catalog(any_collection, Listings, read_only=True)) as listings:
        found = list(listings.samples(1_000.0, 1_099.0, 10))
        assert 8 <= len(found) <= 11
        assert found[0] == (1_000.0, {"pages": 0})
        assert listings.last_samples(2) == [(1_098.0, {"pages": 98}), (1_099.0, {"pages": 99})]
        assert list(listings.samples(2_000.0, 3_000.0, 10)) == []


def test_the_states_of_a_large_host_are_read_from_its_first_urls(catalog: Catalog, any_collection: Collection) -> None:
    items = [queued(f"https://a.example/{page}") for page in range(5)] + [queued("http://a.example:8080/")]
    write(catalog, Batch(admitted=[*items, queued("https://a.example.org/")], settled=[done(items[0])]))
    with closing(open_catalog(any_collection, Listings, read_only=True)) as listings:
        assert listings.first_states("a.example", 9) == {(UrlState.DONE, "ok"): 1, (UrlState.QUEUED, "link"): 5}
        assert sum(listings.first_states("a.example", 2).values()) == 3
