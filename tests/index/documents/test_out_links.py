"""The first links of every page are stored, and their number."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from index.live import live_index
from periplus.index.documents import out_links
from periplus.index.documents.out_links import OutLinks
from periplus.index.storage.pagestore import Details, PageStore
from periplus.model import Link
from periplus.store.database.sql_files import read_statements
from periplus.store.duckdb_session import connect
from search.library import Doc, index, shelve

MANY = tuple(Link(f"http://a.test/{n:02}", f"link {n}", nofollow=False) for n in range(30))


def details(home: Path, *docs: Doc) -> dict[str, Details]:
    collection = shelve(home, docs)
    index(collection)
    with PageStore(live_index(collection)) as pages:
        return {pages.head(number).url: pages.details(number) for number in range(len(pages))}


def test_the_first_ten_links_are_stored_in_their_order(tmp_path: Path) -> None:
    found = details(tmp_path, Doc("http://a.test/", "A", links=MANY), Doc("http://b.test/", "B", links=MANY[3:5]))
    assert found["http://a.test/"].link_count == 30
    assert found["http://a.test/"].links == tuple(link.target for link in MANY[:10])
    assert found["http://b.test/"].link_count == 2
    assert found["http://b.test/"].links == ("http://a.test/03", "http://a.test/04")


def test_a_page_without_links_has_none(tmp_path: Path) -> None:
    found = details(tmp_path, Doc("http://a.test/", "A"), Doc("http://b.test/", "B", links=MANY))
    assert (found["http://a.test/"].link_count, found["http://a.test/"].links) == (0, ())


def test_only_the_newest_version_of_a_page_counts(tmp_path: Path) -> None:
    new = Doc("http://a.test/", "A", at=2000.0, links=MANY[:1])
    old = Doc("http://a.test/", "A", at=1000.0, links=MANY[5:9])
    found = details(tmp_path, new, old, Doc("http://b.test/", "B"))
    assert found["http://a.test/"].links == ("http://a.test/00",)
    assert found["http://a.test/"].link_count == 1


def test_a_page_whose_links_are_read_in_two_parts_has_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(out_links, "_PART_ROWS", 7)
    docs = [Doc(f"http://{name}.test/", name, links=MANY[:number]) for name, number in (("a", 3), ("b", 30), ("c", 12))]
    found = details(tmp_path, *docs)
    assert {url: one.link_count for url, one in found.items()} == {
        "http://a.test/": 3,
        "http://b.test/": 30,
        "http://c.test/": 12,
    }
    assert found["http://b.test/"].links == found["http://c.test/"].links == tuple(link.target for link in MANY[:10])


PAGES, EACH = 60_000, 10
IDS = [number.to_bytes(16, "big") for number in range(PAGES)]


@pytest.fixture(scope="module")
def large_segment(tmp_path_factory: pytest.TempPathFactory) -> OutLinks:
    folder = tmp_path_factory.mktemp("large")
    table = {
        "source_id": pa.array([one for one in IDS for _ in range(EACH)], pa.binary(16)),
        "fetched_at": pa.array(np.ones(PAGES * EACH)),
        "target": pa.array([f"http://harbours.test/a-long-path/{n}" for n in range(PAGES * EACH)]),
    }
    pq.write_table(pa.table(table), folder / "links.parquet", row_group_size=30_000)
    statement = read_statements("periplus.index.planning", "plan.sql")["links"]
    with connect(folder / "spill", 64 << 20, 2) as database:
        return OutLinks(database, statement, folder / "links.parquet")


def test_links_are_grouped_without_a_search_among_all_documents(tmp_path: Path) -> None:
    """Or each part of each segment would take longer the more documents there are."""
    columns = {
        "source_id": pa.array(IDS[:2], pa.binary(16)),
        "fetched_at": [1.0, 1.0],
        "target": ["http://a.test/"] * 2,
    }
    pq.write_table(pa.table(columns), tmp_path / "links.parquet")
    with connect(tmp_path / "spill", 64 << 20, 1) as database:  # it has no tables
        found = OutLinks(
            database, read_statements("periplus.index.planning", "plan.sql")["links"], tmp_path / "links.parquet"
        )
    assert [one["link_count"] for one in found.of(wanted((0, 1, 2)))] == [1, 1, 0]


def wanted(rows: Iterable[int]) -> list[dict[str, object]]:
    return [{"url_id": IDS[row], "fetched_at": 1.0} for row in rows]


def test_the_links_of_a_large_segment_are_grouped_in_little_memory(large_segment: OutLinks) -> None:
    found = large_segment.of(wanted((0, 9_999, PAGES - 1)))
    assert [(one["link_count"], one["links"][-1].rpartition("/")[2]) for one in found] == [
        (10, "9"),
        (10, "99999"),
        (10, "599999"),
    ]


def test_the_links_of_a_page_cost_the_same_in_a_large_segment(large_segment: OutLinks) -> None:
    began = time.process_time()
    for start in range(0, 10_000, 500):
        assert all(one["link_count"] == EACH for one in large_segment.of(wanted(range(start, start + 500))))
    assert time.process_time() - began < 4, "0.02 s; it is 15 s if every page copies the links of all others"
