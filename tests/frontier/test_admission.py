"""A URL is admitted once, refused with a reason, or known already."""

from __future__ import annotations

import pytest

from periplus.config import Scope
from periplus.frontier.admission import Admission
from periplus.frontier.scope import ScopeRules
from periplus.frontier.seen import SeenFilter
from periplus.model import Decision, QueuedUrl, Reason, Verdict
from periplus.url import url_key


class Gate:
    """An admission with what it counts in sight."""

    def __init__(self, cap: int = 10_000, sizes: dict[str, int] | None = None, **scope: object) -> None:
        self.seen = SeenFilter()
        self.sizes = {} if sizes is None else sizes
        rules = ScopeRules(Scope(**scope), ["example.org"])  # type: ignore[arg-type]
        self.admission = Admission(rules, self.seen, self.sizes, cap)

    def admit(self, url: str, depth: int = 0, **facts: int) -> QueuedUrl | Decision | None:
        return self.admission.admit(url, depth=depth, reason=Reason.LINK, via="https://example.org/", **facts)


def test_a_url_first_met_is_queued_with_its_facts() -> None:
    gate = Gate()
    assert gate.admit("https://example.org:8443/a?b=c", 2, redirects=1) == QueuedUrl(
        url="https://example.org:8443/a?b=c",
        host="example.org",
        depth=2,
        priority=2.0,
        reason=Reason.LINK,
        via="https://example.org/",
        redirects=1,
    )


def test_pages_nearer_to_the_seeds_come_first() -> None:
    gate = Gate()
    far, near = gate.admit("https://example.org/far", 9), gate.admit("https://example.org/near", 1)
    assert isinstance(far, QueuedUrl)
    assert isinstance(near, QueuedUrl)
    assert near.priority < far.priority


def test_a_url_met_again_is_known() -> None:
    gate = Gate()
    assert isinstance(gate.admit("https://example.org/a"), QueuedUrl)
    assert gate.admit("https://example.org/a") is None
    assert gate.admit("https://example.org/a", 5) is None
    assert isinstance(gate.admit("http://example.org/a"), QueuedUrl)
    assert gate.sizes == {"example.org": 2}


def test_a_known_page_is_not_refused_because_this_link_to_it_is_too_deep() -> None:
    gate = Gate(depth=3)
    assert isinstance(gate.admit("https://example.org/home", 0), QueuedUrl)
    assert gate.admit("https://example.org/home", 4) is None


def test_what_an_earlier_run_met_is_known() -> None:
    gate = Gate()
    gate.seen.add(url_key("https://example.org/a"))
    assert gate.admit("https://example.org/a") is None
    assert gate.sizes == {}


def test_the_scope_refuses_with_its_own_reason() -> None:
    decision = Gate().admit("https://example.com/")
    assert isinstance(decision, Decision)
    assert (decision.verdict, decision.reason) == (Verdict.REFUSED, Reason.SCOPE_HOST)


@pytest.mark.parametrize("url", ["https://example.com/", "https://example.org/a.png", "https://example.org/a/a/a"])
def test_what_is_refused_is_not_met(url: str) -> None:
    gate = Gate()
    first = gate.admit(url)
    assert isinstance(first, Decision)
    assert gate.admit(url) == first
    assert (len(gate.seen), gate.sizes) == (0, {})


def test_too_deep_from_here_may_be_near_enough_from_elsewhere() -> None:
    gate = Gate(depth=3)
    assert isinstance(gate.admit("https://example.org/a", 4), Decision)
    assert isinstance(gate.admit("https://example.org/a", 3), QueuedUrl)


def test_a_domain_is_capped_over_all_its_hosts() -> None:
    gate = Gate(cap=3, hosts=[".*"])
    for host in ("a.example.co.uk", "b.example.co.uk", "example.co.uk"):
        assert isinstance(gate.admit(f"https://{host}/"), QueuedUrl)
    decision = gate.admit("https://c.example.co.uk/")
    assert isinstance(decision, Decision)
    assert (decision.verdict, decision.reason) == (Verdict.REFUSED, Reason.DOMAIN_CAP)
    assert decision.detail == "example.co.uk has 3 URLs, as many as scope.pages_per_domain allows"
    assert isinstance(gate.admit("https://other.co.uk/"), QueuedUrl)
    assert gate.sizes == {"example.co.uk": 3, "other.co.uk": 1}


def test_a_capped_url_is_not_met_and_known_ones_stay_known() -> None:
    gate = Gate(cap=1)
    gate.admit("https://example.org/a")
    for _ in range(3):
        assert isinstance(gate.admit("https://example.org/b"), Decision)
    assert gate.admit("https://example.org/a") is None
    assert (len(gate.seen), gate.sizes) == (1, {"example.org": 1})


def test_the_cap_counts_what_earlier_runs_admitted() -> None:
    gate = Gate(cap=5, sizes={"example.org": 4})
    assert isinstance(gate.admit("https://example.org/a"), QueuedUrl)
    assert isinstance(gate.admit("https://example.org/b"), Decision)


def test_addresses_are_domains_of_their_own() -> None:
    gate = Gate(cap=1, hosts=[".*"])
    for host in ("192.0.2.1", "192.0.2.2", "[2001:db8::1]"):
        assert isinstance(gate.admit(f"http://{host}/"), QueuedUrl)
        assert isinstance(gate.admit(f"http://{host}/b"), Decision)
