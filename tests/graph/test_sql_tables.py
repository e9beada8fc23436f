"""The SQL of the link analysis is found by the names of its blocks."""

from __future__ import annotations

from pathlib import Path

from periplus.graph.sql_tables import statements


def test_every_block_of_sql_is_found_by_its_name() -> None:
    folder = Path(__file__).parents[2] / "src" / "periplus" / "graph"
    lines = [line for path in folder.glob("*.sql") for line in path.read_text().splitlines()]
    named = [line.removeprefix("-- name: ") for line in lines if line.startswith("-- name: ")]
    assert sorted(statements()) == sorted(named)
