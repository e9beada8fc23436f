"""The tables of a ranking: DuckDB and Spark give the same rows for the same SQL text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from periplus.errors import DamagedFile
from periplus.graph.duckdb_tables import DuckDbTables
from periplus.graph.sql_tables import Tables, statements
from periplus.store.checksums import StoredFile
from spark_session import on_spark
from store.records import error_line

IDS = pa.schema([("url_id", pa.binary(16)), ("node", pa.int32())])
BYTES = [bytes([number] * 16) for number in (0, 127, 128, 255)]


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=on_spark)])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tables]:
    made = _spark_tables(request) if request.param == "spark" else DuckDbTables(tmp_path, memory=64 << 20, threads=1)
    yield made
    made.close()


def _spark_tables(request: pytest.FixtureRequest) -> Tables:
    session = request.getfixturevalue("spark")
    from periplus.spark.sql_tables import SparkTables
    from periplus.store.fleet_files.task_files import SegmentFiles

    return SparkTables(session, statements(), SegmentFiles(""))


def _rows(tables: Tables, block: str, **numbers: int) -> list[dict[str, object]]:
    return [row for batch in tables.stream(block, **numbers) for row in batch.to_pylist()]


def _stored(path: Path) -> StoredFile:
    return StoredFile(path, path.stat().st_size if path.exists() else 0, b"")


def _file(path: Path, table: pa.Table) -> StoredFile:
    parquet.write_table(table, path)
    return _stored(path)


def test_url_ids_come_back_as_the_same_bytes_in_the_order_of_unsigned_bytes(tables: Tables) -> None:
    tables.take("addresses", pa.table([BYTES[::-1], [4, 3, 2, 1]], schema=IDS))
    rows = _rows(tables, "sorted_addresses")
    assert [row["url_id"] for row in rows] == BYTES
    assert [row["node"] for row in rows] == [1, 2, 3, 4]


def test_rows_are_read_from_all_files_and_only_the_named_columns(tables: Tables, tmp_path: Path) -> None:
    wide = pa.table({"other": ["x"], "node": pa.array([7], pa.int32()), "url_id": pa.array(BYTES[:1], pa.binary(16))})
    files = [_file(tmp_path / f"{name}.parquet", wide) for name in ("a", "b")]
    tables.read("addresses", files, IDS)
    assert tables.size("addresses") == 2
    assert _rows(tables, "sorted_addresses") == [{"url_id": BYTES[0], "node": 7}] * 2


def test_no_file_at_all_is_an_empty_table(tables: Tables) -> None:
    tables.read("addresses", [], IDS)
    tables.take("nodes", IDS.empty_table())
    assert (tables.size("addresses"), tables.size("nodes")) == (0, 0)
    assert _rows(tables, "sorted_addresses") == []


def test_rows_that_arrive_in_batches_become_one_table(tables: Tables) -> None:
    batches = [pa.record_batch([[BYTES[n]], [n]], schema=IDS) for n in (1, 0)]
    tables.take("addresses", pa.RecordBatchReader.from_batches(IDS, iter(batches)))
    assert [row["node"] for row in _rows(tables, "sorted_addresses")] == [0, 1]


def test_a_table_may_be_made_renamed_and_dropped(tables: Tables) -> None:
    pairs = pa.schema([("url_id", pa.binary(16)), ("target_id", pa.binary(16))])
    tables.take("merges", pa.table([BYTES[:3], BYTES[1:]], schema=pairs))
    for _ in range(5):  # a chain of three hops ends after two
        tables.make("further", "next_hop")
        tables.rename("further", "merges")
    tables.make("moved", "chain_ends")
    tables.drop("merges")
    tables.view("addresses", "moved_to_last")
    assert tables.size("moved") == 3
    assert {row["node"] for row in _rows(tables, "sorted_addresses")} == {1}


@pytest.fixture(autouse=True)
def moved_to_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that says which URLs have the last id as their target."""
    text = "SELECT url_id, CASE WHEN target_id > url_id THEN 1 ELSE 0 END AS node FROM moved"
    monkeypatch.setitem(statements(), "moved_to_last", text)


def test_anchor_texts_are_compared_in_small_letters_of_every_script(tables: Tables) -> None:
    texts = ["ΟΔΟΣ", "οδοσ", "İSTANBUL", "istanbul", "Straße", "STRASSE", "ДОМ", "дом", "𐐀"]
    columns = {"node": pa.array([1] * len(texts), pa.int32()), "anchor": texts, "weight": [1] * len(texts)}
    tables.take("anchor_counts", pa.table(columns))
    tables.make("anchor_texts", chars=9)
    tables.take("phrases", pa.table({"phrase": ["istanbul"]}))
    tables.make("weighted_anchors")
    tables.take("target_ids", pa.table([BYTES[:1], [1]], schema=IDS))
    found = [(row["anchor"], row["weight"]) for row in _rows(tables, "anchors", texts=9)]
    assert found == [("ΟΔΟΣ", 2), ("ДОМ", 2), ("STRASSE", 1), ("Straße", 1), ("𐐀", 1), ("istanbul", 0)]


@pytest.mark.parametrize("content", [b"", b"not Parquet at all", b"PAR1" * 40])
def test_a_file_that_is_not_what_it_should_be_is_named(tables: Tables, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pages-w00-000001.parquet"
    path.write_bytes(content)

    def read() -> None:
        tables.read("pages", [_stored(path)], IDS)
        tables.size("pages")

    assert path.name in error_line(DamagedFile, read)


def test_a_missing_file_is_named(tables: Tables, tmp_path: Path) -> None:
    missing = _stored(tmp_path / "gone.parquet")
    assert "gone.parquet" in error_line(DamagedFile, lambda: tables.read("pages", [missing], IDS))


def _versions(*rows: tuple[float, bytes | None, str]) -> pa.Table:
    """Versions of one page: their time, content and canonical URL."""
    times, contents, canonicals = zip(*rows, strict=True)
    return pa.table(
        {
            "url_id": pa.array([BYTES[0]] * len(rows), pa.binary(16)),
            "url": ["https://a.org/"] * len(rows),
            "host": ["a.org"] * len(rows),
            "fetched_at": pa.array(times, pa.float64()),
            "content_id": pa.array(contents, pa.binary(32)),
            "canonical": canonicals,
        }
    )


_SAME_TIME = [(5.0, b"\x80" * 32, "https://a.org/1"), (5.0, b"\x7f" * 32, "https://a.org/2"), (5.0, None, "")]


@pytest.mark.parametrize("rows", [_SAME_TIME, _SAME_TIME[::-1]])
def test_versions_of_the_same_time_give_the_same_page_in_any_order(
    tables: Tables, rows: list[tuple[float, bytes | None, str]]
) -> None:
    tables.take("pages", _versions((4.0, b"\xff" * 32, "https://a.org/9"), *rows))
    tables.make("latest")
    (page,) = _rows(tables, "latest")
    assert (page["fetched_at"], page["content_id"], page["canonical"]) == (5.0, b"\x80" * 32, "https://a.org/2")


def test_a_version_without_content_has_that_of_the_last_one_with_it(tables: Tables) -> None:
    tables.take("pages", _versions((4.0, b"\x01" * 32, "https://a.org/4"), (3.0, b"\x02" * 32, ""), (5.0, None, "")))
    tables.make("latest")
    (page,) = _rows(tables, "latest")
    assert (page["fetched_at"], page["content_id"], page["canonical"]) == (5.0, b"\x01" * 32, "")


@pytest.mark.parametrize("turn", [1, -1])
def test_redirects_of_the_same_time_lead_to_the_same_page_in_any_order(tables: Tables, turn: int) -> None:
    tables.take("pages", _versions((4.0, None, ""))[:0])
    tables.make("latest")
    targets, times = [BYTES[3], BYTES[1], BYTES[2]][::turn], [4.0, 5.0, 5.0][::turn]
    redirects = {
        "url_id": pa.array([BYTES[0]] * 3, pa.binary(16)),
        "target_id": pa.array(targets, pa.binary(16)),
        "seen_at": pa.array(times, pa.float64()),
    }
    tables.take("redirects", pa.table(redirects))
    tables.make("redirecting")
    tables.take("nodes", pa.table([BYTES[2:3], [7]], schema=IDS))
    tables.rename("redirecting", "merged")
    assert [row["node"] for row in _rows(tables, "addresses")] == [7, 7]
