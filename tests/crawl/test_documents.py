"""Are PDFs, large pages and pages in other languages crawled correctly?"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from crawl.crawling import run_crawl, segment_rows, sound, state_of
from parse.pdfs import bomb, pdf
from periplus.model import UrlState
from testweb import Page, Site, TestWeb, Writer
from testweb import Request as Asked

PDF = "application/pdf"
GERMAN = "Die Fähre legt am frühen Morgen ab und erreicht die Insel, wenn das Wetter gut ist, noch vor dem Mittag. " * 5
ENGLISH = "The ferry leaves early in the morning and reaches the island before noon if the weather is fine. " * 5


def paper(body: bytes) -> Page:
    return Page(body=body, content_type=PDF)


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([Site("a.test"), Site("b.test")]) as running:
        yield running


def serve(web: TestWeb, **pages: Page) -> None:
    named = {f"/{name}": page for name, page in pages.items()}
    web.site("a.test").pages.update({"/": Page(links=list(named))} | named)


def test_the_text_of_a_pdf_is_stored_like_that_of_a_page(web: TestWeb, tmp_path: Path) -> None:
    serve(web, chart=paper(pdf("Soundings of the bay", info="/Title(Chart of the bay)")))
    figures = run_crawl(web, tmp_path, "http://a.test/").summary
    assert (figures["fetched"], figures["pdf"], figures["errors"]) == (2, 1, {})
    (row,) = [row for row in segment_rows(tmp_path, "pages") if row["mime"] == PDF]
    assert (row["title"], row["noindex"]) == ("Chart of the bay", False)
    assert "Soundings of the bay" in row["text"]
    sound(tmp_path)


def test_a_broken_pdf_costs_one_page_and_the_reason_is_named(web: TestWeb, tmp_path: Path) -> None:
    serve(web, broken=paper(b"%PDF-1.7 and nothing more"), good=Page("Good"))
    figures = run_crawl(web, tmp_path, "http://a.test/").summary
    assert (figures["fetched"], figures["errors"]) == (3, {"pdf_broken": 1})
    assert state_of(tmp_path, "http://a.test/broken") == (UrlState.DONE, "pdf_broken")
    assert {row["url"] for row in segment_rows(tmp_path, "pages") if row["noindex"]} == {"http://a.test/broken"}
    sound(tmp_path)


@pytest.mark.slow
def test_a_pdf_that_takes_too_long_delays_no_other_page(web: TestWeb, tmp_path: Path) -> None:
    serve(web, endless=paper(bomb(b"BT /F 9 Tf (x) Tj ET\n", 40_000_000)))
    web.site("b.test").pages.update({"/": Page(links=["/1"]), "/1": Page(links=["/2"]), "/2": Page()})
    figures = run_crawl(web, tmp_path, "http://a.test/", "http://b.test/", parse__seconds=2.0).summary
    (reason,) = figures["errors"]
    assert reason in {"parse_time", "parse_memory"}
    assert figures["fetched"] == 5
    read = [row["url"] for row in segment_rows(tmp_path, "pages")]
    assert read[-1] == "http://a.test/endless", "all other pages were read before"
    sound(tmp_path)


@pytest.mark.slow
def test_sandbox_processes_killed_while_parsing_lose_no_page(web: TestWeb, tmp_path: Path) -> None:
    """A PDF is being parsed while the other host answers: every tenth response kills the sandbox process."""
    body, served, kills = pdf(*(f"Sheet {number} of this paper" for number in range(400))), 0, 0

    async def answer(request: Asked, writer: Writer) -> Page:
        nonlocal served, kills
        served += 1
        for pid in readers_of(os.getpid()) if served % 10 == 0 else []:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                kills += 1
        return paper(body + f"% {request.url}".encode())

    for host in ("a.test", "b.test"):
        papers = {f"/p{number}": Page(handler=answer) for number in range(30)}
        web.site(host).pages.update({"/": Page(links=list(papers))} | papers)
    figures = run_crawl(web, tmp_path, "http://a.test/", "http://b.test/").summary
    assert figures["fetched"] == 62
    assert kills >= 3
    rows = [row for row in segment_rows(tmp_path, "pages") if row["mime"] == PDF]
    assert len(rows) == 60
    assert all("Sheet 399" in row["text"] for row in rows)
    sound(tmp_path)


def readers_of(parent: int) -> list[int]:
    """The sandbox processes of this process."""
    found = []
    for task in Path(f"/proc/{parent}/task").iterdir():
        with suppress(OSError):  # threads and processes come and go
            for child in (task / "children").read_text().split():
                if b"periplus.parse.sandbox.child" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(int(child))
    return found


def test_large_pages_of_many_hosts_are_parsed_one_after_the_other(tmp_path: Path) -> None:
    large = Page("Large", "word " * 400_000)
    sites = [Site(f"h{number}.test", {"/": Page(links=["/1", "/2"]), "/1": large, "/2": large}) for number in range(6)]
    with TestWeb(sites) as web:
        seeds = [f"http://{site.host}/" for site in sites]
        figures = run_crawl(web, tmp_path, *seeds, fetch__large_bytes=3 << 20).summary
        assert set(web.log.fetched().values()) == {1}
    assert (figures["fetched"], figures["errors"]) == (18, {})
    sound(tmp_path)


def test_pages_in_other_languages_are_neither_indexed_nor_followed(web: TestWeb, tmp_path: Path) -> None:
    serve(web, de=Page("Fahrplan", GERMAN, links=["/behind"]), en=Page("Timetable", ENGLISH))
    web.site("a.test").pages["/behind"] = Page("Behind")
    figures = run_crawl(web, tmp_path, "http://a.test/", parse__languages=["en"]).summary
    assert figures["refused"] == {"other_language": 1}
    assert state_of(tmp_path, "http://a.test/de") == (UrlState.DONE, "other_language")
    assert state_of(tmp_path, "http://a.test/en") == (UrlState.DONE, "ok")
    assert web.log.count("a.test", "/behind") == 0
    sound(tmp_path)
