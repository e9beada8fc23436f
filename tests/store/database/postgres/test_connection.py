"""Whoever cannot use a database is told why and what to do, and no message has a password."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from periplus.errors import CollectionError, DatabaseUnavailable, DiskFull, NewerFormat, NoCollection, PeriplusError
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.database.postgres import connection
from periplus.store.database.postgres.connection import place_of
from periplus.store.database.postgres.database import PostgresDatabase
from postgres_server import PostgresServer
from store.records import error_line

SECRET = "hunter2 & co"
QUOTED = "hunter2%20%26%20co"


def line_of(kind: type[PeriplusError], url: str, *, create: bool = True) -> str:
    return error_line(kind, lambda: PostgresDatabase(url, create=create, patience=0.1))


def test_a_server_that_does_not_run_is_named_without_the_password(tmp_path: Path) -> None:
    line = line_of(DatabaseUnavailable, f"postgresql://me:{QUOTED}@/web?host={tmp_path}")
    assert line.startswith(f"postgresql://{tmp_path}/web cannot be reached: ")
    assert "Start the server, or correct `fleet.database`" in line
    assert SECRET not in line
    assert QUOTED not in line


def test_a_port_without_a_server_is_named() -> None:
    line = line_of(DatabaseUnavailable, f"postgresql://me:{QUOTED}@127.0.0.1:1/web")
    assert line.startswith("postgresql://127.0.0.1:1/web cannot be reached: ")
    assert "hunter2" not in line


def test_a_wrong_password_is_called_so(shared_postgres: PostgresServer) -> None:
    shared_postgres.execute("DROP ROLE IF EXISTS locked")
    shared_postgres.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
    url = shared_postgres.url(user=f"locked:{QUOTED}")
    line = line_of(CollectionError, url)
    assert "cannot be opened: user or password is wrong. Correct them in `fleet.database`" in line
    assert "hunter2" not in line
    assert "the server wants a password. Add" in line_of(CollectionError, shared_postgres.url(user="locked"))


def test_a_missing_database_or_user_is_named_with_the_command_that_creates_it(shared_postgres: PostgresServer) -> None:
    line = line_of(CollectionError, shared_postgres.url("nowhere"))
    assert 'database "nowhere" does not exist' in line
    assert line.endswith("Correct the database in `fleet.database`, or create it with `createdb`.")
    line = line_of(CollectionError, shared_postgres.url(user="nobody"))
    assert 'role "nobody" does not exist' in line
    assert line.endswith("Correct the role in `fleet.database`, or create it with `createuser`.")


def test_a_server_with_no_free_connection_is_reported_as_such(own_postgres: PostgresServer) -> None:
    own_postgres._settings["max_connections"] = "8"
    own_postgres.restart()
    others = [psycopg.connect(own_postgres.url()) for _ in range(8)]
    line = line_of(DatabaseUnavailable, own_postgres.url())
    assert "has no free connection" in line
    assert "Raise `max_connections` of the server" in line
    for other in others:
        other.close()


@pytest.mark.parametrize("url", ["postgresql://a b/c", "postgresql://host/name?colour=red"])
def test_what_is_no_url_of_a_database_is_refused(url: str) -> None:
    assert "fleet.database is not the URL of a database" in line_of(CollectionError, url)


@pytest.mark.parametrize("rest", ["hun%zzter2@host/name", "hunter2@[host/name"])
def test_a_url_with_a_mistake_is_shown_without_the_password(rest: str) -> None:
    line = line_of(CollectionError, f"postgresql://me:{rest}")
    assert "fleet.database is not the URL of a database" in line
    assert rest.partition("@")[0] not in line


def test_a_database_without_tables_is_used_by_nobody_but_a_crawl(postgres: str) -> None:
    line = line_of(NoCollection, postgres, create=False)
    assert "has no catalog: its tables do not exist. `periplus crawl URL` or `periplus up` creates them" in line
    error_line(NoCollection, lambda: PostgresDatabase(postgres, read_only=True))
    PostgresDatabase(postgres, create=True).close()
    PostgresDatabase(postgres).close()


def test_tables_of_a_later_release_are_not_touched(postgres: str) -> None:
    with closing(PostgresDatabase(postgres, create=True)) as database:
        database._connection.execute("UPDATE schema_version SET version = 99")
    for read_only in (True, False):
        line = error_line(NewerFormat, lambda read_only=read_only: PostgresDatabase(postgres, read_only=read_only))  # type: ignore[misc]
        assert "has schema 99: this release supports schemas up to" in line
        assert "Use a later release" in line


def test_a_reader_cannot_write(postgres: str) -> None:
    PostgresDatabase(postgres, create=True).close()
    with closing(PostgresDatabase(postgres, read_only=True)) as reader:
        line = error_line(CollectionError, lambda: reader.run("add_seed", "https://a.example/", 1.0))
    assert "cannot be written: cannot execute INSERT in a read-only transaction" in line


def test_a_user_without_rights_is_told_which_are_missing(shared_postgres: PostgresServer, postgres: str) -> None:
    shared_postgres.execute("DROP ROLE IF EXISTS guest")
    shared_postgres.execute("CREATE ROLE guest LOGIN")
    line = line_of(CollectionError, postgres.replace("postgres@", "guest@"))
    assert "cannot be written: permission denied" in line
    assert "Grant the user all rights" in line


def test_a_user_who_may_not_look_into_the_schema_is_told_so(shared_postgres: PostgresServer, postgres: str) -> None:
    shared_postgres.execute("DROP ROLE IF EXISTS guest")
    shared_postgres.execute("CREATE ROLE guest LOGIN")
    PostgresDatabase(postgres, create=True).close()
    line = line_of(CollectionError, postgres.replace("postgres@", "guest@"))
    assert "cannot be read: the user may not use its schema. Grant the user CREATE" in line


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    collection = Collection(tmp_path, "postgresql://localhost/web")
    line = error_line(PeriplusError, lambda: open_catalog(collection))
    assert "fleet.database needs the library psycopg" in line
    assert "pip install 'periplus[postgres]'" in line


def test_a_full_disk_of_the_server_is_reported_like_one_of_this_machine() -> None:
    found = connection.failure("postgresql://me:secret@host/web", psycopg.errors.DiskFull("could not extend file"))
    assert isinstance(found, DiskFull)
    assert "no space left on the disk of postgresql://host/web" in str(found)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://me:secret@db.example:5433/web?sslmode=require", "postgresql://db.example:5433/web"),
        ("postgresql://db.example/web", "postgresql://db.example/web"),
        ("postgresql:///web", "postgresql://localhost/web"),
        ("postgresql://me@a.example,b.example/web?password=secret", "postgresql://a.example,b.example/web"),
    ],
)
def test_the_place_of_a_database_has_no_password(url: str, place: str) -> None:
    assert place_of(url) == place


def test_several_collections_share_a_database_in_schemas_of_their_own(postgres: str) -> None:
    urls = [f"{postgres}&options=-csearch_path%3D{name}" for name in ("one", "two")]
    for number, url in enumerate(urls):
        with closing(PostgresDatabase(url, create=True)) as database:
            database.run("add_seed", f"https://example.org/{number}", 1.0)
    with closing(PostgresDatabase(urls[1], read_only=True)) as reader:
        assert [*reader.rows("seeds")] == [("https://example.org/1",)]
