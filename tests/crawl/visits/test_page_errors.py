"""Does an exception of ours cost only the page that caused it, and is it reported?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import (
    catalog_of,
    context_for,
    detail_of,
    reach,
    run_crawl,
    segment_rows,
    settings_for,
    sound,
    state_of,
    typed,
)
from periplus.crawl.assignment import Budget
from periplus.crawl.coordination.ownership import Ownership
from periplus.crawl.coordination.shared_state import SharedState
from periplus.crawl.run import Request, crawl
from periplus.crawl.visits import outcome
from periplus.crawl.visits.link_intake import LinkIntake
from periplus.crawl.visits.novelty import PageAssessor
from periplus.crawl.visits.page_errors import PageErrors, kind_of
from periplus.crawl.visits.robots import RobotsCache
from periplus.errors import DamagedFile
from periplus.fetch.client import Fetcher
from periplus.frontier.admission import Admission
from periplus.frontier.caps import DomainCaps
from periplus.frontier.scope import ScopeRules
from periplus.frontier.traps import Traps
from periplus.model import Page as ReadPage
from periplus.model import Reason, UrlState
from periplus.parse import reader as reading
from periplus.parse.html import html_reader
from periplus.parse.reader import PageReader
from periplus.reparse import reparse
from periplus.store.archive.warc_files import ArchiveWriter
from periplus.store.catalog.batch import ForwardedUrl
from periplus.store.catalog.run_summary import RunCounters, sum_of_workers
from periplus.store.collection import open_collection
from periplus.url import Canonicalizer
from testweb import Page, Site, TestWeb

SEED, BAD = "http://a.test/", "http://a.test/bad"
OTHERS = ["/", *(f"/{number}" for number in range(6))]
SITEMAP = f"<urlset>{''.join(f'<url><loc>http://a.test/listed{number}</loc></url>' for number in range(3))}</urlset>"


@pytest.fixture
def web() -> Iterator[TestWeb]:
    pages = {path: Page(f"Pilot {path}") for path in OTHERS}
    pages["/"] = Page("Mole", links=["/bad", *OTHERS])
    pages["/bad"] = Page("Bad", links=["/behind1", "/behind2", "/behind3"])
    pages |= {f"/behind{number}": Page(f"Behind {number}") for number in range(1, 4)}
    with TestWeb([Site("a.test", pages), Site("b.test", {"/": Page("Elsewhere")})]) as running:
        yield running


def names(url: str, arguments: tuple[Any, ...]) -> bool:
    """Whether one of the arguments is a URL, or of that URL."""
    return any(url in (argument, getattr(argument, "url", None)) for argument in arguments)


def fail_over(
    monkeypatch: pytest.MonkeyPatch, place: object, function: str, url: str = BAD, error: BaseException | None = None
) -> None:
    """Let a function raise whenever it is called for one URL."""
    original = getattr(place, function)

    def failing(*arguments: Any, **options: Any) -> Any:
        if names(url, (*arguments, *options.values())):
            raise error or ValueError("too many values to unpack")
        return original(*arguments, **options)

    monkeypatch.setattr(place, function, failing)


def assert_failed(home: Path, url: str = BAD) -> None:
    assert state_of(home, url) == (UrlState.FAILED, "internal_error")
    assert "ValueError" in detail_of(home, url)
    shown = typed("inspect", "url", url, "--home", home)
    assert "internal_error" in shown.out
    sound(home)


def assert_all_others_fetched(web: TestWeb, home: Path) -> None:
    for path in OTHERS:
        assert web.log.count("a.test", path) == 1, path
        assert state_of(home, f"http://a.test{path}") == (UrlState.DONE, "ok")


STAGES = [
    (PageReader, "parse"),
    (PageAssessor, "assess"),
    (Traps, "learn"),
    (LinkIntake, "follow"),
    (ArchiveWriter, "append"),
    (outcome, "PageRow"),
]


@pytest.mark.parametrize(("place", "function"), STAGES)
def test_an_exception_over_a_page_costs_that_page(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: object, function: str
) -> None:
    fail_over(monkeypatch, place, function)
    result = run_crawl(web, tmp_path, SEED)
    assert result.summary["errors"] == {"internal_error": 1}
    assert_all_others_fetched(web, tmp_path)
    assert_failed(tmp_path)
    assert BAD not in [row["url"] for row in segment_rows(tmp_path, "pages")]
    with catalog_of(tmp_path) as catalog:
        (attempt,) = catalog.fetches_of(BAD)
    assert attempt.status == 200
    assert (attempt.position is None) == (function == "append"), "what was archived is where the record says"
    run_crawl(web, tmp_path, SEED)
    assert web.log.count("a.test", "/bad") == 1, "the next run does not fetch it at once"


def test_links_admitted_before_the_exception_are_fetched(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_over(monkeypatch, Admission, "admit", url="http://a.test/behind2")
    run_crawl(web, tmp_path, SEED)
    assert_failed(tmp_path)
    assert_all_others_fetched(web, tmp_path)
    assert web.log.count("a.test", "/behind1") == 1
    assert web.log.count("a.test", "/behind3") == 0


def test_an_exception_over_a_sitemap_costs_that_sitemap(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.site("a.test").pages["/bad"] = Page(body=SITEMAP, content_type="application/xml")
    fail_over(monkeypatch, reading, "read_sitemap")
    run_crawl(web, tmp_path, SEED)
    assert_failed(tmp_path)
    assert_all_others_fetched(web, tmp_path)
    run_crawl(web, tmp_path, SEED)


def test_an_exception_in_the_middle_of_a_sitemap_keeps_what_came_before(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = {"/bad": Page(body=SITEMAP, content_type="application/xml"), "/listed0": Page("Listed")}
    web.site("a.test").pages.update(listed)
    fail_over(monkeypatch, Admission, "admit", url="http://a.test/listed1")
    run_crawl(web, tmp_path, SEED)
    assert_failed(tmp_path)
    assert web.log.count("a.test", "/listed0") == 1


def test_an_exception_over_a_redirect_costs_that_url(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.site("a.test").pages["/bad"] = Page(redirect="/0")
    fail_over(monkeypatch, LinkIntake, "follow_redirect", url="http://a.test/0")
    run_crawl(web, tmp_path, SEED)
    assert_failed(tmp_path)
    assert_all_others_fetched(web, tmp_path)


def test_an_exception_before_the_request_costs_that_url(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_over(monkeypatch, Admission, "recheck")
    result = run_crawl(web, tmp_path, SEED)
    assert result.summary["errors"] == {"internal_error": 1}
    assert web.log.count("a.test", "/bad") == 0
    assert_failed(tmp_path)
    assert_all_others_fetched(web, tmp_path)


def test_a_robots_txt_that_cannot_be_parsed_parks_its_host_only(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.site("a.test").pages["/"] = Page("Mole", links=["http://b.test/"])
    original = RobotsCache.put

    def failing(self: RobotsCache, origin: str, response: Any) -> Any:
        if origin == "http://b.test" and response.failure is None:
            raise IndexError("list index out of range")
        return original(self, origin, response)

    monkeypatch.setattr(RobotsCache, "put", failing)
    result = run_crawl(web, tmp_path, SEED, "http://b.test/")
    assert result.summary["errors"] == {"robots_internal_error": 1}
    assert state_of(tmp_path, SEED) == (UrlState.DONE, "ok")
    assert (web.log.count("b.test", "/robots.txt"), web.log.count("b.test", "/")) == (1, 0)
    with catalog_of(tmp_path) as catalog:
        policy = catalog.policy("b.test")
    assert policy is not None
    assert "IndexError" in policy.why
    sound(tmp_path)


def test_several_workers_go_on_too(web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_over(monkeypatch, PageAssessor, "assess")
    result = crawl(Request(tmp_path, settings_for(web), [SEED, "http://b.test/"], Budget(), workers=2))
    assert result.summary["errors"] == {"internal_error": 1}
    assert result.summary["exceptions"][next(iter(result.summary["exceptions"]))] == {"pages": 1, "first": BAD}
    assert_failed(tmp_path)
    assert_all_others_fetched(web, tmp_path)


@pytest.mark.slow
def test_the_delay_is_kept_after_a_page_that_failed(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_over(monkeypatch, PageAssessor, "assess")
    run_crawl(web, tmp_path, SEED, politeness__delay=0.3)
    assert min(web.log.gaps("a.test")) >= 0.3
    assert_all_others_fetched(web, tmp_path)


def test_a_page_that_failed_is_due_again_like_one_that_could_not_be_fetched(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_over(monkeypatch, PageAssessor, "assess")
    run_crawl(web, tmp_path, SEED)
    with catalog_of(tmp_path) as catalog:
        row = catalog.url(BAD)
    assert row is not None
    first = settings_for(web).recrawl.first
    assert row["interval"] == pytest.approx(first)
    assert row["due"] == pytest.approx(row["visited"] + first)


@pytest.mark.parametrize(
    "error",
    [
        DamagedFile("the catalog is damaged"),
        sqlite3.ProgrammingError("a mistake"),
        OSError(28, "No space left on device"),
        MemoryError(),
    ],
)
def test_an_error_of_files_or_memory_stops_the_crawl(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    with monkeypatch.context() as broken:
        fail_over(broken, PageAssessor, "assess", error=error)
        with pytest.raises(type(error)):
            run_crawl(web, tmp_path, SEED)
    sound(tmp_path)
    run_crawl(web, tmp_path, SEED)
    assert state_of(tmp_path, BAD) == (UrlState.DONE, "ok"), "and the page is not to blame"


def test_a_failure_of_the_fetcher_stops_the_crawl(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_over(monkeypatch, Fetcher, "fetch")
    with pytest.raises(ValueError, match="unpack"):
        run_crawl(web, tmp_path, SEED)
    sound(tmp_path)


def test_an_exception_over_a_link_of_another_worker_costs_that_link(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_for(None)
    admission = Admission(ScopeRules(settings.scope, ["a.test"]), DomainCaps(settings.scope))
    fail_over(monkeypatch, Admission, "admit")
    with closing(SharedState(workers=1)) as shared:
        context = context_for(settings, shared)
        intake = LinkIntake(context, Canonicalizer(), admission, Ownership(context.coordination))
        for number, url in enumerate([BAD, SEED]):
            intake.receive(number, ForwardedUrl(0, url, 1, Reason.LINK, "", 0))
    assert context.pending.batch.received == [0, 1]
    assert [item.url for item in context.pending.batch.admitted] == [SEED]
    assert [found["first"] for found in context.counters.exceptions.values()] == [BAD]


# -- reports ----------------------------------------------------------------------------------------------------------


def test_the_summary_names_each_kind_with_its_first_page_and_how_to_report_it(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("/1", "/2", "/3"):
        fail_over(monkeypatch, PageAssessor, "assess", url=f"http://a.test{path}")
    shown = typed("crawl", SEED, "--home", tmp_path, *reach(web))
    assert "3 internal_error" in shown.out
    assert "3 pages: ValueError in periplus/crawl/visits/outcome.py:" in shown.out
    assert "first http://a.test/1" in shown.out
    assert "report" in shown.out


def _raised(message: str = "x") -> Exception:
    try:
        kind_of(None)  # type: ignore[arg-type]
    except AttributeError as error:
        return error
    raise AssertionError(message)


def test_three_exceptions_of_one_kind_in_a_row_are_logged_once_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    errors = PageErrors(RunCounters(1, 0.0))
    for number in range(5):
        errors.record(f"http://a.test/{number}", _raised())
    (record,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert "periplus/crawl/visits/page_errors.py:" in record.getMessage()
    assert "http://a.test/0" in record.getMessage()
    assert record.exc_info is not None


def test_exceptions_of_different_kinds_are_not_in_a_row(caplog: pytest.LogCaptureFixture) -> None:
    errors = PageErrors(RunCounters(1, 0.0))
    for number in range(9):
        errors.record(f"http://a.test/{number}", _raised() if number % 3 else ValueError("made elsewhere"))
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_kinds_of_several_workers_add_up_and_keep_the_first_page() -> None:
    def summary(*urls: str) -> dict[str, Any]:
        counters = RunCounters(1, 0.0)
        for url in urls:
            PageErrors(counters).record(url, ValueError("made elsewhere"))
        return counters.summary(1.0)

    (kind,) = sum_of_workers([summary("http://a/"), summary("http://b/", "http://c/"), summary()])[
        "exceptions"
    ].values()
    assert kind == {"pages": 3, "first": "http://a/"}


def test_the_replacement_of_a_worker_keeps_its_exceptions() -> None:
    counters, heir = RunCounters(1, 0.0), RunCounters(1, 0.0)
    PageErrors(counters).record("http://a/", ValueError("made elsewhere"))
    counters.count_reading(ReadPage(failed_extractors=("facts",)))
    heir.resume(counters.summary(1.0), 1, 2.0)
    assert heir.summary(3.0)["exceptions"] == counters.summary(3.0)["exceptions"]
    assert heir.summary(3.0)["failed_extractors"] == {"facts": 1}


# -- a field that could not be extracted ------------------------------------------------------------------------------


def test_a_field_that_could_not_be_extracted_is_counted_and_named(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(html_reader, "_language", lambda _: 1 / 0)
        result = run_crawl(web, tmp_path, SEED)
    assert result.summary["failed_extractors"] == {"declared language": 11}
    assert (result.summary["fetched"], result.summary["errors"]) == (11, {})
    assert state_of(tmp_path, BAD) == (UrlState.DONE, "ok")
    assert "declared language" in detail_of(tmp_path, BAD)
    assert "declared language" in typed("inspect", "url", BAD, "--home", tmp_path).out
    reading_again = reparse(open_collection(tmp_path), settings_for(None), everything=False)
    assert reading_again.failed_extractors == {}
    sound(tmp_path)
