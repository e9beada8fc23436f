"""Pages and links become tables that any Parquet reader understands, whole or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import xxhash
from pyarrow import parquet

from periplus.errors import DiskFull
from periplus.model import ArchivePosition, Image, Link, ListedPage, Page, Quality, Reason, Video
from periplus.store.checksums import file_digest
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import PageRow, place_of, segment_name
from periplus.store.segments.schema import (
    LINKS,
    PAGES,
    SCHEMA_VERSION,
    SKIMMED_PAGES,
    SKIMMED_VERSION,
    main_text,
    read_pages,
    schema_version,
)
from periplus.store.segments.segment_writer import SegmentWriter
from periplus.url import url_id
from store.records import AT, a_fetch, error_line, names_in
from store.small_disk import fill, small_disk
from store.test_durable import Trace

NAMES = {"pages": "pages-w00-000001.parquet", "links": "links-w00-000001.parquet"}
RICH = Page(
    title="Häfen 雨 \U0001f6a2",
    description="Every harbour",
    keywords="ships, harbours",
    headings=("One", "", "Zwölf"),
    text="A long coast. " * 100,
    language="de",
    canonical="https://example.org/harbours",
    noindex=True,
    links=(
        Link("https://example.org/a", "first", False),
        Link("https://example.com/b?c=d", "", True),
        Link("https://example.org/a", "again\n\x00", False),
    ),
)


def row(url: str, page: Page = RICH, offset: int = 0) -> PageRow:
    fetch = a_fetch(url, position=ArchivePosition("w00-000001.warc.gz", offset, 100))
    return PageRow(fetch, page)


def with_checksums(folder: Path, *rows: PageRow, revision: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Write one segment; returns what another reader finds in it."""
    writer = SegmentWriter(folder, 0, 1, revision)
    for entry in rows:
        writer.add(entry)
    return {segment.kind: parquet.read_table(folder / segment.name).to_pylist() for segment in writer.seal()}


def test_a_page_is_found_in_its_row(tmp_path: Path) -> None:
    (found,) = with_checksums(tmp_path, row("https://example.org/x", offset=77))["pages"]
    assert found == {
        "url_id": url_id("https://example.org/x"),
        "url": "https://example.org/x",
        "host": "example.org",
        "fetched_at": AT,
        "status": 200,
        "mime": "text/html",
        "content_id": hashlib.sha256(b"https://example.org/x").digest(),
        "title": RICH.title,
        "description": RICH.description,
        "keywords": RICH.keywords,
        "headings": list(RICH.headings),
        "text": RICH.text,
        "language": "de",
        "canonical": RICH.canonical,
        "noindex": True,
        "last_modified": "",
        "archive": "w00-000001.warc.gz",
        "offset": 77,
        "length": 100,
    }


def test_every_link_is_a_row_beside_its_page(tmp_path: Path) -> None:
    found = with_checksums(tmp_path, row("https://example.org/x"), row("https://example.net/"))["links"]
    assert [(link["source_id"], link["target"], link["anchor"], link["nofollow"]) for link in found] == [
        (url_id(url), *link) for url in ("https://example.org/x", "https://example.net/") for link in RICH.links
    ]
    assert [link["target_id"] for link in found] == [url_id(link.target) for link in RICH.links] * 2
    assert [link["target_host"] for link in found] == ["example.org", "example.com", "example.org"] * 2
    assert [link["source_host"] for link in found] == ["example.org"] * 3 + ["example.net"] * 3
    assert {link["fetched_at"] for link in found} == {AT}


def test_the_cache_of_link_ends_is_bounded(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, 0, 1)
    for number in range(2_000):
        links = tuple(Link(f"https://example.org/{number}/{one}", "", False) for one in range(100))
        writer.add(row(f"https://example.org/{number}", Page(links=links)))
    assert len(writer._ends) <= 20_000
    assert [segment.rows for segment in writer.seal()] == [2_000, 200_000]


def test_a_page_without_anything_is_a_row_of_empty_strings(tmp_path: Path) -> None:
    found = with_checksums(tmp_path, row("https://example.org/", Page()))
    (page,) = found["pages"]
    assert [page[name] for name in ("title", "description", "keywords", "text", "language", "canonical")] == [""] * 6
    assert (page["headings"], page["noindex"]) == ([], False)
    assert found["links"] == []


def test_a_page_outside_the_archive_has_no_position(tmp_path: Path) -> None:
    (page,) = with_checksums(tmp_path, PageRow(a_fetch("https://example.org/"), Page()))["pages"]
    assert (page["archive"], page["offset"], page["length"]) == (None, None, None)


@pytest.mark.parametrize("number", [255, 256, 257, 2048, 2049, 5000])
def test_more_pages_than_a_row_group_keep_their_order(number: int, tmp_path: Path) -> None:
    page = Page(text="t", links=(Link("https://example.org/", "home", False),))
    found = with_checksums(tmp_path, *(row(f"https://example.org/{n}", page, offset=n) for n in range(number)))
    assert [entry["offset"] for entry in found["pages"]] == list(range(number))
    assert [link["source_id"] for link in found["links"]] == [entry["url_id"] for entry in found["pages"]]
    assert parquet.read_metadata(tmp_path / NAMES["pages"]).num_row_groups > (number > 2048)


def test_a_segment_says_which_version_it_is(tmp_path: Path) -> None:
    for revision, pages in enumerate([SKIMMED_PAGES, PAGES]):
        with_checksums(tmp_path, row("https://example.org/"), revision=revision)
        for kind in NAMES:
            path = tmp_path / segment_name(kind, 0, 1, revision)
            assert schema_version(path) == (kind, SCHEMA_VERSION if revision else SKIMMED_VERSION)
            assert parquet.read_schema(path).equals({"pages": pages, "links": LINKS}[kind])
            assert place_of(path.name) == (0, 1, revision, 1)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\0" * 100])
def test_a_file_that_is_no_segment_has_no_version(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    assert schema_version(tmp_path / "x") is None


def test_the_manifest_says_what_the_files_hold(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, 3, 17)
    for n in range(10):
        writer.add(row(f"https://example.org/{n}"))
    for entry, rows in zip(writer.seal(), (10, 30), strict=True):
        path = tmp_path / entry.name
        assert entry.name == segment_name(entry.kind, 3, 17) == f"{entry.kind}-w03-000017.parquet"
        assert entry.rows == rows == parquet.read_metadata(path).num_rows
        assert entry.size == path.stat().st_size
        assert entry.digest == file_digest(path) == xxhash.xxh3_128_digest(path.read_bytes())


def test_nothing_can_be_seen_before_it_is_sealed(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, 0, 1)
    for n in range(3000):
        writer.add(row(f"https://example.org/{n}", Page()))
    assert names_in(tmp_path) == sorted(name + ".tmp" for name in NAMES.values())
    assert writer.pages == 3000
    assert 0 < writer.size == sum(path.stat().st_size for path in tmp_path.iterdir())
    writer.seal()
    assert names_in(tmp_path) == sorted(NAMES.values())


def test_both_files_are_durable_before_they_have_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace(monkeypatch)
    with_checksums(tmp_path, row("https://example.org/"))
    expected = []
    for name in NAMES.values():
        expected += [("fsync", name + ".tmp"), ("rename", name), ("fsync", tmp_path.name)]
    assert trace.steps == expected


@pytest.mark.parametrize("pages", [0, 5, 3000])
def test_what_is_discarded_leaves_nothing(pages: int, tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, 0, 1)
    for n in range(pages):
        writer.add(row(f"https://example.org/{n}", Page()))
    writer.discard()
    assert names_in(tmp_path) == []


def test_the_name_of_a_segment_that_was_never_listed_is_used_again(tmp_path: Path) -> None:
    with_checksums(tmp_path, row("https://example.org/old"))  # and then a kill, before the manifest knew of it
    (page,) = with_checksums(tmp_path, row("https://example.org/new"))["pages"]
    assert page["url"] == "https://example.org/new"


def test_a_full_disk_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "256k") as disk:
        writer = SegmentWriter(disk, 0, 1)
        ballast = fill(disk, leave=4096)

        def seal() -> None:
            with reporting_full_disk(disk):
                for n in range(1500):
                    writer.add(row(f"https://example.org/{n}", Page()))
                writer.seal()

        assert "No space left on device" in error_line(DiskFull, seal, exit_code=3)
        writer.discard()
        assert names_in(disk) == ["ballast"]
        ballast.unlink()
        assert len(with_checksums(disk, row("https://example.org/"))["pages"]) == 1


def test_a_full_disk_does_not_keep_a_segment_from_being_discarded(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        writer = SegmentWriter(disk, 0, 1)
        fill(disk, leave=0)
        writer.discard()
        assert names_in(disk) == ["ballast"]


def test_everything_known_about_a_page_is_in_its_row(tmp_path: Path) -> None:
    page = Page(
        text="menu\nmain text\nmore of it\nfooter",
        main=((5, 14), (15, 25)),
        language="en",
        language_certainty=0.5,
        categories=("ports", "spice"),
        images=(Image("https://example.org/a.png", "a ship", "the harbour"),),
        videos=(Video("https://example.org/a.mp4", ""),),
        published=1.5e9,
        signature=(1 << 64) - 2,
        quality=Quality(length=0.25, title=0.125),
        problem=Reason.PDF_LOCKED,
        listed=(ListedPage("https://example.org/1", 1.5e9),),
    )
    (found,) = with_checksums(tmp_path, row("https://example.org/", page), revision=1)["pages"]
    assert main_text(found["text"], found["main"]) == page.main_text == "main text\nmore of it"
    assert (found["categories"], found["language_certainty"]) == (["ports", "spice"], 0.5)
    assert found["images"] == [{"url": "https://example.org/a.png", "words": "a ship", "context": "the harbour"}]
    assert found["videos"] == [{"url": "https://example.org/a.mp4", "words": "", "context": ""}]
    assert (found["published"], found["modified"], found["signature"]) == (1.5e9, None, -2)
    assert found["quality"] == {**Quality()._asdict(), "length": 0.25, "title": 0.125}
    assert found["problem"] == "pdf_locked"
    assert found["listed"] == [{"url": "https://example.org/1", "published": 1.5e9}]


def test_a_segment_of_an_older_release_is_read_like_a_new_one(tmp_path: Path) -> None:
    with_checksums(tmp_path, row("https://example.org/", Page(title="T", text="words", main=((0, 3),))))
    path = tmp_path / NAMES["pages"]
    old = parquet.read_table(path).select(PAGES.names[: PAGES.names.index("main")])
    parquet.write_table(old, path)
    columns = ["title", "main", "text", "categories", "published", "quality", "images"]
    (found,) = next(read_pages(path, columns, 10)).to_pylist()
    assert found == {
        "title": "T",
        "main": [],
        "text": "words",
        "categories": [],
        "published": None,
        "quality": None,
        "images": [],
    }
    assert main_text(found["text"], found["main"]) == "words"


def test_images_of_an_older_release_have_no_context(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    old = pa.list_(pa.struct([("url", pa.string()), ("words", pa.string())]))
    images = pa.array([[{"url": "https://example.org/a.png", "words": "a ship"}], []], old)
    parquet.write_table(pa.table({"title": ["T", "U"], "images": images}), path)
    (batch,) = read_pages(path, ["title", "images", "videos"], 10)
    assert batch.column("images").to_pylist() == [
        [{"url": "https://example.org/a.png", "words": "a ship", "context": None}],
        [],
    ]
    assert batch.column("videos").to_pylist() == [[], []]


UNWRITABLE = [
    Page(title="lone \ud800"),
    Page(links=(Link("https://example.org/\udfff", "", False),)),
    Page(title=7),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("page", UNWRITABLE)
def test_a_page_that_cannot_be_written_costs_no_other_page(tmp_path: Path, page: Page) -> None:
    urls = [f"https://example.org/{number}" for number in range(3)]
    rows = [row(urls[0]), row(urls[1], page, 100), row(urls[2], RICH, 200)]
    found = with_checksums(tmp_path, *rows, revision=1)
    assert [entry["url"] for entry in found["pages"]] == urls
    assert [entry["title"] for entry in found["pages"]] == [RICH.title, "", RICH.title]
    assert [entry["problem"] for entry in found["pages"]] == [None, "parse_crash", None]
    assert [entry["noindex"] for entry in found["pages"]][1]
    assert len(found["links"]) == 2 * len(RICH.links)
