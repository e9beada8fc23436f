"""Is a host fetched no sooner than its responses, its robots.txt and the settings allow?"""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.config import Politeness
from periplus.crawl.visits.politeness import PolitenessClock
from periplus.model import HostPolicy, Reason, Response
from periplus.store.shares import share_of

HOST = "a.test"
NOW = 1_000_000.0


def answer(status: int = 200, failure: Reason | None = None, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(f"http://{HOST}/", NOW, status, headers=named, failure=failure)


def clock(**settings: Any) -> PolitenessClock:
    return PolitenessClock(Politeness(**settings))


def wait_after(polite: PolitenessClock, response: Response) -> float:
    """Seconds from the start of a request to the next one, if the answer comes at once."""
    assert polite.claim(HOST, NOW) == 0
    return polite.after(HOST, response, NOW).ready - NOW


# -- the delay --------------------------------------------------------------------------------------------------------


def test_the_delay_counts_from_the_end_of_a_request() -> None:
    polite = clock(delay=2)
    assert polite.claim(HOST, NOW) == 0
    assert polite.after(HOST, answer(), now=NOW + 1.5).ready == NOW + 3.5


def test_a_request_that_comes_too_early_gets_the_seconds_to_wait() -> None:
    polite = clock(delay=2)
    assert polite.claim(HOST, NOW) == 0
    assert polite.claim(HOST, NOW + 0.5) == 1.5
    assert polite.claim("b.test", NOW + 0.5) == 0
    assert polite.claim(HOST, NOW + 2) == 0
    assert polite.claim(HOST, NOW + 2) == 2


def test_a_request_that_was_not_made_delays_nothing() -> None:
    polite = clock(delay=2)
    polite.claim(HOST, NOW)
    polite.cancel_claim(HOST)
    assert polite.claim(HOST, NOW) == 0


def test_delays_that_requests_waited_for_are_added_up() -> None:
    polite = clock(delay=2)
    polite.claim(HOST, NOW)
    assert polite.waited == 0  # the first request to a host waits for nothing
    polite.after(HOST, answer(503, retry_after="10"), NOW + 1)
    polite.claim(HOST, NOW + 15)  # it was ready since NOW + 11
    assert polite.waited == 10
    polite.after(HOST, answer(), NOW + 16)
    assert polite.claim(HOST, NOW + 17) == 1  # too early: nothing is asked, so nothing has waited
    assert polite.waited == 10
    polite.claim(HOST, NOW + 18)
    assert polite.waited == 12


@pytest.mark.parametrize(("asked", "delay"), [(5.0, 5.0), (0.5, 2.0), (None, 2.0)])
def test_a_crawl_delay_may_be_longer_than_configured_but_not_shorter(asked: float | None, delay: float) -> None:
    polite = clock(delay=2)
    polite.set_crawl_delay(HOST, asked)
    assert wait_after(polite, answer()) == delay


def test_the_reason_of_a_longer_delay_is_kept() -> None:
    polite = clock(delay=2)
    polite.set_crawl_delay(HOST, 5)
    assert polite.after(HOST, answer(), NOW).policy.why == "Crawl-delay in robots.txt"
    polite.set_crawl_delay(HOST, None)
    assert polite.after(HOST, answer(), NOW).policy.why == ""


# -- hosts in trouble -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
def test_the_backoff_doubles_with_every_429_or_503(status: int) -> None:
    polite = clock(delay=1, longest_backoff=10)
    waits = []
    for turn in range(5):
        polite.claim(HOST, NOW + turn * 100)
        waits.append(polite.after(HOST, answer(status), NOW + turn * 100).ready - NOW - turn * 100)
    assert waits == [2, 4, 8, 10, 10]


def test_a_host_that_recovers_gets_its_old_delay_back_step_by_step() -> None:
    polite = clock(delay=1)
    for _ in range(3):
        polite.after(HOST, answer(503), NOW)
    waits = []
    for turn in range(5):
        polite.claim(HOST, NOW + turn * 100)
        waits.append(polite.after(HOST, answer(200), NOW + turn * 100).ready - NOW - turn * 100)
    assert waits == [4, 2, 1, 1, 1]


def test_a_host_without_delay_gets_a_backoff_too() -> None:
    assert wait_after(clock(delay=0), answer(503)) == 1


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("7", 7.0),
        (formatdate(NOW + 60, usegmt=True), 60.0),
        (formatdate(NOW - 60, usegmt=True), 2.0),
        ("0", 2.0),
        ("-5", 2.0),
        ("soon", 2.0),
        ("²", 2.0),
        ("1e9", 2.0),
        ("", 2.0),
    ],
)
def test_retry_after_is_honoured_in_seconds_and_as_a_date(value: str, wait: float) -> None:
    assert wait_after(clock(delay=1), answer(503, retry_after=value)) == pytest.approx(wait, abs=1)


def test_retry_after_of_ten_years_is_cut_to_a_day() -> None:
    polite = clock(delay=1)
    polite.claim(HOST, NOW)
    rest = polite.after(HOST, answer(429, retry_after="315360000"), NOW)
    assert rest.ready == NOW + 86_400
    assert rest.parked


def test_retry_after_is_ignored_on_a_page_that_was_served() -> None:
    assert wait_after(clock(delay=1), answer(200, retry_after="600")) == 1


@given(st.text(st.characters(max_codepoint=255), max_size=40))
def test_no_retry_after_stops_the_crawl(value: str) -> None:
    assert 0 <= wait_after(clock(delay=1), answer(503, retry_after=value)) <= 86_400


@pytest.mark.parametrize(
    "bad", [answer(0, Reason.TIMEOUT), answer(0, Reason.CONNECT), answer(500), answer(502), answer(503)]
)
def test_a_host_that_only_fails_is_parked(bad: Response) -> None:
    polite = clock(delay=1, failures_to_park=3)
    cause = bad.failure.value if bad.failure else f"http_{bad.status}"
    assert [polite.after(HOST, bad, NOW).parked for _ in range(3)] == ["", "", cause]
    rest = polite.after(HOST, bad, NOW)
    assert rest.ready == NOW + 180
    assert rest.policy.why == "4 errors in a row"


@pytest.mark.parametrize(
    "fine", [answer(200), answer(404), answer(301), answer(200, Reason.WRONG_TYPE), answer(200, Reason.TOO_LARGE)]
)
def test_errors_are_in_a_row_only_while_nothing_else_comes_between(fine: Response) -> None:
    polite = clock(delay=1, failures_to_park=2)
    for _ in range(3):
        assert not polite.after(HOST, answer(0, Reason.TIMEOUT), NOW).parked
        assert polite.after(HOST, fine, NOW).policy.failures == 0


def test_a_parked_host_with_a_longer_retry_after_is_parked_longer() -> None:
    polite = clock(delay=1, failures_to_park=1)
    polite.claim(HOST, NOW)
    assert polite.after(HOST, answer(503, retry_after="3600"), NOW).ready == NOW + 3600
    assert polite.park(HOST, "robots.txt unreachable", answer(503, retry_after="3600"), NOW).ready == NOW + 3600


def test_a_host_is_parked_for_this_run_only() -> None:
    polite = clock(delay=1)
    polite.claim(HOST, NOW)
    rest = polite.park(HOST, "robots.txt unreachable: dns", answer(0, Reason.DNS), NOW)
    assert (rest.parked, rest.ready) == ("dns", NOW + 180)
    assert rest.policy.next_fetch == NOW + 1


# -- across runs ------------------------------------------------------------------------------------------------------


def test_the_next_run_waits_until_the_host_may_be_fetched() -> None:
    rest = clock(delay=1).recall(HostPolicy(HOST, 1.0, next_fetch=NOW + 0.7), NOW)
    assert (rest.ready, rest.parked) == (NOW + 0.7, "")


def test_a_host_with_a_retry_after_of_hours_does_not_delay_the_next_run() -> None:
    rest = clock().recall(HostPolicy(HOST, 1.0, "Retry-After of 7200 s", NOW + 7200), NOW)
    assert (rest.ready, rest.parked) == (NOW + 7200, "retry_after")


def test_a_time_recorded_by_a_wrong_clock_is_cut() -> None:
    assert clock().recall(HostPolicy(HOST, 1.0, next_fetch=NOW * 2), NOW).ready == NOW + 86_400


@pytest.mark.parametrize(("known", "wait"), [(None, 2.0), (1.0, 2.0), (9.0, 9.0)])
def test_after_a_kill_every_host_first_has_its_delay_again(known: float | None, wait: float) -> None:
    polite = PolitenessClock(Politeness(delay=2), after_kill=True)
    assert polite.recall(HostPolicy(HOST, known), NOW).ready == NOW + wait


def test_a_longer_configured_delay_replaces_that_of_an_earlier_run() -> None:
    polite = clock(delay=10)
    polite.recall(HostPolicy(HOST, 2.0, "Crawl-delay in robots.txt"), NOW)
    assert wait_after(polite, answer()) == 10


def test_a_host_is_known_once_it_was_recalled_or_requested() -> None:
    polite = clock()
    assert not polite.knows(HOST)
    polite.recall(HostPolicy(HOST, None), NOW)
    assert polite.knows(HOST)


# -- when the clock of the machine is set -----------------------------------------------------------------------------


@pytest.mark.parametrize("step", [-3_600.0, 3_600.0])
def test_a_recorded_pause_lasts_as_long_whenever_the_clock_is_set(step: float) -> None:
    ahead = 0.0
    polite = PolitenessClock(Politeness(delay=20), ahead=lambda: ahead)
    early = polite.after(HOST, answer(), NOW).policy
    ahead = step  # the system clock is set; the clock of the crawl goes on
    late = polite.after("b.test", answer(), NOW).policy
    assert (early.next_fetch, late.next_fetch) == (NOW + 20, NOW + 20 + step)
    assert polite.recall(late, NOW).ready == NOW + 20
    next_run = PolitenessClock(Politeness(delay=20))
    assert next_run.recall(late, NOW + step + 5).ready - (NOW + step + 5) == 15


def test_a_date_in_retry_after_is_compared_with_the_system_time() -> None:
    polite = PolitenessClock(Politeness(delay=1), ahead=lambda: 3_600.0)
    later = formatdate(NOW + 3_600 + 90, usegmt=True)
    assert wait_after(polite, answer(503, retry_after=later)) == 90


# -- the user forgives a host -----------------------------------------------------------------------------------------


def test_a_forgiven_host_is_fetched_after_its_usual_delay_and_has_no_errors() -> None:
    polite = clock(delay=2, failures_to_park=2)
    polite.after(HOST, answer(503), NOW)
    parked = polite.after(HOST, answer(503), NOW + 10)
    assert parked.parked
    pause = polite.forgive(HOST, NOW + 11)
    assert (pause.ready, pause.parked, pause.policy.failures) == (NOW + 12, "", 0)
    assert polite.forgive(HOST, NOW + 50).ready == NOW + 50
    assert polite.claim(HOST, NOW + 50) == 0
    assert not polite.after(HOST, answer(503), NOW + 50).parked


def test_a_forgiven_host_that_this_run_has_not_requested_has_its_delay_first() -> None:
    assert clock(delay=2).forgive(HOST, NOW).ready == NOW + 2


def test_the_hosts_of_a_dead_worker_wait_until_its_last_request_has_ended() -> None:
    polite = clock(delay=2.0)
    polite.inherit(share_of(HOST), NOW + 30)
    assert polite.recall(HostPolicy(HOST, None), NOW).ready == NOW + 32
    assert polite.ended_inheritances(NOW + 29) == []
    assert polite.ended_inheritances(NOW + 30) == [share_of(HOST)]
    assert polite.ended_inheritances(NOW + 31) == [], "each once"
