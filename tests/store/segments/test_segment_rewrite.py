"""A segment gets a successor without some rows; the segment itself is not touched."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import compute as pc
from pyarrow import parquet

from crawl.crawling import catalog_of, run_crawl, sound
from periplus.errors import DamagedFile
from periplus.store.manifest import place_of
from periplus.store.segments.schema import schema_version
from periplus.store.segments.segment_rewrite import PairChange, segment_pairs, write_successors
from testweb import TestWeb, mesh


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with TestWeb([mesh("a.test", 8)]) as web:
        run_crawl(web, tmp_path / "home", "http://a.test/")
    return tmp_path / "home"


def without_odd_rows(table: pa.Table) -> pa.Table:
    return table.take(list(range(0, table.num_rows, 2)))


def unchanged(table: pa.Table) -> pa.Table:
    return table


def test_rows_schema_and_name_of_the_successor(home: Path) -> None:
    with catalog_of(home) as catalog:
        (pair,) = segment_pairs(catalog)
        before = (home / "segments" / pair.pages.name).read_bytes()
        successors = write_successors(home / "segments", pair, PairChange(without_odd_rows, unchanged))
        (pages_name, pages), (links_name, links) = successors
        assert (pages_name, links_name) == (pair.pages.name, pair.links.name)
        assert place_of(pages.name).revision == place_of(pair.pages.name).revision + 1
        assert (pages.rows, links.rows) == ((pair.pages.rows + 1) // 2, pair.links.rows)
        assert schema_version(home / "segments" / pages.name) == schema_version(home / "segments" / pages_name)
        assert (home / "segments" / pair.pages.name).read_bytes() == before
        catalog.replace_segments([(links_name, links)])
    old, new = (parquet.read_table(home / "segments" / name) for name in (links_name, links.name))
    assert pc.all(pc.equal(old["target"], new["target"])).as_py()


def test_all_rows_may_go(home: Path) -> None:
    def none(table: pa.Table) -> pa.Table:
        return table.slice(0, 0)

    with catalog_of(home) as catalog:
        (pair,) = segment_pairs(catalog)
        successors = write_successors(home / "segments", pair, PairChange(none, none))
    assert [segment.rows for _, segment in successors] == [0, 0]
    sound(home)


def test_a_damaged_segment_has_no_successor(home: Path) -> None:
    with catalog_of(home) as catalog:
        (pair,) = segment_pairs(catalog)
    path = home / "segments" / pair.pages.name
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(DamagedFile):
        write_successors(home / "segments", pair, PairChange(unchanged, unchanged))
    assert not list((home / "segments").glob("*.again"))
