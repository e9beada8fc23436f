"""DuckDB stays within its memory limit, spills to its folder, and raises our own errors."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from periplus.errors import DamagedFile, PeriplusError
from periplus.graph.sql_tables import Tables, statements
from store.records import error_line

IDS = pa.schema([("url_id", pa.binary(16)), ("node", pa.int32())])


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path, memory=64 << 20, threads=1)


def test_every_block_of_sql_is_found_by_its_name() -> None:
    folder = Path(__file__).parents[2] / "src" / "periplus" / "graph"
    lines = [line for path in folder.glob("*.sql") for line in path.read_text().splitlines()]
    named = [line.removeprefix("-- name: ") for line in lines if line.startswith("-- name: ")]
    assert sorted(statements()) == sorted(named)


def test_url_ids_come_back_as_the_same_bytes(tables: Tables) -> None:
    ids = [bytes([number] * 16) for number in (0, 127, 128, 255)]
    tables.take("addresses", pa.table([ids[::-1], [4, 3, 2, 1]], schema=IDS))
    rows = [row for batch in tables.stream("sorted_addresses") for row in batch.to_pylist()]
    assert [row["url_id"] for row in rows] == ids, "in the order of the bytes, unsigned"
    assert [row["node"] for row in rows] == [1, 2, 3, 4]


def test_no_file_at_all_is_an_empty_table(tables: Tables) -> None:
    tables.read("pages", [], IDS)
    assert tables.size("pages") == 0


@pytest.mark.parametrize("content", [b"", b"not Parquet at all", b"PAR1" * 40])
def test_a_file_that_is_not_what_it_should_be_is_named(tables: Tables, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pages-w00-000001.parquet"
    path.write_bytes(content)

    def read() -> None:
        tables.read("pages", [path], IDS)
        tables.size("pages")

    assert path.name in error_line(DamagedFile, read)


def test_a_missing_file_is_named(tables: Tables, tmp_path: Path) -> None:
    assert "gone.parquet" in error_line(DamagedFile, lambda: tables.read("pages", [tmp_path / "gone.parquet"], IDS))


def test_what_does_not_fit_into_memory_is_reported_with_the_setting_to_change(tmp_path: Path) -> None:
    path = tmp_path / "links.parquet"
    parquet.write_table(pa.table({"anchor": ["x" * 1000] * 300_000}), path)
    small = Tables(tmp_path / "scratch", memory=4 << 20, threads=1)

    def read() -> None:
        small.read("links", [path], pa.schema([("anchor", pa.string())]))
        small.view("calls", "all_anchors")

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(statements(), "all_anchors", "SELECT list(anchor) AS every_one FROM links")
        read()
        assert "graph.memory_mb" in error_line(PeriplusError, lambda: list(small.stream("all_anchors")))
