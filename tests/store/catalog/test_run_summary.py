"""The counters of a worker, and the sums over workers and rounds."""

from __future__ import annotations

import pytest

from periplus.model import Decision, Fetch, Reason, Response, Verdict
from periplus.store.catalog.run_summary import RunCounters, sum_of_rounds, sum_of_workers


def attempt(verdict: Verdict, reason: Reason, status: int = 200, mime: str = "text/html", size: int = 0) -> Fetch:
    return Fetch("http://a.test/", 0.0, status, Decision(verdict, reason), mime, size)


def counted(*fetches: Fetch) -> RunCounters:
    tally = RunCounters(run_id=7, started=100.0)
    for fetch in fetches:
        tally.count(fetch)
    return tally


def test_pages_are_counted_by_kind_and_size() -> None:
    ok = (Verdict.FETCHED, Reason.OK)
    tally = counted(
        attempt(*ok, size=10),
        attempt(*ok, mime="application/xhtml+xml", size=20),
        attempt(*ok, mime="", size=30),
        attempt(*ok, mime="application/pdf", size=40),
        attempt(*ok, mime="text/plain", size=50),
    )
    assert (tally.fetched, tally.html, tally.pdf, tally.bytes) == (5, 3, 1, 150)
    assert not tally.errors


@pytest.mark.parametrize(
    ("fetch", "kind"),
    [
        (attempt(Verdict.DROPPED, Reason.HTTP_ERROR, 404), "http_404"),
        (attempt(Verdict.DELAYED, Reason.RETRY, 503), "http_503"),
        (attempt(Verdict.DELAYED, Reason.RETRY, 0), "retry"),
        (attempt(Verdict.DROPPED, Reason.TIMEOUT, 0), "timeout"),
        (attempt(Verdict.DROPPED, Reason.WRONG_TYPE, 200), "wrong_type"),
    ],
)
def test_every_failed_attempt_is_an_error_of_its_kind(fetch: Fetch, kind: str) -> None:
    tally = counted(fetch)
    assert (tally.fetched, dict(tally.errors)) == (0, {kind: 1})


def test_a_redirect_is_neither_a_page_nor_an_error() -> None:
    tally = counted(attempt(Verdict.MERGED, Reason.REDIRECTED, 301, size=99))
    assert (tally.fetched, tally.bytes, dict(tally.errors)) == (0, 0, {})


def test_a_robots_file_that_cannot_be_fetched_is_an_error_too() -> None:
    tally = counted()
    tally.count_robots(Response("http://a.test/robots.txt", 0.0, failure=Reason.DNS))
    tally.count_robots(Response("http://a.test/robots.txt", 0.0, status=404))
    assert dict(tally.errors) == {"robots_dns": 1}


def test_the_summary_has_the_promised_keys_and_lists_the_commonest_first() -> None:
    tally = counted(attempt(Verdict.FETCHED, Reason.OK, size=8), *[attempt(Verdict.DROPPED, Reason.DNS, 0)] * 2)
    tally.errors["http_404"] = 5
    tally.refuse(Reason.ROBOTS)
    assert tally.summary(now=104.0, known=20, queued=3) == {
        "fetched": 1,
        "html": 1,
        "pdf": 0,
        "bytes": 8,
        "revisits": 0,
        "unchanged": 0,
        "seconds": 4.0,
        "pages_per_second": 0.25,
        "known_urls": 20,
        "queued": 3,
        "errors": {"http_404": 5, "dns": 2},
        "refused": {"robots": 1},
        "parked": {},
        "failed_extractors": {},
        "exceptions": {},
        "known_links": 0,
        "traps": {"learned": 0, "saved": 0},
        "timing": {"idle": 4.0, "robots": 0, "delay": 0, "connect": 0, "fetch": 0, "parse": 0, "store": 0},
        "run_id": 7,
    }
    assert list(tally.summary(104.0, 0, 0)["errors"]) == ["http_404", "dns"]


def test_a_run_that_took_no_time_divides_by_nothing() -> None:
    assert counted().summary(now=100.0, known=0, queued=0)["pages_per_second"] == 0.0


# -- where the time went --------------------------------------------------------------------------------------------


def answer(seconds: float, connect: float) -> Response:
    return Response("http://a.test/", 0.0, status=200, seconds=seconds, connect_seconds=connect)


def test_a_request_is_connecting_first_and_fetching_then() -> None:
    timing = counted().timing
    for _ in range(2):
        timing.count(answer(1.5, 0.25), robots=False)
    timing.count(answer(8.0, 1.0), robots=True)
    assert (timing.connect, timing.fetch, timing.robots) == (0.5, 2.5, 8.0)


def test_a_run_is_idle_while_no_request_is_under_way() -> None:
    timing = counted().timing
    timing.begin(103.0)
    timing.begin(104.0)
    timing.end(106.0)
    assert timing.shown(109.0)["idle"] == 3.0
    timing.end(110.0)
    assert timing.shown(112.0)["idle"] == 5.0
    timing.begin(115.0)
    assert timing.shown(120.0)["idle"] == 8.0


def test_storing_is_compressing_and_committing() -> None:
    timing = counted().timing
    timing.archive, timing.commit = 1.0, 2.0004
    assert timing.shown(100.0)["store"] == 3.0


# -- sums over workers and rounds ------------------------------------------------------------------------------------

ONE = {
    "fetched": 30,
    "seconds": 2.0,
    "pages_per_second": 15.0,
    "errors": {"dns": 1},
    "timing": {"idle": 0.5},
    "run_id": 7,
}
TWO = {
    "fetched": 10,
    "seconds": 4.0,
    "pages_per_second": 2.5,
    "errors": {"dns": 2, "tls": 1},
    "timing": {"idle": 1.0},
    "run_id": 7,
}


def test_one_worker_did_what_the_run_did() -> None:
    assert sum_of_workers([ONE]) == ONE


def test_figures_add_up_and_time_does_not() -> None:
    assert sum_of_workers([ONE, TWO]) == {
        "fetched": 40,
        "seconds": 4.0,
        "pages_per_second": 10.0,
        "errors": {"dns": 3, "tls": 1},
        "timing": {"idle": 1.5},
        "run_id": 7,
    }


def test_the_order_of_the_workers_does_not_matter() -> None:
    assert sum_of_workers([TWO, ONE]) == sum_of_workers([ONE, TWO])


def test_hosts_parked_in_one_round_and_requested_in_the_next_are_not_counted_twice() -> None:
    rounds = [ONE | {"parked": {"dns": 3}}, TWO | {"parked": {"dns": 2}}]
    assert sum_of_rounds(rounds)["parked"] == {"dns": 2}
    assert sum_of_workers(rounds)["parked"] == {"dns": 5}
