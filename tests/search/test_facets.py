"""The counts beside a filter are the counts that the filtered search reports."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tantivy import Query

from periplus.model import FacetCounts
from periplus.search.engine import SearchEngine
from periplus.search.shards import facet_buckets
from search.library import Doc, library

_DAY = 86_400.0
_NOW = datetime(2026, 5, 20, 12, tzinfo=UTC).timestamp()
DATES = ("2026-05-19", "2026-05-13", "2026-04-20", "2025-05-20")
QUERIES = ["harbour", "harbour light", "harbour -light", "lang:en harbour", "harbour OR quay", '"old harbour"', "tide"]
HOSTS = ("harbours.example", "www.harbours.example", "quays.example", "a.test")
_WORDS = {
    "en": "The old harbour has a light and a quay.",
    "de": "Der alte Hafen, harbour, hat ein Licht und einen Kai.",
}


def pages() -> Iterator[Doc]:
    for number in range(60):
        language = "de" if number % 4 == 0 else "en"
        yield Doc(
            f"https://{HOSTS[number % 7 % 4]}/{number}",
            title=f"Harbour {number}" if number % 3 else f"Tide {number}",
            text=f"{_WORDS[language]} Page {number} is about {'tide' if number % 5 else 'light'}.",
            language=language,
            mime="application/pdf" if number % 6 == 0 else "text/html" if number % 5 else "text/plain",
            at=_NOW - number * number * 0.5 * _DAY,
        )


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    home: Path = tmp_path_factory.mktemp("facets")
    with library(home / "c", pages()) as opened:
        yield opened


def offers(counts: FacetCounts) -> Iterator[tuple[str, int]]:
    """Every operator that a filter adds, and the count beside it."""
    yield from ((f"lang:{name}", count) for name, count in counts.languages)
    yield from ((f"filetype:{name}", count) for name, count in counts.types)
    yield from ((f"site:{name}", count) for name, count in counts.sites)
    yield from ((f"after:{name}", count) for name, count in counts.newer)
    yield from ((f"site:{name}", count) for name, count in counts.hosts.items())


@pytest.mark.parametrize("mode", ["auto", "and", "or"])
@pytest.mark.parametrize("query", QUERIES)
def test_a_filter_finds_as_many_pages_as_its_link_says(engine: SearchEngine, query: str, mode: str) -> None:
    counts = engine.facets(query, mode=mode, dates=DATES, hosts=HOSTS)
    checked = list(offers(counts))
    assert len(checked) >= 8
    for operator, count in checked:
        filtered = engine.search(f"{operator} ({query})", mode=mode, verbatim=True)
        assert (operator, count) == (operator, filtered.total)


def test_a_site_is_counted_with_its_subdomains(engine: SearchEngine) -> None:
    counts = engine.facets("harbour")
    own = [hit for hit in engine.search("harbour", size=100).hits if hit.host == "harbours.example"]
    assert dict(counts.sites)["harbours.example"] > len(own)


def test_the_most_frequent_comes_first_and_at_most_six_sites(tmp_path: Path) -> None:
    docs = [
        Doc(f"https://s{host}.example/{n}", "Harbour", f"Harbour {n}.") for host in range(9) for n in range(host + 1)
    ]
    with library(tmp_path / "c", docs) as engine:
        sites = engine.facets("harbour").sites
    assert sites == tuple((f"s{host}.example", host + 1) for host in range(8, 2, -1))


def test_no_match_no_counts(engine: SearchEngine) -> None:
    assert engine.facets("zeppelin", dates=DATES).languages == ()
    assert engine.facets("", dates=DATES) == FacetCounts()
    assert engine.facets('"', dates=DATES) == FacetCounts()


def test_pages_without_a_language_or_with_an_unknown_type_are_not_offered(tmp_path: Path) -> None:
    docs = [
        Doc("https://a.test/1", "Harbour", "Harbour one.", language="", mime="application/json"),
        Doc("https://a.test/2", "Harbour", "Harbour two."),
    ]
    with library(tmp_path / "c", docs) as engine:
        counts = engine.facets("harbour")
    assert (counts.languages, counts.types) == ((("en", 1),), (("html", 1),))


def test_a_count_is_that_of_the_search(engine: SearchEngine) -> None:
    for query in (*QUERIES, "", "zeppelin", "zeppelin harbour"):
        assert engine.count(query) == engine.search(query, verbatim=True).total


def test_sites_are_named_however_often_and_by_however_many_threads_they_are_counted(engine: SearchEngine) -> None:
    counter, every = facet_buckets.FacetCounter(engine.index), Query.all_query()
    keys = list(counter.buckets(every, ()).hosts)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: tuple(counter.host_names(every, keys[:4]).values()), range(16)))
    assert {len(sites) for sites in found} == {4}
    assert len(set(found)) == 1


def test_only_some_names_of_hosts_are_kept(engine: SearchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facet_buckets, "_CACHED", 2)
    counter, every = facet_buckets.FacetCounter(engine.index), Query.all_query()
    keys = list(counter.buckets(every, ()).hosts)
    assert [len(counter.host_names(every, keys[:4])) for _ in range(3)] == [4, 4, 4]
