"""The catalog's file opens, is brought up to date, or says in one line why it cannot be used."""

from __future__ import annotations

import ast
import multiprocessing
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from threading import Timer

import pytest

from index.damage import zero_middle
from periplus.errors import CollectionError, DamagedFile, NewerFormat
from periplus.store.database import sqlite_database as database
from periplus.store.database.sql_files import read_statements
from periplus.store.database.sqlite_database import SqliteDatabase, require_sound
from store.records import error_line, names_in

SOURCE = Path(str(resources.files("periplus")))
CATALOG = "periplus.store.catalog"
FOLDER = SOURCE / "store/catalog"
CODE = [*FOLDER.glob("*.py"), *(SOURCE / "store/database").glob("*.py")]
LATEST = len(list((FOLDER / "migrations").glob("*.sql")))


@contextmanager
def opened(path: Path, *, create: bool = True) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(path, create=create)) as found:
        yield found


def schema(path: Path) -> tuple[int, set[str]]:
    """Version and tables of a database, as another program sees them."""
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return version, {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def seeds(found: SqliteDatabase) -> list[str]:
    return [url for (url,) in found.rows("seeds")]


# --- statements ---


def literals() -> set[str]:
    """Every string in the code of the catalog and of its database."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in CODE]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


POSTGRES = "periplus.store.database.postgres"


def statements() -> dict[str, str]:
    """All statements of the catalog."""
    names = [path.name for path in FOLDER.glob("*.sql")]
    return {name: text for file in names for name, text in read_statements(CATALOG, file).items()}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.sql")), ids=lambda path: path.name)
def test_every_statement_is_read_and_used(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = read_statements(CATALOG, path.name)
    assert [f"-- name: {name}" for name in found] == [line for line in lines if line.startswith("-- name:")]
    assert found.keys() - literals() == set()


def test_every_statement_the_catalog_asks_for_exists() -> None:
    asked = set()
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in {"run", "many", "row", "rows", "record", "records", "_requeue_in"}:
                asked.add(node.args[0].value)
            elif called == "ids":
                asked.update(name.value for name in node.args[:2] if isinstance(name, ast.Constant))
    of_fleets = {name for file in ("uploads", "fleet") for name in read_statements(POSTGRES, f"{file}.sql")}
    assert asked <= statements().keys() | of_fleets
    assert read_statements(CATALOG, "catalog.sql").keys() <= asked


def test_every_statement_fits_the_schema(tmp_path: Path) -> None:
    with opened(tmp_path / "crawl.db"), closing(sqlite3.connect(tmp_path / "crawl.db")) as connection:
        for statement in read_statements(CATALOG, "catalog.sql").values():
            holes = max(statement.count("?"), 9)
            for number in range(holes + 1):
                try:
                    connection.execute(f"EXPLAIN {statement}", [None] * number)
                    break
                except sqlite3.ProgrammingError as error:
                    assert "bindings" in str(error), statement  # noqa: PT017
            else:
                pytest.fail(statement)


# --- opening ---


def test_a_new_database_has_the_latest_schema_and_waits_for_the_disk(tmp_path: Path) -> None:
    with opened(tmp_path / "crawl.db") as found:
        version, tables = schema(tmp_path / "crawl.db")
        assert version == LATEST
        assert {"hosts", "urls", "fetches", "archives", "segments", "robots", "counters", "runs"} <= tables
        assert found._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert found._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert found.check() == []


def test_what_was_written_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    for create in (True, False):
        with opened(tmp_path / "crawl.db", create=create) as found:
            found.run("add_seed", "https://example.org/", 1.0)
            assert seeds(found) == ["https://example.org/"]
    assert names_in(tmp_path) == ["crawl.db"]


def test_migrations_are_numbered_without_gaps() -> None:
    names = names_in(FOLDER / "migrations")
    assert [int(name[:4]) for name in names if name.endswith(".sql")] == list(range(1, LATEST + 1))


def test_pages_of_a_collection_without_a_schedule_are_due_a_day_after_their_visit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, migrations = tmp_path / "crawl.db", database._migrations(CATALOG)
    with monkeypatch.context() as earlier:
        earlier.setattr(database, "_migrations", lambda _: migrations[:3])
        SqliteDatabase(path, create=True).close()
    row = "(?, 1, ?, 'ok', 0, 0, 0, 'link', '', 0, 0, 0, 1000, 1)"
    columns = (
        "url, host_id, state, reason, depth, priority, due, admitted, via, redirects, attempts, first_seen, changed"
    )
    with closing(sqlite3.connect(path)) as old, old:
        old.executemany(
            f"INSERT INTO urls ({columns}, visits) VALUES {row}", [(f"https://a.test/{n}", n) for n in range(4)]
        )
    with opened(path) as found:
        plans = [found.record("url", f"https://a.test/{n}") or {} for n in range(4)]
    assert [plan["due"] for plan in plans] == [0, 87_400, float("inf"), 87_400]  # queued, done, refused, failed
    assert [plan["visited"] for plan in plans] == [0, 1_000, 0, 1_000]


def test_a_migration_that_fails_leaves_the_old_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "crawl.db"
    with opened(path) as found:
        found.run("add_seed", "https://example.org/", 1.0)
    before = schema(path)
    good = database._migrations(CATALOG)
    broken = (LATEST + 1, "CREATE TABLE more (x); CREATE TABLE seeds (x);")
    monkeypatch.setattr(database, "_migrations", lambda _: [*good, broken])
    assert "seeds already exists" in error_line(CollectionError, lambda: SqliteDatabase(path))
    assert schema(path) == before
    monkeypatch.setattr(database, "_migrations", lambda _: [*good, (LATEST + 1, "CREATE TABLE more (x);")])
    with opened(path) as found:
        assert seeds(found) == ["https://example.org/"]
    assert schema(path) == (LATEST + 1, before[1] | {"more"})


def test_two_programs_that_open_an_old_catalog_at_the_same_time_migrate_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, migrations = tmp_path / "crawl.db", database._migrations(CATALOG)
    with monkeypatch.context() as earlier:
        earlier.setattr(database, "_migrations", lambda _: migrations[:1])
        with opened(path) as found:
            found.run("add_seed", "https://example.org/", 1.0)
    both_have_looked, looked = threading.Barrier(2, timeout=10), threading.local()

    def after_both_have_looked(_: str) -> list[tuple[int, str]]:
        if not hasattr(looked, "once"):
            looked.once = True
            both_have_looked.wait()
        return migrations

    monkeypatch.setattr(database, "_migrations", after_both_have_looked)

    def look() -> list[str]:
        with opened(path, create=False) as found:
            return seeds(found)

    with ThreadPoolExecutor(2) as threads:
        found_by = [threads.submit(look) for _ in range(2)]
        assert [found.result(timeout=20) for found in found_by] == [["https://example.org/"]] * 2
    assert schema(path)[0] == LATEST


def test_a_reader_refuses_an_older_schema_and_does_not_migrate_it(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    SqliteDatabase(path, create=True).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(CollectionError, match="has schema 1"):
        SqliteDatabase(path, read_only=True)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%41", "a b"])
def test_any_folder_name_can_be_opened(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    SqliteDatabase(folder / "crawl.db", create=True).close()
    SqliteDatabase(folder / "crawl.db", read_only=True).close()
    assert (folder / "crawl.db").exists()


def test_a_database_of_a_later_release_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    with opened(path) as found:
        found._connection.execute(f"PRAGMA user_version = {LATEST + 1}")
    content = path.read_bytes()
    line = error_line(NewerFormat, lambda: SqliteDatabase(path))
    assert f"has schema {LATEST + 1}: this release supports schemas up to {LATEST}. Use a later release" in line
    assert path.read_bytes() == content
    assert names_in(tmp_path) == ["crawl.db"]


@pytest.mark.parametrize(
    "content", [b"not a database", b"\0" * 8192, random.Random(1).randbytes(8192)], ids=["text", "zeros", "noise"]
)
@pytest.mark.parametrize("create", [True, False])
def test_a_file_of_something_else_is_called_damaged(content: bytes, create: bool, tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    path.write_bytes(content)
    line = error_line(DamagedFile, lambda: SqliteDatabase(path, create=create))
    assert line.startswith(f"{path} is damaged: file is not a database. Run `periplus repair`")
    assert path.read_bytes() == content


@pytest.mark.parametrize("present", [True, False])
def test_without_a_catalog_there_is_nothing_to_read(present: bool, tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    if present:
        path.touch()
    line = error_line(DamagedFile, lambda: SqliteDatabase(path))
    assert line.startswith(f"{path} is missing or empty: the collection has no catalog. `periplus repair` restores it")
    assert path.exists() is present
    with opened(path):  # the crawl may make one
        pass


def test_a_path_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    line = error_line(CollectionError, lambda: SqliteDatabase(tmp_path / "none" / "crawl.db", create=True))
    assert line == f"{tmp_path / 'none' / 'crawl.db'} cannot be used: unable to open database file"


def with_many_seeds(path: Path) -> bytes:
    with opened(path) as found, found.transaction():
        found.many("add_seed", ((f"https://example.org/{number}", 1.0) for number in range(5000)))
    return path.read_bytes()


@pytest.mark.parametrize("fraction", [0.3, 0.5, 0.9])
def test_a_file_cut_short_is_called_damaged(fraction: float, tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    data = with_many_seeds(path)
    path.write_bytes(data[: int(len(data) * fraction)])
    assert "is damaged: database disk image is malformed" in error_line(DamagedFile, lambda: SqliteDatabase(path))


def test_pages_that_became_zeros_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    data = with_many_seeds(path)
    path.write_bytes(data[: len(data) // 2] + bytes(8192) + data[len(data) // 2 + 8192 :])
    with opened(path, create=False) as found:
        assert "is damaged: database disk image is malformed" in error_line(DamagedFile, lambda: seeds(found))
        assert found.check()


def instant(_seconds: float, interrupt: Callable[[], None]) -> Timer:
    """A timer that has expired when it was started."""
    interrupt()
    return Timer(0, lambda: None)


def test_the_quick_check_finds_damage_and_does_not_write(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    with_many_seeds(path)
    require_sound(path)
    zero_middle(path)
    content = path.read_bytes()
    line = error_line(DamagedFile, lambda: require_sound(path))
    assert line.startswith(f"{path} is damaged: ")
    assert line.endswith("Run `periplus repair`.")
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"not a database", b"\0" * 8192, b"SQLite format 3\0" + b"\7" * 8000])
def test_the_quick_check_of_something_else_finds_damage(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "crawl.db").write_bytes(content)
    assert "crawl.db is damaged: " in error_line(DamagedFile, lambda: require_sound(tmp_path / "crawl.db"))


def test_a_missing_or_empty_file_needs_no_quick_check(tmp_path: Path) -> None:
    require_sound(tmp_path / "crawl.db")
    (tmp_path / "crawl.db").touch()
    require_sound(tmp_path / "crawl.db")
    assert names_in(tmp_path) == ["crawl.db"]


def test_a_quick_check_that_takes_too_long_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "crawl.db"
    with_many_seeds(path)
    zero_middle(path)
    monkeypatch.setattr(database, "Timer", instant)
    require_sound(path)


def test_a_statement_is_interrupted_in_time() -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with closing(sqlite3.connect(":memory:")) as connection, database._interrupted_after(connection, 0.02) as is_late:
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            connection.execute(endless)
        assert is_late()
    assert not any(isinstance(thread, Timer) for thread in threading.enumerate())


# --- transactions ---


def test_a_transaction_that_fails_leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    undone = []
    with opened(tmp_path / "crawl.db") as found:

        def fail() -> None:
            with found.transaction(undo=lambda: undone.append(1)):
                found.run("add_seed", "https://example.org/lost", 1.0)
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert (seeds(found), undone) == ([], [1])
        with found.transaction(undo=lambda: undone.append(2)):
            found.run("add_seed", "https://example.org/kept", 1.0)
        assert (seeds(found), undone) == (["https://example.org/kept"], [1])


def test_a_transaction_that_sqlite_rolled_back_itself_is_undone_too(tmp_path: Path) -> None:
    undone = []
    with opened(tmp_path / "crawl.db") as found:

        def fail() -> None:
            with found.transaction(undo=lambda: undone.append(1)):
                found._connection.execute("ROLLBACK")  # as SQLite does when the disk is full
                raise KeyError

        with pytest.raises(KeyError):
            fail()
    assert undone == [1]


def test_a_writer_gets_an_error_when_another_program_locks_the_catalog(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    with opened(path) as found, closing(sqlite3.connect(path, isolation_level=None)) as other:
        found._connection.execute("PRAGMA busy_timeout = 10")
        other.execute("BEGIN IMMEDIATE")
        line = error_line(CollectionError, found.transaction().__enter__)
        assert line == f"{path} cannot be used: database is locked"
        other.execute("ROLLBACK")
        with found.transaction():
            found.run("add_seed", "https://example.org/", 1.0)
        assert seeds(found) == ["https://example.org/"]


def write_often(path: Path, writer: int) -> None:
    with opened(path) as found:
        found._connection.execute("PRAGMA busy_timeout = 20")
        for number in range(10):
            with found.transaction():
                found.run("add_seed", f"https://example.org/{writer}/{number}", 1.0)
                time.sleep(0.004)


@pytest.mark.slow
def test_many_writers_wait_for_each_other_however_long_it_takes(tmp_path: Path) -> None:
    path, context = tmp_path / "crawl.db", multiprocessing.get_context("fork")
    with opened(path):
        pass
    writers = [context.Process(target=write_often, args=(path, number)) for number in range(32)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0] * 32
    with opened(path) as found:
        assert len(seeds(found)) == 32 * 10


def test_a_writer_that_was_killed_keeps_no_other_waiting(tmp_path: Path) -> None:
    path, reader = tmp_path / "crawl.db", multiprocessing.Event()
    with opened(path):
        pass

    def begin() -> None:
        with opened(path) as found, found.transaction():
            reader.set()
            time.sleep(60)

    writer = multiprocessing.get_context("fork").Process(target=begin)
    writer.start()
    assert reader.wait(20)
    writer.kill()
    writer.join()
    with opened(path) as found, found.transaction():
        found.run("add_seed", "https://example.org/", 1.0)


def test_a_bug_of_ours_is_not_reported_as_damage(tmp_path: Path) -> None:
    with opened(tmp_path / "crawl.db") as found, pytest.raises(sqlite3.ProgrammingError):
        found.run("add_seed")


def test_a_transaction_that_a_kill_left_unfinished_is_undone_before_the_check(tmp_path: Path) -> None:
    """As in the first moments of a new collection: the database is not in WAL mode yet."""
    path = tmp_path / "crawl.db"
    program = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('PRAGMA cache_size=1'); c.execute('CREATE TABLE t (x)'); c.execute('BEGIN');"
        "c.executemany('INSERT INTO t VALUES (?)', [('x' * 1000,)] * 500); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert path.with_name("crawl.db-journal").stat().st_size
    require_sound(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_damaged_text_in_a_message_of_sqlite_is_damage(tmp_path: Path) -> None:
    """SQLite quotes the damaged schema, and Python cannot decode the message."""
    path = tmp_path / "crawl.db"
    SqliteDatabase(path, create=True).close()
    data = path.read_bytes()
    assert data.count(b"CREATE TABLE hosts (") == 1
    path.write_bytes(data.replace(b"CREATE TABLE hosts (", b"CREATE TABLE hosts \xff"))
    for act in (lambda: require_sound(path), lambda: SqliteDatabase(path)):
        assert "crawl.db is damaged" in error_line(DamagedFile, act)


def test_a_damaged_name_in_the_schema_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    with opened(path):
        pass
    path.write_bytes(path.read_bytes().replace(b"started   REAL NOT NULL", b"startfd   REAL NOT NULL"))
    with opened(path, create=False) as found, pytest.raises(DamagedFile, match=r"crawl\.db is damaged"):
        found.row("worker_rows")
