"""Queries of readers are suggested only when they were searched on five different days."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.search.suggest import query_log
from periplus.search.suggest.query_log import QueryLog


class Calendar:
    """A clock that moves by days."""

    def __init__(self) -> None:
        self.day = 20_000

    def __call__(self) -> float:
        return 86_400.0 * self.day + 1


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
def log(tmp_path: Path, calendar: Calendar) -> QueryLog:
    return QueryLog(tmp_path / "cache" / "queries.db", calendar)


def search_on(log: QueryLog, calendar: Calendar, days: int, *queries: str) -> None:
    for _ in range(days):
        for query in queries:
            log.add(query)
        calendar.day += 1


def test_a_query_of_five_days_is_suggested(log: QueryLog, calendar: Calendar) -> None:
    search_on(log, calendar, 5, "harbour master", "  Harbour   MASTER ")
    search_on(log, calendar, 4, "harbour secrets")
    assert log.beginning("Harb", 5) == ["harbour master"]


def test_a_query_that_is_repeated_on_one_day_counts_once(log: QueryLog, calendar: Calendar, tmp_path: Path) -> None:
    for _ in range(5):
        log.add("harbour")
        of_another_process = QueryLog(tmp_path / "cache" / "queries.db", calendar)
        of_another_process.add("harbour")
    assert log.beginning("h", 5) == []


def test_the_most_frequent_query_comes_first(log: QueryLog, calendar: Calendar) -> None:
    search_on(log, calendar, 5, "harbour a", "harbour b")
    search_on(log, calendar, 1, "harbour b")
    assert log.beginning("harbour ", 5) == ["harbour b", "harbour a"]
    assert log.beginning("harbour ", 1) == ["harbour b"]


def test_what_is_typed_already_is_not_suggested(log: QueryLog, calendar: Calendar) -> None:
    search_on(log, calendar, 5, "harbour", "harbours")
    assert log.beginning("harbour", 5) == ["harbours"]
    assert log.beginning("harbour ", 5) == []


@pytest.mark.parametrize("query", ["", " ", "x" * 81])
def test_empty_and_long_queries_are_not_stored(log: QueryLog, calendar: Calendar, query: str) -> None:
    search_on(log, calendar, 5, query)
    assert log.beginning("", 5) == []


def test_any_text_can_be_logged(log: QueryLog, calendar: Calendar) -> None:
    search_on(log, calendar, 5, "a'b\x00c\udcff%_")
    assert log.beginning("a'", 5) == ["a'b\x00c?%_"]


def test_a_query_of_long_ago_is_forgotten(tmp_path: Path, calendar: Calendar) -> None:
    path = tmp_path / "queries.db"
    search_on(QueryLog(path, calendar), calendar, 5, "harbour")
    calendar.day += 400
    assert QueryLog(path, calendar).beginning("h", 5) == []


def test_the_log_is_bounded_and_keeps_the_frequent_queries(
    log: QueryLog, calendar: Calendar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_log, "_MOST_QUERIES", 20)
    monkeypatch.setattr(query_log, "_REMOVED_AT_ONCE", 10)
    search_on(log, calendar, 5, "harbour")
    search_on(log, calendar, 1, *(f"once {number}" for number in range(100)))
    rows = log._file.attempt(lambda connection: connection.execute("SELECT COUNT(*) FROM queries").fetchone())
    assert rows is not None
    assert rows[0] <= 30
    assert log.beginning("h", 5) == ["harbour"]


def test_a_damaged_log_begins_anew(tmp_path: Path, calendar: Calendar) -> None:
    path = tmp_path / "queries.db"
    path.write_bytes(b"no database" * 100)
    log = QueryLog(path, calendar)
    search_on(log, calendar, 6, "harbour")
    assert log.beginning("h", 5) == ["harbour"]


def test_only_the_owner_can_read_the_log(log: QueryLog, tmp_path: Path) -> None:
    log.add("harbour")
    assert (tmp_path / "cache" / "queries.db").stat().st_mode & 0o777 == 0o600
