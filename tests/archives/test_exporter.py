"""Selected pages are exported to a WARC file that other tools read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from crawl.crawling import periplus
from periplus.archives.exporter import Selection, export_archive
from periplus.archives.importer import import_archives
from periplus.config import Settings
from periplus.errors import UsageError
from periplus.store.collection import Collection, open_collection
from store.warcs import MOMENT, page

YEAR = 365 * 86_400.0


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    source = tmp_path / "source.warc"
    old, new = page("old ship", "http://a.example/ship"), page("new ship", "http://a.example/ship")
    source.write_bytes(
        old
        + new.replace(b"2024-05-17", b"2025-05-17")
        + page("harbour", "http://sub.a.example/harbour")
        + page("lighthouse", "http://b.example/light")
    )
    import_archives(tmp_path / "home", Settings(), [source])
    return open_collection(tmp_path / "home")


def _exported(collection: Collection, selection: Selection) -> list[tuple[str, str]]:
    """The URLs and titles that another tool reads from the file."""
    file = collection.home.parent / "out.warc.gz"
    result = export_archive(collection, Settings(), selection, file)
    with file.open("rb") as stream, closing(ArchiveIterator(stream, check_digests=True)) as records:
        found = [
            (record.rec_headers["WARC-Target-URI"], record.content_stream().read().split(b"title>")[1][:-2].decode())
            for record in records
            if record.rec_type == "response"
        ]
    assert result.pages == len(found)
    assert result.bytes == file.stat().st_size
    return found


def test_everything_is_exported_without_filters(collection: Collection) -> None:
    assert _exported(collection, Selection()) == [
        ("http://a.example/ship", "old ship"),
        ("http://a.example/ship", "new ship"),
        ("http://sub.a.example/harbour", "harbour"),
        ("http://b.example/light", "lighthouse"),
    ]


@pytest.mark.parametrize(
    ("selection", "titles"),
    [
        (Selection(hosts=["a.example"]), ["old ship", "new ship", "harbour"]),
        (Selection(hosts=["B.example", "sub.a.example"]), ["harbour", "lighthouse"]),
        (Selection(after=MOMENT + 1), ["new ship"]),
        (Selection(after=MOMENT, before=MOMENT + 1), ["old ship", "harbour", "lighthouse"]),
        (Selection(before=MOMENT), []),
        (Selection(latest=True), ["new ship", "harbour", "lighthouse"]),
        (Selection(latest=True, before=MOMENT + YEAR / 2, hosts=["a.example"]), ["old ship", "harbour"]),
    ],
)
def test_pages_are_chosen_by_host_and_time(collection: Collection, selection: Selection, titles: list[str]) -> None:
    assert [title for _, title in _exported(collection, selection)] == titles


def test_what_was_exported_can_be_imported(collection: Collection, tmp_path: Path) -> None:
    _exported(collection, Selection())
    found = import_archives(tmp_path / "copy", Settings(), [tmp_path / "out.warc.gz"])
    assert (found.pages, found.broken) == (4, 0)


def test_a_file_is_never_overwritten_and_never_half_written(collection: Collection, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_bytes(b"precious")
    with pytest.raises(UsageError, match="export overwrites no file"):
        export_archive(collection, Settings(), Selection(), file)
    assert file.read_bytes() == b"precious"
    with pytest.raises(UsageError, match="Create its folder first"):
        export_archive(collection, Settings(), Selection(), tmp_path / "no" / "folder.warc.gz")


@pytest.mark.slow
def test_pages_are_chosen_by_a_query(collection: Collection, tmp_path: Path) -> None:
    assert periplus("index", "--home", collection.home).code == 0
    assert {title for _, title in _exported(collection, Selection(query="ship"))} == {"old ship", "new ship"}
    line = periplus("export", tmp_path / "x.warc.gz", "--home", collection.home, "--query", "lighthouse", "--json")
    assert line.json["pages"] == 1


def test_an_impossible_date_is_reported(collection: Collection, tmp_path: Path) -> None:
    outcome = periplus("export", tmp_path / "x.warc.gz", "--home", collection.home, "--after", "soon")
    assert outcome.code == 2
    assert "'soon' is not a date" in outcome.complaint
