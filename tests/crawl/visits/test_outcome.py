"""Is every response recorded with the right decision for its URL?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import pytest

from crawl.crawling import catalog_of, context_for, run_crawl, segment_rows, settings_for, sound, state_of
from periplus.crawl.assignment import Budget, WorkerContext
from periplus.crawl.coordination.ownership import Ownership
from periplus.crawl.coordination.shared_state import SharedState
from periplus.crawl.visits.link_intake import LinkIntake
from periplus.crawl.visits.novelty import PageAssessor
from periplus.crawl.visits.outcome import OutcomeRecorder
from periplus.errors import StorageUnavailable
from periplus.frontier.admission import Admission
from periplus.frontier.caps import DomainCaps
from periplus.frontier.scope import ScopeRules
from periplus.model import (
    ArchivePosition,
    CrawlQuality,
    Decision,
    Fetch,
    QueuedUrl,
    Reason,
    Response,
    UrlState,
    Verdict,
)
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.store.archive.warc_files import Archived
from periplus.url import Canonicalizer
from testweb import Certificate, Page, Site, TestWeb, hostile

SEED = "http://a.test/"


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([Site("a.test"), Site("b.test")]) as running:
        yield running


def serve(web: TestWeb, **pages: Page) -> None:
    """Pages of a.test by name; `home` is the one at /, and links to all others."""
    named = {f"/{name.replace('_', '-')}": page for name, page in pages.items()}
    web.site("a.test").pages.update({"/": Page(links=list(named))} | named)


def attempts(home: Path, url: str) -> list[tuple[int, str, str]]:
    with catalog_of(home) as catalog:
        return [(one.status, one.decision.verdict.value, one.decision.reason.value) for one in catalog.fetches_of(url)]


# -- pages that are not there ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_a_client_error_is_fetched_once_and_recorded(web: TestWeb, tmp_path: Path, status: int) -> None:
    serve(web, gone=Page(status=status))
    result = run_crawl(web, tmp_path, SEED)
    assert web.log.count("a.test", "/gone") == 1
    assert result.summary["errors"] == {f"http_{status}": 1}
    assert state_of(tmp_path, f"{SEED}gone") == (UrlState.FAILED, "http_error")
    assert attempts(tmp_path, f"{SEED}gone") == [(status, "dropped", "http_error")]
    sound(tmp_path)


@pytest.mark.parametrize(
    "status",
    [408, 425, 500, 502, 504, pytest.param(429, marks=pytest.mark.slow), pytest.param(503, marks=pytest.mark.slow)],
)
def test_a_server_error_is_tried_three_times(web: TestWeb, tmp_path: Path, status: int) -> None:
    serve(web, x=Page(status=status))
    result = run_crawl(web, tmp_path, SEED, politeness__longest_backoff=1)
    assert web.log.count("a.test", "/x") == 3
    assert result.summary["errors"] == {f"http_{status}": 3}
    assert [verdict for _, verdict, _ in attempts(tmp_path, f"{SEED}x")] == ["delayed", "delayed", "dropped"]
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.FAILED, "http_error")
    sound(tmp_path)


def test_a_page_of_a_server_that_recovers_is_fetched(web: TestWeb, tmp_path: Path) -> None:
    serve(web, x=Page(handler=hostile.in_turn(Page(status=500), Page(status=502), Page("Back"))))
    result = run_crawl(web, tmp_path, SEED)
    assert (result.summary["fetched"], result.summary["errors"]) == (2, {"http_500": 1, "http_502": 1})
    assert [row["title"] for row in segment_rows(tmp_path, "pages")][1:] == ["Back"]
    sound(tmp_path)


def test_the_second_try_waits_longer_than_the_first(web: TestWeb, tmp_path: Path) -> None:
    serve(web, x=Page(status=500))
    run_crawl(web, tmp_path, SEED, fetch__retry_seconds=0.2)
    first, second = web.log.gaps("a.test")[-2:]
    assert first >= 0.2 - 0.1
    assert second >= 0.4 - 0.1


def test_a_planned_retry_survives_the_end_of_the_run(web: TestWeb, tmp_path: Path) -> None:
    serve(web, x=Page(handler=hostile.in_turn(Page(status=500), Page("Back"))))
    run_crawl(web, tmp_path, SEED, budget=Budget(seconds=1.0), fetch__retry_seconds=2.0)
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.QUEUED, "retry")
    run_crawl(web, tmp_path, SEED, fetch__retry_seconds=2.0)
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.DONE, "ok")
    assert web.log.gaps("a.test")[-1] >= 2.0 - 0.1
    sound(tmp_path)


@pytest.mark.parametrize(
    ("handler", "reason", "tries"),
    [
        (hostile.reset, "cut_short", 2),
        (hostile.hang_up, "cut_short", 2),
        (hostile.short_body, "cut_short", 2),
        (hostile.not_http, "bad_http", 2),
        (hostile.false_chunk, None, 2),
        (hostile.endless_headers, "bad_http", 2),
        (hostile.silence, "timeout", 2),
    ],
)
def test_a_hostile_server_ends_with_a_named_reason(
    web: TestWeb, tmp_path: Path, handler: Any, reason: str | None, tries: int
) -> None:
    serve(web, bad=Page(handler=handler), good=Page("Good"))
    result = run_crawl(web, tmp_path, SEED, fetch__attempts=tries, fetch__timeout=1.5)
    assert result.summary["fetched"] == 2
    state, found = state_of(tmp_path, f"{SEED}bad")
    assert state == UrlState.FAILED
    assert reason in (None, found)
    assert len(attempts(tmp_path, f"{SEED}bad")) == tries
    sound(tmp_path)


# -- pages that are elsewhere ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["/new", "new", "http://a.test/new", "//a.test/new", "/new#part"])
def test_a_page_that_moved_is_found_at_its_new_address(
    web: TestWeb, tmp_path: Path, status: int, location: str
) -> None:
    web.site("a.test").pages.update({"/": Page(redirect=location, status=status), "/new": Page("Here")})
    result = run_crawl(web, tmp_path, SEED)
    assert web.log.paths("a.test") == ["/robots.txt", "/", "/new"]
    assert (result.summary["fetched"], result.summary["errors"]) == (1, {})
    assert state_of(tmp_path, SEED) == (UrlState.DONE, "redirected")
    with catalog_of(tmp_path) as catalog:
        (fetch,) = catalog.fetches_of(SEED)
    assert fetch.redirect_to == "http://a.test/new"
    assert [row["url"] for row in segment_rows(tmp_path, "pages")] == ["http://a.test/new"]
    sound(tmp_path)


def test_a_redirect_without_location_is_an_error(web: TestWeb, tmp_path: Path) -> None:
    serve(web, x=Page(status=302))
    assert run_crawl(web, tmp_path, SEED).summary["errors"] == {"http_302": 1}


def test_a_redirect_loop_ends_by_itself(web: TestWeb, tmp_path: Path) -> None:
    serve(web, a=Page(redirect="/b"), b=Page(redirect="/a"), self=Page(redirect="/self"))
    result = run_crawl(web, tmp_path, SEED)
    assert {path: web.log.count("a.test", path) for path in ("/a", "/b", "/self")} == {"/a": 1, "/b": 1, "/self": 1}
    assert result.summary["queued"] == 0


@pytest.mark.parametrize(("hops", "reached"), [(5, True), (6, False)])
def test_five_redirects_in_a_row_are_followed_and_not_six(
    web: TestWeb, tmp_path: Path, hops: int, reached: bool
) -> None:
    pages = {f"/{n}": Page(redirect=f"/{n + 1}") for n in range(hops)}
    web.site("a.test").pages.update(pages | {f"/{hops}": Page("End")})
    result = run_crawl(web, tmp_path, f"{SEED}0")
    assert web.log.count("a.test", f"/{hops}") == reached
    assert result.summary["refused"] == ({} if reached else {"too_many_redirects": 1})
    with catalog_of(tmp_path) as catalog:
        assert catalog.refusal_of("a.test", f"{SEED}{hops}") == (
            None if reached else ("too_many_redirects", "more than fetch.redirects = 5 in a row", f"{SEED}{hops - 1}")
        )


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://a.test/x", "javascript:alert(1)", "http://[", "gopher:"]
)
def test_a_redirect_to_another_scheme_is_dropped(web: TestWeb, tmp_path: Path, location: str) -> None:
    serve(web, x=Page(redirect=location))
    result = run_crawl(web, tmp_path, SEED)
    assert result.summary["errors"] == {"not_web": 1}
    assert state_of(tmp_path, f"{SEED}x") == (UrlState.FAILED, "not_web")
    sound(tmp_path)


def test_a_redirect_to_another_host_stays_in_scope_only_if_the_host_does(web: TestWeb, tmp_path: Path) -> None:
    serve(web, away=Page(redirect="http://b.test/x"))
    web.site("b.test").pages["/x"] = Page("Away")
    result = run_crawl(web, tmp_path / "narrow", SEED)
    assert (web.log.count("b.test"), result.summary["refused"]) == (0, {"scope_host": 1})
    run_crawl(web, tmp_path / "wide", SEED, scope__hosts=["[ab].test"])
    assert web.log.paths("b.test") == ["/robots.txt", "/x"]


def test_a_seed_that_redirects_to_its_www_host_adds_that_host_to_the_scope(tmp_path: Path) -> None:
    sites = [
        Site("a.test", {"/": Page(redirect="https://www.a.test/")}, scheme="http"),
        Site("www.a.test", {"/": Page(links=["/x", "http://other.test/"]), "/x": Page()}, scheme="https"),
    ]
    with TestWeb(sites, https=True) as web:
        result = run_crawl(web, tmp_path, SEED, fetch__ca_file=str(web.ca_file))
        assert web.log.paths("www.a.test") == ["/robots.txt", "/", "/x"]
        assert result.summary["refused"] == {"scope_host": 1}
        again = run_crawl(web, tmp_path, SEED, fetch__ca_file=str(web.ca_file))  # and the scope stays so
        assert (again.failure, again.summary["fetched"]) == (None, 1)
        assert web.log.paths("www.a.test")[3:] == ["/"]  # a seed given again is asked for where it went


def test_a_link_that_moved_to_another_host_does_not_widen_the_scope(web: TestWeb, tmp_path: Path) -> None:
    serve(web, away=Page(redirect="http://b.test/"))
    run_crawl(web, tmp_path, SEED)
    assert web.log.count("b.test") == 0


# -- what is read, and how far --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mime", ["image/png", "application/zip", "text/css", "application/json", "video/mp4"])
def test_what_is_not_text_is_not_downloaded(web: TestWeb, tmp_path: Path, mime: str) -> None:
    serve(web, blob=Page(body=b"\0" * 100, size=50_000_000, content_type=mime))
    result = run_crawl(web, tmp_path, SEED)
    assert result.summary["errors"] == {"wrong_type": 1}
    assert state_of(tmp_path, f"{SEED}blob") == (UrlState.FAILED, "wrong_type")
    assert web.log.count("a.test", "/blob") == 1


def test_plain_text_and_pdf_are_kept_and_counted(web: TestWeb, tmp_path: Path) -> None:
    serve(
        web,
        text=Page(body="just words", content_type="text/plain"),
        paper=Page(body=b"%PDF-1.4\n" + b"x" * 100, content_type="application/pdf"),
    )
    figures = run_crawl(web, tmp_path, SEED).summary
    assert (figures["fetched"], figures["html"], figures["pdf"]) == (3, 1, 1)
    assert {row["mime"]: row["text"] for row in segment_rows(tmp_path, "pages")}["text/plain"] == "just words"
    sound(tmp_path)


def test_extensions_that_are_never_text_are_not_even_requested(web: TestWeb, tmp_path: Path) -> None:
    web.site("a.test").pages["/"] = Page(links=["/a.jpg", "/b.ZIP", "/c.html"])
    result = run_crawl(web, tmp_path, SEED)
    assert web.log.paths("a.test") == ["/robots.txt", "/", "/c.html"]
    assert result.summary["refused"] == {"extension": 2}


def test_a_huge_page_is_cut_and_still_read(web: TestWeb, tmp_path: Path) -> None:
    serve(web, huge=Page("Huge", links=["/after"], size=30_000_000), after=Page())
    result = run_crawl(web, tmp_path, SEED, fetch__html_bytes=100_000)
    assert result.summary["fetched"] == 3
    with catalog_of(tmp_path) as catalog:
        (fetch,) = catalog.fetches_of(f"{SEED}huge")
    assert fetch.size == 100_000
    sound(tmp_path)


@pytest.mark.parametrize("handler", [hostile.endless_body, hostile.gzip_bomb])
def test_a_page_without_end_is_cut_too(web: TestWeb, tmp_path: Path, handler: Any) -> None:
    serve(web, endless=Page(handler=handler))
    assert run_crawl(web, tmp_path, SEED, fetch__html_bytes=200_000).summary["fetched"] == 2
    with catalog_of(tmp_path) as catalog:
        (fetch,) = catalog.fetches_of(f"{SEED}endless")
    assert fetch.size == 200_000
    sound(tmp_path)


def test_a_pdf_over_the_limit_is_dropped(web: TestWeb, tmp_path: Path) -> None:
    serve(web, paper=Page(body=b"%PDF-1.4", size=5_000_000, content_type="application/pdf", chunked=True))
    result = run_crawl(web, tmp_path, SEED, fetch__pdf_bytes=100_000)
    assert result.summary["errors"] == {"too_large": 1}


def test_a_compressed_page_is_read_like_any_other(web: TestWeb, tmp_path: Path) -> None:
    serve(web, packed=Page("Packed", "words " * 1000, encoding="gzip", chunked=True, links=["/next"]), next=Page())
    assert run_crawl(web, tmp_path, SEED).summary["fetched"] == 3
    sound(tmp_path)


# -- links ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page",
    [
        Page(html='<a href="/x" rel="nofollow">x</a>'),
        Page(html='<a href="/x" rel="ugc">x</a>'),
        Page(links=["/x"], head='<meta name="robots" content="nofollow">'),
        Page(links=["/x"], head='<meta name="periplus" content="none">'),
        Page(links=["/x"], headers={"X-Robots-Tag": "nofollow"}),
    ],
)
def test_a_nofollow_link_is_not_followed(web: TestWeb, tmp_path: Path, page: Page) -> None:
    web.site("a.test").pages.update({"/": page, "/x": Page()})
    result = run_crawl(web, tmp_path, SEED)
    assert web.log.paths("a.test") == ["/robots.txt", "/"]
    assert result.summary["refused"] == {"nofollow": 1}
    with catalog_of(tmp_path) as catalog:
        assert catalog.refusal_of("a.test", f"{SEED}x") == ("nofollow", "", SEED)


def test_a_noindex_page_is_marked(web: TestWeb, tmp_path: Path) -> None:
    serve(web, hidden=Page(head='<meta name="robots" content="noindex">'))
    run_crawl(web, tmp_path, SEED)
    assert {row["url"]: row["noindex"] for row in segment_rows(tmp_path, "pages")} == {
        SEED: False,
        f"{SEED}hidden": True,
    }


def test_a_link_found_on_many_pages_is_fetched_once_and_counted_often(web: TestWeb, tmp_path: Path) -> None:
    everywhere = ["/", "/a", "/b", "/same", "http://other.test/"]
    web.site("a.test").pages.update({path: Page(links=everywhere) for path in everywhere[:4]})
    result = run_crawl(web, tmp_path, SEED)
    assert web.log.fetched() == {f"http://a.test{path}": 1 for path in everywhere[:4]}
    assert result.summary["refused"] == {"scope_host": 4}
    with catalog_of(tmp_path) as catalog:
        assert catalog.refusals() == {"scope_host": 4}


def test_spellings_of_one_url_are_one_page(web: TestWeb, tmp_path: Path) -> None:
    links = ["/x", "/x#a", "/./x", "/x?utm_source=n", "/%78", "HTTP://A.test:80/x", "/x?", "/y;jsessionid=1", "/y"]
    web.site("a.test").pages.update({"/": Page(links=links), "/x": Page(), "/y": Page()})
    run_crawl(web, tmp_path, SEED)
    assert sorted(web.log.paths("a.test")) == ["/", "/robots.txt", "/x", "/y"]


# -- https ----------------------------------------------------------------------------------------------------------


def test_https_pages_are_fetched_with_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page(links=["/x"]), "/x": Page()})], https=True) as web:
        result = run_crawl(web, tmp_path, "https://a.test/", fetch__ca_file=str(web.ca_file))
        assert {entry.scheme for entry in web.log.entries()} == {"https"}
    assert result.summary["fetched"] == 2
    sound(tmp_path)


@pytest.mark.parametrize("kind", [kind for kind in get_args(Certificate) if kind != "valid"])
def test_a_bad_certificate_is_an_error_and_nothing_is_requested(tmp_path: Path, kind: Certificate) -> None:
    with TestWeb([Site("a.test", {"/": Page()}, certificate=kind)], https=True) as web:
        result = run_crawl(web, tmp_path, "https://a.test/", fetch__ca_file=str(web.ca_file))
        assert web.log.entries() == []
    assert list(result.summary["errors"]) in (["robots_tls_expired"], ["robots_tls_name"], ["robots_tls_issuer"])
    assert "robots.txt unreachable: tls_" in str(result.failure)


# -- by itself ------------------------------------------------------------------------------------------------------


@pytest.fixture
def context() -> Iterator[WorkerContext]:
    with closing(SharedState(workers=1)) as shared:
        yield context_for(settings_for(None), shared)


@pytest.fixture
def recorder(context: WorkerContext) -> OutcomeRecorder:
    scope, canonicalizer = context.settings.scope, Canonicalizer()
    admission = Admission(ScopeRules(scope, ["a.test"]), DomainCaps(scope))
    intake = LinkIntake(context, canonicalizer, admission, Ownership(context.coordination))
    return OutcomeRecorder(
        context,
        canonicalizer=canonicalizer,
        reader=PageReader(PageParser(canonicalizer, links_per_page=100)),
        intake=intake,
        assessor=PageAssessor(intake, context.pending, lambda _host: (0, CrawlQuality())),
        archive=lambda _response, _earlier: Archived(ArchivePosition("w.warc.gz", 10, 20), b"\1" * 32),
        read_archived=lambda _position: Response(SEED, 1.0, 200),
    )


ITEM = QueuedUrl(SEED, "a.test", 0, 0.0, Reason.SEED)


@pytest.mark.parametrize("reason", [Reason.NO_CONTACT, Reason.PRIVATE_ADDRESS])
def test_what_the_guard_refuses_is_refused_and_not_a_failure(
    recorder: OutcomeRecorder, context: WorkerContext, reason: Reason
) -> None:
    recorder.record(ITEM, Response(SEED, 1.0, failure=reason, detail="why"), 2.0)
    (settled,) = context.pending.cut().batch.settled
    assert (settled.state, settled.decision.reason, settled.decision.detail) == (UrlState.REFUSED, reason, "why")
    assert settled.fetch is None


def test_a_retry_keeps_the_archive_position_of_its_response(recorder: OutcomeRecorder, context: WorkerContext) -> None:
    context.queues.add(ITEM)
    assert context.queues.take(0.0) == ITEM
    recorder.record(ITEM, Response(SEED, 1.0, 500), 2.0)
    (settled,) = context.pending.cut().batch.settled
    assert (settled.state, settled.item.attempts) == (UrlState.QUEUED, 1)
    assert settled.fetch is not None
    assert settled.fetch.position == ArchivePosition("w.warc.gz", 10, 20)


def test_a_cut_holds_what_happened_since_the_last_one(recorder: OutcomeRecorder, context: WorkerContext) -> None:
    recorder.record(ITEM, Response(SEED, 1.0, 404), 2.0)
    assert len(context.pending.cut().batch.settled) == 1
    assert not context.pending.cut().batch


def test_a_page_that_changed_while_the_object_store_is_away_is_a_new_version(
    recorder: OutcomeRecorder, context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def is_away(position: ArchivePosition) -> Response:
        asked.append(position)
        raise StorageUnavailable("s3://bucket cannot be used", "connection refused")

    monkeypatch.setattr(recorder, "_read_archived", is_away)
    response = Response(
        SEED, 1.0, 200, headers={"content-type": "text/html"}, body=b"<title>Ships</title><p>Old ships."
    )
    decision = Decision(Verdict.FETCHED, Reason.OK)
    earlier = Fetch.of(response, decision, ArchivePosition("v.warc.gz", 1, 2), b"\2" * 32)
    for _ in range(3):
        recorder.record(ITEM, response, 2.0, earlier)
    settled = context.pending.cut().batch.settled
    assert [(one.state, one.decision.verdict) for one in settled] == [(UrlState.DONE, Verdict.FETCHED)] * 3
    assert len(asked) == 1, "the other pages do not wait for the store"
