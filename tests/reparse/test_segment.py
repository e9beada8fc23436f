"""Does a page that cannot be parsed keep its previous row?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, periplus, run_crawl, segment_rows, settings_for, sound, typed
from index.damage import WAYS, change, flip
from periplus.inspector.verify import verify
from periplus.model import ArchivePosition, Decision, Fetch, Image, Link, ListedPage, Quality, Reason, Verdict, Video
from periplus.model import Page as ReadPage
from periplus.parse.sandbox import parent
from periplus.reparse import Reparsed, reparse
from periplus.reparse.previous_rows import PreviousRows
from periplus.store.checksums import segment_file
from periplus.store.collection import open_collection
from periplus.store.manifest import PageRow
from periplus.store.segments.segment_writer import SegmentWriter
from testweb import Page, Site, TestWeb

WORDS = "The pilot waits at the mole until the ebb, and nobody sails before he has come aboard. " * 8
NAMES = [f"/{number}" for number in range(6)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    pages = {name: Page(f"Pilot {name}", WORDS, lang="en", links=["/", "/0"]) for name in NAMES}
    with TestWeb([Site("a.test", {"/": Page("Mole", WORDS, links=NAMES)} | pages)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
    return tmp_path


def again(home: Path, *, everything: bool = False, **flags: Any) -> Reparsed:
    return reparse(open_collection(home), settings_for(None, **flags), everything=everything)


def rows(home: Path) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in segment_rows(home, "pages")}


def links(home: Path) -> list[tuple[Any, ...]]:
    return [(row["source_id"], row["target"], row["anchor"]) for row in segment_rows(home, "links")]


def damage(home: Path, url: str) -> int:
    """Damage one record of the archive; returns its offset."""
    with catalog_of(home) as catalog:
        position = catalog.fetches_of(url)[-1].position
    assert position is not None
    with (home / "archive" / position.name).open("r+b") as file:
        file.seek(position.offset + position.length // 2)
        file.write(b"\0" * 20)
    return position.offset


def test_a_damaged_record_keeps_its_row_and_is_reported(home: Path) -> None:
    before, before_links = rows(home), links(home)
    offset = damage(home, "http://a.test/3")
    result = again(home)
    assert (result.pages, result.unread) == (7, 1)
    (entry,) = result.reasons
    assert entry.what == "http://a.test/3"
    assert "is damaged: no readable response" in entry.why
    after = rows(home)
    assert list(after) == list(before)
    spoilt, whole = after["http://a.test/3"], after["http://a.test/4"]
    assert (spoilt["title"], spoilt["text"]) == ("Pilot /3", before["http://a.test/3"]["text"])
    assert (spoilt["main"], spoilt["signature"], spoilt["problem"]) == ([], 0, None)
    assert whole["main"]
    assert links(home) == before_links
    complaints = [problem.what for problem in verify(open_collection(home)).problems]
    assert f"no readable response at {offset}, where http://a.test/3 should be" in complaints


def test_a_fully_parsed_row_survives_the_loss_of_its_record(home: Path) -> None:
    again(home)
    before = rows(home)
    damage(home, "http://a.test/3")
    assert again(home, everything=True).unread == 1
    assert rows(home) == before


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reparse_of_a_damaged_record_ends_with_exit_code_3(home: Path, form: list[str]) -> None:
    offset = damage(home, "http://a.test/3")
    outcome = typed("reparse", "--home", home, *form)
    assert outcome.code == 3
    last = outcome.err.splitlines()[-1]
    assert last.startswith("periplus: 1 page could not be read from the archive: ")
    assert f"no readable response at offset {offset}. " in last
    assert last.endswith("Their previous text is kept. `periplus repair` replaces damaged records.")
    if form:
        assert outcome.json["causes"] == {"record": 1}
        assert outcome.json["reasons"][0]["cause"] == "record"


def test_a_page_that_the_parser_cannot_read_is_no_damage(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = ReadPage(problem=Reason.PARSE_CRASH, problem_detail="for this test")
    monkeypatch.setattr("periplus.reparse.segment.PageParser.parse", lambda *_, **__: failed)
    outcome = typed("reparse", "--home", home, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.json["causes"] == {"page": 7}


def test_the_index_is_built_and_reports_the_failure(home: Path) -> None:
    damage(home, "http://a.test/3")
    outcome = periplus("index", "--home", home)
    assert outcome.code == 0
    assert "1 page could not be reparsed and kept the old text: http://a.test/3" in outcome.complaint
    assert periplus("search", "pilot", "--home", home, "--json").json["total"] >= 1


def test_a_segment_without_readable_records_is_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.reparse.segment._MOST_UNREAD", 3)
    before = segment_rows(home, "pages")
    for file in (home / "archive").iterdir():
        os.truncate(file, 10)
    result = again(home)
    assert result.unread == 7
    assert result.reasons[0].what == "pages-w00-000001.parquet"
    assert result.causes == {"record": 7}
    assert segment_rows(home, "pages") == before
    assert not list((home / "segments").glob("*.again"))


@pytest.fixture
def three_segments(tmp_path: Path) -> Path:
    sites = [Site(f"{name}.test", {"/": Page(name, WORDS, links=["/"])}) for name in "abc"]
    with TestWeb(sites) as web:
        for site in sites:  # a segment each
            run_crawl(web, tmp_path, f"http://{site.host}/")
    return tmp_path


def live_segments(home: Path) -> list[str]:
    with catalog_of(home) as catalog:
        return sorted(segment.name for segment in catalog.segments("pages"))


SPARED = ["pages-w00-000001-r1.parquet", "pages-w00-000002.parquet", "pages-w00-000003-r1.parquet"]


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_segment_does_not_stop_the_others(three_segments: Path, way: str) -> None:
    path = three_segments / "segments" / "pages-w00-000002.parquet"
    WAYS[way](path)
    outcome = typed("reparse", "--home", three_segments)
    assert outcome.code == 1
    last = outcome.err.splitlines()[-1]
    assert last.startswith(f"periplus: {path} is damaged: ")
    assert last.endswith("Run `periplus repair`.")
    assert live_segments(three_segments) == SPARED


def test_several_damaged_segments_are_counted(three_segments: Path) -> None:
    for number in (1, 3):
        flip(three_segments / "segments" / f"pages-w00-{number:06d}.parquet")
    outcome = typed("reparse", "--home", three_segments)
    assert outcome.code == 1
    assert "so is 1 other segment. Run `periplus repair`" in outcome.err.splitlines()[-1]


@pytest.mark.parametrize("edit", [{"offset": 7}, {"title": "Another title"}], ids=str)
def test_a_row_that_has_changed_is_not_carried_on(three_segments: Path, edit: dict[str, Any]) -> None:
    ((column, value),) = edit.items()
    path = three_segments / "segments" / "pages-w00-000002.parquet"
    change(path, column, lambda _: value)
    result = again(three_segments)
    assert result.causes == {"segment": 1}
    assert live_segments(three_segments) == SPARED
    assert not list(three_segments.rglob("*000002-r1*"))


def test_an_index_is_not_built_from_a_damaged_segment(three_segments: Path) -> None:
    path = three_segments / "segments" / "pages-w00-000002.parquet"
    flip(path)
    outcome = typed("index", "--home", three_segments)
    assert outcome.code == 1
    assert f"{path} is damaged: its content does not match its checksum. Run `periplus repair`" in outcome.complaint
    assert not (three_segments / "index").exists()


def test_damaged_links_are_not_copied_beside_a_previous_row(three_segments: Path) -> None:
    flip(three_segments / "segments" / "links-w00-000002.parquet")
    damage(three_segments, "http://b.test/")
    result = again(three_segments)
    assert result.causes == {"segment": 1}
    assert "links-w00-000002.parquet is damaged" in result.reasons[0].why
    assert live_segments(three_segments) == SPARED


def test_damaged_links_are_replaced_by_those_of_the_archive(three_segments: Path) -> None:
    expected = links(three_segments)
    flip(three_segments / "segments" / "links-w00-000002.parquet")
    assert again(three_segments).unread == 0
    assert links(three_segments) == expected
    sound(three_segments)


def test_a_page_that_crashes_its_reader_keeps_its_row_and_is_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = """
import os
from periplus.parse.sandbox import child
from periplus.parse.page import PageParser
read = PageParser._parse
def brittle(self, response):
    if response.url.endswith("/2"):
        os._exit(7)
    return read(self, response)
PageParser._parse = brittle
child.main()
"""
    program = parent._program().replace("from periplus.parse.sandbox.child import main; main()", inside)
    monkeypatch.setattr(parent, "_program", lambda: program)
    result = again(home)
    assert [(entry.what, entry.why) for entry in result.reasons] == [
        ("http://a.test/2", "parse_crash: the sandbox exited with 7")
    ]
    found = rows(home)
    assert (found["http://a.test/2"]["title"], found["http://a.test/2"]["noindex"]) == ("Pilot /2", False)
    assert found["http://a.test/3"]["main"]
    sound(home)


def page_row(url: str, page: ReadPage) -> PageRow:
    position = ArchivePosition("w00-000001.warc.gz", 0, 1)
    fetch = Fetch(url, 1.5, 200, Decision(Verdict.FETCHED, Reason.OK), content_id=bytes(32), position=position)
    return PageRow(fetch, page)


def test_a_previous_row_gives_the_page_that_was_written(tmp_path: Path) -> None:
    page = ReadPage(
        "Title",
        "Words about it",
        headings=("One", "Two"),
        text="All of the text",
        main=((0, 3), (7, 10)),
        language="en",
        language_certainty=0.5,
        categories=("Sea",),
        images=(Image("http://a.test/i", "a boat", "the lake"),),
        videos=(Video("http://a.test/v", ""),),
        published=1.0,
        signature=(1 << 64) - 5,
        quality=Quality(0.25, title=0.5),
        links=(Link("http://a.test/1", "one", False), Link("http://b.test/", "", True)),
        problem=Reason.OTHER_LANGUAGE,
        listed=(ListedPage("http://a.test/1", 2.0),),
    )
    writer = SegmentWriter(tmp_path, 0, 1, 1)
    for number in range(600):  # more than one row group
        writer.add(page_row(f"http://a.test/{number}", page if number == 599 else ReadPage(f"{number}")))
    former = PreviousRows(*(segment_file(tmp_path, file) for file in writer.seal()))
    assert former.page(599) == page
    assert [former.page(number).title for number in (0, 511, 512)] == ["0", "511", "512"]
