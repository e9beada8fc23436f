"""`periplus doctor` says whether the database and the object store of a fleet can be used, and what to do."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from periplus.config import load
from periplus.doctor import fleet
from periplus.doctor.check import Check, Grade
from periplus.store.database.postgres import migrate
from periplus.store.database.postgres.database import PostgresDatabase
from periplus.store.objects.open_store import open_store
from postgres_server import PostgresServer
from s3_server import S3Server


def is_bad(check: Check, *words: str) -> bool:
    return check.grade is Grade.BAD and bool(check.advice) and all(word in check.found for word in words)


def test_without_a_fleet_there_is_nothing_to_check(tmp_path: Path) -> None:
    assert list(fleet.checks(load(tmp_path, {}, {}).settings.fleet)) == []


def test_both_are_checked_when_they_are_set(tmp_path: Path, postgres: str) -> None:
    storage = f"file://{tmp_path}"
    settings = load(tmp_path, {"fleet.database": postgres, "fleet.storage": storage}, {}).settings.fleet
    assert [(check.name, check.grade) for check in fleet.checks(settings)] == [
        ("database", Grade.OK),
        ("object store", Grade.OK),
    ]


def test_a_database_without_tables_and_one_with_them_are_fine(postgres: str) -> None:
    assert fleet.database(postgres).found.endswith("reachable, no tables yet")
    PostgresDatabase(postgres, create=True).close()
    check = fleet.database(postgres)
    assert check.grade is Grade.OK
    assert check.found.endswith(f"reachable, schema {migrate._migrations()[-1][0]}")


@pytest.mark.parametrize(("ahead", "words"), [(3600.0, "3,600 s ahead of"), (-60.0, "60 s behind")])
def test_a_clock_that_is_off_is_noticed(
    ahead: float, words: str, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time
    monkeypatch.setattr("periplus.store.database.postgres.connection.time.time", lambda: now() + ahead)
    check = fleet.database(postgres)
    assert (check.grade, check.advice) == (Grade.WARN, "Synchronize the clocks of all nodes with NTP.")
    assert f"the clock of this machine is {words} that of the server" in check.found


def test_a_database_of_a_later_release_is_bad(postgres: str) -> None:
    with closing(PostgresDatabase(postgres, create=True)) as database:
        database._connection.execute("UPDATE schema_version SET version = 99")
    assert is_bad(fleet.database(postgres), "schema 99")


def test_a_database_that_cannot_be_reached_is_bad_and_its_password_is_not_shown(tmp_path: Path) -> None:
    check = fleet.database(f"postgresql://me:hushhush@/crawl?host={tmp_path}")
    assert is_bad(check, "cannot be reached")
    assert "hushhush" not in check.found + check.advice


def test_a_user_that_may_not_write_is_told_what_to_grant(postgres: str, shared_postgres: PostgresServer) -> None:
    PostgresDatabase(postgres, create=True).close()
    name = "reader_" + postgres.partition("?")[0].rpartition("/")[2]
    shared_postgres.execute(f"CREATE ROLE {name} LOGIN")
    try:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"GRANT USAGE ON SCHEMA periplus TO {name}".encode())
            connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA periplus TO {name}".encode())
        assert is_bad(fleet.database(postgres.replace("postgres@", f"{name}@")), "cannot be written")
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"DROP OWNED BY {name}".encode())
    finally:
        shared_postgres.execute(f"DROP ROLE {name}")


def test_a_bucket_is_written_and_left_as_it_was(bucket: str) -> None:
    assert fleet.object_store(bucket, is_search_node=False).grade is Grade.OK
    assert [*open_store(bucket).list("doctor")] == []


def test_a_search_node_only_reads(bucket: str, s3: S3Server) -> None:
    before = len(s3.requests)
    assert fleet.object_store(bucket, is_search_node=True).grade is Grade.OK
    assert {request.split()[0] for request in s3.requests[before:]} == {"GET"}


def test_a_bucket_that_is_missing_or_does_not_answer_is_bad(
    bucket: str, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_bad(fleet.object_store("s3://no-such-bucket-anywhere/x", is_search_node=False))
    monkeypatch.setattr(fleet, "_PATIENCE", 0.1)
    with s3.answering(503):
        assert is_bad(fleet.object_store(bucket, is_search_node=False))
