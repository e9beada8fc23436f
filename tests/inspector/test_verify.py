"""`verify` finds every kind of damage and describes it in one line."""

from __future__ import annotations

import random
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawl.crawling import reach, run_crawl, sound, typed
from periplus.inspector.verify import Problem, verify
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, hostile, mesh

SEED = "http://a.test/"
FILES = {
    "collection.json": "collection.json",
    "crawl.db": "crawl.db",
    "archive": "archive/w00-000001.warc.gz",
    "pages": "segments/pages-w00-000001.parquet",
    "links": "segments/links-w00-000001.parquet",
}


@pytest.fixture(scope="module")
def web() -> Iterator[TestWeb]:
    odd = {
        "/": Page(links=["/gone", "/moved", "/late", "http://b.test/"]),
        "/gone": Page(status=404),
        "/moved": Page(redirect="/end"),
        "/end": Page("End"),
        "/late": Page(handler=hostile.in_turn(Page(status=500, body="not now"), Page("Late"))),
    }
    with TestWeb([Site("a.test", odd), mesh("b.test", 30)]) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(web: TestWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled") / "home"
    run_crawl(web, home, SEED, "http://b.test/")
    return home


@pytest.fixture
def home(crawled: Path, tmp_path: Path) -> Path:
    """A copy of an undamaged collection, for a test to damage."""
    shutil.copytree(crawled, tmp_path / "home")
    return tmp_path / "home"


def problems(home: Path) -> list[Problem]:
    return verify(open_collection(home)).problems


def sql(home: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(home / "crawl.db") as database:
        database.execute(statement, values)
    database.close()


def delete(path: Path) -> None:
    path.unlink()


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    """One bit, at a place that means something: a catalog is mostly empty pages."""
    data = bytearray(path.read_bytes())
    # The first page of a database names every table; the marker begins with {"format".
    data[{"crawl.db": 100, "collection.json": 3}.get(path.name, len(data) // 2)] ^= 1
    path.write_bytes(data)


DAMAGES = [delete, zero, empty, halve, flip]


# -- undamaged -----------------------------------------------------------------------------------------------------


def test_a_sound_collection_has_no_problems_and_says_what_was_looked_at(crawled: Path) -> None:
    findings = sound(crawled)
    assert findings.report() == {
        "ok": True,
        "checked": {"records": 36, "segments": 2, "pages": 33, "urls": 35},
        "problems": [],
        "waiting": [],
    }


def test_looking_changes_nothing(home: Path) -> None:
    def content() -> dict[Path, bytes]:
        files = [path for path in home.rglob("*") if path.is_file() and path.name != "crawl.lock"]
        return {path: path.read_bytes() for path in files}

    before = content()
    assert typed("verify", "--home", home).code == 0
    assert content() == before


def test_bytes_that_were_never_acknowledged_are_no_problem(home: Path) -> None:
    """That is what a killed run leaves behind."""
    warc = home / FILES["archive"]
    warc.write_bytes(warc.read_bytes() + b"half a record")
    (home / "segments" / "pages-w00-000002.parquet.tmp").write_bytes(b"half a segment")
    sound(home)


# -- damaged files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", FILES)
def test_verify_names_the_damaged_file_in_one_line(home: Path, kind: str, damage: Callable[[Path], None]) -> None:
    damage(home / FILES[kind])
    outcome = typed("verify", "--home", home)
    assert outcome.code == 1, outcome
    assert FILES[kind] in outcome.complaint


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize(
    "command", [("status",), ("status", "--json"), ("inspect", "url", SEED), ("config", "show"), ("crawl", SEED)]
)
def test_every_other_command_answers_or_complains_in_one_line(
    web: TestWeb, home: Path, command: tuple[str, ...], kind: str, damage: Callable[[Path], None]
) -> None:
    damage(home / FILES[kind])
    archive = {path.name: path.stat().st_size for path in (home / "archive").iterdir()}
    outcome = typed(*command, "--home", home, *(reach(web) if command[0] == "crawl" else ()))
    assert outcome.code in (0, 1), outcome
    assert "Traceback" not in outcome.out + outcome.err
    if outcome.code:
        assert outcome.complaint
    else:
        assert outcome.err == ""
        assert outcome.out
    for name, size in archive.items():  # whatever happened, nothing that was left is destroyed
        assert (home / "archive" / name).stat().st_size >= size


def test_json_lists_every_problem(home: Path) -> None:
    flip(home / FILES["pages"])
    delete(home / FILES["links"])
    outcome = typed("verify", "--home", home, "--json")
    assert outcome.code == 1
    found = outcome.json
    assert found["ok"] is False
    assert {"where": FILES["pages"], "what": "the content does not match its checksum"} in found["problems"]
    assert {"where": FILES["links"], "what": "the file is missing"} in found["problems"]
    assert "problems found" in outcome.complaint


def test_a_flipped_bit_of_the_archive_is_found_or_changes_nothing(home: Path) -> None:
    """Only gzip's own header, which no reader looks at, may change unnoticed."""
    warc = home / FILES["archive"]
    sane = warc.read_bytes()
    dice = random.Random(7)
    for _ in range(60):
        data = bytearray(sane)
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        warc.write_bytes(data)
        assert problems(home) or unpacked(data) == unpacked(sane)


def unpacked(data: bytes | bytearray) -> list[bytes]:
    members, left = [], bytes(data)
    while left:
        machine = zlib.decompressobj(31)
        members.append(machine.decompress(left))
        left = machine.unused_data
    return members


# -- rows that do not agree -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "where", "what"),
    [
        ("UPDATE counters SET value = value + 1 WHERE name = 'done'", "crawl.db", "the counter 'done' says"),
        ("DELETE FROM urls WHERE url = 'http://a.test/end'", "crawl.db", "the counter 'known' says"),
        ("DELETE FROM fetches WHERE status = 404", FILES["archive"], "is not in the catalog"),
        ("UPDATE fetches SET status = 200 WHERE status = 404", FILES["archive"], "status 404, the catalog says 200"),
        ("UPDATE fetches SET url = 'http://a.test/x' WHERE status = 404", FILES["archive"], "the archive has"),
        ("UPDATE fetches SET length = 7 WHERE status = 404", FILES["archive"], "the catalog says 7"),
        ("UPDATE fetches SET bytes = 7 WHERE status = 404", FILES["archive"], "the catalog says 7"),
        ("UPDATE fetches SET content_id = x'00' WHERE url = 'http://a.test/end'", FILES["archive"], "not the one"),
        ("UPDATE fetches SET offset = offset + 1 WHERE status = 404", FILES["archive"], "is not in the catalog"),
        ("UPDATE archives SET committed = committed + 9", FILES["archive"], "were committed"),
        ("UPDATE segments SET rows = 1 WHERE kind = 'pages'", FILES["pages"], "33 rows, the manifest says 1"),
        ("UPDATE segments SET kind = 'links' WHERE kind = 'pages'", FILES["pages"], "schema"),
        ("DELETE FROM segments WHERE kind = 'pages'", "segments", "is in 0 segments instead of one"),
    ],
)
def test_rows_and_files_that_disagree_are_reported(home: Path, statement: str, where: str, what: str) -> None:
    sql(home, statement)
    found = problems(home)
    assert any(problem.where == where and what in problem.what for problem in found), found


def test_a_page_in_two_segments_is_reported(home: Path) -> None:
    shutil.copy(home / FILES["pages"], home / "segments" / "pages-w00-000002.parquet")
    sql(
        home,
        "INSERT INTO segments (name, kind, worker, number, rows, bytes, digest, made) "
        "SELECT 'pages-w00-000002.parquet', kind, worker, 2, rows, bytes, digest, made "
        "FROM segments WHERE kind = 'pages'",
    )
    assert any("is in 2 segments instead of one" in problem.what for problem in problems(home))
